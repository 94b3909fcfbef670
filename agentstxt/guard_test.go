package agentstxt

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// guarded returns an http.Client behind a guard.
func (w *world) guarded(o Options) (*http.Client, *Transport) {
	g := NewClient(w.host, o).Guard()
	return &http.Client{Transport: g}, g
}

func (w *world) get(c *http.Client, url string) error {
	resp, err := c.Get(url)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func TestGuard(t *testing.T) {
	inWorld(t, "AGT-5-04/accept-allowed-paths", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/status", plainText, "fine")
		c, g := w.guarded(Options{})
		if err := w.get(c, "https://shop.example/status?x=1#f"); err != nil {
			w.Error(err)
		}
		req, _ := http.NewRequest("GET", "https://shop.example/status", nil)
		v, err := g.Check(req)
		if err != nil || !v.OK || v.Code != lookleap.CodeOK || v.Document != Draft || v.Subject != "https://shop.example/status" || len(v.Checks) != 2 || v.Expires.IsZero() {
			w.Errorf("%v, %v", v, err)
		}
		if e := v.Checks[0].Evidence[0]; e.Digest != "sha256:"+vector[1:] || e.Status != 200 || e.URL != "https://shop.example/agents.txt" || e.TLS == "" {
			w.Errorf("%+v", e)
		}
		w.asked(2)
	})
	inWorld(t, "AGT-5-04/reject-every-method-and-path", Options{}, func(w *world) {
		w.servesFile("broken")
		c, _ := w.guarded(Options{})
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
			for _, path := range []string{"/", "/robots.txt", "/.well-known/x", "/status"} {
				req, _ := http.NewRequest(method, "https://shop.example"+path, strings.NewReader("x"))
				_, err := c.Do(req)
				if v := refusal(w, err); v.Code != CodeForeignFormat || v.OK {
					w.Errorf("%s %s: %v", method, path, v)
				}
			}
		}
		w.asked(1)
	})
	inWorld(t, "AGT-5-04/accept-reading-the-policy", Options{}, func(w *world) {
		w.servesFile("broken")
		c, _ := w.guarded(Options{})
		for _, method := range []string{"GET", "HEAD"} {
			req, _ := http.NewRequest(method, "https://shop.example/agents.txt", nil)
			resp, err := c.Do(req)
			if err != nil {
				w.Fatal(err)
			}
			resp.Body.Close()
		}
		req, _ := http.NewRequest("POST", "https://shop.example/agents.txt", nil)
		_, err := c.Do(req)
		refusal(w, err)
	})
	inWorld(t, "AGT-5-08/accept-host-that-stops-using-the-package", Options{}, func(w *world) {
		w.servesFile("broken")
		w.site.File("/status", plainText, "fine")
		c, _ := w.guarded(Options{Unlisted: UnlistedAllow, Foreign: ForeignIgnore})
		if err := w.get(c, "https://shop.example/status"); err != nil { // foreign, and ignored on request
			w.Error(err)
		}
		if err := w.get(&http.Client{Transport: w.host}, "https://shop.example/status"); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "AGT-5-05/reject-decision-of-an-older-generation", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/status", plainText, "fine")
		c, g := w.guarded(Options{})
		if err := w.get(c, "https://shop.example/status"); err != nil {
			w.Fatal(err)
		}
		before := g.Client().Generation("https://shop.example/")
		w.servesFile("broken")
		w.pass(time.Hour)
		refusal(w, w.get(c, "https://shop.example/status"))
		if g.Client().Generation("https://shop.example/") == before {
			w.Error("the generation did not change")
		}
	})
	inWorld(t, "AGT-6-07/reject-fifty-first-request", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/dashboard*", plainText, "fine")
		c, _ := w.guarded(Options{})
		for i := range 50 {
			if err := w.get(c, "https://shop.example/dashboard/"+strings.Repeat("x", i)); err != nil {
				w.Fatal(i, err)
			}
		}
		v := refusal(w, w.get(c, "https://shop.example/dashboard"))
		if v.Code != lookleap.CodeLimit || !v.Expires.Equal(time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)) {
			w.Errorf("%v", v)
		}
		rate := lookleap.Rate{Limit: 51, Window: time.Hour}
		if wait, err := w.host.Wait(w.Context(), "agentstxt limit https://shop.example /dashboard", rate); wait != 0 || err != nil {
			w.Error("more than 50 are counted", err)
		}
		w.pass(time.Hour)
		if err := w.get(c, "https://shop.example/dashboard"); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "AGT-6-07/reject-redirects-and-retries-count", Options{}, func(w *world) {
		w.servesFile(signed("/ ALLOW limit=3"))
		w.site.Redirect("/a", "/b").Redirect("/b", "/c").File("/c", plainText, "fine")
		c, _ := w.guarded(Options{})
		if err := w.get(c, "https://shop.example/a"); err != nil { // three requests
			w.Fatal(err)
		}
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != lookleap.CodeLimit {
			w.Errorf("%v", v)
		}
	})
	inWorld(t, "AGT-6-07/accept-window-of-the-host", Options{}, func(w *world) {
		w.servesFile(signed("/ ALLOW limit=1"))
		w.site.File("/a", plainText, "fine")
		c, _ := w.guarded(Options{Window: time.Minute})
		for range 3 {
			if err := w.get(c, "https://shop.example/a"); err != nil {
				w.Fatal(err)
			}
			refusal(w, w.get(c, "https://shop.example/a"))
			w.pass(time.Minute)
		}
	})
	inWorld(t, "AGT-2-02/reject-redirect-to-restricted-origin", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(404))
		w.site.Redirect("/a", "https://closed.example/b")
		w.net.Site("closed.example").File("/agents.txt", plainText, signed("/ DISALLOW")).File("/b", plainText, "secret")
		c, _ := w.guarded(Options{})
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Subject != "https://closed.example/b" || v.Code != disallowed {
			w.Errorf("%v", v)
		}
	})
	inWorld(t, "AGT-6-15/reject-evasion-on-the-wire", Options{}, func(w *world) {
		w.servesFile(signed("/admin DISALLOW"))
		w.site.File("*", plainText, "secret")
		c, _ := w.guarded(Options{})
		for _, url := range []string{"https://shop.example//admin", "https://shop.example/%61dmin", "https://shop.example/x/..//admin", `https://shop.example/\admin`, "https://shop.example/;x/admin", "https://SHOP.example:443/admin"} {
			if v := refusal(w, w.get(c, url)); v.Code != disallowed {
				w.Errorf("%s: %v", url, v)
			}
		}
		w.asked(1)
	})
	inWorld(t, "AGT-2-02/reject-requests-that-say-two-things", Options{}, func(w *world) {
		w.servesFile(signed("/ ALLOW"))
		_, g := w.guarded(Options{})
		for name, spoil := range map[string]func(r *http.Request){
			"other host":   func(r *http.Request) { r.Host = "closed.example" },
			"opaque":       func(r *http.Request) { r.URL.Opaque = "//closed.example/admin" },
			"no URL":       func(r *http.Request) { r.URL = nil },
			"scheme":       func(r *http.Request) { r.URL.Scheme = "ftp" },
			"final dot":    func(r *http.Request) { r.URL.Host = "shop.example."; r.Host = "" },
			"no host":      func(r *http.Request) { r.URL.Host = ""; r.Host = "" },
			"empty scheme": func(r *http.Request) { r.URL.Scheme = "" },
		} {
			req, _ := http.NewRequest("GET", "https://shop.example/a", nil)
			spoil(req)
			_, err := g.RoundTrip(req)
			if v := refusal(w, err); v.OK {
				w.Error(name)
			}
		}
		w.asked(0)
		req, _ := http.NewRequest("GET", "https://shop.example/agents.txt", nil)
		req.Host = "SHOP.example:443" // the same site
		if _, err := g.Check(req); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "AGT-5-04/reject-through-other-packages", Options{}, func(w *world) {
		// Whatever runs on a Host whose Fetcher is a guard is guarded.
		w.servesFile(signed("/.well-known DISALLOW"))
		host := &lookleap.Host{Fetcher: Guard(w.host), Now: w.host.Now}
		req, _ := http.NewRequest("GET", "https://shop.example/.well-known/skills/index.json", nil)
		_, err := host.RoundTrip(req)
		refusal(w, err)
	})
	inWorld(t, "AGT-5-04/reject-guard-behind-itself", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		host := &lookleap.Host{Now: w.host.Now}
		host.Fetcher = Guard(host)
		c := &http.Client{Transport: host.Fetcher}
		for _, path := range []string{"/status", "/agents.txt"} {
			if v := refusal(w, w.get(c, "https://shop.example"+path)); !strings.Contains(v.String(), "give the guard a host of its own") {
				w.Error(v)
			}
		}
		w.asked(0)
	})
	inWorld(t, "AGT-5-04/accept-guard-behind-another", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/status", plainText, "fine")
		outer := Guard(&lookleap.Host{Fetcher: Guard(w.host), Now: w.host.Now})
		if err := w.get(&http.Client{Transport: outer}, "https://shop.example/status"); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "closes-the-body-of-a-refused-request", Options{}, func(w *world) {
		w.servesFile("broken")
		_, g := w.guarded(Options{})
		body := &closing{Reader: strings.NewReader("x")}
		req, _ := http.NewRequest("POST", "https://shop.example/", body)
		_, err := g.RoundTrip(req)
		if refusal(w, err); !body.closed {
			w.Error("the body is open")
		}
	})
	inWorld(t, "cancel-is-no-refusal", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lookleaptest.Delay(time.Second))
		_, g := w.guarded(Options{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", "https://shop.example/status", nil)
		_, err := g.RoundTrip(req)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lookleap.ErrDenied) {
			w.Error(err)
		}
	})
	inWorld(t, "reports-refusals", Options{}, func(w *world) {
		w.servesFile("broken")
		var events lookleaptest.Events
		w.host.Observe = events.Observe
		c, _ := w.guarded(Options{})
		err := w.get(c, "https://shop.example/secret?q=1")
		v := refusal(w, err)
		seen := slices.DeleteFunc(events.All(), func(e lookleap.Event) bool { return e.Kind != lookleap.EventVerdict })
		if len(seen) != 1 || seen[0].Verdict != v || strings.Contains(seen[0].Subject, "q=1") {
			w.Errorf("%+v", seen)
		}
		var bad *lookleap.Error
		if !errors.As(err, &bad) || bad.Position.Line != 1 {
			w.Error(err)
		}
		for _, want := range []string{"no: https://shop.example/secret", "foreign-format", "AGT-5-04"} {
			if !strings.Contains(v.String(), want) {
				w.Errorf("%q is not in\n%s", want, v)
			}
		}
	})
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestGuardConcurrently drives one guard from many goroutines: the limit holds,
// and the policy is read once.
func TestGuardConcurrently(t *testing.T) {
	inWorld(t, "AGT-6-07/reject-concurrently", Options{}, func(w *world) {
		w.servesFile(signed("/ ALLOW limit=20"))
		w.site.File("/a", plainText, "fine")
		c, _ := w.guarded(Options{})
		var mu sync.Mutex
		passed := 0
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if w.get(c, "https://shop.example/a") == nil {
					mu.Lock()
					passed++
					mu.Unlock()
				}
			})
		}
		callers.Wait()
		if passed != 20 {
			w.Errorf("%d passed", passed)
		}
		w.asked(21)
	})
}

