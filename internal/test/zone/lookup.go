package zone

import (
	"strings"

	"github.com/miekg/dns"
)

// maxLinks bounds the aliases that the recursive view follows, as a real resolver does.
const maxLinks = 16

// reply collects the sections of one answer.
type reply struct {
	rcode             int
	answer, authority []dns.RR
	dnssec            bool
}

func (r *reply) addAnswer(set *rrset, owner string) {
	r.answer = append(r.answer, r.under(set, owner)...)
}

func (r *reply) addAuthority(set *rrset) {
	for _, rr := range r.under(set, "") {
		if !containsRR(r.authority, rr) {
			r.authority = append(r.authority, rr)
		}
	}
}

// under copies a set with its signatures, renamed to owner when one is given: a wildcard's
// records expand that way.
func (r *reply) under(set *rrset, owner string) []dns.RR {
	rrs := set.rrs
	if r.dnssec {
		rrs = append(rrs[:len(rrs):len(rrs)], set.sigs...)
	}
	out := make([]dns.RR, len(rrs))
	for i, rr := range rrs {
		out[i] = dns.Copy(rr)
		if owner != "" {
			out[i].Header().Name = owner
		}
	}
	return out
}

func containsRR(rrs []dns.RR, rr dns.RR) bool {
	for _, other := range rrs {
		if other.String() == rr.String() {
			return true
		}
	}
	return false
}

// resolve answers as a recursive resolver would: it follows aliases from zone to zone.
func (w *world) resolve(name string, rrtype uint16, dnssec bool) *reply {
	r := &reply{dnssec: dnssec}
	for range maxLinks {
		d := w.zoneOf(name, rrtype)
		if d == nil {
			r.rcode = dns.RcodeServerFailure
			return r
		}
		target := d.lookup(r, name, rrtype)
		if target == "" {
			return r
		}
		name = target
	}
	return r
}

// zoneOf finds the zone that answers: the closest enclosing one, but the parent for DS.
func (w *world) zoneOf(name string, rrtype uint16) *data {
	name = dns.CanonicalName(name)
	if rrtype == dns.TypeDS && name != "." {
		name = parentName(name)
	}
	for {
		if d := w.zones[name]; d != nil {
			return d
		}
		if name == "." {
			return nil
		}
		name = parentName(name)
	}
}

// lookup answers from one zone (RFC 1034 section 4.3.2, RFC 4035 section 3.1, RFC 5155 section
// 7.2) and returns the name to go on with when it met an alias.
func (d *data) lookup(r *reply, name string, rrtype uint16) (next string) {
	canonical := dns.CanonicalName(name)
	for ancestor := d.zone.origin; ancestor != canonical; {
		ancestor = childToward(ancestor, canonical)
		n := d.nodes[ancestor]
		if n == nil {
			break
		}
		if d.isCut(n) && (ancestor != canonical || rrtype != dns.TypeDS) {
			r.rcode = dns.RcodeServerFailure // a child zone that this server does not have
			return ""
		}
		if set := n.sets[dns.TypeDNAME]; set != nil && ancestor != canonical {
			return r.followDNAME(set, ancestor, name)
		}
	}
	if set := d.apex().sets[dns.TypeDNAME]; set != nil && canonical != d.zone.origin {
		return r.followDNAME(set, d.zone.origin, name)
	}
	if n := d.nodes[canonical]; n != nil {
		return d.answerFrom(r, n, name, rrtype, "")
	}
	encloser := d.closestEncloser(canonical)
	if n := d.nodes["*."+strings.TrimPrefix(encloser, ".")]; n != nil {
		if r.dnssec {
			d.proveWildcard(r, canonical, encloser)
		}
		return d.answerFrom(r, n, name, rrtype, encloser)
	}
	r.rcode = dns.RcodeNameError
	d.addSOA(r)
	if r.dnssec {
		d.proveNoName(r, canonical, encloser)
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
		r.addAnswer(set, owner)
		return set.rrs[0].(*dns.CNAME).Target
	}
	if set := n.sets[rrtype]; set != nil {
		r.addAnswer(set, owner)
		return ""
	}
	d.addSOA(r)
	if r.dnssec {
		d.proveNoType(r, n, encloser)
	}
	return ""
}

func (r *reply) followDNAME(set *rrset, owner, name string) (next string) {
	dname := set.rrs[0].(*dns.DNAME)
	r.addAnswer(set, "")
	prefix := name[:len(name)-len(owner)]
	if owner == "." {
		prefix = name
	}
	target := prefix + dname.Target
	if dname.Target == "." {
		target = prefix
	}
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

func (d *data) apex() *node { return d.nodes[d.zone.origin] }

func (d *data) addSOA(r *reply) {
	set := d.apex().sets[dns.TypeSOA]
	r.addAuthority(set)
	minimum := set.rrs[0].(*dns.SOA).Minttl
	for _, rr := range r.authority {
		h := rr.Header()
		sig, isSig := rr.(*dns.RRSIG)
		if h.Rrtype == dns.TypeSOA || isSig && sig.TypeCovered == dns.TypeSOA {
			h.Ttl = min(h.Ttl, minimum)
		}
	}
}

func (d *data) closestEncloser(name string) string {
	for d.nodes[name] == nil {
		name = parentName(name)
	}
	return name
}

// childToward is the name one label below ancestor on the way to name.
func childToward(ancestor, name string) string {
	depth := dns.CountLabel(name) - dns.CountLabel(ancestor) - 1
	at, _ := dns.PrevLabel(name, dns.CountLabel(name)-depth)
	return name[at:]
}
