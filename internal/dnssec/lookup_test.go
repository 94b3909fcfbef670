package dnssec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// TestEdges: replies at the edge of what can be followed.
func TestEdges(t *testing.T) {
	withSOA := func(question string, answer ...string) func(*world) []zone.Edit {
		return func(w *world) []zone.Edit {
			return []zone.Edit{replace(question, dns.TypeA, rrs(answer...), w.records("plain.org", dns.TypeSOA, ""), 0)}
		}
	}
	stripped := func(types ...uint16) func(*world) []zone.Edit { return edit(zone.Strip(types...)) }
	deep := strings.Repeat("a.", 110)
	runScenarios(t, []scenario{
		{"RFC6672-2.2", "reject-dname-with-two-targets", "www.two.plain.org A", "server",
			withSOA("www.two.plain.org", "two.plain.org. 60 IN DNAME a.plain.org.", "two.plain.org. 60 IN DNAME b.plain.org.")},
		{"RFC6672-2.2", "reject-dname-that-makes-too-long-a-name", deep + "d.plain.org A", "server",
			withSOA(deep+"d.plain.org", "d.plain.org. 60 IN DNAME "+strings.Repeat("b.", 40)+"plain.org.")},
		{"G11", "reject-target-that-cannot-be-asked-for", "to-other.nsec.org A", "server", edit(
			zone.On("to-other.nsec.org", dns.TypeA, zone.Filter(func(rr dns.RR) bool { return strings.HasPrefix(rr.Header().Name, "to-other") })),
			zone.On("www.a15.org", 0, zone.Rcode(dns.RcodeServerFailure)))},
		{"RFC4035-4.3", "reject-nsec-without-keys", "nope.nsec.org A", "bogus", stripped(dns.TypeRRSIG, dns.TypeDS, dns.TypeNSEC3)},
		{"RFC4035-4.3", "reject-nsec3-without-keys", "nope.nsec3.com A", "bogus", stripped(dns.TypeRRSIG, dns.TypeDS, dns.TypeNSEC)},
		{"RFC4035-4.3", "reject-ds-without-keys", "nsec.org DS", "bogus", stripped(dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3)},
		{"RFC4035-5.3", "reject-signature-without-records", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", dns.TypeA, zone.Strip(dns.TypeA)))},
		{"RFC4035-5.3", "reject-signature-of-an-alias-without-it", "to-self.nsec.org A", "bogus", edit(zone.On("to-self.nsec.org", dns.TypeA, zone.Strip(dns.TypeA, dns.TypeCNAME)))},
		{"G17", "reject-alias-at-a-cut-with-too-many-signatures", "x.to-self.nsec.org A", "budget", func(w *world) []zone.Edit {
			m := w.get("to-self.nsec.org", dns.TypeDS)
			var forged []dns.RR
			for _, rr := range m.Answer {
				sig, ok := rr.(*dns.RRSIG)
				if !ok || sig.TypeCovered != dns.TypeCNAME {
					continue
				}
				for i := range 8 {
					other := dns.Copy(sig).(*dns.RRSIG)
					other.OrigTtl += uint32(i) + 1
					forged = append(forged, other)
				}
			}
			if len(forged) == 0 {
				t.Fatal(m)
			}
			m.Answer = append(forged, m.Answer...)
			return []zone.Edit{
				replace("x.to-self.nsec.org", dns.TypeA, rrs("x.to-self.nsec.org. 60 IN A 192.0.2.66"), nil, 0),
				zone.On("to-self.nsec.org", dns.TypeDS, zone.Replay(m)),
			}
		}},
	})
}

// TestOptOutIsExplained: the chain of a name that an opt-out leaves unproven ends with the reason.
func TestOptOutIsExplained(t *testing.T) {
	t.Run("RFC5155-6", func(t *testing.T) {
		w := sharedWorld()
		result, err := w.resolver(t, w).Lookup(t.Context(), "nope.signed.net", dns.TypeA)
		if err != nil || result.State != dnssec.Insecure {
			t.Fatal(result, err)
		}
		last := result.Chain[len(result.Chain)-1]
		if last.Zone != "signed.net" || last.State != dnssec.Insecure || !strings.Contains(last.Reason, "opt-out") {
			t.Errorf("%+v", last)
		}
	})
}

// TestNameCharacters: each character alone makes a name unusable.
func TestNameCharacters(t *testing.T) {
	s := newSmall()
	r := s.resolver(t, s)
	for _, c := range "\x00\x1f \\\"();@\x7f\x80" {
		var bad *dnssec.NameError
		if _, err := r.Lookup(t.Context(), "a"+string(c)+"b.example.com", dns.TypeA); !errors.As(err, &bad) {
			t.Errorf("%q: %v", c, err)
		}
	}
	for _, c := range "!~*_-/" {
		if _, err := r.Lookup(t.Context(), "a"+string(c)+"b.example.com", dns.TypeA); err != nil {
			t.Errorf("%q: %v", c, err)
		}
	}
	label := strings.Repeat("a", 62) // a name has at most 255 bytes with the lengths of its labels
	long := strings.Repeat(label+".", 4)
	for name, ok := range map[string]bool{long + "a": true, long + "aa": false} {
		var bad *dnssec.NameError
		if _, err := r.Lookup(t.Context(), name, dns.TypeA); errors.As(err, &bad) == ok {
			t.Errorf("%d characters: %v", len(name), err)
		}
	}
	for _, rrtype := range []uint16{dns.TypeANY, dns.TypeAXFR, dns.TypeIXFR, dns.TypeOPT, dns.TypeRRSIG, dns.TypeNone} {
		var bad *dnssec.NameError
		if _, err := r.Lookup(t.Context(), "example.com", rrtype); !errors.As(err, &bad) {
			t.Errorf("%d: %v", rrtype, err)
		}
	}
}

// TestAbsentTargetCosts: the reply to an alias whose target does not exist is proof enough.
func TestAbsentTargetCosts(t *testing.T) {
	s := newSmall()
	s.leaf.CNAME("to-none", "nope")
	r := s.resolver(t, s)
	if _, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); err != nil {
		t.Fatal(err)
	}
	s.ClearJournal()
	if got := outcome(r.Lookup(t.Context(), "to-none.example.com", dns.TypeA)); got != "secure nxdomain" || len(s.Journal()) != 1 {
		t.Errorf("%s after %v", got, s.Journal())
	}
}

// TestUnusableOptions: what New cannot use is an error of New.
func TestUnusableOptions(t *testing.T) {
	for _, o := range []dnssec.Options{{Anchors: "hello"}, {Servers: []string{"ftp://dns.example.net"}}} {
		if r, err := dnssec.New(o); r != nil || err == nil {
			t.Errorf("%+v: %v, %v", o, r, err)
		}
	}
}
