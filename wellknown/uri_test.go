package wellknown_test

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/vectors"
	"github.com/lookleap/lookleap/wellknown"
)

func TestURL(t *testing.T) {
	for _, c := range []struct {
		id, name string
		origin   string
		suffix   string
		rest     []string
		want     string        // the URI, or
		code     lookleap.Code // the refusal
	}{
		{"WK-1-01", "accept", "https://h.example", "x", nil, "https://h.example/.well-known/x", ""},
		{"WK-1-03", "reject-ai", "ai://h.example", "x", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-1-03", "reject-ftp", "ftp://h.example", "x", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-1-03", "reject-gopher", "gopher://h.example", "x", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-1-03", "accept-coap", "coap://h.example", "core", nil, "coap://h.example/.well-known/core", ""},
		{"WK-3-02", "accept", "http://www.example.com/", "example", nil, "http://www.example.com/.well-known/example", ""},
		{"WK-3-02", "accept-ignored-rest", "http://www.example.com/a/b?c#d", "example", nil, "http://www.example.com/.well-known/example", ""},
		{"WK-3-02", "accept-ignored-path", "http://www.example.com/a%zz/../b", "example", nil, "http://www.example.com/.well-known/example", ""},
		{"WK-3-02", "accept-ignored-query", "http://www.example.com?c%zz", "example", nil, "http://www.example.com/.well-known/example", ""},
		{"WK-3-02", "accept-ignored-fragment", "http://www.example.com#d e", "example", nil, "http://www.example.com/.well-known/example", ""},
		{"WK-3-03", "accept-no-base-path", "https://h.example/foo/", "example", nil, "https://h.example/.well-known/example", ""},
		{"WK-3-06", "accept-ws", "ws://h.example", "x", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-3-06", "accept-wss", "wss://h.example", "x", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-3-08", "reject-empty", "https://h.example", "", nil, "", lookleap.CodeBadName},
		{"WK-3-08", "reject-slash", "https://h.example", "a/b", nil, "", lookleap.CodeBadName},
		{"WK-3-08", "reject-dot-segment", "https://h.example", "..", nil, "", lookleap.CodeBadName},
		{"WK-3-12", "reject-wss", "wss://h.example", "security.txt", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-3-12", "reject-ws", "ws://h.example", "security.txt", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-3-12", "reject-coap", "coap://h.example", "security.txt", nil, "", wellknown.CodeSchemeUnsupported},
		{"WK-3-12", "accept-https", "https://h.example", "security.txt", nil, "https://h.example/.well-known/security.txt", ""},
		{"WK-3-12", "accept-http", "http://h.example", "security.txt", nil, "http://h.example/.well-known/security.txt", ""},
		{"WK-3-13", "accept-443", "https://h.example:443", "x", nil, "https://h.example/.well-known/x", ""},
		{"WK-3-13", "accept-80", "http://h.example:80", "x", nil, "http://h.example/.well-known/x", ""},
		{"WK-3-13", "accept-5683", "coap://h.example:5683", "core", nil, "coap://h.example/.well-known/core", ""},
		{"WK-3-13", "accept-5684", "coaps://h.example:5684", "core", nil, "coaps://h.example/.well-known/core", ""},
		{"WK-3-14", "reject-8443", "https://h.example:8443", "x", nil, "", "port-not-specified"},
		{"WK-3-15", "accept-rest", "https://h.example", "skills", []string{"index.json"}, "https://h.example/.well-known/skills/index.json", ""},
		{"WK-3-15", "reject-dotted-rest", "https://h.example", "skills", []string{"..", "x"}, "", lookleap.CodeAmbiguousPath},
		{"WK-3-15", "reject-query-in-rest", "https://h.example", "skills", []string{"x?y"}, "", lookleap.CodeBadURL},
		{"WK-3-15", "reject-fragment-in-rest", "https://h.example", "skills", []string{"x#y"}, "", lookleap.CodeBadURL},
		{"WK-3-15", "reject-empty-fragment-in-rest", "https://h.example", "skills", []string{"x#"}, "", lookleap.CodeBadURL},
		{"WK-3-15", "reject-empty-query-in-rest", "https://h.example", "skills", []string{"x?"}, "", lookleap.CodeBadURL},
		{"WK-3-15", "accept-escaped-rest", "https://h.example", "skills", []string{"x%23y", "z%3F"}, "https://h.example/.well-known/skills/x%23y/z%3F", ""},
		{"WK-3-17", "reject-bare-prefix", "https://h.example", "", nil, "", lookleap.CodeBadName},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			if c.id == "WK-3-06" { // ws and wss have URIs for the names that are defined for them
				r, err := wellknown.Builtin().With(wellknown.Entry{Name: "x", Reference: "RFC8307", Schemes: []string{"ws", "wss"}})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := r.URL(c.origin, c.suffix); err != nil || got != c.origin+"/.well-known/x" {
					t.Fatalf("got %q, %v", got, err)
				}
				return
			}
			got, err := wellknown.URL(c.origin, c.suffix, c.rest...)
			if got != c.want || err != nil && lookleap.CodeOf(err) != c.code || (err != nil) != (c.code != "") {
				t.Fatalf("got %q, %v; want %q, %s", got, err, c.want, c.code)
			}
		})
	}
}

// TestDefaultPorts: the default port of each scheme is left out, and any other port is kept.
func TestDefaultPorts(t *testing.T) {
	ports := map[string]int{"http": 80, "https": 443, "ws": 80, "wss": 443, "coap": 5683, "coaps": 5684,
		"coap+tcp": 5683, "coaps+tcp": 5684, "coap+ws": 80, "coaps+ws": 443}
	r, err := wellknown.Builtin().With(wellknown.Entry{Name: "x", Reference: "RFC1", Schemes: slices.Collect(maps.Keys(ports))})
	if err != nil {
		t.Fatal(err)
	}
	for scheme, port := range ports {
		t.Run("WK-3-13/accept-default-port-of-"+scheme, func(t *testing.T) {
			got, err := r.URL(fmt.Sprintf("%s://h.example:%d", scheme, port), "x")
			if err != nil || got != scheme+"://h.example/.well-known/x" {
				t.Errorf("got %q, %v", got, err)
			}
		})
		for _, other := range []int{80, 443, 5683, 5684} {
			if other == port {
				continue
			}
			t.Run("WK-3-13/reject-default-port-of-another-scheme", func(t *testing.T) {
				if got, err := r.URL(fmt.Sprintf("%s://h.example:%d", scheme, other), "x"); lookleap.CodeOf(err) != "port-not-specified" {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
	}
}

func TestURLPorts(t *testing.T) {
	r, err := wellknown.Builtin().With(wellknown.Entry{Name: "ported", Reference: "RFC1", Ports: []uint16{8443}})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("WK-3-14/accept-registered-port", func(t *testing.T) {
		if got, err := r.URL("https://h.example:8443", "ported"); err != nil || got != "https://h.example:8443/.well-known/ported" {
			t.Fatalf("got %q, %v", got, err)
		}
	})
	t.Run("WK-3-14/accept-explicit-port", func(t *testing.T) {
		if got, err := r.URLOn("https://h.example:8443", "security.txt"); err != nil || got != "https://h.example:8443/.well-known/security.txt" {
			t.Fatalf("got %q, %v", got, err)
		}
	})
	t.Run("WK-3-14/reject-other-port", func(t *testing.T) {
		if got, err := r.URL("https://h.example:9443", "ported"); lookleap.CodeOf(err) != "port-not-specified" {
			t.Fatalf("got %q, %v", got, err)
		}
	})
}

func TestIsWellKnown(t *testing.T) {
	for _, c := range []struct {
		id, name, url string
		want          bool
		parse         lookleap.Code
	}{
		{"WK-3-01", "accept", "https://h.example/.well-known/x", true, lookleap.CodeOK},
		{"WK-3-01", "accept-bare-prefix", "https://h.example/.well-known/", true, lookleap.CodeBadName},
		{"WK-3-01", "reject-longer-word", "https://h.example/.well-knownx/a", false, wellknown.CodeNotWellKnown},
		{"WK-3-01", "reject-no-slash", "https://h.example/.well-known", false, wellknown.CodeNotWellKnown},
		{"WK-3-01", "reject-case", "https://h.example/.Well-Known/x", false, wellknown.CodeNotWellKnown},
		{"WK-3-01", "reject-scheme", "ftp://h.example/.well-known/x", false, wellknown.CodeSchemeUnsupported},
		{"WK-3-03", "reject-deeper", "https://h.example/foo/.well-known/example", false, wellknown.CodeNotWellKnown},
		{"WK-A-01", "reject-per-directory", "https://h.example/~alice/.well-known/x", false, wellknown.CodeNotWellKnown},
		{"WK-3-04", "reject-encoded-dot", "https://h.example/%2Ewell-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-dot-lower", "https://h.example/%2ewell-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-twice", "https://h.example/%252Ewell-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-letter", "https://h.example/.%77ell-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-hyphen", "https://h.example/.well%2Dknown/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-bare-prefix", "https://h.example/.well-know%6E/", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "accept-encoded-letter-in-the-name", "https://h.example/.well-known/%78", true, lookleap.CodeOK},
		{"WK-3-04", "reject-dotted-before", "https://h.example/a/../.well-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-dotted-after", "https://h.example/.well-known/../x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-single-dot-before", "https://h.example/./.well-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-single-dot-after", "https://h.example/.well-known/./x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-dots", "https://h.example/.well-known/%2e%2e/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-doubled-slash", "https://h.example//.well-known/x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-doubled-slash-after", "https://h.example/.well-known//x", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-backslash", `https://h.example/\.well-known/x`, false, lookleap.CodeBadURL},
		{"WK-3-04", "reject-encoded-slash-lower", "https://h.example/.well-known%2fx", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "reject-encoded-slash", "https://h.example/.well-known%2Fx", false, lookleap.CodeAmbiguousPath},
		{"WK-3-04", "accept-plain", "https://h.example/.well-known/x/y", true, lookleap.CodeOK},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			if got := wellknown.IsWellKnown(c.url); got != c.want {
				t.Errorf("IsWellKnown(%q) = %v", c.url, got)
			}
			if _, err := wellknown.Parse(c.url); lookleap.CodeOf(err) != c.parse {
				t.Errorf("Parse(%q): %v, want %s", c.url, err, c.parse)
			}
		})
	}
	t.Run("WK-3-01/reject-no-name", func(t *testing.T) {
		if _, err := wellknown.Parse("https://h.example/.well-known/"); !errors.Is(err, wellknown.ErrNoName) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-3-15/accept-rest", func(t *testing.T) {
		u, err := wellknown.Parse("https://h.example/.well-known/skills/a/SKILL.md?v=1")
		want := wellknown.URI{Origin: "https://h.example", Name: "skills", Rest: "a/SKILL.md", Query: "v=1"}
		if err != nil || u != want {
			t.Errorf("got %+v, %v", u, err)
		}
	})
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"x": true, "security.txt": true, "a:b@c": true, "a%20b": true,
		"": false, "a/b": false, "a?b": false, "a#b": false, "a b": false, "é": false, "%zz": false, "%2": false, ".": false, "..": false,
		"a%2Fb": false, "a%2fb": false, "a%5Cb": false, "%2e%2E": false, "a\x00": false,
	} {
		verdict := "reject-"
		if good {
			verdict = "accept-"
		}
		t.Run("WK-3-08/"+verdict+url.PathEscape(name), func(t *testing.T) {
			if err := wellknown.CheckName(name); good != (err == nil) || !good && lookleap.CodeOf(err) != lookleap.CodeBadName {
				t.Errorf("CheckName(%q): %v", name, err)
			}
		})
	}
}

func TestSchemeSupported(t *testing.T) {
	for scheme, reference := range map[string]string{
		"http": "RFC8615", "https": "RFC8615", "ws": "RFC8307", "wss": "RFC8307", "coap": "RFC7252", "coaps": "RFC7252",
		"coap+tcp": "RFC8323", "coaps+tcp": "RFC8323", "coap+ws": "RFC8323", "coaps+ws": "RFC8323",
	} {
		id := "WK-5.2-01/accept-"
		if scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" {
			t.Run("WK-3-05/accept-"+scheme, func(t *testing.T) {
				if got, ok := wellknown.SchemeSupported(scheme); !ok || got != reference {
					t.Errorf("got %q, %v", got, ok)
				}
			})
		}
		t.Run(id+scheme, func(t *testing.T) {
			if got, ok := wellknown.SchemeSupported(strings.ToUpper(scheme)); !ok || got != reference {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
	for _, scheme := range []string{"ai", "ftp", "", "https:", "dns"} {
		t.Run("WK-5.2-02/reject-"+url.PathEscape(scheme), func(t *testing.T) {
			if got, ok := wellknown.SchemeSupported(scheme); ok || got != "" {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"https://h.example/.well-known/x", "https://h.example/.well-known/", "https://h.example/.well-known/a%2Fb", "coap://h.example/.well-known/core?x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := wellknown.Parse(raw)
		if err != nil {
			if !lookleap.CodeOf(err).Known() {
				t.Fatalf("%q: an unknown code: %v", raw, err)
			}
			return
		}
		std, err := url.Parse(raw)
		if err != nil || !strings.HasPrefix(std.EscapedPath(), wellknown.Prefix) {
			t.Fatalf("%q: others do not read it as well-known: %v", raw, err)
		}
		if wellknown.CheckName(u.Name) != nil {
			t.Fatalf("%q: name %q", raw, u.Name)
		}
	})
}

// uriVector is a URI with its parts, or with the code of its error.
type uriVector struct {
	URI    string        `json:"uri"`
	Origin string        `json:"origin,omitempty"`
	Name   string        `json:"name,omitempty"`
	Rest   string        `json:"rest,omitempty"`
	Reason lookleap.Code `json:"reason,omitempty"`
}

// TestVectors takes the published URIs apart.
func TestVectors(t *testing.T) {
	file := vectors.Open[uriVector](t, "uris.json", wellknown.Spec)
	good := 0
	for i, want := range file.Cases {
		got := uriVector{URI: want.URI}
		u, err := wellknown.Parse(want.URI)
		var bad *lookleap.Error
		switch {
		case errors.As(err, &bad):
			got.Reason = bad.Code
		case err != nil:
			t.Fatal(err)
		default:
			got.Origin, got.Name, got.Rest = u.Origin, u.Name, u.Rest
			good++
		}
		if *vectors.Update {
			file.Cases[i] = got
		} else if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if good < 4 || len(file.Cases)-good < 8 {
		t.Errorf("%d of %d cases are well-known URIs", good, len(file.Cases))
	}
	if *vectors.Update {
		if err := file.Write("uris.json"); err != nil {
			t.Fatal(err)
		}
	}
}
