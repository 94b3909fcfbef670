package agentstxt

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// robots sets what the site answers for robots.txt.
func (w *world) robots(file string, header ...string) {
	w.site.Handle("/robots.txt", served(file, header...))
}

// bothFiles is a site with a policy, a robots.txt and pages.
func (w *world) bothFiles(policy, robots string) {
	w.servesFile(policy)
	w.robots(robots)
	w.site.File("/a*", plainText, "fine").File("/b*", plainText, "fine")
}

func TestGuardRobots(t *testing.T) {
	web := Web("ExampleBot")
	inWorld(t, "AGT-1-01/accept-where-both-allow", web, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "User-agent: *\nDisallow: /c\nCrawl-delay: 3\n")
		c, g := w.guarded(web)
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Fatal(err)
		}
		req, _ := http.NewRequest("GET", "https://shop.example/a", nil)
		v, err := g.Check(req)
		if err != nil || len(v.Checks) != 3 || v.Checks[1].Requirement != "AGT-6-11" || v.Checks[2].Requirement != "AGT-1-01" {
			w.Fatal(v, err)
		}
		if both := v.String(); !strings.Contains(both, "/agents.txt") || !strings.Contains(both, "/robots.txt") || !strings.Contains(both, "3s between requests") {
			w.Error(both)
		}
		w.asked(3)
	})
	inWorld(t, "AGT-1-01/reject-where-robots-denies", web, func(w *world) {
		w.bothFiles(signed("/a ALLOW"), "User-agent: ExampleBot\nDisallow: /a*secret\n")
		c, _ := w.guarded(web)
		err := w.get(c, "https://shop.example/a/secret?x=1")
		v := refusal(w, err)
		if v.Code != CodeRobotsDisallowed || lookleap.CodeOf(err) != CodeRobotsDisallowed || v.Checks[1].Status != lookleap.Passed || v.Checks[2].Status != lookleap.Failed {
			w.Error(v)
		}
		if !strings.Contains(v.String(), "line 2: /a*secret") || strings.Contains(v.Subject, "x=1") || !strings.Contains(err.Error(), "ask the site's operator") {
			w.Error(v, err)
		}
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "AGT-1-01/reject-where-the-policy-denies", web, func(w *world) {
		w.bothFiles(signed("/a DISALLOW"), "User-agent: *\nAllow: /\n")
		c, _ := w.guarded(web)
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != disallowed {
			w.Error(v)
		}
	})
	inWorld(t, "AGT-1-01/accept-without-the-option", Options{}, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "User-agent: *\nDisallow: /\n")
		c, _ := w.guarded(Options{})
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Fatal(err)
		}
		w.asked(2)
	})
	inWorld(t, "AGT-1-01/accept-reading-both-files", web, func(w *world) {
		w.bothFiles(signed("/agents.txt ALLOW", "/robots.txt ALLOW"), "User-agent: *\nDisallow: /\n")
		c, _ := w.guarded(web)
		for _, path := range []string{"/agents.txt", "/robots.txt"} {
			if err := w.get(c, "https://shop.example"+path); err != nil {
				w.Error(err)
			}
		}
	})
	inWorld(t, "AGT-5-04/reject-without-waiting-for-robots", web, func(w *world) {
		w.bothFiles(signed("/a MAYBE"), "")
		w.site.Handle("/robots.txt", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		c, _ := w.guarded(web)
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != codeBadDirective {
			w.Error(v)
		}
		for _, r := range w.net.Journal().Requests() {
			if r.Path == "/a" {
				w.Error("the page was requested")
			}
		}
	})
	for status, want := range map[int]lookleap.Code{
		404: lookleap.CodeOK, 401: lookleap.CodeOK, 403: lookleap.CodeOK, 410: lookleap.CodeOK, 429: lookleap.CodeOK, 204: lookleap.CodeOK,
		500: lookleap.CodeUnavailable, 503: lookleap.CodeUnavailable, 302: lookleap.CodeBadRedirect, 206: lookleap.CodeBadStatus,
	} {
		inWorld(t, fmt.Sprintf("AGT-1-01/status-%d", status), web, func(w *world) {
			w.bothFiles(signed("/b DISALLOW"), "")
			w.site.Status("/robots.txt", status)
			c, _ := w.guarded(web)
			err := w.get(c, "https://shop.example/a")
			if got := lookleap.CodeOf(err); got != want {
				w.Errorf("%s, want %s: %v", got, want, err)
			}
			if wait, ok := lookleap.Retryable(err); ok != (status >= 500) || ok && wait <= 0 {
				w.Errorf("retry: %v, %v", wait, ok)
			}
		})
	}
	inWorld(t, "AGT-1-01/five-redirects", web, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "")
		w.site.Redirect("/robots.txt", "https://www.example.net/1")
		other := w.net.Site("www.example.net")
		for i := 1; i < 5; i++ {
			other.Redirect(fmt.Sprint("/", i), fmt.Sprint("/", i+1))
		}
		other.File("/5", plainText, "User-agent: *\nDisallow: /a\n")
		c, _ := w.guarded(web)
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != CodeRobotsDisallowed {
			w.Error(v)
		}
	})
	inWorld(t, "AGT-1-01/six-redirects", web, func(w *world) { // as if there were no file
		w.bothFiles(signed("/b DISALLOW"), "")
		w.site.Redirect("/robots.txt", "/1")
		for i := 1; i < 6; i++ {
			w.site.Redirect(fmt.Sprint("/", i), fmt.Sprint("/", i+1))
		}
		w.site.File("/6", plainText, "User-agent: *\nDisallow: /a\n")
		c, _ := w.guarded(web)
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "AGT-1-01/kept-at-most-a-day", web, func(w *world) {
		w.servesFile(signed("/b DISALLOW"), "Cache-Control", "max-age=9999999")
		w.robots("User-agent: *\nDisallow: /c\n", "Cache-Control", "max-age=9999999")
		w.site.File("/a", plainText, "fine")
		c, _ := w.guarded(web)
		for range 3 {
			if err := w.get(c, "https://shop.example/a"); err != nil {
				w.Fatal(err)
			}
		}
		w.asked(5)
		w.pass(24 * time.Hour)
		w.robots("User-agent: *\nDisallow: /a\n")
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != CodeRobotsDisallowed {
			w.Error(v)
		}
	})
	inWorld(t, "AGT-1-01/old-copy-for-a-day-while-the-server-fails", web, func(w *world) {
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nDisallow: /c\n")
		w.site.File("/a", plainText, "fine")
		c, _ := w.guarded(web)
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Fatal(err)
		}
		w.site.Status("/robots.txt", 503)
		w.pass(2 * time.Hour)
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Error(err)
		}
		w.pass(23 * time.Hour)
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != lookleap.CodeUnavailable {
			w.Error(v)
		}
		w.robots("User-agent: *\nDisallow: /c\n")
		w.pass(2 * time.Hour)
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "AGT-1-01/asks-by-name-and-entity-tag", web, func(w *world) {
		w.servesFile(signed("/b DISALLOW"))
		w.robots("User-agent: *\nDisallow: /c\n", "ETag", `"1"`)
		w.site.File("/a", plainText, "fine")
		c, _ := w.guarded(web)
		for range 2 {
			if err := w.get(c, "https://shop.example/a"); err != nil {
				w.Fatal(err)
			}
			w.pass(2 * time.Hour)
		}
		var asked []string
		for _, r := range w.net.Journal().Requests() {
			if r.Path == "/robots.txt" {
				asked = append(asked, r.Header.Get("If-None-Match"))
				if !strings.HasPrefix(r.Header.Get("User-Agent"), "ExampleBot ") {
					w.Error(r.Header)
				}
			}
		}
		if strings.Join(asked, ",") != `,"1"` {
			w.Error(asked)
		}
	})
	inWorld(t, "AGT-1-01/reject-token-with-version", Options{}, func(w *world) {
		_, err := NewClient(w.host, Web("ExampleBot/1.0")).Decide(w.Context(), "https://shop.example/")
		if lookleap.CodeOf(err) != lookleap.CodeUsage || !strings.Contains(err.Error(), "such as ExampleBot") {
			w.Error(err)
		}
		w.asked(0)
	})
	inWorld(t, "AGT-1-01/client-decides-by-both", web, func(w *world) {
		w.bothFiles(signed("/b DISALLOW"), "User-agent: *\nDisallow: /c?x\n")
		for url, want := range map[string]lookleap.Code{"/a": CodeUnlisted, "/b": disallowed, "/c?x=1": CodeRobotsDisallowed, "/c": CodeUnlisted} {
			if d, err := w.client.Decide(w.Context(), "https://shop.example"+url); err != nil || d.Code != want {
				w.Error(url, d, err)
			}
		}
	})
}

