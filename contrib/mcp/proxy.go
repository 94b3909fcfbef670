//lint:file-ignore SA1019 servers and clients of protocols before 2026-07-28 still use logging, sampling and roots

package lookleapmcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/webconsent"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// ProxyOptions are the options of [NewProxy].
type ProxyOptions struct {
	// Server is the name of the upstream server for the person, such as "files": lower-case letters,
	// digits and hyphens. It is never what the server calls itself.
	Server string
	// Store keeps the approved definitions of tools, and which calls wait on the page. Nil: in memory.
	Store lookleap.Store
	// Keys seal what passes through the client. Nil means a random key, so a restart ends open questions.
	Keys lookleap.Keys
	// TrustAnnotations believes the readOnlyHint of the server, for rules with ReadOnly.
	TrustAnnotations bool
	// Page asks the person if the client cannot. Nil: such a call is refused.
	Page *webconsent.Prompter
	// Where returns what the client is told about where the page is. It is called for each call that
	// waits there, and required with Page.
	Where func(ctx context.Context) (string, error)
	// Wait is how long a repeated call waits for the decision on the page; 0: 20 seconds.
	Wait time.Duration
	// Timeout is how long the server may take to answer a request; 0: 10 minutes.
	Timeout time.Duration
	// Record receives a line of JSON for each call without a plan: before and after a call that a rule
	// lets pass, and for one that is refused before a person is asked. It has digests of arguments and
	// never their values. A call that cannot be recorded does not run. Nil: no record. What becomes of
	// calls that a person decides about goes to the Record of the gate's Host.
	Record io.Writer
}

// proxy passes the requests of one client on to an upstream server.
type proxy struct {
	options ProxyOptions
	gate    *gate.Gate
	source  string // the host that stands for the server in questions
	pins    pins
	record  recorder
	url     endpoint
	keys    lookleap.Keys // seal plans that wait on the page
	session *mcp.ClientSession
	client  *mcp.Client
	server  atomic.Pointer[mcp.Server] // nil until the upstream server is connected
	level   atomic.Value               // of logs, which the client has set
	calls   atomic.Int64               // that are under way at the upstream server
	asking  chan struct{}              // has room for the one open question of the upstream server
}

// NewProxy connects to an upstream server and returns a server for one client that offers the same,
// with all tools behind the gate. The connection ends with ctx. The Host of the gate needs a [Prompter].
//
// A tool is pinned when it runs for the first time. If its name, title, description, schemas or
// annotations change, the client sees the pinned definition until a person has approved a call with
// the new one, whatever the rules of the gate say. Results are bounded, and hidden characters in the
// words of the server are made visible. Prompts, resources, completions, logs and progress pass
// through. Questions of the server to the person pass one at a time, during a call, to clients that can
// be asked then; its requests for the model, for roots and for URLs to open are refused.
func NewProxy(ctx context.Context, upstream mcp.Transport, g *gate.Gate, o ProxyOptions) (*mcp.Server, error) {
	if upstream == nil || g == nil || !serverLabel.MatchString(o.Server) || o.Page != nil && o.Where == nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage,
			Message: "a proxy needs a transport, a gate, a name for the server, and Where if there is a Page",
			Fix:     "set ProxyOptions.Server to a name of lower-case letters, digits and hyphens"}
	}
	if o.Store == nil {
		o.Store = lookleap.NewMemoryStore()
	}
	o.Wait, o.Timeout = cmp.Or(o.Wait, 20*time.Second), cmp.Or(o.Timeout, 10*time.Minute)
	p := &proxy{options: o, gate: g, source: o.Server + ".mcp.alt", pins: pins{o.Store, o.Server}, record: recorder{to: o.Record}}
	p.url, p.asking = endpointOf(upstream), make(chan struct{}, 1)
	var err error
	if p.keys, err = keysOf(o.Keys, "mcp page"); err != nil {
		return nil, err
	}
	if err := p.connect(ctx, upstream); err != nil {
		return nil, err
	}
	server, err := p.serve()
	if err != nil {
		_ = p.session.Close()
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = p.session.Close() })
	p.server.Store(server)
	return server, nil
}

// connect connects to the upstream server, which learns nothing about the client.
func (p *proxy) connect(ctx context.Context, upstream mcp.Transport) (err error) {
	p.client = p.newClient()
	type outcome struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan outcome, 1)
	limited, stop := context.WithTimeout(ctx, min(p.options.Timeout, time.Minute))
	defer stop()
	go func() { // Connect may ignore its context while a process starts
		var o outcome
		defer func() { done <- o }()
		defer p.malformed(&o.err)
		o.session, o.err = p.client.Connect(limited, upstream, nil)
	}()
	select {
	case o := <-done:
		p.session, err = o.session, o.err
	case <-limited.Done():
		go func() {
			if late := <-done; late.err == nil {
				_ = late.session.Close()
			}
		}()
		err = limited.Err()
	}
	if err = p.url.strip(err); err != nil {
		return &lookleap.Error{Code: lookleap.CodeUnreachable, Subject: "MCP server " + p.options.Server,
			Message: "it does not start: " + plaintext.Clip(err.Error(), 500), Fix: "run its command alone, and see what it prints", Err: err}
	}
	return nil
}

