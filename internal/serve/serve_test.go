package serve_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/serve"
	"github.com/lookleap/lookleap/wellknown"
)

// published returns every handler of the module, by the path of a document.
func published(t *testing.T) map[string]http.Handler {
	t.Helper()
	all := map[string]http.Handler{}
	add := func(path string, h http.Handler, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all[path] = h
	}
	policy, err := agentstxt.Sign([]byte("/admin DISALLOW\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := agentstxt.NewHandler(policy)
	add("/agents.txt", h, err)
	known, err := wellknown.NewHandler(fstest.MapFS{"security.txt": {Data: []byte("Contact: mailto:a@example.com\n")}},
		[]wellknown.Document{{Name: "security.txt", File: "security.txt", MediaType: "text/plain; charset=utf-8"}}, wellknown.HandlerOptions{})
	add("/.well-known/security.txt", known, err)
	skills, err := dvs.NewHandler(fstest.MapFS{"pay/SKILL.md": {Data: []byte("---\nname: pay\ndescription: b\n---\ntext\n")}}, dvs.Limits{})
	add("/.well-known/skills/pay/SKILL.md", skills, err)

	document, err := anml.NewService("Shop").Build()
	if err != nil {
		t.Fatal(err)
	}
	h, err = anml.NewHandler(document, anml.HandlerOptions{})
	add("/.well-known/anml", h, err)

	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	trust := func() time.Time { return now }
	h, err = anmltrust.NewManifestHandler([]byte(`{"version":"1.0","site":"example.com","issued":"2026-10-01T00:00:00Z","expires":"2026-12-01T00:00:00Z","authorized-domains":[]}`), trust)
	add("/.well-known/anml-trust", h, err)
	h, err = anmltrust.NewQueryHandler(func(string, anmltrust.Scope) (anmltrust.QueryResponse, bool) {
		return anmltrust.QueryResponse{Tier: anmltrust.Full, Scope: anmltrust.AllSections, Expires: now.Add(time.Hour)}, true
	}, trust)
	add("/query?domain=shop.example", h, err)

	h, err = aiuri.NewKeySetHandler([]byte(`{"keys":[]}`))
	add("/jwks", h, err)
	add("/ring", aiuri.NewKeyRingHandler(nil), nil)
	endpoint, err := aiuri.Parse("ai://example.com/pay")
	if err != nil {
		t.Fatal(err)
	}
	h, err = aiuri.NewDescriptorHandler("https://example.com", &aiuri.Descriptor{Endpoint: endpoint, Policy: aiuri.EndpointPolicy{RequireSignedResults: true}, JWKS: "https://example.com/jwks"})
	add("/.well-known/aiip", h, err)
	return all
}

// TestHandlers requires the same answers of all handlers.
func TestHandlers(t *testing.T) {
	for path, h := range published(t) {
		ask := func(method string, header http.Header) (*http.Request, *http.Response) {
			r := httptest.NewRequest(method, "https://example.com"+path, nil)
			maps.Copy(r.Header, header)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return r, w.Result()
		}
		t.Run(strings.ReplaceAll(path[1:], "/", "_"), func(t *testing.T) {
			_, whole := ask("GET", nil)
			etag := whole.Header.Get("ETag")
			t.Run("O26/accept-request-unchanged", func(t *testing.T) {
				header := http.Header{"Range": {"bytes=0-1"}, "If-Range": {etag}, "If-None-Match": {`"x"`}, "User-Agent": {"a"}}
				r, _ := ask("GET", header)
				if !reflect.DeepEqual(r.Header, header) {
					t.Errorf("the handler changed the request to %v", r.Header)
				}
			})
			t.Run("O26/accept-header-that-middleware-changes", func(t *testing.T) {
				_, resp := ask("GET", nil)
				want := resp.Header.Clone()
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "https://example.com"+path, nil))
				for _, values := range w.Header() {
					values[0] = "changed"
				}
				if _, resp := ask("GET", nil); !reflect.DeepEqual(resp.Header, want) {
					t.Errorf("the next response has %v, want %v", resp.Header, want)
				}
			})
			t.Run("O26/accept-conditional-request-unchanged", func(t *testing.T) {
				for _, name := range []string{"If-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "range"} {
					header := http.Header{name: {"bytes=0-1", "bytes=5-"}}
					r, resp := ask("HEAD", header)
					if r.Header[name] == nil || len(r.Header[name]) != 2 || len(r.Header) != 1 || resp.StatusCode == 206 {
						t.Errorf("%s: %v, %s", name, r.Header, resp.Status)
					}
				}
			})
			t.Run("O26/accept-range-ignored", func(t *testing.T) {
				for _, header := range []http.Header{{"Range": {"bytes=0-1"}}, {"Range": {"bytes=0-1"}, "If-Range": {etag}}} {
					if _, resp := ask("GET", header); resp.StatusCode != 200 || resp.ContentLength != whole.ContentLength {
						t.Error(header, resp.Status, resp.ContentLength)
					}
				}
			})
			t.Run("O26/reject-offer-of-ranges", func(t *testing.T) {
				for _, method := range []string{"GET", "HEAD"} {
					if _, resp := ask(method, nil); resp.Header.Get("Accept-Ranges") != "none" {
						t.Errorf("%s: Accept-Ranges: %q", method, resp.Header.Values("Accept-Ranges"))
					}
				}
			})
			t.Run("O26/accept-validator", func(t *testing.T) {
				if _, resp := ask("GET", http.Header{"If-None-Match": {etag}}); resp.StatusCode != 304 || etag == "" {
					t.Error(resp.Status, etag)
				}
			})
			t.Run("O26/accept-head", func(t *testing.T) {
				_, resp := ask("HEAD", nil)
				if body, _ := resp.Body.Read(make([]byte, 1)); resp.StatusCode != 200 || body > 0 || resp.Header.Get("ETag") != etag {
					t.Error(resp.Status, body)
				}
			})
			t.Run("O26/accept-security-header", func(t *testing.T) {
				for name, want := range map[string]string{
					"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
					"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
				} {
					if got := whole.Header.Get(name); got != want {
						t.Errorf("%s: %q", name, got)
					}
				}
				if whole.Header.Get("Cache-Control") == "" || whole.Header.Get("Set-Cookie") != "" {
					t.Error(whole.Header)
				}
			})
			for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "get"} {
				t.Run("O26/reject-"+method, func(t *testing.T) {
					if _, resp := ask(method, nil); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
						t.Error(resp.Status, resp.Header)
					}
				})
			}
		})
	}
}

