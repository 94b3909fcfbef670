package dvs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestLevels is progressive loading (section 4.6).
func TestLevels(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	world := func(t *testing.T) (*lookleaptest.Internet, *lookleaptest.Site, *dvs.Loader) {
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).File("/s/a/ADVANCED.md", "text/markdown", "more").File("/s/a/data/x.json", "application/json", "{}")
		return net, site, dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
	}
	t.Run("DVS-4.6-01/accept-three-fetches", func(t *testing.T) {
		net, _, loader := world(t)
		r, err := loader.Register(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		skill, err := r.Activate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); err != nil {
			t.Fatal(err)
		}
		if got := net.Journal().Paths("shop.example"); !slices.Equal(got, []string{"GET /s/a/SKILL.md", "GET /s/a/SKILL.md", "GET /s/a/ADVANCED.md"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DVS-4.6-02/accept-metadata-only", func(t *testing.T) {
		_, _, loader := world(t)
		r, err := loader.Register(t.Context(), url)
		if err != nil || r.ContextText() != "refund: Refunds an order." || r.Header.IsZero() || r.Digest != dvs.DigestOf([]byte(refund)) {
			t.Error(r, err)
		}
	})
	t.Run("DVS-4.3-13/reject-characters-in-the-list", func(t *testing.T) {
		_, site, loader := world(t)
		site.File("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "Refunds", `"b\n\u202e\u200bc" #`, 1))
		if r, err := loader.Register(t.Context(), url); err != nil || r.ContextText() != "refund: b c" {
			t.Errorf("got %q, %v", r.ContextText(), err)
		}
	})
	t.Run("DVS-4.6-03/accept-unchanged", func(t *testing.T) {
		_, _, loader := world(t)
		r, _ := loader.Register(t.Context(), url)
		if skill, err := r.Activate(t.Context()); err != nil || hasFinding(skill.Verdict, dvs.CodeChanged) {
			t.Error(err)
		}
	})
	t.Run("DVS-4.6-03/accept-changed-is-a-finding", func(t *testing.T) {
		_, site, loader := world(t)
		r, _ := loader.Register(t.Context(), url)
		site.File("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "Refunds", "Now refunds", 1))
		skill, err := r.Activate(t.Context())
		if err != nil || !hasFinding(skill.Verdict, dvs.CodeChanged) || skill.Description != "Now refunds an order." {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-4.6-03/reject-consent-to-a-url-dropped-by-change", func(t *testing.T) {
		ui := &prompter{decide: agreeForAnHour}
		site, _, loader, skill := scriptWorld(t, ui)
		site.File("/s/b/x.csv", "text/csv", "a")
		for _, want := range []int{1, 1, 2} {
			if want == 2 {
				site.File("/s/a/SKILL.md", "text/markdown", refund+"changed\n")
				skill.Deactivate()
				skill = must(loader.Load(t.Context(), scriptSkill))
			}
			if _, err := skill.Resource(t.Context(), "/s/b/x.csv"); err != nil || ui.count() != want {
				t.Errorf("asked %d times, want %d: %v", ui.count(), want, err)
			}
		}
	})
	t.Run("DVS-4.5.1-02/accept-on-demand", func(t *testing.T) {
		net, _, loader := world(t)
		skill, err := loader.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if got := net.Journal().Paths("shop.example"); len(got) != 1 {
			t.Errorf("activation sent %v", got)
		}
		r, err := skill.Resource(t.Context(), "ADVANCED.md")
		if err != nil || r.Kind != dvs.Instructions || r.External {
			t.Fatal(r, err)
		}
		if text, err := r.ContextText(); err != nil || text != "more" {
			t.Error(text, err)
		}
	})
	t.Run("DVS-4.5.3-02/accept-on-demand", func(t *testing.T) {
		net, _, loader := world(t)
		skill, _ := loader.Load(t.Context(), url)
		before := len(net.Journal().Requests())
		r, err := skill.Resource(t.Context(), "data/x.json")
		if before != 1 || err != nil || r.Kind != dvs.Data || string(r.Bytes()) != "{}" {
			t.Error(before, err)
		}
	})
	t.Run("DVS-4.6-05/reject-after-deactivation", func(t *testing.T) {
		_, _, loader := world(t)
		skill, _ := loader.Load(t.Context(), url)
		if text, err := skill.ContextText(); err != nil || !strings.HasPrefix(text, "Ask for") {
			t.Fatal(text, err)
		}
		skill.Deactivate()
		if text, err := skill.ContextText(); lookleap.CodeOf(err) != dvs.CodeNotActivated || text != "" {
			t.Error(text, err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); lookleap.CodeOf(err) != dvs.CodeNotActivated {
			t.Error(err)
		}
		if skill.Name != "refund" {
			t.Error("the metadata are gone")
		}
	})
	t.Run("DVS-4.6-05/accept-again", func(t *testing.T) {
		net, _, loader := world(t)
		skill, _ := loader.Load(t.Context(), url)
		skill.Deactivate()
		_, err := loader.Load(t.Context(), url)
		if sent := net.Journal().Requests(); err != nil || len(sent) != 2 { // no copy was kept
			t.Errorf("%v after %v", err, sent)
		}
	})
}

func TestFreshness(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	cached := func(control, tag string, hits *int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			*hits++
			w.Header().Set("Content-Type", "text/markdown")
			if control != "" {
				w.Header().Set("Cache-Control", control)
			}
			if tag != "" {
				w.Header().Set("ETag", tag)
				if r.Header.Get("If-None-Match") == tag {
					w.Header().Set("Cache-Control", strings.Replace(control, "public", "private", 1))
					w.Header()["Date"] = nil // the server's clock is not the one that the test advances
					w.WriteHeader(http.StatusNotModified)
					return
				}
			}
			_, _ = w.Write([]byte(refund))
		})
	}
	for name, control := range map[string]string{"reject-copy-that-a-304-makes-private": "public, max-age=60", "accept-copy-that-a-304-confirms": "max-age=60"} {
		t.Run("O34/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, hits, cache := lookleaptest.ForTest(t), 0, lookleap.NewMemoryCache(10)
				net.Site("shop.example").Handle("/s/a/SKILL.md", cached(control, `"v1"`, &hits))
				host := net.StubHost()
				host.Cache = cache
				loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})
				for n, want := range []bool{true, strings.HasPrefix(name, "accept-")} {
					if _, err := loader.Load(t.Context(), url); err != nil {
						t.Fatal(err)
					}
					if _, _, err := cache.Get(t.Context(), "dvs/2/"+url); (err == nil) != want || hits != n+1 {
						t.Errorf("after %d requests: %v", hits, err)
					}
					net.Clock().Advance(time.Hour)
				}
			})
		})
	}
	for _, c := range []struct {
		id, control, tag string
		after            time.Duration
		hits             int
	}{
		{"accept-default-hour", "", "", 59 * time.Minute, 1},
		{"reject-after-default", "", "", 61 * time.Minute, 2},
		{"accept-max-age", "max-age=7200", "", 119 * time.Minute, 1},
		{"reject-clamped-to-a-day", "max-age=9999999", "", 25 * time.Hour, 2},
		{"reject-no-store", "no-store", "", 0, 2},
		{"reject-no-cache", "no-cache", "", 0, 2},
		{"accept-revalidated", "max-age=60", `"v1"`, time.Hour, 2},
	} {
		t.Run("DVS-3.1-56/"+c.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				hits := 0
				net.Site("shop.example").Handle("/s/a/SKILL.md", cached(c.control, c.tag, &hits))
				loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
				first, err := loader.Load(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				net.Clock().Advance(c.after)
				second, err := loader.Load(t.Context(), url)
				if err != nil || hits != c.hits || second.Digest != first.Digest {
					t.Errorf("%d requests, %v", hits, err)
				}
				if c.tag == "" {
					return
				}
				if asked := net.Journal().Requests()[1].Header.Get("If-None-Match"); asked != c.tag {
					t.Errorf("the copy was asked for with %q", asked)
				}
				if _, err := loader.Load(t.Context(), url); err != nil || hits != c.hits { // the 304 made it fresh again
					t.Errorf("%d requests, %v", hits, err)
				}
			})
		})
	}
	for name, c := range map[string]struct {
		before, after func(site *lookleaptest.Site, old, changed http.Handler)
		tag           string // of the 304
	}{
		"reject-other-tag": {nil, nil, `"2"`},
		"reject-other-url": {nil, func(site *lookleaptest.Site, _, changed http.Handler) {
			site.Redirect("/s/a/SKILL.md", "/s/b/SKILL.md").Handle("/s/b/SKILL.md", changed)
		}, `"1"`},
		"reject-url-that-led-there": {func(site *lookleaptest.Site, old, _ http.Handler) {
			site.Redirect("/s/a/SKILL.md", "/s/b/SKILL.md").Handle("/s/b/SKILL.md", old)
		}, nil, `"1"`},
	} {
		t.Run("O21/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				site := net.Site("shop.example")
				hits := 0
				old := cached("max-age=60", `"1"`, &hits)
				changed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("ETag", c.tag)
					w.Header().Set("Content-Type", "text/markdown")
					if r.Header.Get("If-None-Match") != "" {
						w.WriteHeader(http.StatusNotModified)
						return
					}
					_, _ = w.Write([]byte(strings.Replace(refund, "Refunds", "Now refunds", 1)))
				})
				if site.Handle("/s/a/SKILL.md", old); c.before != nil {
					c.before(site, old, changed)
				}
				loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
				if _, err := loader.Load(t.Context(), url); err != nil {
					t.Fatal(err)
				}
				net.Clock().Advance(time.Hour)
				if site.Handle("/s/a/SKILL.md", changed); c.after != nil {
					c.after(site, old, changed)
				}
				skill, err := loader.Load(t.Context(), url)
				if err != nil || !strings.HasPrefix(skill.Description, "Now refunds") {
					t.Errorf("%v, %v", skill, err)
				}
			})
		})
	}
	t.Run("DVS-3.1-56/reject-verdict-is-computed-again", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
		roots := registry(t)
		root, _ := roots.Register("https://shop.example/", dvs.ByHost)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots, Strict: true})
		if _, err := loader.Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		roots.Unregister(root)
		if _, err := loader.Load(t.Context(), url); lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
			t.Errorf("without the root: %v", err)
		}
		if _, err := roots.Register("https://shop.example/", dvs.ByHost); err != nil {
			t.Fatal(err)
		}
		if _, err := roots.AddPlatform(dvs.Platform{Name: "shop", Hosts: []string{"shop.example"}, Owner: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Load(t.Context(), url); lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
			t.Errorf("as a platform: %v", err)
		}
	})
}

