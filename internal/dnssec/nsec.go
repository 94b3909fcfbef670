package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// nsecRecord says that the zone has no names between owner and next, and at owner only these types (RFC 4034 section 4).
type nsecRecord struct {
	owner, next name
	types       typeBits
}

// nsecRecords are the verified NSEC records of one zone.
type nsecRecords struct {
	zone    name
	records []nsecRecord
}

func (z *nsecRecords) add(owner name, rr *dns.NSEC) {
	next, ok := nameOf(rr.NextDomain)
	if ok && next.within(z.zone) {
		z.records = append(z.records, nsecRecord{owner, next, rr.TypeBitMap})
	}
}

// covers says whether n falls into the gap behind the owner. The last record of a zone points back to the apex.
func (z *nsecRecords) covers(r *nsecRecord, n name) bool {
	return n.within(z.zone) && compareNames(r.owner, n) < 0 && (r.next == z.zone || compareNames(n, r.next) < 0) &&
		!(r.types.hidesBelow() && n.isBelow(r.owner))
}

// denies says whether n does not exist. A name in the gap does exist, empty, if the gap ends below it (RFC 4592 section 2.2.2).
func (z *nsecRecords) denies(r *nsecRecord, n name) bool { return z.covers(r, n) && !r.next.isBelow(n) }

// denied finds a record that denies n, nil if there is none.
func (z *nsecRecords) denied(n name) *nsecRecord {
	for i := range z.records {
		if z.denies(&z.records[i], n) {
			return &z.records[i]
		}
	}
	return nil
}

// encloser is the closest encloser of a name that r denies: both ends of the gap exist, and so do all names above them.
func (r *nsecRecord) encloser(n name) name {
	a, b := commonAncestor(n, r.owner), commonAncestor(n, r.next)
	if a.labels() > b.labels() {
		return a
	}
	return b
}

// nameError: RFC 4035 section 5.4, first case.
func (z *nsecRecords) nameError(n name) bool {
	r := z.denied(n)
	if r == nil {
		return false
	}
	wildcard, ok := r.encloser(n).wildcard()
	return !ok || z.denied(wildcard) != nil
}

// noData: RFC 4035 section 5.4, at the name itself or at the wildcard that stands for it.
func (z *nsecRecords) noData(n name, rrtype uint16) bool {
	if z.lacksAt(n, rrtype) {
		return true
	}
	r := z.denied(n)
	if r == nil {
		return false
	}
	wildcard, ok := r.encloser(n).wildcard()
	return ok && z.lacksAt(wildcard, rrtype)
}

// lacksAt says whether n exists and has no records of the type; an empty non-terminal has none at all.
func (z *nsecRecords) lacksAt(n name, rrtype uint16) bool {
	for i := range z.records {
		r := &z.records[i]
		if r.owner == n && r.types.lacks(n, rrtype) {
			return true
		}
	}
	return z.isEmpty(n)
}

// isEmpty says whether a gap around n ends below it, so that n exists without records.
func (z *nsecRecords) isEmpty(n name) bool {
	return slices.ContainsFunc(z.records, func(r nsecRecord) bool { return z.covers(&r, n) && r.next.isBelow(n) })
}

// noCloser: RFC 4035 section 5.3.4.
func (z *nsecRecords) noCloser(n, encloser name) bool {
	r := z.denied(n)
	return r != nil && r.encloser(n) == encloser
}

func (z *nsecRecords) cutAt(n name) cut {
	for i := range z.records {
		r := &z.records[i]
		if r.owner == n {
			return r.types.cut()
		}
		if z.covers(r, n) {
			return cutNone
		}
	}
	return cutUnknown
}
