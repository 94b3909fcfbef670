package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// gate limits when actions may be sent: by rate limits (section 13.4), by waits that services asked
// for, and by actions that services ended for the session (section 11.3). It applies to every call,
// also to those of the host.
//
// A session keeps the pace of its actions at an origin. What its sessions share, and waits, are kept by
// the Limiter of the host: they also count in other processes. A wait counts for all users, since the
// service did not learn who the user is; a wait about one action (section 8.13) counts for its user.
type gate struct {
	session *Session

	mu      sync.Mutex
	paces   map[string]*pace         // by origin of the endpoint
	runs    map[string]int           // executions, by origin of the document
	ended   map[string]blockedAction // by method and endpoint
	pairs   map[string]bool          // of origins that the user agreed to, see [gate.agreed]
	formats map[string]anml.Format   // that origins want to receive (section 11.1)
}

// pace is how many actions may be sent to an origin in a row, at a time. One more may after each
// Interval.
type pace struct {
	left float64
	at   time.Time
}

// blockedAction is why an action is not sent any more in the session.
type blockedAction struct {
	code   lookleap.Code
	status int
}

// maxGates bounds what a session remembers of origins. Beyond it no action of or to another origin is
// executed, since dropping a count would lift a limit.
const maxGates = 4096

func newGate(s *Session) *gate {
	return &gate{session: s, paces: make(map[string]*pace), runs: make(map[string]int), ended: make(map[string]blockedAction),
		pairs: make(map[string]bool), formats: make(map[string]anml.Format)}
}

// ResetActions permits actions again that services ended for the session: with 403 or
// 410, or with 429 or 503 without Retry-After. Waits that services asked for and rate
// limits stay (section 11.3).
func (s *Session) ResetActions() {
	if s.ready() != nil {
		return
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	clear(s.gate.ended)
}

// gateKey identifies one action for the gate.
type gateKey struct {
	action   string // method and endpoint, see [actionRequest.key]
	origin   string // of the endpoint
	document string // origin of the document
}

// check returns an error if an action must not be sent now. It does not count.
func (g *gate) check(ctx context.Context, p gateKey) error {
	if err := g.count(p, 0); err != nil {
		return err
	}
	return g.wait(ctx, p, g.session.agent.host.Wait)
}

// take is check, and counts the execution if there is no error.
func (g *gate) take(ctx context.Context, p gateKey) error {
	if err := g.count(p, 1); err != nil {
		return err
	}
	err := g.wait(ctx, p, g.session.agent.host.Take)
	if err != nil { // nothing is sent
		g.mu.Lock()
		defer g.mu.Unlock()
		g.runs[p.document]--
		g.paces[p.origin].left++
	}
	return err
}

// count counts executions, unless the session itself does not permit the action.
func (g *gate) count(p gateKey, n int) error {
	limits := g.session.agent.options.Limits
	now := g.session.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch c := g.ended[p.action]; {
	case c.code != "":
		return &lookleap.Error{Code: c.code, Subject: p.origin, Message: "the service ended this action for the session",
			Err: &lookleap.ResponseError{Status: c.status}}
	case len(g.paces) >= maxGates && g.paces[p.origin] == nil, len(g.runs) >= maxGates && g.runs[p.document] == 0:
		return &lookleap.Error{Code: lookleap.CodeLimit, Subject: p.origin, Message: "the session used too many origins"}
	case g.runs[p.document] >= limits.Executions:
		return &lookleap.Error{Code: CodeTooManyActions, Subject: p.document,
			Message: fmt.Sprintf("the session executed %d actions of this origin's documents", limits.Executions)}
	}
	at := g.paceAt(p.origin, now)
	if at.left < 1 {
		return tooOften(p.origin, time.Duration((1-at.left)*float64(limits.Interval)))
	}
	if n > 0 {
		g.runs[p.document] += n
		at.left -= float64(n)
	}
	return nil
}

// wait returns an error if an action must not be sent now because of what any session sent or was
// told, or if the Limiter fails. Use is its Wait or Take.
func (g *gate) wait(ctx context.Context, p gateKey, use func(context.Context, string, lookleap.Rate) (time.Duration, error)) error {
	s := g.session
	for _, key := range []string{limitHold + p.origin, s.actionKey(p.action)} {
		if wait, err := s.agent.host.Wait(ctx, key, lookleap.Rate{}); err != nil || wait > 0 {
			return tooSoon(p.origin, wait, err)
		}
	}
	for i, rate := range s.agent.options.Limits.sharedRates() {
		key := [2]string{limitShort, limitLong}[i] + s.userKey() + " " + p.origin
		switch wait, err := use(ctx, key, rate); {
		case err != nil:
			return tooSoon(p.origin, 0, err)
		case wait > 0:
			return tooOften(p.origin, wait)
		}
	}
	return nil
}

// paceAt returns the pace of an origin by now.
func (g *gate) paceAt(origin string, now time.Time) *pace {
	limits := g.session.agent.options.Limits
	p := g.paces[origin]
	if p == nil {
		p = &pace{float64(limits.Burst), now}
		g.paces[origin] = p
	}
	if gone := now.Sub(p.at); gone > 0 {
		p.left, p.at = min(float64(limits.Burst), p.left+float64(gone)/float64(limits.Interval)), now
	}
	return p
}

// adjustClock moves all times back with the clock.
func (g *gate) adjustClock(by time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.paces {
		p.at = p.at.Add(-by)
	}
}

// sharedRates are the rates of a user's actions at one origin across all sessions. One session alone
// always keeps them: it sends at most Burst actions in an Interval, and fewer than 11 times Burst in the
// time of 10 times Burst. The second one limits sessions that take turns.
func (l Limits) sharedRates() [2]lookleap.Rate {
	burst := min(l.Burst, 1<<20)
	long := min(l.Interval, time.Hour*24*30/time.Duration(10*burst)) * time.Duration(10*burst)
	return [2]lookleap.Rate{{Limit: burst, Window: l.Interval}, {Limit: 11*burst - 1, Window: long}}
}

func tooOften(origin string, wait time.Duration) error {
	return &lookleap.Error{Code: CodeTooManyActions, Subject: origin, Message: "too many actions in a row",
		Err: &lookleap.ResponseError{RetryAfter: wait}}
}

func (g *gate) end(action string, code lookleap.Code, status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended[action] = blockedAction{code: code, status: status}
}

// agreed reports whether the user agreed, in this session, that documents of one origin send to
// another origin of the same registrable domain (section 13.11), or, with "" as the document, to use
// an origin without encryption.
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

// prefer remembers which serialization an origin wants to receive (section 11.1).
func (g *gate) prefer(origin string, f anml.Format) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.formats) < maxGates {
		g.formats[origin] = f
	}
}

