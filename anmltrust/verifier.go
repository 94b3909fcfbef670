package anmltrust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/shared"
)

// Limits bound what a [Verifier] does. A zero field takes its default.
type Limits struct {
	Exchange  time.Duration // for one question, redirects included; 10 s
	Time      time.Duration // for one verification; 30 s
	Exchanges int           // of one verification; 8
	Verdicts  int           // remembered; 4,096
	Manifests int           // remembered; 256
	Memory    int           // bytes of remembered manifests, and as many of verdicts and of answers; 64 MiB
	LocalHold time.Duration // how long a decision is used before the shared cache is read again; 60 s, at most
}

func (l Limits) withDefaults() Limits {
	def := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if l.Exchange <= 0 {
		l.Exchange = 10 * time.Second
	}
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	if l.LocalHold <= 0 || l.LocalHold > shared.LookAgain {
		l.LocalHold = shared.LookAgain
	}
	def(&l.Exchanges, 8)
	def(&l.Verdicts, 4096)
	def(&l.Manifests, 256)
	def(&l.Memory, 64<<20)
	return l
}

// Options are the choices of [NewVerifier]. The zero value is safe and works.
type Options struct {
	Rules  Rules
	Limits Limits
}

// Verifier finds out which server may speak for which site. It gathers evidence through a
// [lookleap.Host], decides as [Decide] does, and remembers decisions as the
// procedure says. Its methods may be called from several goroutines at once. A
// question that many callers ask at once is asked of the site once.
type Verifier struct {
	host      *lookleap.Host
	rules     Rules
	limits    Limits
	clock     *flight.Clock
	memory    *memory
	evidence  *shared.Cache[json.RawMessage] // records of verdicts, from and for other processes
	withdrawn *shared.Cache[struct{}]        // tombstones of grants

	// What is under way, so that it is done once for all callers.
	verifications flight.Group[question, *result]
	lookups       flight.Group[string, *DNSEvidence]
	readings      flight.Group[readingKey, *Exchange]
	turns         flight.Turns[pair]
}

// NewVerifier returns a verifier that uses a host.
func NewVerifier(host *lookleap.Host, o Options) *Verifier {
	v := &Verifier{host: host, rules: o.Rules, limits: o.Limits.withDefaults()}
	v.clock = flight.NewClock(host.Time, func(back time.Duration) {
		v.memory.clockSetBack()
		if back > maxSilentStep {
			v.report(context.Background(), CodeClockRollback, "", fmt.Sprintf("the clock was set back by %s", back))
		}
	})
	v.memory = newMemory(v.limits, v.clock)
	v.evidence = shared.New[json.RawMessage](host,
		shared.Options{Prefix: "anmltrust/2/verdict/", Skew: Skew, Remembered: v.limits.Verdicts})
	v.withdrawn = shared.New[struct{}](host, shared.Options{Prefix: "anmltrust/2/withdrawn/", Skew: Skew})
	return v
}

// maxSilentStep is how far a clock may be set back without a finding.
const maxSilentStep = 5 * time.Minute

// Verify decides a claim, from memory where the procedure allows it. A nil error
// comes with an authorization of Tier 1 or more. Every error means Tier 0 and is a
// [*lookleap.VerifyError] that lists every check. A failure because ctx ended is
// not remembered and says nothing about the site.
func (v *Verifier) Verify(ctx context.Context, c Claim) (*Authorization, error) {
	return v.answer(ctx, question{claim: c})
}

// VerifyFresh decides a claim again, right before an action with consequences
// (section 13.4): it uses no remembered grant, and asks the DNS and the source
// again. An earlier denial or backoff stays in force. See [Confirm].
func (v *Verifier) VerifyFresh(ctx context.Context, c Claim) (*Authorization, error) {
	return v.answer(ctx, question{claim: c, mode: fresh})
}

// Refresh asks again before a grant expires, from [Authorization.RefreshAfter] on.
// Its requests begin after the call. A new grant replaces the previous one, and a
// definitive no replaces it at once. A temporary failure keeps the previous grant
// until that grant expires.
func (v *Verifier) Refresh(ctx context.Context, c Claim) (*Authorization, error) {
	return v.answer(ctx, question{claim: c, mode: refresh})
}

// Interaction is one run of an agent. An endpoint that answers 429 in it is not
// asked again until it ends, and responses with no-store are kept in it. It may be
// used from several goroutines.
type Interaction struct {
	verifier    *Verifier
	mu          sync.Mutex
	rateLimited map[pair]lookleap.Code
	manifests   map[manifestKey]*Exchange
}

// maxInteractionManifests bounds the manifests with no-store of one interaction.
const maxInteractionManifests = 32