// TestTransparentCompression compares an http.Client behind the guard with the standard
// transport: what the caller sees of a compressed response is the same.
func TestTransparentCompression(t *testing.T) {
	text := strings.Repeat("welcome ", 1000)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	packed := b.String()
	for _, tt := range []struct {
		name, method, accept string
		asked, body          string
		decoded              bool
	}{
		{"decoded", "GET", "", "gzip", text, true},
		{"as-asked-by-the-caller", "GET", "gzip", "gzip", packed, false},
		{"identity", "GET", "identity", "identity", text, false},
		{"head", "HEAD", "", "", "", false},
	} {
		inWorld(t, tt.name, Options{}, func(w *world) {
			w.servesFile(signed("/b DISALLOW"))
			asked := make(chan string, 2)
			w.site.Handle("/a", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				asked <- r.Header.Get("Accept-Encoding")
				if r.Header.Get("Accept-Encoding") == "gzip" {
					rw.Header().Set("Content-Encoding", "gzip")
					io.WriteString(rw, packed)
					return
				}
				io.WriteString(rw, text)
			}))
			c, _ := w.guarded(Options{})
			req, _ := http.NewRequest(tt.method, "https://shop.example/a", nil)
			if tt.accept != "" {
				req.Header.Set("Accept-Encoding", tt.accept)
			}
			resp, err := c.Do(req)
			if err != nil {
				w.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(body) != tt.body || resp.Uncompressed != tt.decoded {
				w.Errorf("%d bytes, uncompressed %v, %v", len(body), resp.Uncompressed, err)
			}
			if tt.decoded && (resp.Header.Get("Content-Encoding") != "" || resp.ContentLength != -1) {
				w.Error(resp.Header, resp.ContentLength)
			}
			if got := <-asked; got != tt.asked || req.Header.Get("Accept-Encoding") != tt.accept {
				w.Errorf("asked %q", got)
			}
		})
	}
	inWorld(t, "reject-what-is-not-gzip", Options{}, func(w *world) {
		w.servesFile(signed("/b DISALLOW"))
		w.site.Handle("/a", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			io.WriteString(rw, text)
		}))
		c, _ := w.guarded(Options{})
		resp, err := c.Get("https://shop.example/a")
		if err != nil {
			w.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); err == nil {
			w.Error("a damaged body was read")
		}
	})
}

