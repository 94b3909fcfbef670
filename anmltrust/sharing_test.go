package anmltrust_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
)

// TestSharedDenials: what a denial of another process ends, and what follows it.
func TestSharedDenials(t *testing.T) {
	t.Run("ANML-12.4-39/reject-manifest-grant-after-a-query-denial", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.setRecord(both).manifest(manifest(listed))
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{})
		second.granted(anmltrust.CodeListed) // for an hour
		anmltrust.ForgetManifests(second.v)
		clear(under.entries)
		first.dns.TTL(2 * time.Minute)
		first.secure().status(404).denied(anmltrust.CodeQuery404) // for two minutes
		for key := range under.entries {                          // a cache may forget anything
			if strings.Contains(key, "/withdrawn/") {
				delete(under.entries, key)
			}
		}
		first.brand.Status(manifestPath, 503)
		second.after(time.Minute).denied(anmltrust.CodeQuery404)
		second.status(503).after(time.Minute).denied(anmltrust.CodeQueryUnavailable)
	})
	t.Run("ANML-12.4-39/reject-manifest-grant-that-another-process-withdrew", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.setRecord(manifestOnly).manifest(manifest(listed))
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{})
		if a := second.granted(anmltrust.CodeListed); a.Cached {
			t.Error("the grant is not its own")
		}
		anmltrust.ForgetManifests(second.v)
		first.manifest("[]")
		a, err := first.v.VerifyFresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestMalformed)
		second.after(time.Minute).denied(anmltrust.CodeManifestMalformed)
	})
	t.Run("ANML-12.4-39/reject-grant-whose-evidence-is-gone", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		first.after(time.Minute).granted(anmltrust.CodeQueryAuthorized) // reads its own evidence
		first.status(503)
		if a := second.granted(anmltrust.CodeQueryAuthorized); !a.Cached { // the evidence is still there
			t.Error("the grant was found out again")
		}
		clear(under.entries)
		first.after(time.Minute).granted(anmltrust.CodeQueryAuthorized) // the grant is its own
		second.denied(anmltrust.CodeQueryUnavailable)
	})
	t.Run("ANML-12.4-39/reject-grant-that-was-withdrawn-while-it-was-found", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly).query(authorized)
			cache := &hookedCache{Cache: &mapCache{}}
			w.host.Cache = cache
			w.granted(anmltrust.CodeQueryAuthorized)
			other := claimFrom("https://other.shop.example/x")
			cache.before = func(key string) {
				if key != "anmltrust/2/verdict/shop.example/brand.example/other.shop.example" {
					return
				}
				cache.before = nil // the grant of the pair was found a moment ago
				w.status(404)
				a, err := w.v.VerifyFresh(t.Context(), shopClaim)
				w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
			}
			if _, err := w.ask(other); err != nil || cache.before != nil {
				t.Errorf("%v, before the withdrawal: %v", err, cache.before != nil)
			}
			a, err := w.ask(other)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		})
	})
	t.Run("ANML-12.4-39/reject-older-grant-after-an-own-denial", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		under.fail = errors.New("gone") // neither the denial nor the withdrawal is stored
		a, err := second.after(time.Second).status(404).v.VerifyFresh(t.Context(), shopClaim)
		second.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		under.fail = nil
		second.after(time.Minute).denied(anmltrust.CodeQuery404)
		second.status(503).after(time.Hour).denied(anmltrust.CodeQueryUnavailable)
	})
	for name, withdraw := range map[string]func(*world){
		"reject-pair-by-a-withdrawal-alone": func(w *world) { w.status(404) },
		"reject-site-by-a-withdrawal-alone": func(w *world) { w.dns.Clear() },
	} {
		t.Run("ANML-12.4-39/"+name, func(t *testing.T) {
			first, second, under := sharing(t, false)
			second.granted(anmltrust.CodeQueryAuthorized)
			clear(under.entries)
			withdraw(first)
			if a, err := first.v.VerifyFresh(t.Context(), shopClaim); a != nil || err == nil {
				t.Errorf("%+v, %v", a, err)
			}
			for key := range under.entries {
				if strings.Contains(key, "/verdict/") {
					delete(under.entries, key)
				}
			}
			second.status(503).after(time.Minute).denied(anmltrust.CodeQueryUnavailable)
		})
	}
	t.Run("ANML-12.4-39/reject-host-by-a-withdrawal-alone", func(t *testing.T) {
		first, second, under := sharing(t, false)
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{})
		first.setRecord(both).secure().manifest(manifest(listed)).status(503)
		other := claimFrom("https://other.shop.example/x")
		second.granted(anmltrust.CodeListedFallback)
		a, err := second.ask(other)
		second.wants(a, err, anmltrust.Full, anmltrust.CodeListedFallback)
		anmltrust.ForgetManifests(second.v)
		first.manifest("[]")
		if a, err = first.v.VerifyFresh(t.Context(), shopClaim); a != nil || err == nil {
			t.Errorf("%+v, %v", a, err)
		}
		maps.DeleteFunc(under.entries, func(key string, _ mapEntry) bool { return strings.Contains(key, "/verdict/") })
		first.brand.Status(manifestPath, 503)
		second.after(time.Minute).denied(anmltrust.CodeManifestUnavailable)
		a, err = second.ask(other)
		second.wants(a, err, anmltrust.Full, anmltrust.CodeListedFallback)
	})
	t.Run("ANML-12.4-39/accept-newer-grant", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		first.after(time.Minute).query(answer(1, "2026-06-25T00:00:00Z", "body"))
		a, err := first.v.Refresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Display, anmltrust.CodeQueryAuthorized)
		a, err = second.ask(shopClaim)
		if second.wants(a, err, anmltrust.Display, anmltrust.CodeQueryAuthorized); a.Expires.Day() != 25 {
			t.Errorf("until %s", a.Expires)
		}
	})
	t.Run("ANML-12.4-39/accept-one-reading-a-minute", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		counted := &countedCache{Cache: second.host.Cache, gets: make(map[string]int)}
		second.host.Cache = counted
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{})
		for i, host := range []string{"a", "b", "c", "d"} {
			if i == 3 {
				second.after(time.Minute)
			}
			a, err := second.ask(claimFrom("https://" + host + ".shop.example/x"))
			second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		}
		if n := counted.gets["anmltrust/2/verdict/shop.example/brand.example/"]; n != 2 {
			t.Errorf("the decision about the pair was read %d times: %v", n, counted.gets)
		}
	})
}

// hookedCache calls a function before it looks a key up.
type hookedCache struct {
	lookleap.Cache
	before func(key string)
}

func (c *hookedCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if c.before != nil {
		c.before(key)
	}
	return c.Cache.Get(ctx, key)
}

// countedCache counts how often a key is read.
type countedCache struct {
	lookleap.Cache
	mu   sync.Mutex
	gets map[string]int
}

func (c *countedCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	c.mu.Lock()
	c.gets[key]++
	c.mu.Unlock()
	return c.Cache.Get(ctx, key)
}
