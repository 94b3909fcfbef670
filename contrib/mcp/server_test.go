package lookleapmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// asServer makes the test's own program the server, for the tests over standard
// input and output.
const asServer = "LOOKLEAP_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(upstreamDir); dir != "" {
		if err := newUpstream(dir).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	w := newWorld()
	server, err := NewServer(w.Host(), w.options(context.Background()))
	if err == nil {
		err = errors.Join(server.Run(context.Background(), &mcp.StdioTransport{}), server.Close())
	}
	w.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// world is an internet with a booking service and a skill.
type world struct {
	*lookleaptest.Internet
	booking *booking.Service
}

func newWorld() *world {
	w := &world{Internet: lookleaptest.NewInternet()}
	w.booking = booking.New(w.Clock().Now)
	w.Site("ferries.example").Handle("*", w.booking)
	w.Site("skills.example").File("/refund/SKILL.md", "text/markdown", "---\nname: refund\ndescription: Refunds a ticket.\nmetadata:\n  version: 1.0\n---\nAsk for the booking number, then use [the letter](templates/letter.md)\nand [the form](templates/eu/form.md).\n")
	w.Site("skills.example").File("/refund/templates/letter.md", "text/markdown", "Dear customer\n")
	w.Site("skills.example").File("/refund/templates/eu/form.md", "text/markdown", "Form\n")
	return w
}

// Host is the user's host, with the prompter of an MCP server.
func (w *world) Host() *lookleap.Host {
	host := w.Internet.Host()
	host.Prompter = Prompter{}
	return host
}

func (w *world) options(ctx context.Context) Options {
	o := Options{Site: "https://ferries.example", Skills: w.bundles(ctx), SingleUser: true}
	if path := os.Getenv("LOOKLEAP_TEST_PROFILE"); path != "" {
		o.User = func(context.Context, string) (agent.User, error) {
			text, err := os.ReadFile(path)
			fields := agent.Fields{}
			var values map[string]string
			if err == nil {
				err = json.Unmarshal(text, &values)
			}
			for field, value := range values {
				fields[field] = agent.Value{Text: value}
			}
			return agent.User{Profile: fields}, err
		}
	}
	return o
}

// bundles loads the skills of the world.
func (w *world) bundles(ctx context.Context) []dvs.Bundle {
	loader := dvs.NewLoader(w.Host(), dvs.Options{})
	if _, err := loader.Roots().Register("https://skills.example/", dvs.ByHost); err != nil {
		panic(err)
	}
	skill, err := loader.Load(ctx, "https://skills.example/refund/SKILL.md")
	if err != nil {
		panic(err)
	}
	bundle, err := skill.Bundle(ctx)
	if err != nil {
		panic(err)
	}
	return []dvs.Bundle{bundle}
}

// person answers what the server asks, and remembers it.
type person struct {
	asked  []string
	accept bool
	except string            // the one box that stays empty
	values map[string]string // what is typed in
	during func()            // what happens meanwhile
}

