package aiuri_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGatewayReads holds that no page of another origin makes a gateway read anything
// with its visitor's session.
func TestGatewayReads(t *testing.T) {
	const target = "/gateway/bank.example/pay/read"
	for _, c := range []struct {
		id, header string
		status     int
	}{
		{"accept-no-browser", "", 200},
		{"accept-no-browser-with-token", "Authorization: Bearer x\r\n", 200},
		{"accept-no-browser-with-token-and-cookie", "Authorization: DPoP x\r\nCookie: s=1\r\n", 200},
		{"accept-no-browser-with-grant-token-and-cookie", "Authorization: GNAP x\r\nCookie: s=1\r\n", 200},
		{"accept-own-script", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: empty\r\nCookie: s=1\r\n", 200},
		{"accept-typed-in", "Sec-Fetch-Site: none\r\nSec-Fetch-Dest: document\r\nCookie: s=1\r\n", 200},
		{"accept-named-page", "Sec-Fetch-Site: cross-site\r\nOrigin: https://shop.example\r\nSec-Fetch-Dest: empty\r\nCookie: s=1\r\n", 200},
		{"accept-own-page-of-an-old-browser", "Origin: https://ai.example\r\nCookie: s=1\r\n", 200},
		{"accept-own-referer-of-an-old-browser", "Referer: https://ai.example/shop?x\r\nCookie: s=1\r\n", 200},
		{"reject-cross-site", "Sec-Fetch-Site: cross-site\r\nCookie: s=1\r\n", 403},
		{"reject-cross-site-image", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n", 403},
		{"reject-cross-site-navigation", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Fetch-User: ?1\r\n", 403},
		{"reject-cross-site-with-token", "Sec-Fetch-Site: cross-site\r\nAuthorization: Bearer x\r\n", 403},
		{"reject-same-site", "Sec-Fetch-Site: same-site\r\n", 403},
		{"reject-unknown-site", "Sec-Fetch-Site: other\r\n", 403},
		{"reject-two-sites", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n", 403},
		{"reject-two-origins", "Origin: https://shop.example\r\nOrigin: https://evil.example\r\n", 403},
		{"reject-own-image", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: image\r\n", 403},
		{"reject-named-page's-image", "Sec-Fetch-Site: cross-site\r\nOrigin: https://shop.example\r\nSec-Fetch-Dest: image\r\n", 403},
		{"reject-script", "Sec-Fetch-Site: none\r\nSec-Fetch-Dest: script\r\n", 403},
		{"reject-prefetch", "Sec-Fetch-Site: same-origin\r\nSec-Purpose: prefetch\r\n", 403},
		{"reject-prerender", "Sec-Fetch-Site: none\r\nSec-Purpose: prefetch;prerender\r\n", 403},
		{"reject-prerender-alone", "Sec-Fetch-Site: none\r\nSec-Purpose: prerender\r\n", 403},
		{"reject-preview", "Sec-Fetch-Site: none\r\nX-Purpose: preview\r\n", 403},
		{"reject-preview-of-an-old-browser", "Sec-Fetch-Site: none\r\nX-Moz: preview\r\n", 403},
		{"accept-fetched-json", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: json\r\n", 200},
		{"accept-named-referer-of-an-old-browser", "Referer: https://shop.example/shop\r\nCookie: s=1\r\n", 200},
		{"reject-malformed-referer-of-an-old-browser", "Referer: https://[\r\n", 403},
		{"reject-old-prefetch", "Sec-Fetch-Site: same-origin\r\nPurpose: prefetch\r\n", 403},
		{"reject-foreign-origin-of-an-old-browser", "Origin: https://evil.example\r\n", 403},
		{"reject-clear-text-page-of-the-same-name", "Origin: http://ai.example\r\n", 403},
		{"reject-null-origin", "Origin: null\r\n", 403},
		{"reject-foreign-referer-of-an-old-browser", "Referer: https://evil.example/\r\nCookie: s=1\r\n", 403},
		{"reject-cookie-of-an-old-browser", "Cookie: s=1\r\n", 403},
		{"reject-stored-password-of-an-old-browser", "Authorization: Basic eA==\r\n", 403},
	} {
		for _, row := range []string{"O11", "AIU-3.2-13"} {
			t.Run(row+"/"+c.id, func(t *testing.T) {
				for _, method := range []string{"GET", "HEAD"} {
					g := newGatewayWorld(t)
					g.options.Origins = []string{"https://shop.example"}
					resp := raw(t, g.server(t), method+" "+target+" HTTP/1.1\r\nHost: ai.example\r\n"+c.header+"\r\n")
					if resp.StatusCode != c.status || (len(g.calls) == 1) != (c.status == 200) {
						t.Errorf("%s: got %s and %v", method, resp.Status, g.calls)
					}
				}
			})
		}
	}
	t.Run("O11/reject-simple-post-of-another-page", func(t *testing.T) {
		for _, mediaType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
			g := newGatewayWorld(t)
			resp := raw(t, g.server(t), "POST "+payTarget+" HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 2\r\nContent-Type: "+mediaType+"\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\n\r\n{}")
			if resp.StatusCode != 403 || len(g.calls) != 0 {
				t.Errorf("%s: got %s", mediaType, resp.Status)
			}
		}
	})
	for _, c := range []struct {
		id, header string
		status     int
	}{
		{"reject-post-of-another-page-of-an-old-browser", "Referer: https://evil.example/\r\nCookie: s=1\r\n", 403},
		{"reject-post-of-a-clear-text-page-of-an-old-browser", "Referer: http://ai.example/\r\nCookie: s=1\r\n", 403},
		{"accept-post-of-own-page-of-an-old-browser", "Referer: https://ai.example/shop\r\nCookie: s=1\r\n", 200},
		{"accept-post-of-named-page-of-an-old-browser", "Referer: https://shop.example/shop\r\nCookie: s=1\r\n", 200},
		{"accept-post-of-own-frame", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: iframe\r\nSec-Purpose: prefetch\r\nCookie: s=1\r\n", 200},
		{"accept-post-of-no-browser", "Cookie: s=1\r\n", 200},
	} {
		t.Run("O11/"+c.id, func(t *testing.T) { checkPost(t, c.header, c.status) })
		t.Run("AIU-3.2-13/"+c.id, func(t *testing.T) { checkPost(t, c.header, c.status) })
	}
	for origin, status := range map[string]int{"https://ai.example": 200, "https://inner.example": 200, "https://evil.example": 403} {
		for _, row := range []string{"O11", "AIU-3.2-13"} {
			t.Run(fmt.Sprintf("%s/%s-behind-a-proxy-%s", row, map[bool]string{true: "accept", false: "reject"}[status == 200], origin[len("https://"):]), func(t *testing.T) {
				g := newGatewayWorld(t)
				resp := raw(t, g.server(t), "GET "+target+" HTTP/1.1\r\nHost: inner.example\r\nOrigin: "+origin+"\r\n\r\n")
				if resp.StatusCode != status || (len(g.calls) == 1) != (status == 200) {
					t.Errorf("got %s and %v", resp.Status, g.calls)
				}
			})
		}
	}
	t.Run("O11/accept-results-are-embedded-nowhere", func(t *testing.T) {
		w := newGatewayWorld(t).serve(t, "GET", target, "")
		if w.Code != 200 || w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("got %d %v", w.Code, w.Header())
		}
	})
}

// checkPost sends a POST with fields of a browser to a gateway.
func checkPost(t *testing.T, header string, status int) {
	t.Helper()
	g := newGatewayWorld(t)
	g.options.Origins = []string{"https://shop.example"}
	resp := raw(t, g.server(t), "POST "+payTarget+" HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 2\r\nContent-Type: application/json\r\n"+header+"\r\n{}")
	if resp.StatusCode != status || (len(g.calls) == 1) != (status == 200) {
		t.Errorf("got %s and %v", resp.Status, g.calls)
	}
}

// TestGatewayConditions holds that a condition is refused for every method, since a
// gateway cannot keep it.
func TestGatewayConditions(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "POST"} {
		for _, header := range []string{"If-Match: \"old\"", "If-Match: *", "If-None-Match: *", "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "Content-Encoding: gzip"} {
			t.Run("AIU-3.2-15/reject-condition-of-"+strings.ToLower(method), func(t *testing.T) {
				g := newGatewayWorld(t)
				resp := raw(t, g.server(t), method+" /gateway/bank.example/pay/read HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 0\r\n"+header+"\r\n\r\n")
				if resp.StatusCode != 400 || len(g.calls) != 0 {
					t.Errorf("%s: got %s", header, resp.Status)
				}
			})
		}
	}
}

// stalled is a body whose time is over after its first bytes.
type stalled struct{ err error }

func (s stalled) Read(p []byte) (int, error) {
	p[0] = '{'
	return 1, s.err
}

func TestGatewaySlowBody(t *testing.T) {
	t.Run("AIU-3.2-07/reject-body-that-is-too-slow", func(t *testing.T) {
		g := newGatewayWorld(t)
		w, _ := g.post(t, payTarget, stalled{os.ErrDeadlineExceeded}, 20)
		if w.Code != 408 || len(g.calls) != 0 || !strings.Contains(w.Body.String(), "request-timeout") || w.Header().Get("Connection") != "close" {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
	t.Run("AIU-3.2-07/reject-body-that-breaks-off", func(t *testing.T) {
		g := newGatewayWorld(t)
		if w, _ := g.post(t, payTarget, stalled{os.ErrClosed}, 20); w.Code != 400 || len(g.calls) != 0 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}