// TestGuardedRequests: what is sent is what was asked for, and what cannot be judged is not sent.
func TestGuardedRequests(t *testing.T) {
	inWorld(t, "AGT-5-04/accept-headers", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/status", plainText, "fine")
		_, g := w.guarded(Options{})
		for name, c := range map[string]struct{ method, field, value, encoding string }{
			"plain": {"GET", "X-Test", "a", "gzip"}, "range": {"GET", "Range", "bytes=0-1", ""}, "encoding": {"GET", "Accept-Encoding", "br", "br"}, "head": {"HEAD", "X-Test", "b", ""},
		} {
			w.net.Journal().Clear()
			req, _ := http.NewRequest(c.method, "https://shop.example/status", nil)
			req.Header.Set(c.field, c.value)
			resp, err := g.RoundTrip(req)
			if err != nil {
				w.Fatal(err)
			}
			resp.Body.Close()
			seen := w.net.Journal().Requests("shop.example")
			sent := seen[len(seen)-1].Header
			if sent.Get(c.field) != c.value || sent.Get("Accept-Encoding") != c.encoding || len(req.Header) != 1 {
				w.Errorf("%s: sent %v for %v", name, sent, req.Header)
			}
		}
		req, _ := http.NewRequest("GET", "https://shop.example/status", nil)
		req.Header["accept-encoding"] = []string{"br"}
		resp, err := g.RoundTrip(req)
		if err != nil {
			w.Fatal(err)
		}
		resp.Body.Close()
		if seen := w.net.Journal().Requests("shop.example"); !slices.Equal(seen[len(seen)-1].Header.Values("Accept-Encoding"), []string{"br"}) {
			w.Errorf("sent %v", seen[len(seen)-1].Header)
		}
	})
	inWorld(t, "AGT-5-04/accept-request-without-host-field", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/status", plainText, "fine")
		_, g := w.guarded(Options{})
		resp, err := g.RoundTrip(&http.Request{Method: "GET", URL: &url.URL{Scheme: "https", Host: "shop.example", Path: "/status"}})
		if err != nil {
			w.Fatal(err)
		}
		resp.Body.Close()
	})
	inWorld(t, "AGT-5-04/reject-requests-without-an-origin", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.File("/status", plainText, "fine")
		_, g := w.guarded(Options{})
		for _, c := range []struct {
			url     *url.URL
			code    lookleap.Code
			subject string
		}{
			{nil, lookleap.CodeBadURL, "a request without a URL"},
			{&url.URL{}, lookleap.CodeNotHTTPS, "://"},
			{&url.URL{Scheme: "ftp", Host: "shop.example", Path: "/status"}, lookleap.CodeNotHTTPS, "ftp://shop.example/status"},
			{&url.URL{Scheme: "https", Opaque: "//shop.example/status"}, lookleap.CodeBadURL, "https://"},
			{&url.URL{Scheme: "https", Host: "shop..example", Path: "/a b", RawQuery: "secret"}, lookleap.CodeBadHost, "https://shop..example/a%20b"},
		} {
			for range 2 {
				resp, err := g.RoundTrip(&http.Request{Method: "GET", URL: c.url})
				v := refusal(w, err)
				if resp != nil || v.OK || v.Checks[0].Status != lookleap.Failed || v.Code != c.code || v.Subject != c.subject || v.Checks[1].Status != lookleap.Skipped {
					w.Errorf("%v: %v", c.url, v)
				}
			}
		}
		if seen := w.net.Journal().Requests(); len(seen) != 0 {
			w.Errorf("sent %v", seen)
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", "https://shop.example/status", nil)
		if v, err := g.Check(req); v != nil || !errors.Is(err, context.Canceled) {
			w.Errorf("a caller who left: %v, %v", v, err)
		}
		if resp, err := g.RoundTrip(req); resp != nil || !errors.Is(err, context.Canceled) {
			w.Errorf("a caller who left: %v, %v", resp, err)
		}
	})
}
