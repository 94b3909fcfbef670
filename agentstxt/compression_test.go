package agentstxt

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

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
