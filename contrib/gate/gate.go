// Package gate asks a person before a tool of an agent runs, and lets it run once, with exactly the
// arguments that the person saw:
//
//	g := gate.New(host, gate.Options{User: "kim"})
//	pay, err := g.Tool(gate.Tool{Name: "pay", Description: "Pays a bill.", Schema: schema, Run: run,
//		Arguments: map[string]gate.Argument{"/to": {Role: gate.Recipient}, "/amount": {Role: gate.Amount}}})
//	result, err := pay.Call(ctx, arguments) // the JSON of the model
//	if pending := (*lookleap.PendingError)(nil); errors.As(err, &pending) {
//		// store pending.State and show pending.Request; later, in any process with the same tools:
//		result, err = g.Resume(ctx, state, decision)
//	}
//
// What is approved is the call in the one form of RFC 8785: the tool, the digest of its definition,
// the arguments and the user. Another argument, tool, definition or user needs another approval, and a
// second use returns the outcome of the first. [Rule] says which calls pass without a question.
package gate

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/planowner"
)

// Options are the options of [New]. The zero value asks about every call.
type Options struct {
	// User is the host's id of the user. A plan of another user is not resumed. "": one user.
	User string

	// Rules say what is asked: the first one that applies to a call. Without one, the call is asked.
	Rules []Rule

	// Decide may be stricter than the rules: of both answers, the stricter one holds. Nil: the rules
	// alone. An organisation's policy file is one; see contrib/policy.
	Decide func(ctx context.Context, c Call) Verb

	// Secret returns a value for an argument with the role [Secret] when a plan is resumed: plans
	// hold only its digest. Nil: a plan with a secret cannot be resumed.
	Secret func(ctx context.Context, c Call, pointer string) (value string, err error)
}

// Gate asks about the calls of its tools. It may be used from several goroutines at once.
type Gate struct {
	host    *lookleap.Host
	options Options
	set     *toolset
}

// toolset is the tools of a gate, which the gates of all users share.
type toolset struct {
	mu    sync.RWMutex
	tools map[string]*Gated
}

// New returns a gate without tools. The plans are asked through the Prompter of the host and recorded
// in its store, so that processes that share the store run each of them once.
func New(host *lookleap.Host, o Options) *Gate {
	o.Rules = slices.Clone(o.Rules)
	return &Gate{host, o, &toolset{tools: map[string]*Gated{}}}
}

// ForUser returns the gate of another user with the same tools, rules and limits.
func (g *Gate) ForUser(user string) *Gate {
	own := *g
	own.options.User = user
	return &own
}

// WithoutTools returns a gate without tools that has the same host, rules and user, for tools whose
// definition is that of one connection or one call.
func (g *Gate) WithoutTools() *Gate {
	return &Gate{g.host, g.options, &toolset{tools: map[string]*Gated{}}}
}

// Tool is a function that a model calls.
type Tool struct {
	Name        string
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments; nil: any object
	Source      string          // host of who wrote Description and Schema, if that is not this program; they are then shown as its words
	ReadOnly    bool            // it changes nothing; see Rule.ReadOnly
	Ask         bool            // a person decides about each call, also where a rule lets it pass

	// Notes are shown with each question about a call, such as what is new about the tool. They are
	// not part of the definition, so approvals of a call with other notes stay valid.
	Notes []lookleap.ConsentValue

	// Arguments say what arguments mean, by JSON pointer (RFC 6901) such as "/to", or with a "*" for
	// any index or name, such as "/lines/*/price".
	Arguments map[string]Argument

	// Run does it. The arguments are those that were approved, in the form of RFC 8785, with secrets in
	// their place. An error may mean that it happened in part, unless it is one of
	// [lookleap.NothingSent]. Run should hand Call.Key to the service that it calls, so that it is not
	// done twice.
	Run func(ctx context.Context, c Call) (output []byte, err error)
}

// Argument is what an argument means to a person.
type Argument struct {
	Role     Role
	Editable bool // the person may change it; see [Gate.Revise]
}

// Role is the part that an argument plays.
type Role uint8

// The roles of arguments.
const (
	Plain     Role = iota
	Recipient      // who receives something: a host, an address, an account
	Amount         // how much is spent, a number
	Text           // free text, of which a long one is shown in part
	Secret         // never shown or stored
)

// Call is one call of a tool.
type Call struct {
	Tool      string
	Arguments json.RawMessage // RFC 8785; secrets are in their place only when Run is called
	Key       string          // for an Idempotency-Key; empty before the call is planned
}