func (u *person) answer(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	u.asked = append(u.asked, req.Params.Message)
	if u.during != nil {
		u.during()
	}
	if !u.accept {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	schema := req.Params.RequestedSchema.(map[string]any)
	content := map[string]any{}
	for name, property := range schema["properties"].(map[string]any) {
		switch property := property.(map[string]any); property["type"] {
		case "boolean":
			content[name] = u.except == "" || !strings.Contains(property["title"].(string), u.except)
		case "string":
			if text := u.values[name]; text != "" {
				content[name] = text
			}
		}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

// transports are the ways to a server: each returns a client's end.
var transports = map[string]func(t *testing.T, w *world) mcp.Transport{
	"http": func(t *testing.T, w *world) mcp.Transport {
		s, err := NewServer(w.Host(), w.options(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(s.Handler())
		t.Cleanup(func() { web.CloseClientConnections(); web.Close(); _ = s.Close() })
		return &mcp.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1}
	},
	"stdio": func(t *testing.T, w *world) mcp.Transport {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asServer+"=1")
		cmd.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}
	},
}

// protocols are the newest one, and the last one in which a call asks in its midst.
var protocols = map[string]string{"new": "", "old": "2025-11-25"}

// client is one client of one server.
type client struct {
	*mcp.ClientSession
	t    *testing.T
	user *person
}

func connect(t *testing.T, over mcp.Transport, protocol string, u *person, manual bool) *client {
	t.Helper()
	o := &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: manual}}
	if u != nil {
		o.ElicitationHandler = u.answer
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(t.Context(), over, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &client{session, t, u}
}

func (c *client) call(tool string, args map[string]any) *mcp.CallToolResult {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return r
}

func text(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// tool finds a tool by the end of its name.
func (c *client) tool(action string) string {
	c.t.Helper()
	list, err := c.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		if strings.HasSuffix(tool.Name, action) {
			return tool.Name
		}
		names = append(names, tool.Name)
	}
	c.t.Fatalf("no tool %q among %q", action, names)
	return ""
}

// TestStory books a ferry, over both transports, with clients of both protocols.
func TestStory(t *testing.T) {
	for way, transport := range transports {
		for name, protocol := range protocols {
			t.Run(way+"-"+name, func(t *testing.T) {
				profile := t.TempDir() + "/profile.json"
				if err := os.WriteFile(profile, []byte(`{"fn":"Kim Example","email":"kim@example.com"}`), 0o600); err != nil {
					t.Fatal(err)
				}
				t.Setenv("LOOKLEAP_TEST_PROFILE", profile)
				w := newWorld()
				defer w.Close()
				u := &person{accept: true, except: "email", values: map[string]string{"tel": "+1 555 0100"}}
				c := connect(t, transport(t, w), protocol, u, false)

				if r := c.call(c.tool("search"), map[string]any{"from": "harbour", "to": "island"}); r.IsError || !strings.Contains(text(r), "13.50") {
					t.Fatalf("search: %s", text(r))
				}
				if len(u.asked) != 0 {
					t.Errorf("a search was asked about: %q", u.asked)
				}
				if r := c.call(c.tool("reserve"), map[string]any{"trip": "t2", "seats": 2}); r.IsError || len(u.asked) != 1 {
					t.Fatalf("reserve: %s\nasked %q", text(r), u.asked)
				}
				r := c.call(c.tool("pay"), map[string]any{})
				if r.IsError || r.Meta["lookleap/outcome"] != "partial" {
					t.Fatalf("pay: %s\nasked %q", text(r), u.asked)
				}
				rounds := map[string]int{"new": 3, "old": 2}[name] // an old client is asked once a call
				if len(u.asked) != rounds || !strings.Contains(u.asked[rounds-1], "Kim Example") {
					t.Errorf("asked %q", u.asked)
				}
				if r := c.call(c.tool("confirm"), map[string]any{}); r.IsError || r.Meta["lookleap/outcome"] != "success" {
					t.Errorf("confirm: %s", text(r))
				}
				if way == "http" {
					b := w.booking.Bookings()
					if len(b) != 1 || b[0].Told["fn"] != "Kim Example" || b[0].Denied["email"] == "" || (name == "new") != (b[0].Told["tel"] != "") {
						t.Errorf("the service learned %+v", b)
					}
				}
			})
		}
	}
}

// TestNotDone shows every way in which the user's word can be missing.
func TestNotDone(t *testing.T) {
	reserve := map[string]any{"trip": "t2", "seats": 1}
	search := map[string]any{"from": "harbour", "to": "island"}
	for name, protocol := range protocols {
		for what, u := range map[string]*person{"declined": {}, "unsupported": nil, "unticked": {accept: true, except: "e"}} {
			t.Run(what+"-"+name, func(t *testing.T) {
				w := newWorld()
				defer w.Close()
				c := connect(t, transports["http"](t, w), protocol, u, false)
				c.call(c.tool("search"), search)
				r := c.call(c.tool("reserve"), reserve)
				if !r.IsError || r.Meta["lookleap/code"] == nil || len(w.booking.Bookings()) != 0 {
					t.Errorf("%s, %v, %v", text(r), r.Meta, w.booking.Bookings())
				}
			})
		}
	}
	t.Run("forged-and-replayed", func(t *testing.T) {
		w := newWorld()
		defer w.Close()
		u := &person{accept: true}
		c := connect(t, transports["http"](t, w), "", u, true)
		c.call(c.tool("search"), search)
		tool := c.tool("reserve")
		asked := c.call(tool, reserve)
		if !asked.NeedsInput() {
			t.Fatalf("nothing is asked: %s", text(asked))
		}
		reply, err := u.answer(t.Context(), &mcp.ElicitRequest{Params: asked.InputRequests[consentQuestion].(*mcp.ElicitParams)})
		if err != nil {
			t.Fatal(err)
		}
		again := func(args map[string]any, state string) *mcp.CallToolResult {
			t.Helper()
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{
				Name: tool, Arguments: args, RequestState: state, InputResponses: mcp.InputResponseMap{consentQuestion: reply},
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		middle := len(asked.RequestState) / 2
		other := strings.ReplaceAll("AB", asked.RequestState[middle:middle+1], "")[:1]
		for what, r := range map[string]*mcp.CallToolResult{
			"forged state":   again(reserve, asked.RequestState[:middle]+other+asked.RequestState[middle+1:]),
			"other argument": again(map[string]any{"trip": "t3", "seats": 4}, asked.RequestState),
		} {
			if !r.IsError || len(w.booking.Bookings()) != 0 {
				t.Errorf("%s: %s", what, text(r))
			}
		}
		if r := again(reserve, asked.RequestState); r.IsError || len(w.booking.Bookings()) != 1 {
			t.Fatalf("the true answer: %s", text(r))
		}
		c.call(c.tool("search"), search) // the tool is offered again
		if r := again(reserve, asked.RequestState); !r.IsError || len(w.booking.Bookings()) != 1 {
			t.Errorf("replayed: %s", text(r))
		}
	})
}
