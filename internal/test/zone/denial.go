package zone

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// nsec3Entry is one link of the NSEC3 chain.
type nsec3Entry struct {
	hash string
	set  *rrset
}

// buildNSEC adds an NSEC record to every name with authoritative records (RFC 4034 section 4).
func (d *data) buildNSEC() {
	for _, n := range d.nodes {
		if len(n.sets) > 0 && !d.isOccluded(n.name) {
			d.nsec = append(d.nsec, n)
		}
	}
	slices.SortFunc(d.nsec, func(a, b *node) int { return compareNames(a.name, b.name) })
	for i, n := range d.nsec {
		next := d.nsec[(i+1)%len(d.nsec)].name
		types := append(d.signedTypes(n), dns.TypeNSEC, dns.TypeRRSIG)
		slices.Sort(types)
		d.insert(&dns.NSEC{
			Hdr:        dns.RR_Header{Name: n.name, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: d.negativeTTL()},
			NextDomain: next, TypeBitMap: types,
		})
	}
}

// buildNSEC3 adds a hashed record for every name, empty non-terminals too (RFC 5155 section 7.1).
func (d *data) buildNSEC3() {
	p := d.zone.signing.NSEC3
	d.insert(&dns.NSEC3PARAM{
		Hdr:  dns.RR_Header{Name: d.zone.origin, Rrtype: dns.TypeNSEC3PARAM, Class: dns.ClassINET},
		Hash: dns.SHA1, Iterations: p.Iterations, SaltLength: uint8(len(p.Salt) / 2), Salt: p.Salt,
	})
	var flags uint8
	if p.OptOut {
		flags = 1
	}
	for _, n := range d.nodes {
		if d.isOccluded(n.name) || p.OptOut && d.onlyUnsigned(n) {
			continue
		}
		types := d.signedTypes(n)
		if len(types) > 0 && (!d.isCut(n) || n.sets[dns.TypeDS] != nil) {
			types = append(types, dns.TypeRRSIG)
		}
		slices.Sort(types)
		hash := d.hash(n.name)
		d.nsec3 = append(d.nsec3, nsec3Entry{hash, &rrset{rrs: []dns.RR{&dns.NSEC3{
			Hdr: dns.RR_Header{
				Name:   strings.ToLower(hash) + "." + strings.TrimPrefix(d.zone.origin, "."),
				Rrtype: dns.TypeNSEC3, Class: dns.ClassINET, Ttl: d.negativeTTL(),
			},
			Hash: dns.SHA1, Flags: flags, Iterations: p.Iterations,
			SaltLength: uint8(len(p.Salt) / 2), Salt: p.Salt,
			HashLength: 20, TypeBitMap: types,
		}}}})
	}
	slices.SortFunc(d.nsec3, func(a, b nsec3Entry) int { return strings.Compare(a.hash, b.hash) })
	for i, e := range d.nsec3 {
		e.set.rrs[0].(*dns.NSEC3).NextDomain = d.nsec3[(i+1)%len(d.nsec3)].hash
	}
}

// onlyUnsigned says whether a node is an unsigned delegation, or is there only because of some
// below it.
func (d *data) onlyUnsigned(n *node) bool {
	if len(n.sets) > 0 {
		return d.isCut(n) && n.sets[dns.TypeDS] == nil
	}
	for name, other := range d.nodes {
		if name != n.name && dns.IsSubDomain(n.name, name) && len(other.sets) > 0 && !d.isOccluded(name) && !d.onlyUnsigned(other) {
			return false
		}
	}
	return true
}

// signedTypes are the types of a node that belong into a denial record: at a cut only NS and DS.
func (d *data) signedTypes(n *node) []uint16 {
	types := n.types()
	if d.isCut(n) {
		types = slices.DeleteFunc(types, func(t uint16) bool { return t != dns.TypeNS && t != dns.TypeDS })
	}
	return types
}

func (d *data) negativeTTL() uint32 {
	soa := d.apex().sets[dns.TypeSOA].rrs[0].(*dns.SOA)
	return min(soa.Minttl, soa.Hdr.Ttl)
}

func (d *data) hash(name string) string {
	p := d.zone.signing.NSEC3
	return dns.HashName(name, dns.SHA1, p.Iterations, p.Salt)
}

// proveNoName adds the proof that neither name nor the wildcard that could make it exists.
func (d *data) proveNoName(r *reply, name, encloser string) {
	wildcard := "*." + strings.TrimPrefix(encloser, ".")
	if len(d.nsec) > 0 {
		r.addAuthority(d.coveringNSEC(name))
		r.addAuthority(d.coveringNSEC(wildcard))
	}
	if len(d.nsec3) > 0 {
		d.proveEncloser(r, name)
		r.addAuthority(d.coveringNSEC3(wildcard))
	}
}

// proveNoType adds the proof that a node has no such type. With a wildcard's encloser it proves
// that too, since the name itself is denied already by proveWildcard.
func (d *data) proveNoType(r *reply, n *node, encloser string) {
	if len(d.nsec) > 0 {
		r.addAuthority(d.coveringNSEC(n.name)) // an empty non-terminal has no NSEC of its own
	}
	if len(d.nsec3) == 0 {
		return
	}
	if set := d.matchingNSEC3(n.name); set != nil {
		r.addAuthority(set)
	} else {
		d.proveEncloser(r, n.name) // opted out
	}
	if encloser != "" {
		r.addAuthority(d.matchingNSEC3(encloser))
	}
}

// proveWildcard adds the proof that name itself does not exist, so that a wildcard may stand
// for it.
func (d *data) proveWildcard(r *reply, name, encloser string) {
	if len(d.nsec) > 0 {
		r.addAuthority(d.coveringNSEC(name))
	}
	if len(d.nsec3) > 0 {
		r.addAuthority(d.coveringNSEC3(childToward(encloser, name)))
	}
}

// proveEncloser adds the closest provable encloser and the denial of the next closer name (RFC
// 5155 section 7.2.1).
func (d *data) proveEncloser(r *reply, name string) {
	for encloser := name; encloser != d.zone.origin; {
		encloser = parentName(encloser)
		if set := d.matchingNSEC3(encloser); set != nil {
			r.addAuthority(set)
			r.addAuthority(d.coveringNSEC3(childToward(encloser, name)))
			return
		}
	}
}

func (d *data) coveringNSEC(name string) *rrset {
	i, found := slices.BinarySearchFunc(d.nsec, name, func(n *node, name string) int { return compareNames(n.name, name) })
	if !found {
		i = (i + len(d.nsec) - 1) % len(d.nsec)
	}
	return d.nsec[i].sets[dns.TypeNSEC]
}

func (d *data) matchingNSEC3(name string) *rrset {
	i, found := d.findNSEC3(name)
	if !found {
		return nil
	}
	return d.nsec3[i].set
}

func (d *data) coveringNSEC3(name string) *rrset {
	i, found := d.findNSEC3(name)
	if !found {
		i = (i + len(d.nsec3) - 1) % len(d.nsec3)
	}
	return d.nsec3[i].set
}

func (d *data) findNSEC3(name string) (int, bool) {
	return slices.BinarySearchFunc(d.nsec3, d.hash(name), func(e nsec3Entry, hash string) int { return strings.Compare(e.hash, hash) })
}

// compareNames orders names canonically (RFC 4034 section 6.1).
func compareNames(a, b string) int { return slices.Compare(labelsFromRoot(a), labelsFromRoot(b)) }

func labelsFromRoot(name string) []string {
	labels := dns.SplitDomainName(strings.ToLower(name))
	slices.Reverse(labels)
	return labels
}
