package dnssec_test

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/test/zone"
)

// forgeBits returns the reply to a question with one bit of each signature over the types changed.
// No other check can then notice it.
func forgeBits(w *world, name string, rrtype uint16, types ...uint16) zone.Edit {
	m := w.get(name, rrtype)
	forged := 0
	for _, section := range [][]dns.RR{m.Answer, m.Ns} {
		for i, rr := range section {
			sig, ok := rr.(*dns.RRSIG)
			if !ok || !slices.Contains(types, sig.TypeCovered) {
				continue
			}
			changed := dns.Copy(sig).(*dns.RRSIG)
			raw, err := base64.StdEncoding.DecodeString(sig.Signature)
			if err != nil {
				panic(err)
			}
			raw[len(raw)-1] ^= 1
			changed.Signature = base64.StdEncoding.EncodeToString(raw)
			section[i] = changed
			forged++
		}
	}
	if forged == 0 {
		panic("nothing to forge in the reply for " + name)
	}
	return zone.On(name, rrtype, zone.Replay(m))
}

// TestForged changes one bit of the signatures of an answer or of a denial.
func TestForged(t *testing.T) {
	forged := func(name string, rrtype uint16, types ...uint16) func(*world) []zone.Edit {
		return func(w *world) []zone.Edit { return []zone.Edit{forgeBits(w, name, rrtype, types...)} }
	}
	denials := []uint16{dns.TypeNSEC, dns.TypeNSEC3}
	runScenarios(t, []scenario{
		{"RFC4035-5.3.3", "reject-forged-algorithm-8", "www.a8.org A", "bogus", forged("www.a8.org", dns.TypeA, dns.TypeA)},
		{"RFC4035-5.3.3", "reject-forged-algorithm-10", "www.a10.org A", "bogus", forged("www.a10.org", dns.TypeA, dns.TypeA)},
		{"RFC4035-5.3.3", "reject-forged-algorithm-13", "www.a13.org A", "bogus", forged("www.a13.org", dns.TypeA, dns.TypeA)},
		{"RFC4035-5.3.3", "reject-forged-algorithm-14", "www.a14.org A", "bogus", forged("www.a14.org", dns.TypeA, dns.TypeA)},
		{"RFC4035-5.3.3", "reject-forged-algorithm-15", "www.a15.org A", "bogus", forged("www.a15.org", dns.TypeA, dns.TypeA)},
		{"RFC4035-5.2", "reject-forged-keys", "www.a15.org A", "bogus", forged("a15.org", dns.TypeDNSKEY, dns.TypeDNSKEY)},
		{"RFC4035-5.2", "reject-forged-delegation", "www.a15.org A", "bogus", forged("a15.org", dns.TypeDS, dns.TypeDS)},

		{"RFC4035-5.4", "reject-forged-nxdomain", "nope.nsec.org A", "bogus", forged("nope.nsec.org", dns.TypeA, denials...)},
		{"RFC4035-5.4", "reject-forged-nodata", "www.nsec.org MX", "bogus", forged("www.nsec.org", dns.TypeMX, denials...)},
		{"RFC4035-5.4", "reject-forged-empty-non-terminal", "ent.nsec.org A", "bogus", forged("ent.nsec.org", dns.TypeA, denials...)},
		{"RFC4035-5.4", "reject-forged-wildcard-proof", "any.wild.nsec.org TXT", "bogus", forged("any.wild.nsec.org", dns.TypeTXT, denials...)},
		{"RFC4035-5.2", "reject-forged-unsigned-delegation", "www.plain.nsec.org A", "bogus", forged("plain.nsec.org", dns.TypeDS, denials...)},
		{"RFC4035-5.4", "reject-forged-soa", "nope.nsec.org A", "bogus", forged("nope.nsec.org", dns.TypeA, dns.TypeSOA)},
		{"RFC5155-8.4", "reject-forged-nxdomain", "nope.nsec3.com A", "bogus", forged("nope.nsec3.com", dns.TypeA, denials...)},
		{"RFC5155-8.5", "reject-forged-nodata", "www.nsec3.com MX", "bogus", forged("www.nsec3.com", dns.TypeMX, denials...)},
		{"RFC5155-8.8", "reject-forged-wildcard-proof", "any.wild.nsec3.com TXT", "bogus", forged("any.wild.nsec3.com", dns.TypeTXT, denials...)},
		{"RFC5155-8.9", "reject-forged-unsigned-delegation", "www.plain.nsec3.com A", "bogus", forged("plain.nsec3.com", dns.TypeDS, denials...)},
	})
}
