package agentstxt

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestOrigins: a URL without a usable origin is an error, each time.
func TestOrigins(t *testing.T) {
	c := NewClient(&lookleap.Host{}, Options{})
	for text, message := range map[string]string{
		"https://a..example/x": "no usable origin: a label of the host is empty", "https://-a.example/": "no usable origin", "ftp://a.example/": "no usable origin: this scheme is not allowed", "https:a.example": "the URL has no path",
		"https://a%zz/": "no usable origin", "://": "no usable origin", "https://": "no usable origin", "https://a_b example/": "no usable origin", "": "no usable origin",
	} {
		for range 2 {
			if got, err := c.targetOf(text); err == nil || got.origin.name != "" || !strings.Contains(err.Error(), message) {
				t.Errorf("%q: %+v, %v", text, got, err)
			}
			if got, err := PolicyURL(text); err == nil || got != "" || !strings.Contains(err.Error(), message) {
				t.Errorf("the policy of %q is %q, %v", text, got, err)
			}
		}
	}
	for range 2 {
		for text, want := range map[string]string{"https://A.example:443/x": "https://a.example", "http://a.example/": "http://a.example", "https://a.example:8443/": "https://a.example:8443"} {
			if got, err := c.targetOf(text); err != nil || got.origin.name != want {
				t.Errorf("%q: %+v, %v", text, got, err)
			}
		}
	}
	if n := c.origins.Len(); n != 3 {
		t.Errorf("%d origins are cached", n)
	}
	label := strings.Repeat("\u4e2d", 32)
	for tld, cached := range map[string]int{"abcdefg": 3, "abcdef": 4} { // 301 bytes are not cached, 300 are
		host := "\u4e2d" + label + "." + label + "." + label + "." + tld
		n := c.origins.Len()
		if o, err := c.cachedOriginAt("https", host); err != nil || !strings.HasPrefix(o.name, "https://xn--") || c.origins.Len() != n+cached-3 {
			t.Errorf("%d bytes: %s, %v: %d origins are cached", len(host), o.name, err, c.origins.Len())
		}
	}
}

// TestPolicyFileMethods: only GET and HEAD may request the policy file of an origin that denies it.
func TestPolicyFileMethods(t *testing.T) {
	for row, file := range map[string]string{"AGT-5-04": "broken", "AGT-6-18": signed("/ DISALLOW")} {
		for method, reads := range map[string]bool{"": true, "GET": true, "HEAD": true, "POST": false, "PUT": false, "DELETE": false, "PATCH": false,
			"OPTIONS": false, "TRACE": false, "QUERY": false, "get": false} {
			name := map[bool]string{true: "accept", false: "reject"}[reads] + "-policy-file-by-" + cmp.Or(method, "no-method")
			inWorld(t, row+"/"+name, Options{}, func(w *world) {
				w.servesFile(file)
				_, g := w.guarded(Options{})
				for _, path := range []string{"/agents.txt", "/%61gents.txt"} {
					req, _ := http.NewRequest("GET", "https://shop.example"+path, nil)
					req.Method = method
					if v, err := g.Check(req); (err == nil) != reads || reads && !v.OK || !reads && !errors.Is(err, lookleap.ErrDenied) {
						w.Errorf("%s: %v, %v", path, v, err)
					}
				}
			})
		}
	}
}