// TestChangeDuringLoad: a skill is judged by what the registry says when it is admitted, even if it
// said something else when the file was verified.
func TestChangeDuringLoad(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	for name, c := range map[string]struct {
		change func(*lookleaptest.Internet, *dvs.Roots) error
		want   lookleap.Code
	}{
		"accept-unchanged": {func(*lookleaptest.Internet, *dvs.Roots) error { return nil }, lookleap.CodeOK},
		"accept-later":     {func(net *lookleaptest.Internet, _ *dvs.Roots) error { net.Clock().Advance(2 * time.Hour); return nil }, lookleap.CodeOK},
		"reject-revoked":   {func(_ *lookleaptest.Internet, r *dvs.Roots) error { return r.RevokeDomain("shop.example", false) }, dvs.CodeRevoked},
		"reject-blocked": {func(_ *lookleaptest.Internet, r *dvs.Roots) error {
			_, err := r.Block("https://shop.example/s/")
			return err
		}, dvs.CodeBlockedRoot},
		"reject-never": {func(_ *lookleaptest.Internet, r *dvs.Roots) error {
			_, err := r.AddPlatform(dvs.Platform{Name: "stranger", Hosts: []string{"shop.example"}, Never: true})
			return err
		}, "never-trusted-host"},
	} {
		for _, registered := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/registered-%t", name, registered), func(t *testing.T) {
				net, fetched := lookleaptest.ForTest(t), new(atomic.Bool)
				net.Site("shop.example").HandleFunc("/s/a/SKILL.md", func(w http.ResponseWriter, _ *http.Request) {
					fetched.Store(true)
					w.Header().Set("Content-Type", "text/markdown")
					w.Header().Set("Cache-Control", "max-age=60")
					_, _ = io.WriteString(w, refund)
				})
				roots := registry(t)
				if registered {
					roots = registry(t, "https://shop.example/s/")
				}
				var changed time.Time
				change := func() {
					if err := c.change(net, roots); err != nil {
						t.Error(err)
					}
					changed = net.Clock().Now()
				}
				host := net.StubHost()
				host.Prompter = &prompter{decide: func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					change()
					return agree(req)
				}}
				options := dvs.Options{Roots: roots, User: "ada"}
				if registered { // nothing is asked, and only the store is used before the skill is admitted
					options.Trust = afterFetch{lookleap.NewMemoryStore(), fetched, change}
				}
				skill, err := dvs.NewLoader(host, options).Load(t.Context(), url)
				if lookleap.CodeOf(err) != c.want || (skill != nil) != (err == nil) {
					t.Errorf("%v, want %s", err, c.want)
				}
				if skill != nil && skill.Verdict.Expires.Before(changed) {
					t.Errorf("the verdict expired at %v", skill.Verdict.Expires)
				}
				if registered && fetched.Load() {
					t.Error("nothing was changed during the load")
				}
			})
		}
	}
}

// afterFetch is a store that calls change at the first use after the file was fetched.
type afterFetch struct {
	lookleap.Store
	fetched *atomic.Bool
	change  func()
}

func (s afterFetch) Get(ctx context.Context, key string) ([]byte, error) {
	if s.fetched.CompareAndSwap(true, false) {
		s.change()
	}
	return s.Store.Get(ctx, key)
}
