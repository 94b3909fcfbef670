package anmltrust_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

var sealKey = []byte("0123456789abcdef0123456789abcdef")

// mapCache is a cache whose entries a test can change, and that can be made to fail.
type mapCache struct {
	mu      sync.Mutex
	entries map[string]mapEntry
	fail    error
	hidden  map[string]string // keys above a seal by their names here
}

type mapEntry struct {
	value   []byte
	expires time.Time
}

func (c *mapCache) Get(_ context.Context, key string) ([]byte, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return nil, time.Time{}, c.fail
	}
	e, ok := c.entries[key]
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return e.value, e.expires, nil
}

func (c *mapCache) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return c.fail
	}
	if c.entries == nil {
		c.entries = make(map[string]mapEntry)
	}
	c.entries[key] = mapEntry{value, expires}
	return nil
}

func (c *mapCache) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
	return c.fail
}

// verdictKeyOf finds the one stored decision.
func (c *mapCache) verdictKey(t *testing.T) string {
	t.Helper()
	for key := range c.entries {
		if strings.Contains(c.plain(key), "/verdict/") {
			return key
		}
	}
	t.Fatal("no decision is shared")
	return ""
}

// plain is the key that an entry has above a seal, which hides it.
func (c *mapCache) plain(key string) string {
	if plain, ok := c.hidden[key]; ok {
		return plain
	}
	return key
}

// moveTo puts an entry under another key, as the cache below has it.
func (c *mapCache) moveTo(key string, e mapEntry) {
	if c.hidden != nil {
		last := &mapCache{}
		if sealed, err := lookleap.SealedCache(last, sealKey); err == nil {
			_ = sealed.Put(context.Background(), key, nil, e.expires)
		}
		for name := range last.entries {
			key = name
		}
	}
	c.entries[key] = e
}

// watched notes which key above a seal is which below.
type watched struct {
	lookleap.Cache
	under *mapCache
}

func (w watched) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	probe := &mapCache{}
	sealed, err := lookleap.SealedCache(probe, sealKey)
	if err != nil {
		return err
	}
	_ = sealed.Put(ctx, key, nil, expires)
	w.under.mu.Lock()
	for name := range probe.entries {
		w.under.hidden[name] = key
	}
	w.under.mu.Unlock()
	return w.Cache.Put(ctx, key, value, expires)
}

// sharing has two agents on one cache, sealed or not.
func sharing(t *testing.T, seal bool) (first, second *world, under *mapCache) {
	t.Helper()
	under = &mapCache{}
	var cache lookleap.Cache = under
	if seal {
		sealed, err := lookleap.SealedCache(under, sealKey)
		if err != nil {
			t.Fatal(err)
		}
		under.hidden = make(map[string]string)
		cache = watched{sealed, under}
	}
	first = newWorld(t, queryOnly).query(authorized)
	first.host.Cache = cache
	return first, another(first, cache), under
}

// another is another process's agent, in the same world.
func another(w *world, cache lookleap.Cache) *world {
	two := *w
	two.events = &lookleaptest.Events{}
	two.host = w.net.StubHost()
	two.host.Cache = cache
	two.host.Observe = two.events.Observe
	two.v = anmltrust.NewVerifier(two.host, anmltrust.Rules{})
	return &two
}

// TestSharedManifest: whose the answers are that decisions rest on.
func TestSharedManifest(t *testing.T) {
	for name, c := range map[string]struct {
		redirect, file []string
		cached         bool // the decision serves another process
	}{
		"accept-for-all":           {nil, []string{"Cache-Control", "max-age=3600"}, true},
		"reject-private":           {nil, []string{"Cache-Control", "private, max-age=3600"}, false},
		"reject-set-cookie":        {nil, []string{"Set-Cookie", "user=1"}, false},
		"reject-private-redirect":  {[]string{"Cache-Control", "private"}, []string{"Cache-Control", "max-age=3600"}, false},
		"reject-no-store-redirect": {[]string{"Cache-Control", "no-store"}, []string{"Cache-Control", "max-age=3600"}, false},
		"accept-redirect-for-all":  {[]string{"Cache-Control", "max-age=3600"}, []string{"Cache-Control", "max-age=3600"}, true},
	} {
		t.Run("O34/"+name, func(t *testing.T) {
			w := newWorld(t, manifestOnly)
			w.host.Cache = &mapCache{}
			body := manifest(listed)
			path := manifestPath
			if c.redirect != nil {
				path = "/moved.json"
				w.brand.Handle(manifestPath, lookleaptest.Status(302, append([]string{"Location", path}, c.redirect...)...))
			}
			w.brand.Handle(path, handle(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
				for i := 0; i < len(c.file); i += 2 {
					rw.Header().Set(c.file[i], c.file[i+1])
				}
				rw.Write([]byte(body))
			}))
			w.granted(anmltrust.CodeListed)
			if a := another(w, w.host.Cache).granted(anmltrust.CodeListed); a.Cached != c.cached {
				t.Errorf("cached: %v", a.Cached)
			}
		})
	}
}

