package fetch_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestRedirects(t *testing.T) {
	t.Run("F10/reject-literal-private-address", func(t *testing.T) {
		for rules, code := range map[bool]lookleap.Code{false: lookleap.CodeIPHost, true: lookleap.CodeBlockedAddress} {
			n := lookleaptest.ForTest(t)
			n.Site("169.254.169.254").File("/", "text/plain", "secret")
			n.Site("shop.example").Redirect("/", "https://169.254.169.254/")
			resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere, Rules: domain.Rules{AllowIP: rules}}, "https://shop.example/")
			failure(t, resp, err, code)
			if sent := n.Journal().Bytes("169.254.169.254"); sent != 0 {
				t.Errorf("%d bytes left", sent)
			}
		}
	})
	t.Run("F10/reject-name-with-private-address", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("internal.example").At("10.0.0.1").File("/", "text/plain", "secret")
		n.Site("shop.example").Redirect("/", "https://internal.example/")
		for name, f := range map[string]lookleap.Fetcher{"ours": n.Fetcher(lookleap.FetcherOptions{}), "foreign": n.Unguarded()} {
			resp, err := do(t, f, &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example/")
			if e := failure(t, resp, err, lookleap.CodeBlockedAddress); len(e.Hops) != 1 || !errors.Is(e, lookleap.ErrDenied) {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if requests := n.Journal().Requests("internal.example"); len(requests) != 0 {
			t.Errorf("requests %v", requests)
		}
	})
	t.Run("F10/reject-many-hops", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").RedirectChain("/a", 10, "")
		resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example/a")
		failure(t, resp, err, lookleap.CodeTooManyRedirects)
		if got := len(n.Journal().Requests()); got != 6 {
			t.Errorf("%d requests, want the first and 5 hops", got)
		}
	})
	t.Run("F10/accept-five-hops", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").RedirectChain("/a", 5, "")
		if resp := must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example/a"); len(resp.Hops) != 5 || resp.Hops[4].Number != 5 {
			t.Errorf("hops %v", resp.Hops)
		}
	})
	t.Run("F10/reject-self-loop", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Redirect("/", "/")
		resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example/")
		failure(t, resp, err, lookleap.CodeTooManyRedirects)
		if got := len(n.Journal().Requests()); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
	t.Run("F10/reject-loop-of-two", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("a.example").Redirect("/", "https://b.example/#1")
		n.Site("b.example").Redirect("/", "https://A.example:443/#2")
		resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere}, "https://a.example/")
		failure(t, resp, err, lookleap.CodeTooManyRedirects)
		if got := len(n.Journal().Requests()); got != 2 {
			t.Errorf("%d requests", got)
		}
	})
}

// TestLocation: the target of a redirect that the caller follows by itself is https, whatever the
// rules allow.
func TestLocation(t *testing.T) {
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	for _, c := range []struct {
		name, location string
		code           lookleap.Code
	}{
		{"F10/accept-https", "https://shop.example/b", lookleap.CodeOK},
		{"F10/reject-http", "http://shop.example/b", lookleap.CodeNotHTTPS},
		{"F10/reject-other-scheme", "ftp://shop.example/b", lookleap.CodeNotHTTPS},
		{"F10/reject-missing", "", lookleap.CodeBadRedirect},
	} {
		t.Run(c.name, func(t *testing.T) {
			to, err := fetch.Location(parse(t, "https://shop.example/a"), http.Header{"Location": {c.location}}, rules)
			if lookleap.CodeOf(err) != c.code || to.IsZero() != (err != nil) {
				t.Errorf("%v, %v", to, err)
			}
		})
	}
}

