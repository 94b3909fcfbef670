package dnssec_test

import (
	"context"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// BenchmarkLookup measures validated lookups against the internet in memory, and the one signature
// check that a warm lookup cannot do without.
func BenchmarkLookup(b *testing.B) {
	s := newSmall()
	ctx := context.Background()
	run := func(b *testing.B, r *dnssec.Resolver, lookup func(*dnssec.Resolver) (*dnssec.Result, error)) {
		b.ReportAllocs()
		for b.Loop() {
			if result, err := lookup(r); err != nil || result.State != dnssec.Secure {
				b.Fatal(result, err)
			}
		}
	}
	b.Run("raw-signature", func(b *testing.B) {
		m := askSmall(s, "www.example.com.")
		keys := s.Handle(func() *dns.Msg {
			q := new(dns.Msg).SetQuestion("example.com.", dns.TypeDNSKEY)
			q.SetEdns0(1232, true)
			return q
		}())
		key := keys.Answer[0].(*dns.DNSKEY)
		sig := m.Answer[2].(*dns.RRSIG)
		b.ReportAllocs()
		for b.Loop() {
			if err := sig.Verify(key, m.Answer[:2]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lab-alone", func(b *testing.B) {
		exchange := zone.Exchange(s)
		q := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)
		q.SetEdns0(1232, true)
		wire, _ := q.Pack()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := exchange(ctx, wire); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		run(b, s.resolver(b, s), func(r *dnssec.Resolver) (*dnssec.Result, error) {
			return r.Refresh(ctx, "www.example.com", dns.TypeA)
		})
	})
	b.Run("cached", func(b *testing.B) {
		run(b, s.resolver(b, s), func(r *dnssec.Resolver) (*dnssec.Result, error) {
			return r.Lookup(ctx, "www.example.com", dns.TypeA)
		})
	})
	b.Run("cold", func(b *testing.B) {
		run(b, nil, func(*dnssec.Resolver) (*dnssec.Result, error) {
			return s.resolver(b, s).Lookup(ctx, "www.example.com", dns.TypeA)
		})
	})
}

// BenchmarkKeyTrap measures how long hostile zones can keep us busy.
func BenchmarkKeyTrap(b *testing.B) {
	w := newWorld(time.Unix(1.7e9, 0))
	for _, name := range []string{"www.keytrap.org", "www.sigtrap.org", "nope.iter2500.org"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.resolver(b, w).Lookup(context.Background(), name, dns.TypeA)
			}
		})
	}
}
