package dnssec_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
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

// TestLifetimes: how long an answer may be used when something else than its records limits it.
func TestLifetimes(t *testing.T) {
	lookup := func(r *dnssec.Resolver, name string) time.Duration {
		t.Helper()
		result, err := r.Refresh(t.Context(), name, dns.TypeA)
		if err != nil {
			t.Fatal(err)
		}
		return result.TTL
	}
	t.Run("accept-use-of-keys", func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, s, func(o *dnssec.Options) { o.Limits.KeyTTL = 10 * time.Minute }) // the zone says an hour
		for _, want := range []time.Duration{10 * time.Minute, 9*time.Minute + 30*time.Second} {
			if got := lookup(r, "long.example.com"); got != want {
				t.Errorf("%v, want %v", got, want)
			}
			s.now = s.now.Add(30 * time.Second)
		}
	})
	t.Run("reject-use-beyond-the-second-in-which-keys-end", func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, s, func(o *dnssec.Options) { o.Limits.KeyTTL = 10 * time.Minute })
		lookup(r, "www.example.com")
		s.now = s.now.Add(10*time.Minute - time.Millisecond)
		if got := lookup(r, "long.example.com"); got != 0 {
			t.Errorf("%v", got)
		}
	})
	t.Run("accept-most-of-an-answer", func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, s, func(o *dnssec.Options) { o.Limits.AnswerTTL = 10 * time.Second })
		if got := lookup(r, "www.example.com"); got != 10*time.Second {
			t.Errorf("%v", got)
		}
	})
	t.Run("accept-ttl-from-before-a-slow-lookup", func(t *testing.T) {
		s := newSmall()
		var later atomic.Int64 // questions are asked at the same time, and each reads the clock
		r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.On("com", dns.TypeDS, func(_, m *dns.Msg) *dns.Msg {
			later.Store(int64(2 * time.Second))
			return m
		})}}, func(o *dnssec.Options) {
			o.Now = func() time.Time { return s.now.Add(time.Duration(later.Load())) }
		})
		if got := lookup(r, "www.example.com"); got != 100*time.Second {
			t.Errorf("%v", got)
		}
	})
	t.Run("accept-what-could-not-be-checked", func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.StripDNSSEC()}})
		if got := lookup(r, "www.example.com"); got != 100*time.Second {
			t.Errorf("%v", got)
		}
	})
}

// TestUnusableOptions: what New cannot use is an error of New.
func TestUnusableOptions(t *testing.T) {
	for _, o := range []dnssec.Options{{Anchors: "hello"}, {Servers: []string{"ftp://dns.example.net"}}} {
		if r, err := dnssec.New(o); r != nil || err == nil {
			t.Errorf("%+v: %v, %v", o, r, err)
		}
	}
}