// serve returns the server for the client.
func (p *proxy) serve() (*mcp.Server, error) {
	init := p.session.InitializeResult()
	instructions := "Each call of a tool that no rule lets pass is shown to the user first. A refusal has its reason: do not try another way."
	if init.Instructions != "" {
		instructions += "\nThe server \"" + p.options.Server + "\" says, in its own words:\n" + reveal(plaintext.Clip(init.Instructions, maxInstructions))
	}
	o := &mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}}
	theirs, ours := init.Capabilities, o.Capabilities
	if theirs == nil {
		theirs = &mcp.ServerCapabilities{}
	}
	if theirs.Tools != nil {
		ours.Tools = &mcp.ToolCapabilities{ListChanged: true} // also when a change is approved
	}
	if theirs.Prompts != nil {
		ours.Prompts = &mcp.PromptCapabilities{ListChanged: theirs.Prompts.ListChanged}
	}
	if theirs.Resources != nil {
		ours.Resources = &mcp.ResourceCapabilities{ListChanged: theirs.Resources.ListChanged, Subscribe: theirs.Resources.Subscribe}
		if theirs.Resources.Subscribe {
			o.SubscribeHandler = func(ctx context.Context, r *mcp.SubscribeRequest) error {
				return p.failed(p.session.Subscribe(ctx, &mcp.SubscribeParams{URI: r.Params.URI}))
			}
			o.UnsubscribeHandler = func(ctx context.Context, r *mcp.UnsubscribeRequest) error {
				return p.failed(p.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: r.Params.URI}))
			}
		}
	}
	if theirs.Completions != nil {
		ours.Completions = &mcp.CompletionCapabilities{}
	}
	if theirs.Logging != nil {
		ours.Logging = &mcp.LoggingCapabilities{}
	}
	skills, offers := theirs.Extensions[SkillsExtension].(map[string]any)
	if offers {
		ours.AddExtension(SkillsExtension, skills)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: p.options.Server, Title: p.options.Server + " (behind lookleap)", Version: "0.1.0"}, o)
	if offers {
		if err := p.passSkills(server); err != nil {
			return nil, err
		}
	}
	server.AddReceivingMiddleware(p.pass)
	return server, gateServer(server, p.gate, GateOptions{Keys: p.options.Keys},
		gateHooks{about: p.about, waiting: p.onPage, elsewhere: p.askOnPage, ended: p.ended})
}

const maxInstructions = 4 << 10 // bytes

// textArguments are what the arguments of a tool mean to a person: texts, of which a long one is shown in
// part. The gate reads at most 16 levels.
var textArguments = func() map[string]gate.Argument {
	all := make(map[string]gate.Argument)
	for depth := 1; depth <= 16; depth++ {
		all[strings.Repeat("/*", depth)] = gate.Argument{Role: gate.Text}
	}
	return all
}()

// about returns the called tool, as the server defines it now. A tool that is new is shown with its
// definition if the call is asked; one that changed is always asked.
func (p *proxy) about(ctx context.Context, c *gatedCall) (gate.Tool, error) {
	name := c.call.Params.Name
	all, err := p.tools(ctx)
	if err != nil {
		return gate.Tool{}, err
	}
	var found *mcp.Tool
	for _, t := range all {
		if t.Name != name {
			continue
		}
		if found != nil {
			return gate.Tool{}, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the server lists two tools of this name, so neither can be approved"}
		}
		found = t
	}
	if found == nil {
		return gate.Tool{}, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the server has no tool " + plaintext.Quote(name, maxToolName)}
	}
	d, err := define(found)
	if err != nil {
		return gate.Tool{}, err
	}
	pinned, err := p.pins.get(ctx, name)
	if err != nil {
		return gate.Tool{}, err
	}
	c.definition = d
	about := gate.Tool{Name: name, Description: d.Description, Source: p.source, Arguments: textArguments}
	about.ReadOnly = p.options.TrustAnnotations && found.Annotations != nil && found.Annotations.ReadOnlyHint
	switch {
	case pinned == nil:
		about.Notes = d.notes(p.source)
	case pinned.digest != d.digest:
		about.Ask = true
		c.changed, about.Notes = d.changed(pinned, p.source)
	}
	about.Schema, err = json.Marshal(d.Schema)
	return about, err
}