// TestDocuments: a document is served at its path with its header, and nothing elsewhere.
func TestDocuments(t *testing.T) {
	d := serve.New([]byte("text"), "text/plain")
	all := serve.Documents{"/a%2Fb": d, "/none": nil}
	ask := func(method, path string) *http.Response {
		w := httptest.NewRecorder()
		all.ServeHTTP(w, httptest.NewRequest(method, "https://example.com"+path, nil))
		return w.Result()
	}
	for path, want := range map[string]int{"/a%2Fb": 200, "/a/b": 404, "/none": 404, "/": 404} {
		if resp := ask("GET", path); resp.StatusCode != want || (resp.Header.Get("ETag") == `"mC2ePrmW9VnmM_TR"`) != (want == 200) {
			t.Errorf("%s: %s %v", path, resp.Status, resp.Header)
		}
	}
	if resp := ask("GET", "/a%2Fb"); resp.Header.Get("Content-Type") != "text/plain" || resp.Header.Get("Cache-Control") != "max-age=3600" {
		t.Errorf("%v", resp.Header)
	}
	d.MaxAge = func() time.Duration { return 90 * time.Second }
	if resp := ask("GET", "/a%2Fb"); resp.Header.Get("Cache-Control") != "max-age=90" {
		t.Errorf("%v", resp.Header)
	}
	resp := ask("POST", "/a%2Fb")
	if body, err := io.ReadAll(resp.Body); resp.StatusCode != 405 || resp.Header.Get("ETag") != "" || string(body) != "method not allowed\n" || err != nil {
		t.Errorf("%s %v %q %v", resp.Status, resp.Header, body, err)
	}
}
