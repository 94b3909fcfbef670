package agentstxt

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestUsage(t *testing.T) {
	t.Run("AGT-1-01/content-signal", func(t *testing.T) {
		f := ParseRobots([]byte("User-agent: *\nContent-Signal: search=yes, ai-input=no,ai-train=no\nContent-Usage: /open/ train-ai=y, bots=n;x=1\nDisallow:\n"), "ExampleBot")
		if u := f.Usage("/x"); u.Search != Yes || u.AIInput != No || u.AITrain != No || u.Of("train-ai") != No || u.Of("other") != Unstated {
			t.Error(u)
		}
		if u := f.Usage("/open/x?y"); u.Search != Unstated || u.AITrain != Yes || u.Of("Bots") != No {
			t.Error(u)
		}
		if !f.Decide("/x").Allowed {
			t.Error("a statement about use decided")
		}
	})
	t.Run("AGT-1-01/content-usage-header", func(t *testing.T) {
		for _, tt := range []struct {
			lines []string
			want  string
		}{
			{nil, ""}, {[]string{"train-ai=n"}, "ai-train=no"}, {[]string{"train-ai=y", "search=n"}, "search=no, ai-train=yes"},
			{[]string{"train-ai=n;q=1, x"}, "ai-train=no"}, {[]string{"train-ai=maybe, x=y"}, "x=yes"}, {[]string{"train-ai=y, =y, a b=y"}, ""}, {[]string{"train-ai=y, train-ai=n"}, "ai-train=no"},
		} {
			if got := ParseContentUsage(http.Header{"Content-Usage": tt.lines}).String(); got != tt.want {
				t.Errorf("%q: %q, want %q", tt.lines, got, tt.want)
			}
		}
	})
	web := Web("ExampleBot")
	inWorld(t, "AGT-1-01/on-the-response", web, func(w *world) {
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nContent-Signal: search=yes, ai-train=yes\n")
		w.site.Handle("/a", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Usage", "train-ai=n")
			rw.Write([]byte("fine"))
		}))
		c, g := w.guarded(web)
		resp, err := c.Get("https://shop.example/a")
		if err != nil {
			w.Fatal(err)
		}
		resp.Body.Close()
		if u, ok := UsageFrom(resp.Request.Context()); !ok || u.Search != Yes || u.AITrain != No {
			w.Error(u, ok)
		}
		req, _ := http.NewRequest("GET", "https://shop.example/a", nil)
		v, err := g.Check(req)
		if err != nil || v.Checks[len(v.Checks)-1].Code != codeUsage || !strings.Contains(v.String(), "search=yes, ai-train=yes") {
			w.Error(v, err)
		}
		if data, err := json.Marshal(Usage{Search: Yes, AITrain: No}); err != nil || string(data) != `{"search":"yes","aiInput":"unstated","aiTrain":"no"}` {
			w.Error(string(data), err)
		}
	})
	for name, through := range map[string]func(w *world) http.RoundTripper{
		"transport": func(w *world) http.RoundTripper { _, g := w.guarded(web); return g },
		"fetcher": func(w *world) http.RoundTripper {
			_, g := w.guarded(web)
			return &lookleap.Host{Fetcher: g}
		},
		"fetcher-of-a-fetcher": func(w *world) http.RoundTripper {
			_, g := w.guarded(web)
			return &lookleap.Host{Fetcher: &lookleap.Host{Fetcher: g}}
		},
		"guard-of-a-guard": func(w *world) http.RoundTripper {
			_, g := w.guarded(web)
			return NewClient(&lookleap.Host{Fetcher: g}, Options{}).Guard()
		},
	} {
		inWorld(t, "AGT-1-01/stated-through-"+name, web, func(w *world) {
			w.servesFile(signed("/b DISALLOW"))
			w.robots("User-agent: *\nContent-Signal: ai-train=no\n")
			w.site.Handle("/a", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Usage", "search=y")
				rw.Write([]byte("fine"))
			})).Redirect("/from", "/a")
			transport := through(w)
			ctx := context.WithValue(w.Context(), sentBy{}, "a value of the caller")
			req, _ := http.NewRequestWithContext(ctx, "GET", "https://shop.example/from", nil)
			resp, err := (&http.Client{Transport: transport}).Do(req)
			if err != nil {
				w.Fatal(err)
			}
			resp.Body.Close()
			if u, ok := UsageFrom(resp.Request.Context()); !ok || u.String() != "search=yes, ai-train=no" || resp.Request.Context().Value(sentBy{}) != "a value of the caller" {
				w.Error(u, ok)
			}
		})
	}
	inWorld(t, "AGT-1-01/not-stated", web, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "User-agent: *\nDisallow: /c\n")
		_, g := w.guarded(web)
		resp, err := (&http.Client{Transport: &lookleap.Host{Fetcher: g}}).Get("https://shop.example/a")
		if err != nil {
			w.Fatal(err)
		}
		resp.Body.Close()
		if u, ok := UsageFrom(resp.Request.Context()); ok {
			w.Error(u)
		}
	})
	inWorld(t, "AGT-1-01/traced-by-a-loader", web, func(w *world) {
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: /s/ search=y\n")
		w.site.File("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: Does a.\n---\n# A\n")
		_, g := w.guarded(web)
		roots := new(dvs.Roots)
		if _, err := roots.Register("https://shop.example/s/", dvs.ByUser); err != nil {
			w.Fatal(err)
		}
		var seen []string
		ctx := TraceUsage(w.Context(), func(url string, u Usage) { seen = append(seen, url+" "+u.String()) })
		for name, loader := range map[string]*dvs.Loader{
			"guard":   dvs.NewLoader(w.host, dvs.Options{Roots: roots, Guard: g}),
			"fetcher": dvs.NewLoader(&lookleap.Host{Fetcher: g, Now: w.host.Now}, dvs.Options{Roots: roots}),
		} {
			seen = nil
			if _, err := loader.Load(ctx, "https://shop.example/s/a/SKILL.md"); err != nil {
				w.Fatal(name, err)
			}
			if len(seen) != 1 || seen[0] != "https://shop.example/s/a/SKILL.md search=yes" {
				w.Error(name, seen)
			}
		}
	})
}

