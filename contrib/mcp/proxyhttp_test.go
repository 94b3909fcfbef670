package lookleapmcp

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
)

// queryKey is the key in the query of the URL of a server.
const queryKey = "SECRET+KEY/1234"

// web serves the evil server at a URL with a key. Lose answers in place of it when a tool has run.
func (e *evil) web(t *testing.T, lose http.HandlerFunc) (*httptest.Server, mcp.Transport) {
	server := e.server()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, kept := e.ran.Load(), httptest.NewRecorder()
		handler.ServeHTTP(kept, r)
		if e.ran.Load() > before {
			lose(w, r)
			return
		}
		for name, values := range kept.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes())
	}))
	t.Cleanup(web.Close)
	return web, transportTo(web)
}

func transportTo(web *httptest.Server) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp?api_key=" + queryKey, MaxRetries: -1, DisableStandaloneSSE: true}
}

// TestProxyLosesAnswer: a failure of HTTP is no answer of the server.
func TestProxyLosesAnswer(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, lose := range map[string]http.HandlerFunc{
		"status-500": status(500), "status-503": status(503), "status-504": status(504), "status-429": status(429), "status-403": status(403),
		"closed-connection": func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.Close()
			}
		},
		"no-json": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		},
	} {
		t.Run("reject-as-in-doubt-"+name, func(t *testing.T) {
			e, record := newEvil(), new(bytes.Buffer)
			_, upstream := e.web(t, lose)
			c := connect(t, proxyOver(t, upstream, pass("*"), ProxyOptions{Record: record}), "", nil, false)
			r := c.call("pay", nil)
			if !r.IsError || e.ran.Load() != 1 || !strings.Contains(text(r), "it is not known whether it was done") || strings.Contains(text(r), "answered with") {
				t.Errorf("ran %d times: %s", e.ran.Load(), text(r))
			}
			if !strings.Contains(record.String(), `"outcome":"unknown"`) {
				t.Errorf("%s", record)
			}
			if strings.Contains(text(r)+record.String(), "SECRET") {
				t.Errorf("the key is told: %s, %s", text(r), record)
			}
		})
	}
}

// TestProxyEndpointKey: a key in the query of the URL stays in the proxy.
func TestProxyEndpointKey(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	t.Run("reject-in-error-of-connect", func(t *testing.T) {
		_, err := NewProxy(t.Context(), transportTo(dead), gate.New(&lookleap.Host{}, gate.Options{}), ProxyOptions{Server: "x"})
		if err == nil || !strings.Contains(err.Error(), "/mcp") {
			t.Fatal(err)
		}
		for err := err; err != nil; {
			if printed := fmt.Sprintf("%v %+v", err, err); strings.Contains(printed, "SECRET") {
				t.Error(printed)
			}
			next, _ := err.(interface{ Unwrap() error })
			if err = nil; next != nil {
				err = next.Unwrap()
			}
		}
	})
	t.Run("reject-in-error-of-a-list", func(t *testing.T) {
		web, upstream := newEvil().web(t, nil)
		c := connect(t, proxyOver(t, upstream, pass("*"), ProxyOptions{}), "", nil, false)
		web.CloseClientConnections()
		web.Close()
		if _, err := c.ListTools(t.Context(), nil); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), "did not answer") {
			t.Error(err)
		}
	})
	t.Run("reject-in-words-of-the-server", func(t *testing.T) {
		e := newEvil()
		e.call = func() (*mcp.CallToolResult, error) {
			return nil, errors.New("no such account for SECRET+KEY/1234 or SECRET KEY/1234 or SECRET+KEY%2F1234")
		}
		c := connect(t, proxyOver(t, transportTo(e.plainWeb(t)), pass("*"), ProxyOptions{}), "", nil, false)
		if r := c.call("pay", nil); !r.IsError || strings.Contains(text(r), "SECRET") || !strings.Contains(text(r), "no such account") {
			t.Error(text(r))
		}
	})
}

func (e *evil) plainWeb(t *testing.T) *httptest.Server {
	server := e.server()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(web.Close)
	return web
}