func TestRedirectRule(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").Redirect("/out", "https://other.example/").Redirect("/in", "/here").Redirect("/port", "https://shop.example:8443/here").File("/here", "text/plain", "here").
		Status("/300", http.StatusMultipleChoices, "Location", "/here").Status("/304", http.StatusNotModified, "Location", "/here")
	n.Site("other.example").File("/", "text/plain", "other")

	t.Run("nil-returns-the-redirect", func(t *testing.T) {
		resp := must(t, n.Fetcher(lookleap.FetcherOptions{}), new(fetch.Request), "https://shop.example/out")
		if to, err := fetch.Location(resp.URL, resp.Header, domain.Rules{}); resp.Status != http.StatusFound || err != nil || to.String() != "https://other.example/" {
			t.Errorf("%+v, %v, %v", resp, to, err)
		}
	})
	t.Run("same-origin", func(t *testing.T) {
		resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.SameOrigin}, "https://shop.example/out")
		failure(t, resp, err, lookleap.CodeRedirectForbidden)
		resp, err = do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.SameOrigin}, "https://shop.example/port")
		failure(t, resp, err, lookleap.CodeRedirectForbidden)
		must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.SameOrigin}, "https://shop.example/in")
	})
	t.Run("own-code-and-error", func(t *testing.T) {
		no := &lookleap.Error{Code: dvs.CodeOutsideTrustRoot, Message: "outside"}
		resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: func(fetch.Hop) error { return no }}, "https://shop.example/out")
		if failure(t, resp, err, dvs.CodeOutsideTrustRoot); !errors.Is(err, no) {
			t.Errorf("%v", err)
		}
	})
	t.Run("asked-with-the-hop", func(t *testing.T) {
		var asked []fetch.Hop
		must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: func(h fetch.Hop) error { asked = append(asked, h); return nil }}, "https://shop.example/out")
		if len(asked) != 1 || asked[0].From.String() != "https://shop.example/out" || asked[0].To.String() != "https://other.example/" || asked[0].SameOrigin() || asked[0].Permanent() {
			t.Errorf("%+v", asked)
		}
	})
	t.Run("other-3xx-are-answers", func(t *testing.T) {
		for path, status := range map[string]int{"/300": 300, "/304": 304} {
			if resp := must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example"+path); resp.Status != status {
				t.Errorf("%s: %d", path, resp.Status)
			}
		}
	})
	t.Run("no-hops-allowed", func(t *testing.T) {
		resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere, Limits: fetch.Limits{Hops: -1}}, "https://shop.example/in")
		failure(t, resp, err, lookleap.CodeTooManyRedirects)
	})
}

// secrets are what a caller may have set for the first origin.
var secrets = http.Header{
	"Authorization": {"Bearer secret"}, "Cookie": {"session=secret"}, "X-Api-Key": {"secret"}, "Www-Authenticate": {"secret"},
	"If-None-Match": {`"secret"`}, "X-Custom": {"secret"}, "Accept-Language": {"secret"}, "Origin": {"https://secret.example"},
	"Idempotency-Key": {"secret"},
}

func TestHeadersStayAtTheirOrigin(t *testing.T) {
	leaked := func(n *lookleaptest.Internet, at func(lookleaptest.Request) bool) []string {
		var names []string
		for _, request := range n.Journal().Requests() {
			for name := range secrets {
				if at(request) && len(request.Header[name]) > 0 {
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	t.Run("F11/reject-other-host", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Redirect("/", "https://cdn.shop.example/")
		n.Site("cdn.shop.example").File("/", "text/plain", "")
		must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Header: secrets, Redirect: fetch.Anywhere}, "https://shop.example/")
		if names := leaked(n, func(r lookleaptest.Request) bool { return r.Site == "cdn.shop.example" }); names != nil {
			t.Errorf("leaked %v", names)
		}
		if names := leaked(n, func(r lookleaptest.Request) bool { return r.Site == "shop.example" }); len(names) != len(secrets) {
			t.Errorf("the first origin got %v alone", names)
		}
		last := n.Journal().Requests("cdn.shop.example")[0]
		for name := range last.Header {
			if !slices.Contains([]string{"Accept", "Accept-Encoding", "User-Agent"}, name) {
				t.Errorf("%s was sent", name)
			}
		}
	})
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run("F11/reject-second-hop-by-"+strconv.Itoa(status), func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			n.Site("shop.example").Redirect("/", "/a").Status("/a", status, "Location", "https://other.example/")
			n.Site("other.example").File("/", "text/plain", "")
			must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Header: secrets, Redirect: fetch.Anywhere}, "https://shop.example/")
			if names := leaked(n, func(r lookleaptest.Request) bool { return r.Site == "other.example" }); names != nil {
				t.Errorf("leaked %v", names)
			}
		})
	}
	t.Run("F11/reject-other-port", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Ports(443, 8443).Redirect("/", "https://shop.example:8443/b").File("/b", "text/plain", "")
		f := n.Fetcher(lookleap.FetcherOptions{Ports: []uint16{443, 8443}})
		must(t, f, &fetch.Request{Header: secrets, Redirect: fetch.Anywhere}, "https://shop.example/")
		if names := leaked(n, func(r lookleaptest.Request) bool { return r.Addr.Port() == 8443 }); names != nil {
			t.Errorf("leaked %v", names)
		}
	})
	t.Run("F11/reject-way-back", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("a.example").Redirect("/", "https://b.example/").File("/back", "text/plain", "")
		n.Site("b.example").Redirect("/", "https://a.example/back")
		must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Header: secrets, Redirect: fetch.Anywhere}, "https://a.example/")
		if names := leaked(n, func(r lookleaptest.Request) bool { return r.Path == "/back" }); names != nil {
			t.Errorf("leaked %v", names)
		}
	})
	t.Run("F11/accept-same-origin", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Redirect("/", "/b").File("/b", "text/plain", "")
		must(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Header: secrets, Redirect: fetch.Anywhere}, "https://shop.example/")
		if names := leaked(n, func(r lookleaptest.Request) bool { return r.Path == "/b" }); len(names) != len(secrets) {
			t.Errorf("sent %v alone", names)
		}
	})
	t.Run("F11/reject-downgrade", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Plain().Redirect("/", "http://shop.example/b")
		resp, err := do(t, n.Unguarded(), &fetch.Request{Header: secrets, Redirect: fetch.Anywhere}, "https://shop.example/")
		failure(t, resp, err, lookleap.CodeNotHTTPS)
		if got := len(n.Journal().Requests()); got != 1 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestBodiesStayAtTheirOrigin(t *testing.T) {
	tests := []struct {
		name     string
		status   int
		location string
		method   string
		code     lookleap.Code // "": followed
		want     string        // method and body size at the target
	}{
		{"307-same-origin", 307, "/b", "POST", "", "POST 6"},
		{"308-same-origin", 308, "/b", "PUT", "", "PUT 6"},
		{"303-same-origin", 303, "/b", "POST", "", "GET 0"},
		{"303-other-origin", 303, "https://other.example/b", "POST", "", "GET 0"},
		{"307-other-origin", 307, "https://other.example/b", "POST", lookleap.CodeRedirectForbidden, ""},
		{"308-other-origin", 308, "https://other.example/b", "POST", lookleap.CodeRedirectForbidden, ""},
		{"301-post", 301, "/b", "POST", lookleap.CodeRedirectForbidden, ""},
		{"302-delete", 302, "/b", "DELETE", lookleap.CodeRedirectForbidden, ""},
		{"302-other-origin", 302, "https://other.example/b", "POST", lookleap.CodeRedirectForbidden, ""},
	}
	for _, test := range tests {
		t.Run("F11/"+map[bool]string{true: "accept-", false: "reject-"}[test.code == ""]+test.name, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			n.Site("shop.example").Status("/a", test.status, "Location", test.location).File("/b", "text/plain", "")
			n.Site("other.example").File("/b", "text/plain", "")
			r := &fetch.Request{Method: test.method, Body: []byte("secret"), Header: http.Header{"Content-Type": {"text/plain"}}, Redirect: fetch.Anywhere}
			resp, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), r, "https://shop.example/a")
			requests := n.Journal().Requests()
			if string(requests[0].Body) != "secret" {
				t.Errorf("the first origin got %q", requests[0].Body)
			}
			if len(r.Header) != 1 || r.Header.Get("Content-Type") != "text/plain" {
				t.Errorf("the caller's header was changed to %v", r.Header)
			}
			if test.code != "" {
				failure(t, resp, err, test.code)
				if len(requests) != 1 {
					t.Errorf("requests %v", requests[1:])
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := requests[1]
			if got.Method+" "+string(rune('0'+got.BodySize)) != test.want || (got.BodySize == 0 && got.Header.Get("Content-Type") != "") {
				t.Errorf("target got %s with %d octets, %v", got.Method, got.BodySize, got.Header)
			}
		})
	}
}