// TestGuardForeign has files of other formats in the place of a policy.
func TestGuardForeign(t *testing.T) {
	web := Web("ExampleBot")
	for _, tt := range []struct {
		name, file string
		yes, no    []string
	}{
		{"inviting", "Agents are welcome.\n", []string{"/a"}, nil},
		{"robots-form", "User-agent: *\nDisallow: /a/private\nAllow: /a/private/open\n", []string{"/a", "/a/private/open"}, []string{"/a/private/x"}},
		{"robots-form-for-others", "User-agent: OtherBot\nDisallow: /\n", []string{"/a"}, nil},
		{"robots-form-for-this-one", "User-agent: ExampleBot\nDisallow: /a\n\nUser-agent: *\nAllow: /\n", []string{"/b"}, []string{"/a"}},
		{"robots-form-with-query", "User-agent: *\nDisallow: /a?private\n", []string{"/a"}, []string{"/a?private=1"}},
		{"agent-sections", "[Agent: *]\nAllow: /\nDisallow: /a, /b\n", nil, []string{"/a", "/b"}},
		{"agent-sections-of-others", "Agent: OtherBot\nDisallow: /\n\nAgent: *\nAllow: /\n", []string{"/a"}, nil},
		{"before-any-agent", "Name: Example\nDisallow: /a\n", []string{"/b"}, []string{"/a"}},
		{"structure-of-another-format", "agents:\n  - name: OtherBot\n    disallow: /\n", []string{"/a"}, nil},
		{"words-in-prose", "Disallowed: nothing\nDisallow: none\nAllow agents: yes\n", []string{"/a"}, nil},
	} {
		inWorld(t, "AGT-3-12/"+tt.name, web, func(w *world) {
			w.servesFile(tt.file)
			w.site.File("*", plainText, "fine").Status("/robots.txt", 404)
			c, _ := w.guarded(web)
			for _, path := range tt.yes {
				if err := w.get(c, "https://shop.example"+path); err != nil {
					w.Error(err)
				}
			}
			for _, path := range tt.no {
				err := w.get(c, "https://shop.example"+path)
				if v := refusal(w, err); v.Code != CodeForeignDisallowed {
					w.Error(v)
				}
			}
		})
	}
	inWorld(t, "AGT-3-12/finding-says-what-was-seen", web, func(w *world) {
		w.servesFile("# contact\n\nProtocols: x402\n")
		p := w.want(Absent, CodeForeignFormat)
		if f, ok := hasFinding(p, CodeForeignFormat); !ok || !strings.Contains(f.Message, `"Protocols: x402"`) || f.Position.Line != 3 {
			w.Error(f)
		}
	})
}

