package dnssec_test

import (
	"slices"
	"testing"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// TestAnswers: replies that hold the names and signatures of two zones, or nothing that answers.
func TestAnswers(t *testing.T) {
	// junk signs records as the zones say, with a key that is not theirs.
	junk := func(w *world, set []dns.RR, zones ...string) []dns.RR {
		var out []dns.RR
		for _, z := range zones {
			out = append(out, w.attacker.SignSetAs(w.now, z, set...)...)
		}
		return append(out, set...)
	}
	runScenarios(t, []scenario{
		{"RFC4035-5.3", "accept-junk-signatures-of-opted-out-zone-and-its-parent", "www.plain.net A", "insecure", func(w *world) []zone.Edit {
			return []zone.Edit{replace("www.plain.net", dns.TypeA, junk(w, w.records("www.plain.net", dns.TypeA, ""), "plain.net", "net"), nil, 0)}
		}},
		{"RFC4035-5.4", "accept-junk-denials-of-opted-out-zone-and-its-parent", "nope.plain.net A", "insecure nxdomain", func(w *world) []zone.Edit {
			denial := junk(w, rrs("a.plain.net. 60 IN NSEC z.plain.net. A"), "plain.net", "net")
			return []zone.Edit{replace("nope.plain.net", dns.TypeA, nil, append(denial, w.records("plain.net", dns.TypeSOA, "")...), dns.RcodeNameError)}
		}},
		{"RFC4035-5.2", "accept-junk-signature-below-opted-out-zone", "exists.wild.plain.net A", "insecure", func(w *world) []zone.Edit {
			return []zone.Edit{replace("exists.wild.plain.net", dns.TypeA, junk(w, w.records("exists.wild.plain.net", dns.TypeA, ""), "wild.plain.net"), nil, 0)}
		}},
		{"RFC4035-5.2", "reject-absence-in-a-zone-with-a-wrong-ds", "nope.wrongds.org A", "bogus", nil},
		{"RFC2308-2.1", "accept-alias-whose-target-is-left-out", "to-plain.nsec.org A", "insecure", func(w *world) []zone.Edit {
			return []zone.Edit{replace("to-plain.nsec.org", dns.TypeA, w.records("to-plain.nsec.org", dns.TypeCNAME, ""), nil, 0)}
		}},
		{"RFC1034-3.6.2", "reject-two-targets-of-one-alias", "two.plain.org A", "server", func(w *world) []zone.Edit {
			return []zone.Edit{replace("two.plain.org", dns.TypeA, rrs("two.plain.org. 60 IN CNAME a.plain.org.", "two.plain.org. 60 IN CNAME b.plain.org."),
				w.records("plain.org", dns.TypeSOA, ""), 0)}
		}},
		{"RFC4035-5.4", "reject-absence-with-a-signed-soa-only", "nope.nsec.org A", "bogus", func(w *world) []zone.Edit {
			return []zone.Edit{replace("nope.nsec.org", dns.TypeA, nil, w.records("nsec.org", dns.TypeSOA, ""), dns.RcodeNameError)}
		}},
		{"RFC2181-10.1", "accept-records-next-to-a-forged-alias", "www.nsec.org A", "secure", edit(
			zone.On("www.nsec.org", dns.TypeA, zone.Inject(rrs("www.nsec.org. 60 IN CNAME www.attacker.org."), nil)))},
		{"RFC2181-5.4", "accept-records-behind-junk", "www.nsec.org A", "secure", func(w *world) []zone.Edit {
			return []zone.Edit{replace("www.nsec.org", dns.TypeA, append(rrs("www.nsec.org. 60 CH A 192.0.2.66"), w.records("www.nsec.org", dns.TypeA, "")...), nil, 0)}
		}},
		{"RFC4035-5.4", "accept-nodata-cname", "www.nsec.org CNAME", "secure nodata", nil},
		{"RFC4035-5.4", "accept-unsigned-nodata-cname", "www.plain.org CNAME", "insecure nodata", nil},
		{"RFC4035-5.4", "reject-denial-of-an-unsigned-zone-elsewhere", "nope.nsec.org A", "bogus", replay("nope.island.org", "nope.nsec.org", dns.TypeA)},
		{"RFC4035-5.4", "reject-ds-denied-by-the-unsigned-child-itself", "plain.org DS", "bogus", func(w *world) []zone.Edit {
			return []zone.Edit{once(replace("plain.org", dns.TypeDS, nil, w.records("plain.org", dns.TypeSOA, ""), 0))}
		}},
		{"RFC6840-4.4", "reject-ds-denied-by-an-unsigned-child-that-signs", "island.org DS", "bogus", func(w *world) []zone.Edit {
			return []zone.Edit{once(zone.On("island.org", dns.TypeDS, zone.Replay(w.get("island.org", dns.TypeMX))))}
		}},
		{"RFC2308-5", "reject-tampered-soa-behind-the-proofs", "nope.nsec.org A", "bogus", func(w *world) []zone.Edit {
			m := w.get("nope.nsec.org", dns.TypeA)
			var soa []dns.RR
			for _, rr := range m.Ns {
				if s, ok := rr.(*dns.SOA); ok {
					s.Serial++
				}
				if !isProof(rr) {
					soa = append(soa, rr)
				}
			}
			m.Ns = append(slices.DeleteFunc(m.Ns, func(rr dns.RR) bool { return !isProof(rr) }), soa...)
			return []zone.Edit{zone.On("nope.nsec.org", dns.TypeA, zone.Replay(m))}
		}},
		{"RFC4035-5.3", "accept-signature-of-no-zone-next-to-that-of-a-delegation", "www.x.y.z.nsec.org A", "secure", func(w *world) []zone.Edit {
			set := w.records("x.y.z.nsec.org", dns.TypeDS, "")
			return []zone.Edit{replace("x.y.z.nsec.org", dns.TypeDS, append(w.attacker.SignSetAs(w.now, "y.z.nsec.org", set[0]), set...), nil, 0)}
		}},
	})
}

// TestUnsignedChildLifetime: data of an unsigned zone keeps its own lifetime when signatures of the
// parent next to it do not hold.
func TestUnsignedChildLifetime(t *testing.T) {
	w := sharedWorld()
	set := rrs("www.plain.nsec.org. 60 IN A 192.0.2.1")
	set = append(set, w.attacker.SignSetAs(w.now, "nsec.org", set...)...)
	r := w.resolver(t, &zone.Mangler{Next: w.Server, Edits: []zone.Edit{replace("www.plain.nsec.org", dns.TypeA, set, nil, 0)}})
	result, err := r.Lookup(t.Context(), "www.plain.nsec.org", dns.TypeA)
	if err != nil || result.State != dnssec.Insecure || result.TTL.Seconds() != 60 {
		t.Errorf("%+v, %v, want 60 seconds", result, err)
	}
}
