package zone

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// maxLinks bounds the aliases that the recursive view follows, as a real resolver does.
const maxLinks = 16

// world is all zones between two changes.
type world map[string]*data

// reply collects the sections of one answer.
type reply struct {
	rcode             int
	answer, authority []dns.RR
	dnssec            bool
}

// resolve answers as a recursive resolver would: it follows aliases from zone to zone.
func (w world) resolve(name string, rrtype uint16, dnssec bool) *reply {
	r := &reply{dnssec: dnssec}
	for range maxLinks {
		target := w.zoneOf(name, rrtype).lookup(r, name, rrtype)
		if target == "" {
			break
		}
		name = target
	}
	return r
}

// zoneOf finds the zone that answers: the closest enclosing one, but the parent for DS.
func (w world) zoneOf(name string, rrtype uint16) *data {
	name = dns.CanonicalName(name)
	if rrtype == dns.TypeDS && name != "." {
		name = parentName(name)
	}
	for w[name] == nil {
		name = parentName(name)
	}
	return w[name]
}

// lookup answers from one zone (RFC 1034 section 4.3.2, RFC 4035 section 3.1, RFC 5155 section
// 7.2) and returns the name to go on with when it met an alias.
func (d *data) lookup(r *reply, name string, rrtype uint16) (next string) {
	canonical := dns.CanonicalName(name)
	encloser := d.zone.origin
	for at := encloser; ; at = childToward(at, canonical) {
		n := d.nodes[at]
		if n == nil {
			break
		}
		encloser = at
		if d.isCut(n) && (at != canonical || rrtype != dns.TypeDS) {
			r.rcode = dns.RcodeServerFailure // a child zone that this server does not have
			return ""
		}
		if at == canonical {
			return d.answerFrom(r, n, name, rrtype, "")
		}
		if set := n.sets[dns.TypeDNAME]; set != nil {
			return r.followDNAME(set, at, name)
		}
	}
	if n := d.nodes[under("*", encloser)]; n != nil {
		if r.dnssec && d.zone.signing != nil { // that name itself does not exist
			denied := canonical
			if d.zone.signing.NSEC3 != nil {
				denied = childToward(encloser, canonical)
			}
			r.deny(d.covering(denied))
		}
		return d.answerFrom(r, n, name, rrtype, encloser)
	}
	r.rcode = dns.RcodeNameError
	d.addSOA(r)
	if r.dnssec && d.zone.signing != nil {
		if d.zone.signing.NSEC3 != nil {
			d.proveEncloser(r, canonical)
		} else {
			r.deny(d.covering(canonical))
		}
		r.deny(d.covering(under("*", encloser)))
	}
	return ""
}

// answerFrom answers from a node that exists; encloser is set when the node is a wildcard that
// name expanded.
func (d *data) answerFrom(r *reply, n *node, name string, rrtype uint16, encloser string) (next string) {
	owner := ""
	if encloser != "" {
		owner = name
	}
	if set := n.sets[dns.TypeCNAME]; set != nil && rrtype != dns.TypeCNAME && rrtype != dns.TypeNSEC {
		r.answer = append(r.answer, r.under(set, owner)...)
		return set.rrs[0].(*dns.CNAME).Target
	}
	if set := n.sets[rrtype]; set != nil {
		r.answer = append(r.answer, r.under(set, owner)...)
		return ""
	}
	d.addSOA(r)
	if r.dnssec && d.zone.signing != nil {
		d.proveNoType(r, n, encloser)
	}
	return ""
}

func (r *reply) followDNAME(set *rrset, owner, name string) (next string) {
	dname := set.rrs[0].(*dns.DNAME)
	r.answer = append(r.answer, r.under(set, "")...)
	target := under(strings.TrimSuffix(name[:len(name)-len(strings.TrimPrefix(owner, "."))], "."), dname.Target)
	if len(target) > 254 {
		r.rcode = dns.RcodeYXDomain
		return ""
	}
	r.answer = append(r.answer, &dns.CNAME{
		Hdr:    dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: dname.Hdr.Ttl},
		Target: target,
	})
	return target
}

func (d *data) addSOA(r *reply) {
	for _, rr := range r.under(d.apex().sets[dns.TypeSOA], "") {
		rr.Header().Ttl = d.negativeTTL()
		r.authority = append(r.authority, rr)
	}
}

func (d *data) negativeTTL() uint32 { return min(d.soa().Minttl, d.soa().Hdr.Ttl) }

// under copies a set with its signatures, renamed to owner when one is given: a wildcard's
// records expand that way.
func (r *reply) under(set *rrset, owner string) (out []dns.RR) {
	rrs := set.rrs
	if r.dnssec {
		rrs = slices.Concat(rrs, set.sigs)
	}
	for _, rr := range rrs {
		rr = dns.Copy(rr)
		rr.Header().Name = cmp.Or(owner, rr.Header().Name)
		out = append(out, rr)
	}
	return out
}

// link is one record of a chain that proves what does not exist: NSEC (RFC 4034 section 4) or NSEC3
// (RFC 5155 section 7.1).
type link struct {
	key  string // by which the chain is sorted: see [data.key]
	node *node
	set  *rrset
}