// Begin starts an interaction. It holds nothing that must be closed.
func (v *Verifier) Begin() *Interaction {
	return &Interaction{verifier: v, rateLimited: make(map[pair]lookleap.Code), manifests: make(map[manifestKey]*Exchange)}
}

// Budget is how many requests a document may still cause. Take uses one of them
// and reports whether there was one. Use a pointer type: questions with the same
// budget share their answers.
type Budget interface{ Take() bool }

// unsharedBudget makes a budget that cannot be compared different from all others.
type unsharedBudget struct{ Budget }

// Verify is [Verifier.Verify] within the interaction. The budget may be nil.
func (i *Interaction) Verify(ctx context.Context, c Claim, b Budget) (*Authorization, error) {
	if b != nil && !reflect.ValueOf(b).Comparable() {
		b = &unsharedBudget{b}
	}
	return i.answer(ctx, question{claim: c, in: i, budget: b})
}

// VerifyFresh is [Verifier.VerifyFresh] within the interaction.
func (i *Interaction) VerifyFresh(ctx context.Context, c Claim) (*Authorization, error) {
	return i.answer(ctx, question{claim: c, in: i, mode: fresh})
}

func (i *Interaction) answer(ctx context.Context, q question) (*Authorization, error) {
	if i == nil {
		return nil, usageError("there is no interaction", "make it with Verifier.Begin")
	}
	return i.verifier.answer(ctx, q)
}

// Outcome is the answer about one claim of a document.
type Outcome struct {
	Claim         Claim
	Authorization *Authorization // nil: Tier 0
	Err           error
}

// VerifyDocument decides every claim of a document, in order, each on its own.
func (i *Interaction) VerifyDocument(ctx context.Context, d Document, b Budget) ([]Outcome, []lookleap.Finding) {
	claims, findings := d.Claims()
	out := make([]Outcome, 0, len(claims))
	for _, c := range claims {
		a, err := i.Verify(ctx, c, b)
		out = append(out, Outcome{c, a, err})
	}
	return out, findings
}

// mode is why a question is asked.
type mode uint8

const (
	normal mode = iota
	refresh
	fresh
)

// question is one verification. Callers with the same question share its answer.
type question struct {
	claim  Claim
	mode   mode
	in     *Interaction
	budget Budget
}

// result is an authorization, or the error of Tier 0.
type result struct {
	auth *Authorization
	err  *lookleap.VerifyError
}

func (r *result) verdict() *lookleap.Verdict {
	if r.err != nil {
		return r.err.Verdict
	}
	return r.auth.Verdict
}