// preferred returns what an origin wants to receive, and whether it said so.
func (g *gate) preferred(origin string) (anml.Format, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, ok := g.formats[origin]
	return f, ok
}

// The keys of the Limiter. What may hold data of the user is a digest.
const (
	limitHold     = "anml retry "          // and an origin
	limitDocument = "anml document retry " // and the digest of a URL
	limitAction   = "anml action retry "   // and the digest of a user and an action
	limitShort    = "anml actions "        // and a user and an origin
	limitLong     = "anml pace "
)

// userKey is what Limiter keys hold of a user; sessions without ID and LedgerKey are
// those of one user.
func (s *Session) userKey() string {
	if s.owner() == "" {
		return ""
	}
	return digestKey("", "limits", s.owner())
}

func digestKey(prefix string, parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part + "\x00"))
	}
	return prefix + hex.EncodeToString(h.Sum(nil))
}

func (s *Session) actionKey(action string) string { return digestKey(limitAction, s.userKey(), action) }

// tooSoon returns the error of a wait that a service asked for, or of a Limiter that
// could not say whether there is one.
func tooSoon(origin string, wait time.Duration, err error) error {
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: origin,
			Message: "whether the action may be sent now is not known", Err: err}
	}
	return &lookleap.Error{Code: CodeTooSoon, Subject: origin, Message: "the service asked to come back later",
		Err: &lookleap.ResponseError{RetryAfter: wait}}
}

// hold keeps a wait that a service asked for. If the Limiter fails, the host is told; while
// it fails, no action is sent.
func (s *Session) hold(ctx context.Context, key, subject string, wait time.Duration) {
	if wait > 0 {
		err := s.agent.host.Hold(ctx, key, wait)
		s.report(ctx, subject, lookleap.CodeOf(err), err)
	}
}

// report tells the host of an error that does not end the operation.
func (s *Session) report(ctx context.Context, subject string, code lookleap.Code, err error) {
	if err != nil {
		s.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: code, Subject: subject, Err: err})
	}
}
