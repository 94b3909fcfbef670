package anmltrust_test

import (
	"bytes"
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
	t.Run("ANML-12.4-39/accept-grant-after-an-own-denial", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.status(404).denied(anmltrust.CodeQuery404)
		second.denied(anmltrust.CodeQuery404)
		first.after(time.Hour).query(authorized).granted(anmltrust.CodeQueryAuthorized)
		first.status(404).net.Journal().Clear()
		if a := second.granted(anmltrust.CodeQueryAuthorized); !a.Cached {
			t.Error("the grant was found out again")
		}
		second.traffic(1, 0, 0)
	})
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
	t.Run("ANML-12.4-39/accept-query-grant-after-an-own-denial-is-read-again", func(t *testing.T) {
		w, _, _ := sharing(t, false)
		w.setRecord(both).manifest(manifest(entry("elsewhere.example", 1, "body")))
		w.denied(anmltrust.CodeNotListed)
		w.secure()
		other := claimFrom("https://other.shop.example/x")
		a, err := w.after(10*time.Minute).v.VerifyFresh(t.Context(), other)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		w.status(503).after(time.Minute).denied(anmltrust.CodeNotListed)
		a, err = w.ask(other)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
	})
	t.Run("ANML-12.4-39/reject-query-grant-after-a-malformed-manifest", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.setRecord(both).secure()
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		first.dns.DNSSEC(lookleap.Insecure)
		first.manifest("[]").status(503)
		a, err := first.v.VerifyFresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestMalformed)
		second.after(time.Minute).denied(anmltrust.CodeManifestMalformed)
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
	t.Run("ANML-12.4-39/reject-standing-answer-after-the-evidence-is-gone", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		other := claimFrom("https://other.shop.example/x")
		a, err := second.after(50 * time.Second).ask(other)
		second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		clear(under.entries)
		first.status(503)
		second.after(10 * time.Second).denied(anmltrust.CodeQueryUnavailable)
		a, err = second.ask(other)
		second.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryUnavailable)
	})
	t.Run("ANML-12.4-39/reject-standing-answer-a-minute-after-the-last-reading", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		other := claimFrom("https://other.shop.example/x")
		a, err := second.after(50 * time.Second).ask(other) // by a grant that was read 50 seconds before
		second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		clear(under.entries)
		first.status(503)
		a, err = second.after(10 * time.Second).ask(other)
		second.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryUnavailable)
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
	t.Run("ANML-12.4-39/accept-grant-of-another-host", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.setRecord(manifestOnly).manifest(manifest(entry("other.shop.example", 2, "body")))
		other := claimFrom("https://other.shop.example/x")
		a, err := second.ask(other)
		second.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		first.after(10 * time.Minute).denied(anmltrust.CodeNotListed) // which withdraws nothing of the other host
		second.denied(anmltrust.CodeNotListed)
		maps.DeleteFunc(under.entries, func(key string, _ mapEntry) bool { return strings.HasSuffix(key, "/other.shop.example") })
		a, err = second.ask(other)
		if second.wants(a, err, anmltrust.Full, anmltrust.CodeListed); !a.Cached {
			t.Error("the grant was found out again")
		}
	})
	t.Run("ANML-12.4-39/accept-grant-of-another-domain", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		elsewhere := claimFrom("https://cdn.elsewhere.example/x")
		a, err := second.ask(elsewhere)
		second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		first.status(404).denied(anmltrust.CodeQuery404)
		a, err = second.status(503).after(time.Minute).ask(elsewhere)
		if second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized); !a.Cached {
			t.Error("the grant was found out again")
		}
	})
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
	t.Run("ANML-12.4-39/accept-grant-of-the-pair-next-to-one-of-a-host", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.setRecord(both).secure().manifest(manifest(listed))
		a, err := second.ask(claimFrom("https://other.shop.example/x"))
		second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		first.dns.DNSSEC(lookleap.Insecure)
		a, err = first.after(time.Second).v.VerifyFresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		first.brand.Status(manifestPath, 503)
		if a := second.status(503).after(time.Minute).granted(anmltrust.CodeListed); !a.Cached {
			t.Error("the grant of the other process was not used")
		}
		a, err = second.ask(claimFrom("https://third.shop.example/x"))
		second.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
	})
	t.Run("ANML-12.4-39/accept-own-grant-next-to-a-denial-that-ended", func(t *testing.T) {
		first, second, under := sharing(t, false)
		second.granted(anmltrust.CodeQueryAuthorized)
		clear(under.entries)
		first.dns.TTL(time.Minute)
		first.status(404).after(time.Second).denied(anmltrust.CodeQuery404)
		maps.DeleteFunc(under.entries, func(key string, _ mapEntry) bool { return strings.Contains(key, "/withdrawn/") })
		key := under.verdictKey(t)
		under.entries[key] = mapEntry{under.entries[key].value, start.Add(time.Hour)} // its end was changed
		second.status(503).after(time.Minute).granted(anmltrust.CodeQueryAuthorized)
	})
	t.Run("ANML-12.4-39/reject-withdrawn-grant-whatever-the-hold", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{})
		second.granted(anmltrust.CodeQueryAuthorized)
		first.status(404)
		a, err := first.v.VerifyFresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		second.after(time.Minute).denied(anmltrust.CodeQuery404)
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
	t.Run("ANML-12.4-39/reject-grant-at-its-end", func(t *testing.T) {
		w, _, _ := sharing(t, false)
		w.query(answer(2, "2026-06-01T12:00:30Z", "body")).granted(anmltrust.CodeQueryAuthorized)
		w.status(503).after(30*time.Second - 1).granted(anmltrust.CodeQueryAuthorized)
		w.after(1).denied(anmltrust.CodeQueryUnavailable)
	})
	t.Run("ANML-12.4-39/reject-unfinished-evidence-of-a-manifest", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.setRecord(manifestOnly).manifest(manifest(listed)).granted(anmltrust.CodeListed)
		key := under.verdictKey(t)
		e := under.entries[key]
		e.value = bytes.ReplaceAll(e.value, []byte(`"exchanges":`), []byte(`"x":`))
		under.entries[key] = e
		first.brand.Status(manifestPath, 404)
		second.denied(anmltrust.CodeManifestMissing)
		second.saw(lookleap.CodeCacheForged)
	})
	t.Run("ANML-12.4-39/reject-evidence-of-a-failure", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		key := under.verdictKey(t)
		e := under.entries[key]
		e.value = bytes.ReplaceAll(e.value, []byte(`"status":200`), []byte(`"status":503`))
		under.entries[key] = e
		first.status(404)
		second.denied(anmltrust.CodeQuery404)
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
