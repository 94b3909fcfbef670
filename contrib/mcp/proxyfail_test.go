package lookleapmcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
)

// TestProxyServerFails: a call without an answer has an unknown outcome and is not repeated.
func TestProxyServerFails(t *testing.T) {
	unknown := "it is not known whether it was done"
	t.Run("reject-server-that-dies", func(t *testing.T) {
		p := newProxied(t)
		p.rules = pass("*")
		c := p.start(t, "", nil)
		if r := c.call("die", nil); !r.IsError || !strings.Contains(text(r), unknown) {
			t.Errorf("%s", text(r))
		}
		if got := calls(t, p.dir); len(got) != 1 {
			t.Errorf("the call was repeated: %q", got)
		}
		if lines := p.lines(t); len(lines) != 2 || lines[0].Outcome != "sent" || lines[0].Decision != "rule" || lines[1].Outcome != "unknown" || lines[1].Reason == "" {
			t.Errorf("%+v", lines)
		}
		if r := c.call("note", nil); !r.IsError || !strings.Contains(text(r), "has ended: connect it again") {
			t.Errorf("%s", text(r))
		}
	})
	t.Run("reject-server-that-hangs", func(t *testing.T) {
		p := newProxied(t)
		p.rules = pass("*")
		ctx, cancel := context.WithCancel(t.Context())
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { cancel() }, // the call is there
		}).Connect(t.Context(), p.proxy(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		c := &client{session, t, nil}
		hangs := &mcp.CallToolParams{Name: "hang", Meta: mcp.Meta{"progressToken": "1"}}
		if _, err := c.CallTool(ctx, hangs); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if r := c.call("note", map[string]any{"text": "milk"}); text(r) != "noted milk" {
			t.Errorf("the server cannot be used again: %s", text(r))
		}
	})
	t.Run("reject-server-that-takes-too-long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			theirs, ours := mcp.NewInMemoryTransports()
			upstream, err := newUpstream(t.TempDir()).Connect(ctx, theirs, nil)
			if err != nil {
				t.Fatal(err)
			}
			host := &lookleap.Host{Prompter: Prompter{}}
			server, err := NewProxy(ctx, ours, gate.New(host, pass("*")), ProxyOptions{Server: "notes"})
			if err != nil {
				t.Fatal(err)
			}
			near, far := mcp.NewInMemoryTransports()
			session, err := server.Connect(ctx, near, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := connect(t, far, "", nil, false).call("hang", nil); !r.IsError || !strings.Contains(text(r), unknown) {
				t.Errorf("%s", text(r))
			}
			stop()
			_, _ = session.Close(), upstream.Close()
		})
	})
	t.Run("reject-approved-call-without-answer-again", func(t *testing.T) {
		p := newProxied(t)
		c := connect(t, p.proxy(t), "", &person{}, true)
		asked, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "die", Arguments: map[string]any{}})
		if err != nil || !asked.NeedsInput() {
			t.Fatalf("%v, %s", err, text(asked))
		}
		if r := c.answerYes(t, "die", map[string]any{}, asked); !strings.Contains(text(r), unknown) {
			t.Errorf("%s", text(r))
		}
		c = connect(t, p.proxy(t), "", &person{}, true)
		if r := c.answerYes(t, "die", map[string]any{}, asked); !r.IsError || len(calls(t, p.dir)) != 1 {
			t.Errorf("%s, %q", text(r), calls(t, p.dir))
		}
	})
	t.Run("accept-error-of-the-server", func(t *testing.T) {
		p := newProxied(t)
		p.rules = pass("*")
		if r := p.start(t, "", nil).call("fail", nil); !r.IsError || !has(text(r), "The server answered with an error: ", "no such account", `\u{202E}`) {
			t.Errorf("%s", text(r))
		}
		if lines := p.lines(t); len(lines) != 2 || lines[1].Outcome != "error" {
			t.Errorf("%+v", lines)
		}
	})
	t.Run("reject-program-that-is-not-there", func(t *testing.T) {
		bad := upstreamCommand(t.TempDir())
		bad.Command.Path = filepath.Join(t.TempDir(), "nothing")
		if _, err := NewProxy(t.Context(), bad, gate.New(&lookleap.Host{}, gate.Options{}), ProxyOptions{Server: "notes"}); lookleap.CodeOf(err) != lookleap.CodeUnreachable {
			t.Errorf("%v", err)
		}
	})
}

// TestProxyRecord: each call without a plan is recorded, without the values of arguments, and each call
// with a plan goes to the Record of the host.
func TestProxyRecord(t *testing.T) {
	p := newProxied(t)
	p.rules = gate.Options{Rules: []gate.Rule{{Tools: []string{"note"}, Verb: gate.Pass}, {Tools: []string{"fail"}, Verb: gate.Refuse}}}
	c := p.start(t, "", nil)
	c.call("note", map[string]any{"text": "secret-milk"})
	c.call("fail", map[string]any{"text": "beer"})
	t.Run("accept-decisions-of-rules", func(t *testing.T) {
		var got []string
		for _, e := range p.lines(t) {
			got = append(got, e.Tool+" "+e.Decision+" "+e.Outcome)
			if !strings.HasPrefix(e.Definition, "sha256:") || e.Time.IsZero() {
				t.Errorf("%+v", e)
			}
		}
		if want := []string{"note rule sent", "note rule done", "fail refused "}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
	t.Run("accept-decisions-of-the-person-in-the-record-of-the-host", func(t *testing.T) {
		p, u := newProxied(t), &person{accept: true}
		c := p.start(t, "", u)
		c.call("note", map[string]any{"text": "milk"})
		u.accept = false
		c.call("note", map[string]any{"text": "beer"})
		if p.record.Len() > 0 || !slices.Equal(p.outcomes(), []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanRefused}) {
			t.Errorf("%q, %q", p.outcomes(), p.record)
		}
	})
	t.Run("accept-refusal-without-a-decision", func(t *testing.T) {
		p := newProxied(t)
		p.start(t, "", nil).call("note", map[string]any{"text": "milk"})
		if lines := p.lines(t); len(lines) != 1 || lines[0].Decision != "refused" || len(p.outcomes()) > 0 {
			t.Errorf("%+v, %q", lines, p.outcomes())
		}
	})
	t.Run("accept-digest-of-canonical-arguments", func(t *testing.T) {
		if got := p.lines(t)[1].Arguments; got != lookleap.Digest([]byte(`{"text":"secret-milk"}`)) {
			t.Error(got)
		}
	})
	t.Run("reject-values", func(t *testing.T) {
		if strings.Contains(p.record.String(), "secret-milk") || strings.Contains(p.record.String(), "beer") {
			t.Error(p.record)
		}
	})
	t.Run("reject-call-that-cannot-be-recorded", func(t *testing.T) {
		p := newProxied(t)
		p.rules = pass("*")
		host := &lookleap.Host{Prompter: Prompter{}}
		full, err := os.OpenFile(filepath.Join(t.TempDir(), "closed"), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_ = full.Close()
		server, err := NewProxy(t.Context(), upstreamCommand(p.dir), gate.New(host, p.rules), ProxyOptions{Server: "notes", Record: full})
		if err != nil {
			t.Fatal(err)
		}
		near, far := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), near, nil); err != nil {
			t.Fatal(err)
		}
		if r := connect(t, far, "", nil, false).call("note", nil); !r.IsError || calls(t, p.dir)[0] != "" {
			t.Errorf("%s, %q", text(r), calls(t, p.dir))
		}
	})
}