// key is the hash of a name, or the name in canonical order (RFC 4034 section 6.1).
func (d *data) key(name string) string {
	if p := d.zone.signing.NSEC3; p != nil {
		return dns.HashName(name, dns.SHA1, p.Iterations, p.Salt)
	}
	labels := dns.SplitDomainName(strings.ToLower(name))
	slices.Reverse(labels)
	return strings.Join(labels, "\x00")
}

// buildChain adds a record for every name with authoritative records, and with NSEC3 for every empty
// non-terminal.
func (d *data) buildChain() {
	p := d.zone.signing.NSEC3
	if p != nil {
		d.insert(&dns.NSEC3PARAM{
			Hdr:  dns.RR_Header{Name: d.zone.origin, Rrtype: dns.TypeNSEC3PARAM, Class: dns.ClassINET},
			Hash: dns.SHA1, Iterations: p.Iterations, SaltLength: uint8(len(p.Salt) / 2), Salt: p.Salt,
		})
	}
	for _, n := range d.nodes {
		left := p == nil && len(n.sets) == 0 || p != nil && p.OptOut && d.onlyUnsigned(n)
		if !left && !d.isOccluded(n.name) {
			d.chain = append(d.chain, link{d.key(n.name), n, &rrset{}})
		}
	}
	slices.SortFunc(d.chain, func(a, b link) int { return strings.Compare(a.key, b.key) })
	for i, l := range d.chain {
		next := d.chain[(i+1)%len(d.chain)]
		types := slices.Collect(maps.Keys(l.node.sets))
		if d.isCut(l.node) { // only these two count there
			types = slices.DeleteFunc(types, func(t uint16) bool { return t != dns.TypeNS && t != dns.TypeDS })
		}
		hdr := dns.RR_Header{Name: l.node.name, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: d.negativeTTL()}
		if p == nil {
			types = append(types, dns.TypeNSEC, dns.TypeRRSIG)
			slices.Sort(types)
			l.set.rrs = []dns.RR{&dns.NSEC{Hdr: hdr, NextDomain: next.node.name, TypeBitMap: types}}
			continue
		}
		if len(types) > 0 && (!d.isCut(l.node) || l.node.sets[dns.TypeDS] != nil) {
			types = append(types, dns.TypeRRSIG)
		}
		slices.Sort(types)
		hdr.Name, hdr.Rrtype = under(strings.ToLower(l.key), d.zone.origin), dns.TypeNSEC3
		n3 := &dns.NSEC3{
			Hdr: hdr, Hash: dns.SHA1, Iterations: p.Iterations, SaltLength: uint8(len(p.Salt) / 2), Salt: p.Salt,
			HashLength: 20, NextDomain: next.key, TypeBitMap: types,
		}
		if p.OptOut {
			n3.Flags = 1
		}
		l.set.rrs = []dns.RR{n3}
	}
}

// onlyUnsigned says whether a node is an unsigned delegation, or is there only because of some
// below it.
func (d *data) onlyUnsigned(n *node) bool {
	if len(n.sets) > 0 {
		return d.isCut(n) && n.sets[dns.TypeDS] == nil
	}
	for name, other := range d.nodes {
		if name != n.name && dns.IsSubDomain(n.name, name) && len(other.sets) > 0 && !d.isOccluded(name) &&
			!d.onlyUnsigned(other) {
			return false
		}
	}
	return true
}

// deny adds a record of the chain once.
func (r *reply) deny(set *rrset) {
	for _, rr := range r.under(set, "") {
		if !slices.ContainsFunc(r.authority, func(other dns.RR) bool { return other.String() == rr.String() }) {
			r.authority = append(r.authority, rr)
		}
	}
}

// proveNoType adds the proof that a node has no such type. With a wildcard's encloser it proves
// that too, since the name itself is denied already.
func (d *data) proveNoType(r *reply, n *node, encloser string) {
	if d.zone.signing.NSEC3 == nil {
		r.deny(d.covering(n.name)) // an empty non-terminal has no NSEC of its own
		return
	}
	if set := d.matching(n.name); set != nil {
		r.deny(set)
	} else {
		d.proveEncloser(r, n.name) // opted out
	}
	if encloser != "" {
		r.deny(d.matching(encloser))
	}
}

// proveEncloser adds the closest provable encloser and the denial of the next closer name (RFC
// 5155 section 7.2.1).
func (d *data) proveEncloser(r *reply, name string) {
	for encloser := name; encloser != d.zone.origin; {
		encloser = parentName(encloser)
		if set := d.matching(encloser); set != nil {
			r.deny(set)
			r.deny(d.covering(childToward(encloser, name)))
			return
		}
	}
}

func (d *data) find(name string) (int, bool) {
	return slices.BinarySearchFunc(d.chain, d.key(name), func(l link, key string) int {
		return strings.Compare(l.key, key)
	})
}

// matching is the record of a name, nil if it has none.
func (d *data) matching(name string) *rrset {
	if i, found := d.find(name); found {
		return d.chain[i].set
	}
	return nil
}

// covering is the record of a name, or of the last one before it.
func (d *data) covering(name string) *rrset {
	i, found := d.find(name)
	if !found {
		i = (i + len(d.chain) - 1) % len(d.chain)
	}
	return d.chain[i].set
}

// childToward is the name one label below ancestor on the way to name.
func childToward(ancestor, name string) string {
	at, _ := dns.PrevLabel(name, dns.CountLabel(ancestor)+1)
	return name[at:]
}
