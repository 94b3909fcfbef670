package wellknown_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/wellknown"
)

const at = "/.well-known/security.txt"

// TestFetch asks a site for its security.txt and looks at the result.
func TestFetch(t *testing.T) {
	for _, c := range []struct {
		id, name string
		site     func(*lookleaptest.Site)
		options  wellknown.Options
		state    wellknown.State
		code     lookleap.Code
		finding  lookleap.Code
	}{
		{"WK-1-02", "accept", func(s *lookleaptest.Site) { s.File(at, "text/plain", "x") }, wellknown.Options{}, wellknown.Present, lookleap.CodeOK, ""},
		{"WK-3-18", "accept-404", func(*lookleaptest.Site) {}, wellknown.Options{}, wellknown.Absent, wellknown.CodeAbsent, ""},
		{"WK-3-18", "accept-410", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(410)) }, wellknown.Options{}, wellknown.Absent, wellknown.CodeAbsent, ""},
		{"WK-3-19", "reject-401", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(401)) }, wellknown.Options{}, wellknown.Forbidden, lookleap.CodeForbidden, ""},
		{"WK-3-19", "reject-403", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(403)) }, wellknown.Options{}, wellknown.Forbidden, lookleap.CodeForbidden, ""},
		{"WK-3-19", "reject-429", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(429)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-503", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(503)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-500", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(500)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-204", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(204)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-206", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(206)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-599", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(599)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-201", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(201)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-203", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(203)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeUnavailable, ""},
		{"WK-3-19", "reject-451", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(451)) }, wellknown.Options{}, wellknown.Absent, wellknown.CodeAbsent, lookleap.CodeBadStatus},
		{"WK-3-19", "reject-418", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(418)) }, wellknown.Options{}, wellknown.Absent, wellknown.CodeAbsent, lookleap.CodeBadStatus},
		{"WK-3-19", "reject-499", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(499)) }, wellknown.Options{}, wellknown.Absent, wellknown.CodeAbsent, lookleap.CodeBadStatus},
		{"WK-3-19", "reject-400", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(400)) }, wellknown.Options{}, wellknown.Absent, wellknown.CodeAbsent, lookleap.CodeBadStatus},
		{"WK-3-20", "reject-html", func(s *lookleaptest.Site) { s.File(at, "text/html", "<p>") }, wellknown.Options{}, wellknown.Absent, lookleap.CodeSoft404, lookleap.CodeSoft404},
		{"WK-3-20", "reject-xhtml", func(s *lookleaptest.Site) { s.File(at, "application/xhtml+xml", "<p/>") }, wellknown.Options{}, wellknown.Absent, lookleap.CodeSoft404, lookleap.CodeSoft404},
		{"WK-3-20", "reject-html-strictly", func(s *lookleaptest.Site) { s.File(at, "text/html", "<p>") }, wellknown.Options{StrictMedia: true}, wellknown.Absent, lookleap.CodeSoft404, lookleap.CodeSoft404},
		{"WK-4.2-03", "accept-with-finding", func(s *lookleaptest.Site) { s.File(at, "application/json", "{}") }, wellknown.Options{}, wellknown.Present, lookleap.CodeOK, lookleap.CodeMediaType},
		{"WK-4.2-03", "reject-strict", func(s *lookleaptest.Site) { s.File(at, "application/json", "{}") }, wellknown.Options{StrictMedia: true}, wellknown.Unavailable, lookleap.CodeMediaType, ""},
		{"WK-4.2-03", "accept-its-type", func(s *lookleaptest.Site) { s.File(at, "text/plain; charset=utf-8", "x") }, wellknown.Options{StrictMedia: true}, wellknown.Present, lookleap.CodeOK, ""},
		{"WK-4.2-03", "reject-strict-without-a-type", func(s *lookleaptest.Site) { s.Handle(at, lookleaptest.Status(200, "Content-Type", "")) }, wellknown.Options{StrictMedia: true}, wellknown.Unavailable, lookleap.CodeMediaType, ""},
		{"WK-3-21", "accept-inside", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "/moved")).File("/moved", "text/plain", "x")
		}, wellknown.Options{}, wellknown.Present, lookleap.CodeOK, ""},
		{"WK-3-21", "accept-five", func(s *lookleaptest.Site) { s.RedirectChain(at, 5, "") }, wellknown.Options{}, wellknown.Present, lookleap.CodeOK, ""},
		{"WK-3-21", "reject-six", func(s *lookleaptest.Site) { s.RedirectChain(at, 6, "") }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeTooManyRedirects, ""},
		{"WK-3-21", "reject-other-host", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "https://other.example/x"))
		}, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeRedirectCrossOrigin, ""},
		{"WK-3-21", "reject-other-port", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "https://site.example:8443/x"))
		}, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeRedirectCrossOrigin, ""},
		{"WK-3-21", "reject-http", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "http://site.example/x"))
		}, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeNotHTTPS, ""},
		{"WK-3-21", "reject-subdomain", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "https://www.site.example/x"))
		}, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeRedirectCrossOrigin, ""},
		{"WK-3-21", "reject-temporary", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(307, "Location", "https://other.example/x"))
		}, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeRedirectCrossOrigin, ""},
		{"WK-3-21", "reject-second-hop", func(s *lookleaptest.Site) {
			s.Redirect(at, "/moved").Handle("/moved", lookleaptest.Status(301, "Location", "https://other.example/x"))
		}, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeRedirectCrossOrigin, ""},
		{"WK-3-21", "accept-allowed", func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "https://other.example/x"))
		}, wellknown.Options{AllowCrossOriginRedirect: true}, wellknown.Present, lookleap.CodeOK, ""},
		{"WK-4-01", "reject-too-large", func(s *lookleaptest.Site) { s.File(at, "text/plain", "").Fault(at, lookleaptest.Huge(2<<20)) }, wellknown.Options{}, wellknown.Unavailable, lookleap.CodeTooLarge, ""},
		{"WK-4-01", "accept-limit", func(s *lookleaptest.Site) { s.File(at, "text/plain", strings.Repeat("x", 1<<20)) }, wellknown.Options{}, wellknown.Present, lookleap.CodeOK, ""},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			site := net.Site("site.example")
			other := net.Site("other.example").File("/x", "text/plain", "x")
			c.site(site)
			r, err := wellknown.NewClient(net.StubHost(), c.options).Fetch(t.Context(), "https://site.example/ignored?path", "security.txt")
			if err != nil {
				t.Fatal(err)
			}
			if r.State != c.state || r.Code != c.code || r.Verdict.Code != c.code || r.Verdict.OK != (c.state == wellknown.Present) {
				t.Fatalf("got %s (%s)\n%s", r.State, r.Code, r.Verdict)
			}
			status, code, message := lookleap.Failed, c.code, c.code.Title()
			switch {
			case c.name == "accept-allowed":
				status, code, message = lookleap.Noted, lookleap.CodeRedirectCrossOrigin, "the origin redirects to another one, which the options allow"
			case c.state == wellknown.Present:
				status, message = lookleap.Passed, "the origin answered with the document"
			case c.state == wellknown.Absent:
				status = lookleap.Noted
			}
			if check := r.Verdict.Checks[0]; check.Status != status || check.Code != code || check.Message != message {
				t.Errorf("the check is %+v", check)
			}
			summary := "the document is " + c.state.String()
			if c.code != lookleap.CodeOK && c.code != wellknown.CodeAbsent {
				summary += ": " + c.code.Title()
			}
			if r.Verdict.Summary != summary {
				t.Errorf("the summary is %q, want %q", r.Verdict.Summary, summary)
			}
			final := map[string]string{"accept": "https://site.example" + at, "accept-404": "https://site.example" + at,
				"accept-inside": "https://site.example/moved", "accept-allowed": "https://other.example/x"}[c.name]
			if final != "" && (r.FinalURL != final || r.Status != r.Verdict.Checks[0].Evidence[0].Status || r.Status == 0) || c.state == wellknown.Present && (r.MediaType == "" || !strings.HasPrefix(r.Header.Get("Content-Type"), r.MediaType)) {
				t.Errorf("%s answered with %v", r.FinalURL, r.Header)
			}
			if (r.Body != nil) != (c.state == wellknown.Present) {
				t.Errorf("the body is %q", r.Body)
			}
			if c.finding != "" && !slices.ContainsFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code == c.finding }) {
				t.Errorf("%s is missing in %v", c.finding, r.Findings)
			}
			if i := slices.IndexFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code != c.finding }); i >= 0 {
				t.Errorf("the finding %+v", r.Findings[i])
			}
			crossed := c.name == "accept-allowed"
			if r.CrossOrigin != crossed || r.Origin != "https://site.example" {
				t.Errorf("origin %s, crossed %v", r.Origin, r.CrossOrigin)
			}
			if seen := net.Journal().Requests(other.Name()); (len(seen) > 0) != crossed {
				t.Errorf("the other origin saw %v", seen)
			}
		})
	}
	t.Run("WK-3-20/accept-html-that-the-entry-does-not-exclude", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("site.example").File("/.well-known/change-password", "text/html", "<p>")
		r, err := wellknown.NewClient(net.StubHost(), wellknown.Options{}).Fetch(t.Context(), "https://site.example", "change-password")
		if err != nil || r.State != wellknown.Present || string(r.Body) != "<p>" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("WK-4.2-03/accept-each-of-its-types", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		for _, mediaType := range []string{"application/anml+xml", "application/anml+json"} {
			net.Site("site.example").File("/.well-known/anml", mediaType, "x")
			r, err := wellknown.NewClient(net.StubHost(), wellknown.Options{StrictMedia: true}).Fetch(t.Context(), "https://site.example", "anml")
			if err != nil || r.State != wellknown.Present || r.MediaType != mediaType {
				t.Errorf("%s: got %+v, %v", mediaType, r, err)
			}
		}
	})
}