// TestGuardReasons: the code of a refusal is that of its reason, and only a final one is
// an ErrDenied.
func TestGuardReasons(t *testing.T) {
	for _, tt := range []struct {
		name  string
		make  func(w *world)
		url   string
		code  lookleap.Code
		final bool
		fix   string
	}{
		{"status-503", func(w *world) { w.site.Status("/agents.txt", 503) }, "", lookleap.CodeUnavailable, false, "lookleap.Retryable"},
		{"status-429", func(w *world) {
			w.site.Handle("/agents.txt", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Retry-After", "90")
				rw.WriteHeader(429)
			}))
		}, "", lookleap.CodeRateLimited, false, "lookleap.Retryable"},
		{"status-401", func(w *world) { w.site.Status("/agents.txt", 401) }, "", CodeAccessDenied, true, "operator"},
		{"port", func(*world) {}, "https://shop.example:8443/", lookleap.CodeBlockedPort, true, "FetcherOptions.Ports"},
		{"http", func(*world) {}, "http://shop.example/", lookleap.CodeNotHTTPS, true, "use https"},
		{"no-name", func(*world) {}, "https://missing.example/", lookleap.CodeNoAddress, false, "lookleap.Retryable"},
		{"slow", func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Delay(time.Minute)) }, "", lookleap.CodeTimeout, false, "lookleap.Retryable"},
		{"directive", func(w *world) { w.servesFile(signed("/ DISALLOW")) }, "", disallowed, true, "operator"},
		{"list", func(w *world) { w.servesFile(signed("/x ALLOW")) }, "", CodeUnlisted, true, "Options.Unlisted"},
		{"bad-limit", func(w *world) { w.servesFile(signed("/ ALLOW limit=x")) }, "", codeBadLimit, true, "digits"},
	} {
		inWorld(t, "AGT-5-04/"+tt.name, Options{}, func(w *world) {
			tt.make(w)
			c, _ := w.guarded(Options{})
			url := tt.url
			if url == "" {
				url = "https://shop.example/"
			}
			err := w.get(c, url)
			refusal(w, err)
			if lookleap.CodeOf(err) != tt.code || errors.Is(err, lookleap.ErrDenied) != tt.final || !strings.Contains(err.Error(), tt.fix) {
				w.Errorf("%s, final %v: %v", lookleap.CodeOf(err), errors.Is(err, lookleap.ErrDenied), err)
			}
			var no *lookleap.VerifyError
			if tt.final && errors.As(err, &no) && !strings.HasPrefix(no.Err.Error(), lookleap.ErrDenied.Error()) {
				w.Error(no.Err)
			}
			wait, ok := lookleap.Retryable(err)
			if ok == tt.final || ok && wait <= 0 {
				w.Errorf("retry after %v: %v", wait, ok)
			}
			if tt.name == "status-429" && wait != 90*time.Second {
				w.Error(wait)
			}
		})
	}
}
