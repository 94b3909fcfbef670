package aiuri_test

import (
	"fmt"
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
		{"accept-no-browser-with-token-and-referer", "Authorization: Bearer x\r\nReferer: https://evil.example/\r\n", 200},
		{"accept-no-browser-with-token", "Authorization: Bearer x\r\n", 200},
		{"accept-no-browser-with-token-and-cookie", "Authorization: DPoP x\r\nCookie: s=1\r\n", 200},
		{"accept-no-browser-with-grant-token-and-cookie", "Authorization: GNAP x\r\nCookie: s=1\r\n", 200},
		{"accept-own-script", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: empty\r\nCookie: s=1\r\n", 200},
		{"accept-typed-in", "Sec-Fetch-Site: none\r\nSec-Fetch-Dest: document\r\nCookie: s=1\r\n", 200},
		{"accept-own-referer-of-an-old-browser", "Referer: https://ai.example/shop?x\r\nCookie: s=1\r\n", 200},
		{"reject-cross-site", "Sec-Fetch-Site: cross-site\r\nCookie: s=1\r\n", 403},
		{"reject-same-site", "Sec-Fetch-Site: same-site\r\n", 403},
		{"reject-unknown-site", "Sec-Fetch-Site: other\r\n", 403},
		{"reject-own-image", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: image\r\n", 403},
		{"reject-script", "Sec-Fetch-Site: none\r\nSec-Fetch-Dest: script\r\n", 403},
		{"reject-prefetch", "Sec-Fetch-Site: same-origin\r\nSec-Purpose: prefetch\r\n", 403},
		{"reject-prerender-alone", "Sec-Fetch-Site: none\r\nSec-Purpose: prerender\r\n", 403},
		{"reject-preview", "Sec-Fetch-Site: none\r\nX-Purpose: preview\r\n", 403},
		{"reject-preview-of-an-old-browser", "Sec-Fetch-Site: none\r\nX-Moz: preview\r\n", 403},
		{"accept-fetched-json", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: json\r\n", 200},
		{"accept-named-referer-of-an-old-browser", "Referer: https://shop.example/shop\r\nCookie: s=1\r\n", 200},
		{"reject-old-prefetch", "Sec-Fetch-Site: same-origin\r\nPurpose: prefetch\r\n", 403},
		{"reject-clear-text-page-of-the-same-name", "Origin: http://ai.example\r\n", 403},
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