// Result is the outcome of a call.
type Result struct {
	Output  []byte   // of Run, or of the first run if there was one before; at most [MaxOutput] bytes
	Cut     bool     // Output is only the beginning
	Changed []string // sentences about what the person changed, for the model
	Plan    string   // id of the plan; "" for a call that passed without one
}

// MaxOutput is the number of bytes of an output that a [Result] holds.
const MaxOutput = 64 << 10

// Gated is a tool behind its gate.
type Gated struct {
	Tool
	gate       *Gate
	definition string // digest
}

// Tool puts a tool behind the gate, and replaces one with the same name: approvals of the earlier
// definition then count no more. It returns an [*lookleap.Error] with [lookleap.CodeUsage] for a tool
// without a name or function, or with a schema or pointer that is malformed.
func (g *Gate) Tool(t Tool) (*Gated, error) {
	definition, err := t.digest()
	if err != nil {
		return nil, err
	}
	t.Arguments, t.Notes = maps.Clone(t.Arguments), slices.Clone(t.Notes)
	gated := &Gated{t, g, definition}
	g.set.mu.Lock()
	defer g.set.mu.Unlock()
	g.set.tools[t.Name] = gated
	return gated, nil
}

// Named returns the tool of a name as it is now, for the user of this gate.
func (g *Gate) Named(name string) (*Gated, error) {
	g.set.mu.RLock()
	defer g.set.mu.RUnlock()
	if t := g.set.tools[name]; t != nil {
		own := *t
		own.gate = g
		return &own, nil
	}
	return nil, usage("there is no tool "+plaintext.Quote(name, 100), "put it behind the gate before plans are resumed")
}

// Call runs the tool with the arguments of a model, a JSON object. If the person has to decide first
// and cannot do so now, it returns a [*lookleap.PendingError] for [Gate.Resume]. A refusal of the
// person is a [lookleap.ErrConsentRefused] with the reason, one of a rule a [lookleap.ErrDenied], and an
// error of Run a [lookleap.ErrInDoubt] unless it is one of [lookleap.NothingSent]. Arguments that two
// readers could read differently are refused with their position, also if a name differs only in letter
// case from another one or from one that the tool names.
func (t *Gated) Call(ctx context.Context, arguments []byte) (Result, error) {
	args, err := parseArguments(arguments)
	if err != nil {
		return Result{}, err
	}
	g := t.gate
	ctx = planowner.Context(ctx, g.options.User)
	hidden, secrets, err := args.hide(&t.Tool)
	if err != nil {
		return Result{}, err
	}
	verb, err := g.judge(ctx, t, hidden, false)
	if err != nil {
		return Result{}, err
	}
	if verb == Pass {
		output, err := t.Run(ctx, Call{Tool: t.Name, Arguments: args.canonical(), Key: `"` + rand.Text() + `"`})
		return bounded(output), lookleap.InDoubt(err)
	}
	plan, planned, err := t.plan(hidden, nil)
	if err != nil {
		return Result{}, err
	}
	approval, err := g.host.Ask(ctx, plan)
	if err != nil {
		return Result{}, err
	}
	return g.commit(ctx, t, approval, planned, func(string) (string, error) { return "", nil }, secrets)
}