func TestFetchRefusesUnasked(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("site.example").Plain()
	client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
	for _, c := range []struct {
		id, origin, suffix string
		want               lookleap.Code
	}{
		{"WK-3-06/reject-wss", "wss://site.example", "security.txt", wellknown.CodeSchemeNotFetchable},
		{"WK-3-06/reject-coap", "coap://site.example", "core", wellknown.CodeSchemeNotFetchable},
		{"WK-3-22/reject-http", "http://site.example", "security.txt", "insecure-scheme"},
		{"WK-3-17/reject-bare-prefix", "https://site.example", "", lookleap.CodeBadName},
		{"WK-1-03/reject-fetch-ai", "ai://site.example", "x", wellknown.CodeSchemeUnsupported},
	} {
		t.Run(c.id, func(t *testing.T) {
			if r, err := client.Fetch(t.Context(), c.origin, c.suffix); r != nil || lookleap.CodeOf(err) != c.want {
				t.Errorf("got %v, %v", r, err)
			}
			if seen := net.Journal().Dials(); len(seen) != 0 {
				t.Errorf("something was dialled: %v", seen)
			}
		})
	}
	t.Run("WK-3-22/accept-https", func(t *testing.T) {
		if r, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil || r.State != wellknown.Absent {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

// TestFetchPlain is what the default fetcher promises (sections 4 and 4.2).
func TestFetchPlain(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("site.example").Handle(at, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Cache-Control", "no-store")
	}))
	client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
	for range 2 {
		if _, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil {
			t.Fatal(err)
		}
	}
	seen := net.Journal().Requests("site.example")
	if len(seen) != 2 {
		t.Fatalf("no-store was stored: %d requests", len(seen))
	}
	for _, id := range []string{"WK-4-01/reject-credentials", "WK-4.2-05/reject-cookies"} {
		t.Run(id, func(t *testing.T) {
			for _, r := range seen {
				for _, name := range []string{"Cookie", "Authorization", "Referer"} {
					if r.Header.Get(name) != "" {
						t.Errorf("%s was sent", name)
					}
				}
			}
		})
	}
	t.Run("WK-3-16/reject-other-hosts", func(t *testing.T) {
		for _, d := range net.Journal().Queries() {
			if strings.TrimSuffix(d.Name, ".") != "site.example" {
				t.Errorf("%s was asked for", d.Name)
			}
		}
	})
	t.Run("WK-A-01/reject-walking", func(t *testing.T) {
		for _, path := range net.Journal().Paths("site.example") {
			if path != "GET "+at {
				t.Errorf("%s was asked for", path)
			}
		}
	})
}

func TestFetchRebinding(t *testing.T) {
	for name, answers := range map[string][]string{
		"reject-first":  {"127.0.0.1", "127.0.0.1"},
		"reject-later":  {"93.184.216.34", "10.0.0.1"},
		"reject-hidden": {"::ffff:169.254.169.254"},
	} {
		t.Run("WK-4-02/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("inside.example").At("127.0.0.1", "10.0.0.1")
			net.Name("site.example").Rebind(answers...)
			client := wellknown.NewClient(net.StubHost(), wellknown.Options{Limits: wellknown.Limits{PerMinute: 100}})
			var err error
			for i := range answers {
				_, err = client.Fetch(t.Context(), "https://site.example", "security.txt")
				client.Forget("https://site.example", "security.txt")
				_ = i
			}
			if lookleap.CodeOf(err) != lookleap.CodeBlockedAddress || !errors.Is(err, lookleap.ErrDenied) {
				t.Errorf("got %v", err)
			}
			var no *lookleap.VerifyError
			if !errors.As(err, &no) || no.Verdict.Code != lookleap.CodeBlockedAddress {
				t.Errorf("no verdict: %v", err)
			}
			if seen := net.Journal().Requests("inside.example"); len(seen) != 0 {
				t.Errorf("the private server saw %v", seen)
			}
		})
	}
}

func TestAppliesTo(t *testing.T) {
	r := &wellknown.Resource{Origin: "https://example.com"}
	for _, id := range []string{"WK-4.1-02", "K26"} {
		t.Run(id+"/reject-path-tenant", func(t *testing.T) {
			platform := &wellknown.Resource{Origin: "https://github.com"}
			for _, root := range []string{"https://github.com/o/", "https://github.com/o", "https://github.com/?o"} {
				if platform.AppliesTo(root) {
					t.Errorf("the platform's document speaks for %s", root)
				}
			}
		})
		t.Run(id+"/accept-operator", func(t *testing.T) {
			if platform := (&wellknown.Resource{Origin: "https://github.com"}); !platform.AppliesTo("https://github.com/") {
				t.Error("the platform's document does not speak for the platform")
			}
		})
	}
	for origin, want := range map[string]bool{
		"https://example.com": true, "https://EXAMPLE.com:443/": true,
		"https://department.example.com": false, "https://www.example.com": false, "https://www.example.com:8000": false,
		"http://example.com": false, "https://example.com:8443": false, "https://com": false, "": false,
		"https://example.com/tenant": false, "https://example.com/?tenant": false,
	} {
		verdict := "reject"
		if want {
			verdict = "accept"
		}
		for _, id := range []string{"WK-4.3-01", "WK-4.3-02"} {
			t.Run(id+"/"+verdict+"-"+strings.NewReplacer("/", "_", ":", "_").Replace(origin), func(t *testing.T) {
				if got := r.AppliesTo(origin); got != want {
					t.Errorf("AppliesTo(%q) = %v", origin, got)
				}
			})
		}
	}
}

// TestProbingBounded is WK-4.3-03: probing does not flood a server.
func TestProbingBounded(t *testing.T) {
	t.Run("WK-4.3-03/accept-one-in-flight", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			net := lookleaptest.NewInternet()
			defer net.Close()
			net.Site("site.example").File(at, "text/plain", "x").Fault(at, lookleaptest.Delay(time.Second))
			client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
			var wg sync.WaitGroup
			for range 1000 {
				wg.Go(func() {
					if r, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil || r.State != wellknown.Present {
						t.Errorf("got %v, %v", r, err)
					}
				})
			}
			wg.Wait()
			if seen := net.Journal().Requests("site.example"); len(seen) != 1 {
				t.Errorf("%d requests", len(seen))
			}
		})
	})
	t.Run("WK-4.3-03/accept-absence-is-remembered", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("site.example").Handle(at, lookleaptest.Status(404, "Cache-Control", "max-age=1"))
		client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
		count := func() int {
			if r, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil || r.State != wellknown.Absent {
				t.Fatalf("got %v, %v", r, err)
			}
			return len(net.Journal().Requests("site.example"))
		}
		count()
		net.Clock().Advance(4*time.Minute + 59*time.Second)
		if n := count(); n != 1 {
			t.Errorf("asked again within five minutes: %d", n)
		}
		net.Clock().Advance(2 * time.Second)
		if n := count(); n != 2 {
			t.Errorf("not asked again after five minutes: %d", n)
		}
	})
	for name, c := range map[string]struct {
		redirect string // Cache-Control
		asked    int
	}{
		"accept-silent-redirect": {"", 2}, "reject-no-store-redirect": {"no-store", 4}, "reject-shorter-redirect": {"max-age=60", 4},
	} {
		t.Run("O34/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Clock().Freeze()
			net.Site("site.example").Handle(at, lookleaptest.Status(302, "Location", "/file", "Cache-Control", c.redirect)).
				Handle("/file", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/plain")
					w.Header().Set("Cache-Control", "max-age=86400")
					_, _ = w.Write([]byte("Contact: mailto:a@site.example"))
				}))
			client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
			for range 2 {
				if r, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil || r.State != wellknown.Present {
					t.Fatalf("got %v, %v", r, err)
				}
				net.Clock().Advance(time.Minute)
			}
			if n := len(net.Journal().Requests("site.example")); n != c.asked {
				t.Errorf("%d requests, want %d", n, c.asked)
			}
		})
	}
	t.Run("WK-4.3-03/reject-over-the-rate", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("site.example")
		client := wellknown.NewClient(net.StubHost(), wellknown.Options{Limits: wellknown.Limits{PerMinute: 2}})
		ask := func(name string) error {
			_, err := client.Fetch(t.Context(), "https://site.example", name)
			return err
		}
		if err := errors.Join(ask("example-a"), ask("example-b")); err != nil {
			t.Fatal(err)
		}
		if err := ask("example-c"); lookleap.CodeOf(err) != wellknown.CodeProbeRate || !errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("got %v", err)
		}
		net.Clock().Advance(time.Minute)
		if err := ask("example-c"); err != nil {
			t.Errorf("the minute is over: %v", err)
		}
	})
	t.Run("WK-3-19/reject-until-retry-after", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("site.example").Handle(at, lookleaptest.Sequence(lookleaptest.Status(503, "Retry-After", "120"), lookleaptest.Body("text/plain", "x")))
		client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
		state := func() *wellknown.Resource {
			r, err := client.Fetch(t.Context(), "https://site.example", "security.txt")
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := state(); r.State != wellknown.Unavailable || r.RetryAfter != 2*time.Minute {
			t.Fatalf("got %s, %s", r.State, r.RetryAfter)
		}
		net.Clock().Advance(119 * time.Second)
		if r := state(); r.State != wellknown.Unavailable {
			t.Error("asked before Retry-After")
		}
		net.Clock().Advance(2 * time.Second)
		if r := state(); r.State != wellknown.Present {
			t.Errorf("got %s", r.State)
		}
	})
}

