package dnssec_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

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