// call runs an approved call at the upstream server. The definition is pinned first.
func (p *proxy) call(ctx context.Context, c *gatedCall, request *mcp.CallToolRequest) (mcp.Result, error) {
	replaced, err := p.pins.put(ctx, c.definition, time.Now())
	if err != nil {
		return nil, lookleap.NothingSent(err)
	}
	if replaced {
		p.toolsChanged()
	}
	if c.identify(); !c.decided {
		if err := p.record.write(c, "sent", ""); err != nil {
			return nil, lookleap.NothingSent(err)
		}
	}
	params := &mcp.CallToolParams{Name: request.Params.Name, Arguments: request.Params.Arguments}
	if token := request.Params.GetProgressToken(); token != nil {
		params.SetProgressToken(token) // no other metadata of the client passes
	}
	if level := p.level.Load(); level != nil && p.session.InitializeResult().ProtocolVersion >= manyRounds {
		params.Meta = maps.Clone(params.Meta)
		if params.Meta == nil {
			params.Meta = mcp.Meta{}
		}
		params.Meta[mcp.MetaKeyLogLevel] = level
	}
	ctx, stop := context.WithTimeout(ctx, p.options.Timeout)
	defer stop()
	p.calls.Add(1)
	defer p.calls.Add(-1)
	result, err := p.session.CallTool(ctx, params)
	out := newResult[mcp.CallToolResult](request.Session, "complete")
	if err == nil {
		return boundResult(out, result), nil
	}
	if answered := answerOf(err); answered != nil {
		out.IsError = true
		out.Content = []mcp.Content{&mcp.TextContent{
			Text: "The server answered with an error: " + p.url.quote(answered.Message, 1000)}}
		return out, nil
	}
	err = p.url.strip(err)
	return nil, coded.Attach(lookleap.ErrInDoubt, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: "MCP server " + p.options.Server,
		Message: "it did not answer, so whether the call had an effect is not known: " + plaintext.Clip(err.Error(), 300),
		Fix:     "let the user look before the call is repeated", Err: err})
}

// answerOf returns the error that the server answered with, or nil. The SDK writes its own failures, such as
// those of HTTP, in the form of an answer: -32003 and -32004 for a connection that closes, and -32005 for a
// request that the transport did not pass on, or of which it did not get the answer.
func answerOf(err error) *jsonrpc.Error {
	var answered *jsonrpc.Error
	if errors.Is(err, mcp.ErrConnectionClosed) || !errors.As(err, &answered) ||
		-32005 <= answered.Code && answered.Code <= -32003 {
		return nil
	}
	return answered
}

// failed returns an error of the server as one that names it and quotes its words.
func (p *proxy) failed(err error) error {
	switch answered := answerOf(err); {
	case err == nil:
		return nil
	case errors.Is(err, mcp.ErrConnectionClosed):
		return fmt.Errorf("the MCP server %s has ended: connect it again", p.options.Server)
	case answered != nil:
		return &jsonrpc.Error{Code: answered.Code,
			Message: "the MCP server " + p.options.Server + " says: " + p.url.quote(answered.Message, 500)}
	}
	return fmt.Errorf("the MCP server %s did not answer: %s", p.options.Server, plaintext.Line(plaintext.Clip(p.url.strip(err).Error(), 500)))
}

// tools returns the tools that the server lists now.
func (p *proxy) tools(ctx context.Context) (all []*mcp.Tool, err error) {
	defer p.malformed(&err) // also for the gate, which asks before proxy.pass
	ctx, stop := context.WithTimeout(ctx, p.options.Timeout)
	defer stop()
	for t, err := range p.session.Tools(ctx, nil) {
		switch {
		case err != nil:
			return nil, p.failed(err)
		case t == nil:
		case len(all) == maxTools:
			return nil, &lookleap.Error{Code: lookleap.CodeLimit, Subject: "MCP server " + p.options.Server,
				Message: fmt.Sprintf("it lists more than %d tools", maxTools)}
		default:
			all = append(all, t)
		}
	}
	return all, nil
}

// list returns the tools for the client: each with the definition that was approved, as long as a
// change of it is not.
func (p *proxy) list(ctx context.Context) (*mcp.ListToolsResult, error) {
	all, err := p.tools(ctx)
	if err != nil {
		return nil, err
	}
	out := &mcp.ListToolsResult{Tools: []*mcp.Tool{}}
	out.CacheScope = "private"
	for _, t := range all {
		d, err := define(t)
		if err != nil {
			continue // a call says why
		}
		pinned, err := p.pins.get(ctx, d.Name)
		if err != nil {
			continue // a call says why; the other tools stay
		}
		if pinned == nil || pinned.digest == d.digest {
			out.Tools = append(out.Tools, d.tool())
			continue
		}
		labels, _ := d.changed(pinned, p.source)
		shown := pinned.tool()
		shown.Description += "\n(lookleap: the server changed the " + strings.Join(labels, ", ") +
			" of this tool. This is the approved definition. The user is asked about the change when the tool is called.)"
		out.Tools = append(out.Tools, shown)
	}
	return out, nil
}