// TestFetchCancelled: an error that a caller's cancellation caused is not cached.
func TestFetchBelowTheName(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("site.example").File(at+"/more", "text/plain", "x").File("/.well-known/skills/index.json", "application/json", "[]").
		File("/.well-known/acme-challenge/token", "text/plain", "x").File("/.well-known/made-up-name/x", "text/plain", "x")
	client := wellknown.NewClient(net.StubHost(), wellknown.Options{})
	for name, c := range map[string]struct {
		name, rest string
		want       bool
	}{
		"reject-undefined":            {"security.txt", "more", true},
		"accept-defined":              {"skills", "index.json", false},
		"accept-of-a-registered-name": {"acme-challenge", "token", false},
		"accept-of-an-unknown-name":   {"made-up-name", "x", false},
	} {
		t.Run("WK-3-15/"+name, func(t *testing.T) {
			r, err := client.Fetch(t.Context(), "https://site.example", c.name, c.rest)
			if err != nil || r.State != wellknown.Present {
				t.Fatalf("%v, %v", r, err)
			}
			if got := slices.ContainsFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code == wellknown.CodeExtraPath }); got != c.want {
				t.Errorf("findings %v", r.Findings)
			}
		})
	}
}

// answers returns the same response to every request, without a network, whose buffers
// would be counted too.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// endless is a body without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestRefusalIsCheap reads documents that do not end, and counts every byte that
// was allocated for them.
func TestRefusalIsCheap(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.CopyN(z, endless{}, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body   func() io.Reader
		coding string
	}{
		"WK-4-01/reject-endless-cheaply": {func() io.Reader { return endless{} }, ""},
		"WK-4-01/reject-bomb-cheaply":    {func() io.Reader { return bytes.NewReader(packed.Bytes()) }, "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			host := &lookleap.Host{Fetcher: answers(func(r *http.Request) *http.Response {
				header := http.Header{"Content-Type": {"text/plain"}}
				if c.coding != "" {
					header.Set("Content-Encoding", c.coding)
				}
				return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(c.body()), ContentLength: -1, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
			})}
			alloctest.AtMost(t, 3*wellknown.MaxDocument, func() {
				r, err := wellknown.NewClient(host, wellknown.Options{}).Fetch(t.Context(), "https://site.example", "security.txt")
				if err != nil || r.Code != lookleap.CodeTooLarge || r.Body != nil {
					t.Fatalf("%v, %v", r, err)
				}
			})
		})
	}
}
