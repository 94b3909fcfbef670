package dnssec_test

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/test/zone"
)

// proofs are what a zone's parent says of its lack of DS records, without the SOA.
func proofs(w *world, cut string) []dns.RR {
	return slices.DeleteFunc(w.get(cut, dns.TypeDS).Ns, func(rr dns.RR) bool {
		sig, ok := rr.(*dns.RRSIG)
		return rr.Header().Rrtype == dns.TypeSOA || ok && sig.TypeCovered == dns.TypeSOA
	})
}

func edit(edits ...zone.Edit) func(*world) []zone.Edit {
	return func(*world) []zone.Edit { return edits }
}

func rrs(lines ...string) []dns.RR {
	var out []dns.RR
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			panic(err)
		}
		out = append(out, rr)
	}
	return out
}

func replace(name string, rrtype uint16, answer, authority []dns.RR, rcode int) zone.Edit {
	m := new(dns.Msg)
	m.Rcode, m.Answer, m.Ns = rcode, answer, authority
	return zone.On(name, rrtype, zone.Replay(m))
}

// once applies an edit to the first reply only: a second question, about the name as a zone, gets the
// true reply.
func once(edit zone.Edit) zone.Edit {
	asked := 0
	return func(query, reply *dns.Msg) *dns.Msg {
		if asked++; asked > 1 {
			return reply
		}
		return edit(query, reply)
	}
}

func replay(from, to string, rrtype uint16) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit { return []zone.Edit{zone.On(to, rrtype, zone.Replay(w.get(from, rrtype)))} }
}

// nsecAtCut is the parent's NSEC at a signed cut, which comes with the denial of the name just
// behind it.
func nsecAtCut(w *world, cut string) []dns.RR {
	first, rest, _ := strings.Cut(cut, ".")
	return w.get(first+"0."+rest, dns.TypeA).Ns
}

func dropMatching(m *dns.Msg, name string) zone.Edit {
	hash := ""
	for _, rr := range m.Ns {
		if n3, ok := rr.(*dns.NSEC3); ok {
			hash = strings.ToLower(dns.HashName(dns.Fqdn(name), n3.Hash, n3.Iterations, n3.Salt))
		}
	}
	return zone.Filter(func(rr dns.RR) bool { return !strings.HasPrefix(strings.ToLower(rr.Header().Name), hash) })
}

func setAD(_, m *dns.Msg) *dns.Msg {
	m.AuthenticatedData = true
	return m
}

func setRcode(code int) zone.Edit { return zone.Header(func(m *dns.Msg) { m.Rcode = code }) }
