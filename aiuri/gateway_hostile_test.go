package aiuri_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/aiuri"
)

// TestGatewayPlugins holds that a plug-in that fails refuses, and that what an
// endpoint says of its result's type gets no browser to run it.
func TestGatewayPlugins(t *testing.T) {
	for _, c := range []struct {
		id, method, target string
		set                func(*aiuri.GatewayOptions)
		status             int
	}{
		{"AIU-3.2-13/reject-scopes-panic", "POST", payTarget, func(o *aiuri.GatewayOptions) {
			o.Scopes = func(string, aiuri.URI) []string { panic("x") }
		}, 403},
		{"AIU-3.2-15/reject-safe-panics", "GET", "/gateway/bank.example/pay/read", func(o *aiuri.GatewayOptions) {
			o.Safe = func(aiuri.URI) bool { panic("x") }
		}, 405},
		{"AIU-3.2-12/reject-invoker-panic", "POST", payTarget, func(o *aiuri.GatewayOptions) {
			o.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) { panic("x") })
		}, 502},
		{"AIU-6-03/accept-audit-panic", "POST", payTarget, func(o *aiuri.GatewayOptions) { o.Audit = func(aiuri.AuditRecord) { panic("x") } }, 200},
	} {
		t.Run(c.id, func(t *testing.T) {
			g := newGatewayWorld(t)
			c.set(&g.options)
			if w := g.serve(t, c.method, c.target, "{}"); w.Code != c.status {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	for mediaType, served := range map[string]bool{
		"application/json": true, "application/problem+json": true, "application/vnd.a-b.c+json": true, "application/a+b+json": true, "text/plain": true,
		"application/pdf": false, "x+json": false,
		"text/html": false, "application/x,text/html;+json": false, "application/x;y=+json": false, "application/+json": false, "image/svg+json": false,
		"application/x\r\nSet-Cookie: a+json": false, "text/plain, text/html": false,
	} {
		t.Run("AIU-3.2-15/reject-active-media-type", func(t *testing.T) {
			g := newGatewayWorld(t)
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{JWS: es256(claims(""), "{}", true), Body: []byte("{}"), MediaType: mediaType}, nil
			})
			got := g.serve(t, "POST", payTarget, "").Header().Get("Content-Type")
			if served && got != mediaType || !served && got != "application/octet-stream" {
				t.Errorf("%q becomes %q", mediaType, got)
			}
		})
	}
}

// server runs a gateway behind a real HTTP server.
func (g *gatewayWorld) server(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(must(aiuri.NewGateway(g.host, g.options)))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// raw writes bytes to a server and reads one answer.
func raw(t *testing.T, s *httptest.Server, request string) *http.Response {
	t.Helper()
	conn, err := tls.Dial("tcp", s.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true}) // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestGatewayOnTheWire(t *testing.T) {
	const post = " HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 2\r\n\r\n{}"
	for _, c := range []struct {
		id, request string
		status      int
	}{
		{"accept-origin-form", "POST " + payTarget + post, 200},
		{"accept-absolute-form", "POST https://ai.example" + payTarget + post, 200},
		{"reject-absolute-form-with-dots", "POST https://ai.example/gateway/bank.example/../other.example/x" + post, 400},
		{"reject-absolute-form-with-escaped-dots", "POST https://ai.example/gateway/bank.example/%2e%2e/x" + post, 400},
		{"reject-absolute-form-with-escaped-slash", "POST https://ai.example/gateway/bank.example/pay%2Fx" + post, 400},
		{"reject-dots", "POST /gateway/bank.example/../other.example/x" + post, 400},
		{"reject-two-slashes-first", "POST //gateway/bank.example/pay" + post, 400},
		{"reject-fragment", "POST /gateway/bank.example/pay#x" + post, 400},
		{"reject-asterisk", "OPTIONS *" + post, 200}, // which net/http answers itself
		{"reject-two-lengths", "POST " + payTarget + " HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
		{"reject-header-line-break", "POST " + payTarget + " HTTP/1.1\r\nHost: ai.example\r\nContent-Type: a\rb\r\nContent-Length: 2\r\n\r\n{}", 400},
		{"reject-two-media-types", "POST " + payTarget + " HTTP/1.1\r\nHost: ai.example\r\nContent-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 2\r\n\r\n{}", 400},
		{"reject-announced-body-too-large", "POST " + payTarget + " HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 9999999999\r\n\r\n{}", 400},
	} {
		t.Run("AIU-3.2-08/"+c.id, func(t *testing.T) {
			g := newGatewayWorld(t)
			resp := raw(t, g.server(t), c.request)
			if resp.StatusCode != c.status || (len(g.calls) == 1) != strings.HasPrefix(c.id, "accept") {
				t.Errorf("got %s and %v", resp.Status, g.calls)
			}
			for _, call := range g.calls {
				if call.URI.String() != "ai://bank.example/pay?amount=10" {
					t.Errorf("called %s", call.URI)
				}
			}
		})
	}
	t.Run("AIU-3.2-08/reject-body-that-never-comes", func(t *testing.T) {
		g := newGatewayWorld(t)
		g.serve(t, "POST", payTarget, "") // finds out about the bank
		g.calls, g.options.Timeout = nil, time.Second/4
		resp := raw(t, g.server(t), "POST "+payTarget+" HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 20\r\n\r\n{")
		if resp.StatusCode != 408 || len(g.calls) != 0 {
			t.Errorf("got %s", resp.Status)
		}
	})
	t.Run("AIU-3.2-08/reject-endless-body", func(t *testing.T) {
		g := newGatewayWorld(t)
		g.options.MaxBody = 1 << 10
		s := g.server(t)
		resp, err := s.Client().Post(s.URL+payTarget, "", struct{ io.Reader }{bytes.NewReader(make([]byte, 64<<10))})
		if err != nil || resp.StatusCode != 400 || len(g.calls) != 0 {
			t.Errorf("got %v, %v", resp, err)
		}
	})
}
