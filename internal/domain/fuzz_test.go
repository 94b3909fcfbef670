package domain

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

var seeds = []string{
	"https://example.com/", "HTTPS://B\u00dcCHER.example:443/%7Eorg/?q#f", "https://h.example/a/../b", "https://h.example/%252e", "https://u@h.example:0443/",
	"https://[::1]:8443/x", "https://127.1/", "https://\uff45xample.com/", "https://xn--zzzz.example/", "https://h.example/a;b=c//d?e=%zz#\u202e", "http:x", "//x", "", "https://h.example/%c3%a9%ff", "https://h.example/%25%32%65", "https://h.example/%25252%65",
}

var lenientRules = Rules{Schemes: []string{"https", "http", "wss", "x"}, AllowIP: true, AllowSpecial: true}

// checkCanonical checks what holds for every canonical URL.
func checkCanonical(t *testing.T, rules Rules, u URL) {
	text := u.String()
	if i := strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }); i >= 0 {
		t.Fatalf("%q is not printable ASCII", text)
	}
	again, err := rules.Parse(text)
	if err != nil || again.String() != text || again.Port() != u.Port() || again.FragmentDropped() {
		t.Fatalf("%s parses to %s, %v", text, again, err)
	}
	std, err := url.Parse(text)
	if err != nil {
		t.Fatalf("net/url refuses %s: %v", text, err)
	}
	if std.Scheme != u.Scheme() || "["+std.Hostname()+"]" != u.Host() && std.Hostname() != u.Host() || std.EscapedPath() != u.Path() || std.RawQuery != u.RawQuery() || std.User != nil || std.Fragment != "" {
		t.Fatalf("net/url reads %s as %#v", text, std)
	}
	if std.String() != text || u.NetURL().String() != text {
		t.Fatalf("net/url writes %s as %s", text, std)
	}
	if resolved := std.ResolveReference(&url.URL{}); resolved.EscapedPath() != u.Path() {
		t.Fatalf("net/url still changes the path of %s to %s", text, resolved.EscapedPath())
	}
	req, err := http.NewRequest(http.MethodGet, text, nil)
	if err != nil {
		t.Fatalf("net/http refuses %s: %v", text, err)
	}
	if u.Scheme()+"://"+req.Host != u.Origin() || req.Host != req.URL.Host {
		t.Fatalf("net/http sends %s to %s", text, req.Host)
	}
	if uri := req.URL.RequestURI(); uri != text[len(u.Origin()):] {
		t.Fatalf("net/http requests %s for %s", uri, text)
	}
	if !u.Under(u) {
		t.Fatalf("%s is not under itself", text)
	}
	origin, err := rules.Parse(u.Origin())
	if err != nil || !u.Under(origin) {
		t.Fatalf("%s is not under its origin: %v", text, err)
	}
}

func checkRefusal(t *testing.T, input string, u URL, err error) {
	var e *Error
	if !errors.As(err, &e) || e.Code == "" || e.Message == "" || e.Offset < 0 || e.Offset > len(input) || len(e.Part) > maxPart {
		t.Fatalf("%q: %#v", input, err)
	}
	if !u.IsZero() {
		t.Fatalf("%q: a refusal returned %s", input, u)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, rules := range []Rules{{}, lenientRules} {
			u, err := rules.Parse(raw)
			if err != nil {
				checkRefusal(t, raw, u, err)
				continue
			}
			checkCanonical(t, rules, u)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range append(seeds, "../x", "./a:b", "..//x", "?q", "#f", "a/../../..", "..;/x", "%61", "a/./b/.", "%2e%2e/x") {
		f.Add("https://h.example/s/a/SKILL.md?v", s)
	}
	f.Fuzz(func(t *testing.T, rawBase, ref string) {
		for _, rules := range []Rules{{}, lenientRules} {
			base, err := rules.Parse(rawBase)
			if err != nil {
				continue
			}
			u, err := rules.Resolve(base, ref)
			if err != nil {
				checkRefusal(t, ref, u, err)
				continue
			}
			checkCanonical(t, rules, u)
			if u.FragmentDropped() != strings.Contains(ref, "#") {
				t.Fatalf("%q: fragment %t", ref, u.FragmentDropped())
			}
			std, err := base.NetURL().Parse(ref)
			if err != nil {
				continue // net/url refuses some references that this package accepts
			}
			// Decoded, since net/url also escapes some characters that need no escape.
			if path := u.NetURL().Path; std.Path != path && std.Path+"/" != path {
				t.Fatalf("%q in %s: net/url resolves to %s, this to %s", ref, base, std, u)
			}
		}
	})
}

func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"example.com", "B\u00dcCHER.example", "xn--bcher-kva.example", "xn--zzzz.example", "a..b", "\uff11.1", "ex\u00adample.com", "\u13a0.example", "a\u05d0.example", "[::1]", "\u212a.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		host, err := ParseHost(raw)
		if err != nil {
			checkRefusal(t, raw, URL{}, err)
			return
		}
		if again, err := ParseHost(host); err != nil || again != host {
			t.Fatalf("%q parses to %q, %v", host, again, err)
		}
		u, err := Parse("https://" + raw + "/")
		if err != nil || u.Host() != host {
			t.Fatalf("%q as a host is %q, in a URL %q, %v", raw, host, u.Host(), err)
		}
		domain, ok := Registrable(host)
		if ok && host != domain && !strings.HasSuffix(host, "."+domain) {
			t.Fatalf("%q has the registrable domain %q", host, domain)
		}
		if suffix, _ := PublicSuffix(host); !strings.HasSuffix(host, suffix) || suffix == "" {
			t.Fatalf("%q has the public suffix %q", host, suffix)
		}
		if display, ok := Unicode(host); ok {
			if again, err := ParseHost(display); err != nil || again != host {
				t.Fatalf("%q is shown as %q, which is %q, %v", host, display, again, err)
			}
		}
	})
}
