package dnssec_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// TestSharedZone: lookups of different names share the work on their zone, and one that ends
// early harms no other.
func TestSharedZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.Delay(100 * time.Millisecond)}})
		first, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := r.Lookup(first, "www.example.com", dns.TypeA); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		group.Go(func() {
			time.Sleep(time.Millisecond)
			if result, err := r.Lookup(t.Context(), "_anml.example.com", dns.TypeTXT); outcome(result, err) != "secure" {
				t.Error(outcome(result, err), err)
			}
		})
		group.Wait()
		if n := len(s.Journal()); n > 7 {
			t.Errorf("%d queries for two names of one zone", n)
		}
	})
}

// TestSharedBudget: a lookup that waits for another's work on a zone does not inherit its
// exhausted budget.
func TestSharedBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		s.Put(zone.New("other.com").Sign(zone.Signing{}).A("www", "192.0.2.4").CNAME("alias", "www.example.com."))
		r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.Delay(100 * time.Millisecond)}}, func(o *dnssec.Options) {
			o.Limits.Queries = 7
		})
		var group sync.WaitGroup
		group.Go(func() {
			if result, err := r.Lookup(t.Context(), "alias.other.com", dns.TypeA); outcome(result, err) != "budget" {
				t.Error(outcome(result, err), err)
			}
		})
		group.Go(func() {
			time.Sleep(350 * time.Millisecond)
			if result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); outcome(result, err) != "secure" {
				t.Error(outcome(result, err), err)
			}
		})
		group.Wait()
	})
}

// TestSharedFailure: a failure of a zone's server is one for all that wait, and is asked for once.
func TestSharedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{
			zone.Delay(100 * time.Millisecond), zone.On("example.com", dns.TypeDNSKEY, zone.Rcode(dns.RcodeServerFailure)),
		}})
		var group sync.WaitGroup
		for name, rrtype := range map[string]uint16{"www.example.com": dns.TypeA, "_anml.example.com": dns.TypeTXT} {
			group.Go(func() {
				if result, err := r.Lookup(t.Context(), name, rrtype); outcome(result, err) != "server" {
					t.Error(outcome(result, err), err)
				}
			})
		}
		group.Wait()
		asked := 0
		for _, e := range s.Journal() {
			if e.Name == "example.com." && e.Type == dns.TypeDNSKEY {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%d questions for the keys", asked)
		}
	})
}

// TestSharedTime: a lookup that joined another's work on a zone goes on when the other's time is
// over.
func TestSharedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		exchange := zone.Exchange(s)
		var stuck sync.Once
		r := s.resolver(t, s, func(o *dnssec.Options) {
			o.Exchange = func(ctx context.Context, query []byte) (reply []byte, err error) {
				var m dns.Msg
				if err := m.Unpack(query); err == nil && m.Question[0] == (dns.Question{Name: "example.com.", Qtype: dns.TypeDNSKEY, Qclass: dns.ClassINET}) {
					stuck.Do(func() { <-ctx.Done() })
				}
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return exchange(ctx, query)
			}
		})
		var group sync.WaitGroup
		group.Go(func() {
			if result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); outcome(result, err) != "server" {
				t.Error(outcome(result, err), err)
			}
		})
		group.Go(func() {
			time.Sleep(5 * time.Second)
			if result, err := r.Lookup(t.Context(), "_anml.example.com", dns.TypeTXT); outcome(result, err) != "secure" {
				t.Error(outcome(result, err), err)
			}
		})
		group.Wait()
	})
}
