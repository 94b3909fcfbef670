package lookleapmcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// evil is an upstream server that answers what a test wants.
type evil struct {
	list func() []*mcp.Tool
	call func() (*mcp.CallToolResult, error) // nil: "ran"
	ran  atomic.Int64
}

var objectSchema = json.RawMessage(`{"type":"object"}`)

// newEvil returns a server with the tool "pay".
func newEvil() *evil { return evilWith(&mcp.Tool{Name: "pay", InputSchema: objectSchema}) }

func evilWith(all ...*mcp.Tool) *evil { return &evil{list: func() []*mcp.Tool { return all }} }

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func (e *evil) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "evil", Version: "1"},
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch r.(type) {
			case *mcp.ListToolsRequest:
				return &mcp.ListToolsResult{Tools: e.list()}, nil
			case *mcp.CallToolRequest:
				if e.ran.Add(1); e.call != nil {
					return e.call()
				}
				return said("ran"), nil
			}
			return next(ctx, method, r)
		}
	})
	return s
}

// proxy puts the server behind a proxy in this process.
func (e *evil) proxy(t *testing.T, rules gate.Options, o ProxyOptions) mcp.Transport {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	if _, err := e.server().Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	return proxyOver(t, ours, rules, o)
}

// proxyOver returns the client's side of a proxy of an upstream server.
func proxyOver(t *testing.T, upstream mcp.Transport, rules gate.Options, o ProxyOptions) mcp.Transport {
	t.Helper()
	host := &lookleap.Host{Prompter: Prompter{}, Plans: lookleap.NewMemoryStore()}
	o.Server, o.Keys = "files", testKeys
	server, err := NewProxy(t.Context(), upstream, gate.New(host, rules), o)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	return far
}

// pageWith returns options with a page over a store, and the address of the page.
func pageWith(t *testing.T, store lookleap.Store) (o ProxyOptions, open func() *browser) {
	t.Helper()
	asked, err := webconsent.New(webconsent.Options{Store: store, Keys: testKeys, Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(asked)
	t.Cleanup(web.Close)
	o = ProxyOptions{Store: store, Page: asked, Wait: 100 * time.Millisecond}
	o.Where = func(context.Context) (string, error) { return "the page", nil }
	return o, func() *browser { return openPage(t, asked.Link(web.URL)) }
}

// faultyStore fails to delete records of a prefix.
type faultyStore struct {
	lookleap.Store
	keeps atomic.Value // prefix
}

func (s *faultyStore) Delete(ctx context.Context, key string) error {
	if prefix, _ := s.keeps.Load().(string); prefix != "" && strings.HasPrefix(key, prefix) {
		return errors.New("no space left on device")
	}
	return s.Store.Delete(ctx, key)
}

// fullDisk is a record that fails from its second line on.
type fullDisk struct{ lines int }

func (f *fullDisk) Write(line []byte) (int, error) {
	if f.lines++; f.lines > 1 {
		return 0, errors.New("no space left on device")
	}
	return len(line), nil
}

// TestProxyFailsAfterwards: what fails after a call does not hide that the call was done.
func TestProxyFailsAfterwards(t *testing.T) {
	t.Run("accept-result-that-cannot-be-recorded", func(t *testing.T) {
		e := newEvil()
		c := connect(t, e.proxy(t, pass("*"), ProxyOptions{Record: new(fullDisk)}), "", nil, false)
		r := c.call("pay", nil)
		if r.IsError || e.ran.Load() != 1 || text(r) == "ran" || !has(text(r), "ran", "the call was done", "the record of calls cannot be written") {
			t.Errorf("%s", text(r))
		}
		if r := c.call("pay", nil); !r.IsError || e.ran.Load() != 1 {
			t.Errorf("a call that cannot be recorded ran: %s", text(r))
		}
	})
	for _, prefix := range []string{"mcp-call/", "webconsent-plan/"} {
		t.Run("accept-result-of-page-with-undeletable-"+strings.TrimSuffix(prefix, "/"), func(t *testing.T) {
			e, store := newEvil(), &faultyStore{Store: lookleap.NewMemoryStore()}
			o, open := pageWith(t, store)
			c := connect(t, e.proxy(t, gate.Options{}, o), "", nil, false)
			c.call("pay", nil)
			open().decide("approve")
			store.keeps.Store(prefix)
			if r := c.call("pay", nil); r.IsError || text(r) != "ran" || e.ran.Load() != 1 {
				t.Errorf("%s", text(r))
			}
		})
	}
}
