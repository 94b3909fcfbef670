package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// gate limits when actions may be sent: by rate limits (section 13.4), by waits that
// services asked for, and by actions that services ended for the session (section
// 11.3). It applies to every call, also to those of the host. Waits and the rate of a
// user also count in other sessions and processes; see [Session.sharedWait].
type gate struct {
	session *Session

	mu      sync.Mutex
	origins map[string]*originGate   // by origin of the endpoint
	runs    map[string]int           // executions, by origin of the document
	actions map[string]blockedAction // by method and endpoint
	pairs   map[string]bool          // of origins that the user agreed to, see [gate.agreed]
}

// originGate limits all actions at one origin.
type originGate struct {
	tokens float64   // actions that may be sent in a row
	filled time.Time // when tokens was right
	accept *anml.Format
}

// blockedAction is why an action is not sent any more in the session.
type blockedAction struct {
	code   lookleap.Code
	status int
}

// maxGates bounds the origins and actions that a session counts. Beyond it nothing is
// sent to new ones, since dropping a count would lift a limit.
const maxGates = 4096

func newGate(s *Session) *gate {
	return &gate{
		session: s,
		origins: make(map[string]*originGate),
		runs:    make(map[string]int),
		actions: make(map[string]blockedAction),
		pairs:   make(map[string]bool),
	}
}

// ResetActions permits actions again that services ended for the session: with 403 or
// 410, or with 429 or 503 without Retry-After. Waits that services asked for and rate
// limits stay (section 11.3).
func (s *Session) ResetActions() {
	if s.ready() != nil {
		return
	}
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.actions)
}

// gateKey identifies one action for the gate.
type gateKey struct {
	action   string // method and endpoint, see [actionRequest.key]
	origin   string // of the endpoint
	document string // origin of the document
}

// check returns an error if an action must not be sent now. It does not count.
func (g *gate) check(ctx context.Context, p gateKey) error {
	now := g.session.now()
	g.mu.Lock()
	err := g.closed(p, now)
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return g.session.sharedWait(ctx, p)
}

// take is check, and counts the execution if there is no error.
func (g *gate) take(ctx context.Context, p gateKey) error {
	if err := g.count(p, g.session.now()); err != nil {
		return err
	}
	err := g.session.sharedTake(ctx, p)
	if err != nil { // nothing is sent
		g.mu.Lock()
		defer g.mu.Unlock()
		o := g.origin(p.origin, g.session.now())
		o.tokens = min(o.tokens+1, float64(g.session.agent.options.Limits.Burst))
		g.runs[p.document]--
	}
	return err
}

func (g *gate) count(p gateKey, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.closed(p, now); err != nil {
		return err
	}
	g.origin(p.origin, now).tokens--
	g.runs[p.document]++
	return nil
}

// closed returns an error if the session itself does not permit an action.
func (g *gate) closed(p gateKey, now time.Time) error {
	limits := g.session.agent.options.Limits
	if c, ok := g.actions[p.action]; ok {
		return &lookleap.Error{Code: c.code, Subject: p.origin, Message: "the service ended this action for the session",
			Err: &lookleap.ResponseError{Status: c.status}}
	}
	if len(g.origins) >= maxGates && g.origins[p.origin] == nil || len(g.runs) >= maxGates && g.runs[p.document] == 0 {
		return &lookleap.Error{Code: lookleap.CodeLimit, Subject: p.origin, Message: "the session used too many origins"}
	}
	if g.runs[p.document] >= limits.Executions {
		return &lookleap.Error{Code: CodeTooManyActions, Subject: p.document,
			Message: fmt.Sprintf("the session executed %d actions of this origin's documents", limits.Executions)}
	}
	if o := g.origin(p.origin, now); o.tokens < 1 {
		return tooOften(p.origin, time.Duration((1-o.tokens)*float64(limits.Interval)))
	}
	return nil
}

// origin returns the gate of an origin, with its tokens updated.
func (g *gate) origin(origin string, now time.Time) *originGate {
	limits := g.session.agent.options.Limits
	o := g.origins[origin]
	if o == nil {
		o = &originGate{tokens: float64(limits.Burst), filled: now}
		g.origins[origin] = o
	}
	if gone := now.Sub(o.filled); gone > 0 {
		o.tokens = min(float64(limits.Burst), o.tokens+float64(gone)/float64(limits.Interval))
		o.filled = now
	}
	return o
}

// end blocks an action for the session.
func (g *gate) end(action string, code lookleap.Code, status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.actions[action] = blockedAction{code: code, status: status}
}

// moveBack moves all times back with the clock.
func (g *gate) moveBack(by time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.origins {
		o.filled = o.filled.Add(-by)
	}
}

// agreed reports whether the user agreed, in this session, that documents of one origin
// send to another origin of the same registrable domain (section 13.11).
func (g *gate) agreed(document, endpoint string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pairs[document+" "+endpoint]
}

func (g *gate) agree(document, endpoint string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pairs) < maxGates {
		g.pairs[document+" "+endpoint] = true
	}
}

// acknowledged reports whether the user accepted, in this session, to use an origin
// without encryption.
func (g *gate) acknowledged(origin string) bool { return g.agreed("", origin) }
func (g *gate) acknowledge(origin string)       { g.agree("", origin) }

// prefer remembers which serialization an origin wants to receive (section 11.1).
func (g *gate) prefer(origin string, f anml.Format, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.origin(origin, now).accept = &f
}

// preferred returns what an origin wants to receive, nil if it did not say.
func (g *gate) preferred(origin string) *anml.Format {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o := g.origins[origin]; o != nil {
		return o.accept
	}
	return nil
}
