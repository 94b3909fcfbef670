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

// TestAbandoned: when no one waits any more, the work ends.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		ended := make(chan struct{})
		r := s.resolver(t, s, func(o *dnssec.Options) {
			o.Exchange = func(ctx context.Context, _ []byte) ([]byte, error) {
				<-ctx.Done()
				close(ended)
				return nil, ctx.Err()
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Lookup(ctx, "www.example.com", dns.TypeA); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		<-ended
	})
}
