package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// proof is what denial records establish about a name.
type proof uint8

const (
	unproven proof = iota
	optedOut       // only as far as NSEC3 opt-out reaches, or with parameters that are not evaluated: insecure
	proven
)

// cut is what denial records establish about a possible zone cut.
type cut uint8

const (
	cutUnknown  cut = iota
	cutNone         // no zone begins at the name
	cutUnsigned     // a zone begins there, and it has no DS record
	cutOptedOut     // a zone may begin there, and it has no DS record
)

// denial is the verified NSEC and NSEC3 records of one zone out of one message.
type denial struct {
	nsec  nsecRecords
	nsec3 *nsec3Records // nil: there are none
}

// newDenial reads the records of sets that the zone signed. Expansions of a wildcard deny nothing.
func newDenial(zone name, sets []*signedSet, b *budget) *denial {
	d := &denial{nsec: nsecRecords{zone: zone}}
	for _, s := range sets {
		if s.encloser != "" {
			continue
		}
		for _, rr := range s.rrs {
			switch rr := rr.(type) {
			case *dns.NSEC:
				d.nsec.add(s.owner, rr)
			case *dns.NSEC3:
				if d.nsec3 == nil {
					d.nsec3 = newNSEC3Records(zone, b)
				}
				d.nsec3.add(s.owner, rr)
			}
		}
	}
	return d
}

// nameError says whether neither n nor a wildcard that would stand for it exists.
func (d *denial) nameError(n name) (proof, error) {
	if d.nsec.nameError(n) {
		return proven, nil
	}
	if d.nsec3 == nil {
		return unproven, nil
	}
	return d.nsec3.nameError(n)
}

// noData says whether n, or the wildcard that stands for it, has no records of the type and no
// alias.
func (d *denial) noData(n name, rrtype uint16) (proof, error) {
	if d.nsec.noData(n, rrtype) {
		return proven, nil
	}
	if d.nsec3 == nil {
		return unproven, nil
	}
	return d.nsec3.noData(n, rrtype)
}

// isCompactlyDenied says whether a record at n itself says that there is no such name (RFC 9824
// section 2, for NSEC3 too).
func (d *denial) isCompactlyDenied(n name) (bool, error) {
	denied := slices.ContainsFunc(d.nsec.records, func(r nsecRecord) bool { return r.owner == n && r.types.has(dns.TypeNXNAME) })
	if denied || d.nsec3 == nil {
		return denied, nil
	}
	types, err := d.nsec3.typesAt(n)
	return types.has(dns.TypeNXNAME), err
}

// noCloser says whether nothing closer to n than "*.encloser" exists, so that the wildcard may
// stand for it.
func (d *denial) noCloser(n, encloser name) (proof, error) {
	if d.nsec.noCloser(n, encloser) {
		return proven, nil
	}
	if d.nsec3 == nil {
		return unproven, nil
	}
	return d.nsec3.noCloser(n, encloser)
}

// cutAt says what begins at n, a name strictly below the apex of the zone that speaks.
func (d *denial) cutAt(n name) (cut, error) {
	if c := d.nsec.cutAt(n); c != cutUnknown {
		return c, nil
	}
	if d.nsec3 == nil {
		return cutUnknown, nil
	}
	return d.nsec3.cutAt(n)
}

// typeBits is the type bitmap of a denial record.
type typeBits []uint16

func (t typeBits) has(rrtype uint16) bool { return slices.Contains(t, rrtype) }

// isDelegation says whether the record is the parent's at a zone cut.
func (t typeBits) isDelegation() bool { return t.has(dns.TypeNS) && !t.has(dns.TypeSOA) }

// hidesBelow says whether the record's owner is a delegation or a DNAME: it must not be used to
// deny anything below (RFC 6840 section 4.1, RFC 5155 section 8.3).
func (t typeBits) hidesBelow() bool { return t.isDelegation() || t.has(dns.TypeDNAME) }

// lacks says whether the bitmap at a name proves that there are no records of the type there. The
// parent's record at a cut speaks only of DS, the child's of all but DS (RFC 4035 section 5.4, RFC
// 6840 sections 4.1 and 4.4).
func (t typeBits) lacks(n name, rrtype uint16) bool {
	if t.has(rrtype) || t.has(dns.TypeCNAME) {
		return false
	}
	if rrtype == dns.TypeDS {
		return !t.has(dns.TypeSOA) || n == rootName
	}
	return !t.isDelegation()
}

// cut reads the bitmap at a name as the answer to "does a zone begin here?". Only NS makes a cut
// (RFC 6840 section 4.4).
func (t typeBits) cut() cut {
	switch {
	case t.has(dns.TypeDS), t.has(dns.TypeSOA):
		return cutUnknown
	case t.has(dns.TypeNS):
		return cutUnsigned
	}
	return cutNone
}

// nsecRecord says that the zone has no names between owner and next, and at owner only these types
// (RFC 4034 section 4).
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

// covers says whether n falls into the gap behind the owner. The last record of a zone points back
// to the apex.
func (z *nsecRecords) covers(r *nsecRecord, n name) bool {
	return n.within(z.zone) && compareNames(r.owner, n) < 0 && (r.next == z.zone || compareNames(n, r.next) < 0) &&
		!(r.types.hidesBelow() && n.isBelow(r.owner))
}

// denies says whether n does not exist. A name in the gap does exist, empty, if the gap ends below
// it (RFC 4592 section 2.2.2).
func (z *nsecRecords) denies(r *nsecRecord, n name) bool { return z.covers(r, n) && !r.next.isBelow(n) }

// denied returns a record that denies n, or nil.
func (z *nsecRecords) denied(n name) *nsecRecord {
	for i := range z.records {
		if z.denies(&z.records[i], n) {
			return &z.records[i]
		}
	}
	return nil
}

// encloser is the closest encloser of a name that r denies: both ends of the gap exist, and so do
// all names above them.
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

// lacksAt says whether n exists and has no records of the type. An empty non-terminal, which a gap
// around it shows by ending below it, has none at all.
func (z *nsecRecords) lacksAt(n name, rrtype uint16) bool {
	return slices.ContainsFunc(z.records, func(r nsecRecord) bool {
		return r.owner == n && r.types.lacks(n, rrtype) || z.covers(&r, n) && r.next.isBelow(n)
	})
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
