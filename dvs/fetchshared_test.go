package dvs_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestSharedCopies lets several processes load one skill with one cache.
func TestSharedCopies(t *testing.T) {
	const at, url, key = "/s/a/SKILL.md", "https://shop.example/s/a/SKILL.md", "dvs/2/https://shop.example/s/a/SKILL.md"
	type fleet struct {
		*lookleaptest.Internet
		site  *lookleaptest.Site
		cache lookleap.Cache
	}
	world := func(t *testing.T, header http.Header) fleet {
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").Handle(at, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/markdown")
			for name, values := range header {
				w.Header()[name] = values
			}
			_, _ = w.Write([]byte(refund))
		}))
		return fleet{net, site, lookleap.NewMemoryCache(10)}
	}
	process := func(t *testing.T, f fleet, roots ...string) *dvs.Loader {
		host := f.StubHost()
		host.Cache = f.cache
		return dvs.NewLoader(host, dvs.Options{Roots: registry(t, roots...)})
	}
	asked := func(f fleet) int { return len(f.Journal().Paths("shop.example")) }
	load := func(t *testing.T, l *dvs.Loader) *dvs.Loaded {
		t.Helper()
		skill, err := l.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return skill
	}

	t.Run("one-exchange", func(t *testing.T) {
		f := world(t, nil)
		first := load(t, process(t, f, "https://shop.example/"))
		second := load(t, process(t, f, "https://shop.example/s/"))
		if asked(f) != 1 || second.Digest != first.Digest || second.Root.String() != "https://shop.example/s/" || second.Verdict.Expires != first.Verdict.Expires {
			t.Errorf("asked %d times: %v", asked(f), second.Verdict)
		}
	})
	t.Run("each-judges", func(t *testing.T) {
		f := world(t, nil)
		load(t, process(t, f, "https://shop.example/"))
		if skill, err := process(t, f).Load(t.Context(), url); err == nil { // no one was asked there
			t.Error(skill)
		}
		strict := process(t, f, "https://shop.example/")
		if err := strict.RevokeDomain("shop.example", false); err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Load(t.Context(), url); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Error(err)
		}
	})
	t.Run("activation-asks", func(t *testing.T) {
		f := world(t, nil)
		r, err := process(t, f, "https://shop.example/").Register(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		f.site.File(at, "text/markdown", strings.Replace(refund, "Refunds", "Now refunds", 1))
		if skill, err := r.Activate(t.Context()); err != nil || !hasFinding(skill.Verdict, dvs.CodeChanged) {
			t.Error(skill, err)
		}
		if skill := load(t, process(t, f, "https://shop.example/")); skill.Description != "Now refunds an order." || asked(f) != 2 {
			t.Errorf("asked %d times: %q", asked(f), skill.Description)
		}
	})
	for name, header := range map[string]http.Header{
		"private":   {"Cache-Control": {"private, max-age=600"}},
		"no-store":  {"Cache-Control": {"no-store"}},
		"cookie":    {"Set-Cookie": {"user=1"}},
		"vary":      {"Vary": {"Accept, Authorization"}},
		"vary-all":  {"Vary": {"*"}},
		"vary-key":  {"Vary": {"Accept-Encoding", "X-Api-Key"}},
		"s-maxage":  {"Cache-Control": {"max-age=600, s-maxage=0"}},
		"not-fresh": {"Cache-Control": {"max-age=0"}},
	} {
		t.Run("for-one-user-"+name, func(t *testing.T) {
			f := world(t, header)
			load(t, process(t, f, "https://shop.example/"))
			if _, _, err := f.cache.Get(t.Context(), key); err == nil {
				t.Error("it is shared")
			}
			load(t, process(t, f, "https://shop.example/"))
			if asked(f) != 2 {
				t.Errorf("asked %d times", asked(f))
			}
		})
	}
	for name, header := range map[string][]string{
		"private":    {"Cache-Control", "private"},
		"no-store":   {"Cache-Control", "no-store"},
		"set-cookie": {"Set-Cookie", "user=1"},
		"vary":       {"Vary", "Cookie"},
		"no-cache":   {"Cache-Control", "no-cache"},
	} {
		t.Run("O34/reject-redirect-"+name, func(t *testing.T) {
			f := world(t, http.Header{"Cache-Control": {"max-age=86400"}})
			f.site.Handle("/moved/a/SKILL.md", lookleaptest.Status(302, append([]string{"Location", at}, header...)...))
			const url = "https://shop.example/moved/a/SKILL.md"
			for n := range 2 { // users, each with a process
				if _, err := process(t, f, "https://shop.example/").Load(t.Context(), url); err != nil {
					t.Fatal(err)
				}
				if asked(f) != 2*n+2 {
					t.Errorf("asked %d times", asked(f))
				}
			}
		})
	}
	t.Run("O34/accept-redirect", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=86400"}})
		f.site.Handle("/moved/a/SKILL.md", lookleaptest.Status(302, "Location", at, "Cache-Control", "max-age=600"))
		for range 2 {
			if _, err := process(t, f, "https://shop.example/").Load(t.Context(), "https://shop.example/moved/a/SKILL.md"); err != nil || asked(f) != 2 {
				t.Error(err, asked(f))
			}
		}
	})
	t.Run("what-is-odd-counts-not", func(t *testing.T) {
		for name, change := range map[string]func(string) string{
			"body":   func(s string) string { return strings.Replace(s, "Ask for", "Bad for", 1) },
			"longer": func(s string) string { return s + "more" },
			"size":   func(s string) string { return strings.Replace(s, `"size":`, `"size":9`, 1) },
			"digest": func(s string) string { return strings.Replace(s, `"digest":"sha256:`, `"digest":"sha256:00`, 1) },
			"status": func(s string) string { return strings.Replace(s, `"status":200`, `"status":404`, 1) },
			"hops": func(s string) string {
				return strings.Replace(s, `"status":200`, `"hops":["https://shop.example/1","https://shop.example/2","https://shop.example/3","https://shop.example/4","https://shop.example/5","https://shop.example/6"],"status":200`, 1)
			},
			"hop": func(s string) string {
				return strings.Replace(s, `"status":200`, `"hops":["http://shop.example/1"],"status":200`, 1)
			},
			"later": func(s string) string {
				return regexp.MustCompile(`"received":"[0-9]+`).ReplaceAllString(s, `"received":"9000`)
			},
			"json": func(s string) string { return s[1:] },
		} {
			t.Run(name, func(t *testing.T) {
				f := world(t, nil)
				load(t, process(t, f, "https://shop.example/"))
				value, expires, err := f.cache.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				if changed := change(string(value)); changed == string(value) {
					t.Fatalf("nothing is changed in %s", value)
				} else if err := f.cache.Put(t.Context(), key, []byte(changed), expires); err != nil {
					t.Fatal(err)
				}
				var events lookleaptest.Events
				host := f.StubHost()
				host.Cache, host.Observe = f.cache, events.Observe
				if skill := load(t, dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})); asked(f) != 2 || skill.Digest != dvs.DigestOf([]byte(refund)) {
					t.Errorf("asked %d times", asked(f))
				}
				if name != "hop" && !events.Has(lookleap.CodeCacheForged) { // a redirect that this process does not follow
					t.Error("it was not reported")
				}
			})
		}
	})
	t.Run("confirmed-stays-for-one-user", func(t *testing.T) {
		f := world(t, nil)
		f.site.HandleFunc(at, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") != "" {
				w.Header().Set("Cache-Control", "max-age=600")
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("Cache-Control", "private, max-age=60")
			lookleaptest.Body("text/markdown", refund).ServeHTTP(w, r)
		})
		l := process(t, f, "https://shop.example/")
		load(t, l)
		f.Clock().Advance(2 * time.Minute)
		load(t, l)
		if _, _, err := f.cache.Get(t.Context(), key); err == nil || asked(f) != 2 {
			t.Errorf("it is shared after %d requests", asked(f))
		}
	})
	t.Run("larger-or-further-than-another-may-read", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=86400"}})
		f.site.Handle("/moved/SKILL.md", lookleaptest.Status(302, "Location", at, "Cache-Control", "max-age=600"))
		const moved = "https://shop.example/moved/SKILL.md"
		if _, err := process(t, f, "https://shop.example/").Load(t.Context(), moved); err != nil {
			t.Fatal(err)
		}
		host := f.StubHost()
		host.Cache = f.cache
		for _, c := range []struct {
			limits dvs.Limits
			asked  int
			code   lookleap.Code
		}{
			{dvs.Limits{Skill: len(refund)}, 2, lookleap.CodeOK},
			{dvs.Limits{Skill: len(refund) - 1}, 4, lookleap.CodeTooLarge},
		} {
			l := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: c.limits})
			if _, err := l.Load(t.Context(), moved); lookleap.CodeOf(err) != c.code || asked(f) != c.asked {
				t.Errorf("%+v: %v, asked %d times", c.limits, err, asked(f))
			}
		}
	})
	t.Run("expires", func(t *testing.T) {
		f := world(t, http.Header{"Cache-Control": {"max-age=600"}})
		load(t, process(t, f, "https://shop.example/"))
		f.Clock().Advance(11 * time.Minute)
		load(t, process(t, f, "https://shop.example/"))
		if asked(f) != 2 {
			t.Errorf("asked %d times", asked(f))
		}
	})
	t.Run("taken-back", func(t *testing.T) {
		f := world(t, nil)
		r, err := process(t, f, "https://shop.example/").Register(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		f.site.Status(at, 404)
		if _, err := r.Activate(t.Context()); err == nil {
			t.Error("it is there")
		}
		if _, _, err := f.cache.Get(context.Background(), key); err == nil {
			t.Error("it is still shared")
		}
	})
}

// TestHungCache: a shared cache that never answers is a miss, for callers without a deadline too.
func TestHungCache(t *testing.T) {
	for name, deaf := range map[string]bool{"accept-cache-that-heeds-its-context": false, "accept-deaf-cache": true} {
		t.Run("O13/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(deaf)
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
				host := net.StubHost()
				host.Cache = hung
				l := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})
				if _, err := l.Load(context.Background(), "https://shop.example/s/a/SKILL.md"); err != nil || hung.Calls() == 0 {
					t.Errorf("%v after %d calls", err, hung.Calls())
				}
				hung.End()
			})
		})
	}
}