func TestSharedCache(t *testing.T) {
	t.Run("ANML-12.4-39/accept-one-exchange-for-all", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		if a := second.granted(anmltrust.CodeQueryAuthorized); !a.Cached {
			t.Error("the grant was found out again")
		}
		first.traffic(2, 1, 0)
	})
	t.Run("ANML-12.4-39/accept-negative", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.status(404).denied(anmltrust.CodeQuery404)
		second.denied(anmltrust.CodeQuery404)
		first.traffic(2, 1, 0)
	})
	t.Run("ANML-12.4-39/reject-revoked-within-a-minute", func(t *testing.T) {
		first, second, _ := sharing(t, true)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		first.status(404)
		a, err := second.v.VerifyFresh(t.Context(), shopClaim)
		second.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		first.after(time.Minute).denied(anmltrust.CodeQuery404)
	})
	t.Run("ANML-12.4-39/reject-withdrawn-record", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		first.dns.Clear()
		a, err := first.v.VerifyFresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Unlisted, anmltrust.CodeNoRecord)
		first.status(404)
		second.after(time.Minute).denied(anmltrust.CodeQuery404) // its own record lives on, the grant does not
	})
	t.Run("ANML-12.4-39/reject-expired-on-load", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		first.status(404)
		second.after(20 * 24 * time.Hour).denied(anmltrust.CodeQuery404)
	})
	t.Run("ANML-12.4-39/reject-by-own-policy", func(t *testing.T) {
		first, second, _ := sharing(t, false)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{RequireDNSSECForQuery: true})
		second.denied(anmltrust.CodeDNSSECRequired)
	})
	t.Run("ANML-12.4-39/reject-revoked-by-a-clock-that-is-late", func(t *testing.T) {
		first, second, _ := sharing(t, true)
		second.host.Now = func() time.Time { return first.net.Clock().Now().Add(-2 * time.Minute) }
		second.v = anmltrust.NewVerifier(second.host, anmltrust.Rules{})
		first.granted(anmltrust.CodeQueryAuthorized)
		first.after(time.Minute).status(404)
		a, err := second.v.VerifyFresh(t.Context(), shopClaim)
		second.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		first.after(time.Minute).denied(anmltrust.CodeQuery404)
	})
	t.Run("ANML-12.4-39/accept-failing-cache", func(t *testing.T) {
		first, _, under := sharing(t, false)
		under.fail = errors.New("gone")
		first.granted(anmltrust.CodeQueryAuthorized)
		first.saw(lookleap.CodeIO)
		first.after(2 * time.Minute).granted(anmltrust.CodeQueryAuthorized)
		first.traffic(1, 1, 0)
	})
	for _, seal := range []bool{false, true} {
		kind := "unsealed"
		if seal {
			kind = "sealed"
		}
		for name, change := range map[string]func(c *mapCache, key string, e mapEntry){
			"altered": func(c *mapCache, key string, e mapEntry) {
				e.value = bytes.Clone(e.value)
				e.value[len(e.value)/2] ^= 1
				e.value = e.value[:len(e.value)-1]
				c.entries[key] = e
			},
			"garbage": func(c *mapCache, key string, e mapEntry) {
				c.entries[key] = mapEntry{[]byte(`{"domain":"shop.example"}`), e.expires}
			},
			"moved": func(c *mapCache, key string, e mapEntry) {
				delete(c.entries, key)
				c.moveTo(strings.Replace(c.plain(key), "shop.example", "evil.example", 1), e)
			},
		} {
			t.Run(fmt.Sprintf("ANML-12.4-39/reject-%s-%s", kind, name), func(t *testing.T) {
				first, second, under := sharing(t, seal)
				first.granted(anmltrust.CodeQueryAuthorized)
				key := under.verdictKey(t)
				change(under, key, under.entries[key])
				first.status(404)
				claim := shopClaim
				if name == "moved" {
					claim.URL = "https://evil.example/x"
				}
				a, err := second.ask(claim)
				second.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
				second.saw(lookleap.CodeCacheForged)
			})
		}
	}
	for name, change := range map[string][2]string{
		"another-server":   {`"url":"https://cdn.shop.example`, `"url":"https://cdn.evil.example`},
		"without-evidence": {`"evidence":`, `"x":`},
		"unfinished":       {`"exchanges":`, `"x":`},
		"other-source":     {`"url":"https://trust.example/authorize"`, `"url":"https://evil.example/authorize"`},
	} {
		t.Run("ANML-12.4-39/reject-evidence-of-"+name, func(t *testing.T) {
			first, second, under := sharing(t, false)
			first.granted(anmltrust.CodeQueryAuthorized)
			key := under.verdictKey(t)
			e := under.entries[key]
			changed := bytes.ReplaceAll(e.value, []byte(change[0]), []byte(change[1]))
			if bytes.Equal(changed, e.value) {
				t.Fatalf("%s", e.value)
			}
			under.entries[key] = mapEntry{changed, e.expires}
			first.status(404)
			second.denied(anmltrust.CodeQuery404)
			second.saw(lookleap.CodeCacheForged)
			if text := fmt.Sprint(second.events.All()); name == "without-evidence" && !strings.Contains(text, "or is damaged: ") {
				t.Errorf("the fault is not named after what it means: %s", text)
			}
		})
	}
	t.Run("ANML-12.4-39/reject-replayed", func(t *testing.T) {
		first, second, under := sharing(t, true)
		first.granted(anmltrust.CodeQueryAuthorized)
		second.granted(anmltrust.CodeQueryAuthorized)
		key := under.verdictKey(t)
		old := under.entries[key]
		first.status(404).after(time.Second)
		a, err := first.v.VerifyFresh(t.Context(), shopClaim)
		first.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		under.entries[key] = old
		second.after(time.Minute).denied(anmltrust.CodeQuery404) // the mark withdraws it
		under.entries[key] = old
		another(first, first.host.Cache).denied(anmltrust.CodeQuery404) // for a process that knows nothing, too
		under.entries[key] = old
		first.after(time.Hour).denied(anmltrust.CodeQuery404)
		first.saw(lookleap.CodeCacheForged)
	})
	t.Run("ANML-12.4-39/reject-forged-grant", func(t *testing.T) {
		first, second, under := sharing(t, false)
		first.query(answer(1, "2026-06-20T00:00:00Z", "body"))
		first.ask(shopClaim)
		key := under.verdictKey(t)
		found := regexp.MustCompile(`"found":"[^"]*"`)
		value := found.ReplaceAll(under.entries[key].value, []byte(`"found":"2031-01-01T00:00:00Z"`)) // evidence from the future
		if bytes.Equal(value, under.entries[key].value) {
			t.Fatalf("%s", value)
		}
		under.entries[key] = mapEntry{value, under.entries[key].expires}
		first.status(404)
		second.denied(anmltrust.CodeQuery404)
		second.saw(lookleap.CodeCacheForged)
	})
}

// TestHungCache: a shared cache that never answers is a miss, for callers without a deadline too.
func TestHungCache(t *testing.T) {
	for name, deaf := range map[string]bool{"accept-cache-that-heeds-its-context": false, "accept-deaf-cache": true} {
		t.Run("O13/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(deaf)
				w := newWorld(t, queryOnly).query(authorized)
				w.host.Cache = hung
				if a, err := w.v.Verify(context.Background(), shopClaim); err != nil || a.Tier != anmltrust.Full || hung.Calls() == 0 {
					t.Errorf("%+v, %v after %d calls", a, err, hung.Calls())
				}
				hung.End()
			})
		})
	}
}