// answer answers a question in the cheapest way: by a decision that still stands, by the
// claim alone if the server is the site itself, or else by a verification (run), which
// callers with the same question share.
func (v *Verifier) answer(ctx context.Context, q question) (*Authorization, error) {
	if v == nil || v.host == nil {
		return nil, usageError("the verifier has no host", "make it with NewVerifier")
	}
	r := v.standing(ctx, &q)
	if r == nil {
		s, _, code := q.claim.preCheck()
		switch k := kin(s.server, s.site); {
		case code != "" || k == self || k == below && v.rules.SelfSubdomains == TrustSubdomains:
			now := v.clock.Now()
			ev := Evidence{Policy: v.rules}
			r = v.conclude(ctx, q.claim, walk(q.claim, &ev, nil, now), &ev, now)
			if k == self && r.auth != nil {
				v.letStand(&q.claim, s.site, r, now.Add(selfStands))
			}
		case q.mode == fresh: // a verification that began earlier is not fresh
			r = v.run(ctx, q, s)
		default:
			var err error
			r, err = v.verifications.Do(ctx, q, func(ctx context.Context) (*result, error) { return v.run(ctx, q, s), nil })
			if err != nil {
				r = v.interrupted(ctx, q, err)
			}
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.auth, nil
}

// run verifies a claim in a loop: walk decides by the evidence so far, or says which piece
// is missing; gather asks for that piece. Verifications of one pair run one after another,
// so that the second one finds what the first one learnt. A fresh one does not wait.
func (v *Verifier) run(ctx context.Context, q question, s subject) *result {
	if q.mode != fresh {
		leave, err := v.turns.Wait(ctx, s.pair())
		if err != nil {
			return v.interrupted(ctx, q, err)
		}
		defer leave()
	}
	if q.mode == refresh { // callers may share it only until it sends its first request
		v.verifications.Forget(q)
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, v.limits.Time)
	defer cancel()
	g := &gathering{v: v, q: q, subject: s, exchangesLeft: v.limits.Exchanges}
	for {
		now := v.clock.Now()
		if g.ev == nil || g.clockSteps != v.clock.Steps() { // the clock was set back: begin again
			g.clockSteps = v.clock.Steps()
			g.withdrawals = v.memory.generation(s.site).withdrawals.Load()
			g.recalled = nil
			g.ev = &Evidence{Policy: v.rules, Fresh: q.mode == fresh}
		}
		if g.ev.DNS != nil && g.recalled == nil {
			g.recalled = v.recall(ctx, q, s, now)
		}
		o := walk(q.claim, g.ev, g.recalled, now)
		if o.missing == nil {
			return v.settle(caller, g, o, now)
		}
		if err := g.gather(ctx, o.missing); err != nil {
			return v.stop(caller, g, o, err)
		}
	}
}

// Errors that end a gathering early.
var (
	errBudget    = errors.New("the document's budget of requests is used up")
	errExchanges = errors.New("the verification used up its exchanges")
)

// stop ends a gathering early (rows A10 and A11). Only a site that is too slow
// gets a backoff.
func (v *Verifier) stop(caller context.Context, g *gathering, o *outcome, err error) *result {
	now := v.clock.Now()
	row, code := "A11", lookleap.CodeTimeout
	switch {
	case errors.Is(err, errBudget):
		row, code = "A10", lookleap.CodeBudget
	case errors.Is(err, lookleap.ErrClosed):
		code = lookleap.CodeClosed
	case errors.As(err, new(*flight.PanicError)):
		code = lookleap.CodeInternal
	case caller.Err() == nil:
		o.backoffs = append(o.backoffs, startedBackoff{backoff: backoff{scope: backoffPair, code: code, length: shortBackoff}})
		v.memory.startBackoffs(o, now)
	}
	g.ev.Stopped, g.ev.Row = code, row
	o.deny(row, code)
	o.cause = err
	return v.conclude(caller, g.q.claim, o, g.ev, now)
}

// interrupted returns the result for a caller who left (row A11), or after a panic.
func (v *Verifier) interrupted(ctx context.Context, q question, err error) *result {
	now := v.clock.Now()
	ev := Evidence{Policy: v.rules, Fresh: q.mode == fresh, Stopped: lookleap.CodeTimeout, Row: "A11"}
	if ctx.Err() == nil {
		ev.Stopped = lookleap.CodeInternal
	}
	o := walk(q.claim, &ev, nil, now)
	o.narrowing = false // whether the site narrows its host is not known
	o.deny("A11", ev.Stopped)
	o.cause = err
	return v.conclude(ctx, q.claim, o, &ev, now)
}

// conclude states an outcome and reports it to the host.
func (v *Verifier) conclude(ctx context.Context, c Claim, o *outcome, ev *Evidence, now time.Time) *result {
	r := o.conclude(c, ev, now)
	verdict := r.verdict()
	v.host.Report(ctx, lookleap.Event{Time: now, Kind: lookleap.EventVerdict, Code: verdict.Code,
		Subject: verdict.Subject, Verdict: verdict})
	if o.security || o.code == CodeQuery400 {
		v.report(ctx, o.code, o.row, verdict.Subject+": "+o.code.Title())
	}
	return r
}

func (v *Verifier) report(ctx context.Context, code lookleap.Code, row, message string) {
	v.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: code, Subject: message,
		Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: row, Message: message}})
}

// standingKey finds a standing decision: by the host of the document where its
// URL is an ordinary one, since the path decides nothing.
type standingKey struct{ url, site string }

func standingKeyOf(c *Claim) standingKey {
	const prefix = "https://"
	if plainURI(c.URL) {
		rest := c.URL[len(prefix):]
		return standingKey{rest[:strings.IndexByte(rest, '/')], c.Site}
	}
	return standingKey{c.URL, c.Site}
}

// standing returns an answer that still stands. A claim with anything unusual is
// read in full, as is one in an interaction in which an endpoint answered 429.
func (v *Verifier) standing(ctx context.Context, q *question) *result {
	c := &q.claim
	if q.mode != normal || !c.Verified.IsZero() || c.Response || c.Refused != "" || ctx.Err() != nil || q.in.anyRateLimit() {
		return nil
	}
	got, ok := v.memory.standing.Peek(standingKeyOf(c))
	if !ok || got.Value.about.changes.Load() != got.Value.changes {
		return nil
	}
	return &got.Value.result
}

func (i *Interaction) anyRateLimit() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.rateLimited) > 0
}

// selfStands is how long it is remembered that a server is the site itself.
const selfStands = time.Hour

// letStand lets the next caller with this claim find the answer at once.
func (v *Verifier) letStand(c *Claim, site string, r *result, until time.Time) {
	s := &standingDecision{result: *r, about: v.memory.generation(site)}
	s.changes = s.about.changes.Load()
	if r.auth != nil && !r.auth.Cached {
		cached := *r.auth
		cached.Cached = true
		s.auth = &cached
	}
	v.memory.standing.Put(standingKeyOf(c), flight.Loaded[*standingDecision]{Value: s, Until: until})
}