// Resume continues a call that waited for its person, in this process or another one that has the
// same tools behind its gate. State is that of the [*lookleap.PendingError]. If the call ran before, it
// returns that outcome and a [lookleap.ErrAlreadyDone].
func (g *Gate) Resume(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (Result, error) {
	plan, planned, t, err := g.parse(state)
	if err != nil {
		return Result{}, err
	}
	ctx = planowner.Context(ctx, g.options.User)
	approval, err := g.host.Decide(ctx, plan, decision)
	if err != nil {
		return Result{}, err
	}
	call := Call{Tool: t.Name, Arguments: planned.Arguments, Key: plan.IdempotencyKey()}
	secret := func(pointer string) (string, error) {
		if g.options.Secret == nil {
			return "", usage("the argument "+pointer+" is secret, and the plan holds only its digest", "set Options.Secret")
		}
		return g.options.Secret(ctx, call, pointer)
	}
	return g.commit(ctx, t, approval, planned, secret, nil)
}

// Again returns a new question about a call whose outcome is unknown, because its process ended or
// Run failed: whether to run it once more although it may have happened. It has the same Call.Key.
func (g *Gate) Again(ctx context.Context, state json.RawMessage) (*lookleap.PendingError, error) {
	plan, _, _, err := g.parse(state)
	if err != nil {
		return nil, err
	}
	again, err := g.host.Again(planowner.Context(ctx, g.options.User), plan)
	if err != nil {
		return nil, err
	}
	return pending(again)
}

// Revise returns a new question about a call with values that the person changed, by JSON pointer.
// Only arguments that the tool marks as editable can be changed, to a value of the same kind. The
// plan that waited is refused; the [Result] says what was changed.
func (g *Gate) Revise(ctx context.Context, state json.RawMessage, values map[string]json.RawMessage) (*lookleap.PendingError, error) {
	old, planned, t, err := g.parse(state)
	if err != nil {
		return nil, err
	}
	revised, changed, err := planned.args.replace(values, &t.Tool)
	if err != nil {
		return nil, err
	}
	ctx = planowner.Context(ctx, g.options.User)
	if _, err := g.judge(ctx, t, revised, false); err != nil {
		return nil, err
	}
	no := lookleap.ConsentDecision{Digest: old.Request().Digest, Reason: "it was changed"}
	if _, err := g.host.Decide(ctx, old, no); !errors.Is(err, lookleap.ErrConsentRefused) {
		return nil, err // such as that it ran
	}
	plan, _, err := t.plan(revised, append(slices.Clone(planned.Changed), changed...))
	if err != nil {
		return nil, err
	}
	return pending(plan)
}

func pending(plan *lookleap.Plan) (*lookleap.PendingError, error) {
	state, err := plan.State()
	if err != nil {
		return nil, err
	}
	return &lookleap.PendingError{Request: plan.Request(), State: state}, nil
}

// parse reads a state of this user about a tool that has not changed.
func (g *Gate) parse(state json.RawMessage) (*lookleap.Plan, *plannedCall, *Gated, error) {
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, nil, nil, err
	}
	planned, err := parsePlanned(plan)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := planowner.Check(planned.User, g.options.User, "resume it with the gate of its user, see Gate.ForUser"); err != nil {
		return nil, nil, nil, err
	}
	t, err := g.Named(planned.Tool)
	if err != nil {
		return nil, nil, nil, err
	}
	return plan, planned, t, planned.stale(t)
}

// commit runs the approved call of a plan once, if the tool and its rules are still those that let the
// person decide. The secrets are those of this process, or come from a function.
func (g *Gate) commit(ctx context.Context, t *Gated, approval *lookleap.Approval, planned *plannedCall,
	secret func(pointer string) (string, error), known map[string]string,
) (Result, error) {
	plan := approval.Plan()
	var result Result
	call := Call{Tool: t.Name, Arguments: planned.Arguments, Key: plan.IdempotencyKey()}
	var prepare func(context.Context, *lookleap.Approval) error
	if t.hasSecrets() {
		prepare = func(context.Context, *lookleap.Approval) error {
			revealed, err := planned.args.reveal(&t.Tool, known, secret)
			call.Arguments = revealed
			return err
		}
	}
	receipt, err := g.host.CommitApproved(ctx, approval, lookleap.Effect{
		Prepare: prepare,
		Send: func(ctx context.Context, _ *lookleap.Approval) ([]byte, error) {
			now, err := g.Named(t.Name)
			if err == nil {
				err = planned.stale(now)
			}
			if err == nil {
				_, err = g.judge(ctx, now, planned.args, true)
			}
			if err != nil {
				return nil, lookleap.NothingSent(err)
			}
			output, err := now.Run(ctx, call)
			if err != nil {
				return nil, err
			}
			result = bounded(output)
			if len(result.Output) > lookleap.MaxReceipt {
				return []byte(lookleap.Digest(result.Output)), nil
			}
			return result.Output, nil
		},
	})
	if errors.Is(err, lookleap.ErrAlreadyDone) {
		result.Output = receipt
	}
	result.Plan, result.Changed = plan.ID(), planned.Changed
	return result, err
}

// bounded returns an output as a result.
func bounded(output []byte) Result {
	if len(output) > MaxOutput {
		return Result{Output: slices.Clone(output[:MaxOutput]), Cut: true}
	}
	return Result{Output: output}
}

func usage(message, fix string) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}

// String returns a sentence for a model.
func (r Result) String() string {
	text := string(r.Output)
	if r.Cut {
		text += "\n(cut here)"
	}
	for _, sentence := range r.Changed {
		text += fmt.Sprintf("\n(the person changed the call before it ran: %s)", sentence)
	}
	return cmp.Or(text, "done")
}