// TestUsageValues: statements that are combined stay as they were, and unknown values state nothing.
func TestUsageValues(t *testing.T) {
	for p, want := range map[Preference]string{Unstated: "unstated", Yes: "yes", No: "no", No + 1: "unstated", 255: "unstated"} {
		if got := p.String(); got != want {
			t.Errorf("%d: %s, want %s", p, got, want)
		}
	}
	a, b := Usage{Other: map[string]Preference{"bots": Yes}}, Usage{AITrain: No, Other: map[string]Preference{"bots": No, "x": Yes}}
	if both := a.Strictest(b).String(); both != "ai-train=no, bots=no, x=yes" || a.String() != "bots=yes" || b.String() != "ai-train=no, bots=no, x=yes" {
		t.Error(both, a, b)
	}
	if both := b.Strictest(a).String(); both != "ai-train=no, bots=no, x=yes" {
		t.Error(both)
	}
	for line, want := range map[string]string{
		"ai-train=n":      "search=no, ai-train=no", // both are about all paths
		"/ ai-train=n":    "search=no, ai-train=no",
		"/a ai-train=n":   "ai-train=no",
		"/a/b ai-train=n": "search=no",
		"/a":              "search=no",
	} {
		f := ParseRobots([]byte("User-agent: *\nContent-Signal: search=no\nContent-Usage: "+line+"\n"), "b")
		if got := f.Usage("/a").String(); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	stateUsage(httptest.NewRequest("GET", "https://shop.example/", nil), &http.Response{}, Usage{}) // a response without request
}
