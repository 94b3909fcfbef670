package lookleapmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/test/adaptertest"
)

// offered is a client of a server that offers the tools of one page. The client brings the answers
// of its user back itself.
type offered struct {
	*client
	keys lookleap.Keys // of the server
}

var testKeys = lookleap.Keys{bytes.Repeat([]byte("k"), lookleap.MinKeyLen)}

func newOffered(t testing.TB, page *agent.Page) *offered {
	t.Helper()
	u := newUser(mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	}), testKeys)
	u.session = page.Session()
	if err := u.show(page); err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := u.server.Connect(t.Context(), near, nil); err != nil {
		t.Fatal(err)
	}
	return &offered{connect(t.(*testing.T), far, "", &person{}, true), testKeys}
}

func (o *offered) Call(t testing.TB, action, args string) (string, *adaptertest.Question) {
	t.Helper()
	name := o.tool(action)
	asked, err := o.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	if !asked.NeedsInput() {
		return text(asked), nil
	}
	state, err := o.keys.Unseal(asked.RequestState)
	if err != nil {
		t.Fatal(err)
	}
	var w waiting
	if err := json.Unmarshal(state, &w); err != nil {
		t.Fatal(err)
	}
	plan, err := lookleap.ParsePlan(w.Plan)
	if err != nil {
		t.Fatal(err)
	}
	request := plan.Request()
	answer := func(t testing.TB, result *mcp.ElicitResult) (string, bool) {
		t.Helper()
		r, err := o.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args),
			RequestState: asked.RequestState, InputResponses: mcp.InputResponseMap{consentQuestion: result}})
		if err != nil {
			t.Fatal(err)
		}
		return text(r), true
	}
	return "", &adaptertest.Question{
		Request: request,
		Answer: func(t testing.TB, a any) (string, bool) {
			content, _ := a.(map[string]any)
			if d, ok := a.(lookleap.ConsentDecision); ok {
				if d.Digest != request.Digest { // the digest is sealed with the plan
					return "", false
				}
				content = map[string]any{}
				for _, id := range d.Approved {
					content[id] = true
				}
			}
			return answer(t, &mcp.ElicitResult{Action: "accept", Content: content})
		},
		Decline: func(t testing.TB, reason string) (string, bool) {
			if reason == "" {
				return answer(t, &mcp.ElicitResult{Action: "decline"})
			}
			return answer(t, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"act": false, "reason": reason}})
		},
	}
}

func TestCases(t *testing.T) {
	adaptertest.Cases(t, func(t testing.TB, page *agent.Page) adaptertest.Adapter { return newOffered(t, page) })

	t.Run("P20", func(t *testing.T) {
		for name, content := range map[string]map[string]any{
			"text-for-a-box":  {"act": "true"},
			"number":          {"act": 1},
			"unknown-box":     {"act": true, "more": true},
			"null":            {"act": nil},
			"list":            {"act": []any{true}},
			"box-in-capitals": {"ACT": true},
		} {
			t.Run("reject-form-"+name, func(t *testing.T) {
				s := adaptertest.NewScene(t)
				o := newOffered(t, s.Page)
				name := o.tool("reserve")
				args := json.RawMessage(`{"trip":"t2","seats":2}`)
				asked, err := o.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
				if err != nil {
					t.Fatal(err)
				}
				r, err := o.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args, RequestState: asked.RequestState,
					InputResponses: mcp.InputResponseMap{consentQuestion: &mcp.ElicitResult{Action: "accept", Content: content}}})
				if err != nil || !r.IsError || len(s.Service.Bookings()) != 0 {
					t.Errorf("%v, %s", err, text(r))
				}
			})
		}
	})
}

// twoSites is a page of two verified sites that have an action of one name.
const twoSites = `<site domain="a.example"><knowledge><ask field="blood" purpose="of a" action="send" required="true"/></knowledge>
<interact><action id="send" method="POST" endpoint="/a"/></interact></site>
<site domain="b.example"><knowledge><ask field="height" purpose="of b" action="send" required="true"/></knowledge>
<interact><action id="send" method="POST" endpoint="/b"/></interact></site>`

// TestSessionsOfOneUser: MCP sessions of one user are bounded, and the one that was idle for the
// longest time ends.
func TestSessionsOfOneUser(t *testing.T) {
	t.Run("P32", func(t *testing.T) {
		c := newCrowd(t, 10)
		open := func(id string) (session string) {
			t.Helper()
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
			r, err := c.post(id, "", body)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("%+v, %v", r, err)
			}
			return r.Header.Get("Mcp-Session-Id")
		}
		lists := func(id, session string) int {
			t.Helper()
			r, err := c.post(id, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			if err != nil {
				t.Fatal(err)
			}
			return r.StatusCode
		}
		other := open("ben")
		first, second := open("ann"), open("ann")
		if lists("ann", first) != http.StatusOK { // now second is the oldest idle one
			t.Fatal("the session does not answer")
		}
		var last string
		for range maxSessions - 1 {
			last = open("ann")
		}
		t.Run("reject-oldest-idle-session", func(t *testing.T) {
			if status := lists("ann", second); status != http.StatusNotFound {
				t.Errorf("status %d", status)
			}
		})
		for name, session := range map[string][2]string{"used-later": {"ann", first}, "newest": {"ann", last}, "of-another-user": {"ben", other}} {
			t.Run("accept-session-"+name, func(t *testing.T) {
				if status := lists(session[0], session[1]); status != http.StatusOK {
					t.Errorf("status %d", status)
				}
			})
		}
	})
}

// post sends one message to the server.
func (c *crowd) post(id, session, body string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodPost, c.web.URL, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	resp, err := bearer(id).RoundTrip(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return resp, err
}

// TestFormOfTheCalledSite: what the user is asked for an action is what its site asks.
func TestFormOfTheCalledSite(t *testing.T) {
	t.Run("P26", func(t *testing.T) {
		for _, site := range []string{"a.example", "b.example"} {
			t.Run("reject-fields-of-another-site-in-"+fmt.Sprint(site[:1]), func(t *testing.T) {
				page := adaptertest.NewScene(t).Serve(t, "a.example", twoSites, "b.example")
				for _, tool := range page.Tools() {
					if tool.Site != site {
						continue
					}
					o := newOffered(t, page)
					r, err := o.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name})
					if err != nil || !r.NeedsInput() {
						t.Fatalf("%v, %s", err, text(r))
					}
					form, _ := json.Marshal(r.InputRequests[valuesQuestion])
					own, others := "blood", "height"
					if site == "b.example" {
						own, others = others, own
					}
					if !strings.Contains(string(form), own) || strings.Contains(string(form), others) {
						t.Errorf("the form is %s", form)
					}
					return
				}
				t.Fatalf("no tool of %s in %+v", site, page.Tools())
			})
		}
	})
}