// FuzzLocation reads where redirects lead. None panics, each error has a code, and
// what is followed is one canonical https URL without a fragment or user information.
func FuzzLocation(f *testing.F) {
	for _, location := range []string{"b", "/b#part", "//b.example/c", "?q", "#f", "https://b.example", "http://b.example/", "https://user@b.example/", "/x/%2e%2e/b", `\\b.example/`,
		"https:/b", "https:b", " /b", "/b\r\nSet-Cookie: a=b", "/%ZZ", "https://[::1]/", "https://127.1/", "javascript:alert(1)", "/\u00fc", "https://b\u00fccher.example/"} {
		f.Add("https://shop.example/a/b?c", location, "", false)
	}
	f.Add("https://shop.example/", "/a", "/b", true)
	f.Fuzz(func(t *testing.T, from, location, second string, two bool) {
		base, err := domain.Parse(from)
		if err != nil {
			return
		}
		h := http.Header{"Location": {location}}
		if two {
			h.Add("Location", second)
		}
		for _, rules := range []domain.Rules{{}, {AllowIP: true, AllowSpecial: true}, {Schemes: []string{"https", "http"}}} {
			to, err := fetch.Location(base, h, rules)
			if err != nil {
				if code := lookleap.CodeOf(err); code == "" || code == lookleap.CodeInternal || err.Error() == "" {
					t.Fatalf("%q has the code %q: %v", location, code, err)
				}
				if !to.IsZero() {
					t.Fatalf("%q is refused and leads to %s", location, to)
				}
				continue
			}
			if two || location == "" {
				t.Fatalf("%q and %q are followed to %s", location, second, to)
			}
			net := to.NetURL()
			if net.Scheme != "https" || net.User != nil || net.Fragment != "" || net.Host == "" {
				t.Fatalf("%q is followed to %s", location, to)
			}
			if again, err := rules.Parse(to.String()); err != nil || again.String() != to.String() {
				t.Fatalf("%q is followed to %s, which is read as %s, %v", location, to, again, err)
			}
		}
	})
}
