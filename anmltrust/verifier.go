package anmltrust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/shared"
)

// Bounds of one verification.
const (
	exchangeTime  = 10 * time.Second // for one question, redirects included
	verifyTime    = 30 * time.Second
	maxExchanges  = 8
	maxSilentStep = 5 * time.Minute // how far a clock may be set back without a finding
)

// Verifier finds out which server may speak for which site. It gathers evidence through a
// [lookleap.Host], decides as [Decide] does, and remembers decisions as the
// procedure says. Its methods may be called from several goroutines at once. A
// question that many callers ask at once is asked of the site once.
type Verifier struct {
	host      *lookleap.Host
	rules     Rules
	clock     *flight.Clock
	memory    *memory
	evidence  *shared.Cache[json.RawMessage] // records of verdicts, from and for other processes
	withdrawn *shared.Cache[struct{}]        // tombstones of grants

	// What is under way, so that it is done once for all callers.
	verifications flight.Group[question, *result]
	lookups       flight.Group[string, *DNSEvidence]
	readings      flight.Group[reading, *Exchange]
	turns         flight.Turns[pair]
}

// NewVerifier returns a verifier that uses a host and decides by rules.
func NewVerifier(host *lookleap.Host, rules Rules) *Verifier {
	v := &Verifier{host: host, rules: rules, memory: newMemory(host.Time, maxRemembered, maxManifests, maxMemory)}
	v.clock = flight.NewClock(host.Time, func(back time.Duration) {
		v.memory.clockSetBack()
		if back > maxSilentStep {
			v.report(context.Background(), CodeClockRollback, "", fmt.Sprintf("the clock was set back by %s", back))
		}
	})
	v.evidence = shared.New[json.RawMessage](host,
		shared.Options{Prefix: "anmltrust/2/verdict/", Skew: clockSkew, Remembered: maxRemembered})
	v.withdrawn = shared.New[struct{}](host, shared.Options{Prefix: "anmltrust/2/withdrawn/", Skew: clockSkew})
	return v
}

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
// and reports whether there was one. It must be comparable, such as a pointer:
// questions with the same budget share their answers.
type Budget interface{ Take() bool }

// Verify is [Verifier.Verify] within the interaction. The budget may be nil.
func (i *Interaction) Verify(ctx context.Context, c Claim, b Budget) (*Authorization, error) {
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

// answer answers a question by the claim alone, by a decision in memory, which waits for no
// verification, or by a verification.
func (v *Verifier) answer(ctx context.Context, q question) (*Authorization, error) {
	if v == nil || v.host == nil {
		return nil, usageError("the verifier has no host", "make it with NewVerifier")
	}
	if a, ok := v.memory.answers.Fresh(q.claim); ok && q.mode == normal && a.changes == v.memory.changesOf(a.site).Load() &&
		!q.in.isLimited() && ctx.Err() == nil {
		return a.auth, nil
	}
	g := v.begin(q)
	r := g.fromMemory(ctx)
	switch {
	case r != nil:
	case q.mode == fresh: // a verification that began earlier is not fresh
		r = v.verify(ctx, q, g.subject)
	default:
		var err error
		r, err = v.verifications.Do(ctx, q, func(ctx context.Context) (*result, error) { return v.verify(ctx, q, g.subject), nil })
		if err != nil && ctx.Err() != nil {
			r = g.stopped(ctx, "A11", lookleap.CodeTimeout, err)
		} else if err != nil { // a panic
			r = g.stopped(ctx, "A11", lookleap.CodeInternal, err)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.auth, nil
}

// fromMemory decides what needs neither new evidence nor a turn. It returns nil for all else.
func (g *gathering) fromMemory(ctx context.Context) *result {
	now := g.v.clock.Now()
	o := walk(g.q.claim, &g.ev, nil, now)
	g.subject = o.subject
	if o.missing == nil {
		return g.conclude(ctx, o, now)
	}
	ev := g.ev
	if ev.DNS = g.knownRecord(); ev.DNS == nil || g.q.mode != normal || !g.q.claim.Verified.IsZero() || ctx.Err() != nil {
		return nil
	}
	changes := g.v.memory.changesOf(g.site).Load()
	o = walk(g.q.claim, &ev, g.v.recall(ctx, g.q, g.subject, now), now)
	if o.reuse == nil && !o.unnarrowed {
		return nil
	}
	g.ev = ev
	r := g.settle(ctx, o, now)
	record, _ := g.v.memory.records.Peek(g.site)
	until := record.Until
	if o.reuse != nil {
		until = fetch.Earlier(until, o.reuse.until)
	}
	// What processes share is read again within a minute, so no answer is kept.
	if r.auth != nil && !g.v.evidence.Active() && g.steps == g.v.clock.Steps() {
		g.v.memory.answers.Put(g.q.claim, flight.Loaded[*answer]{Value: &answer{*r, g.site, changes}, Until: until})
	}
	return r
}

// isLimited reports whether an endpoint answered 429 in the interaction, which may be nil.
func (i *Interaction) isLimited() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.rateLimited) > 0
}

// verify verifies a claim in a loop: walk decides by the evidence so far, or says which piece
// is missing; gather asks for that piece. Verifications of one pair run one after another,
// so that the second one finds what the first one learnt. A fresh one does not wait.
func (v *Verifier) verify(caller context.Context, q question, s subject) *result {
	if q.mode != fresh {
		leave, err := v.turns.Wait(caller, s.pair())
		if err != nil {
			return v.begin(q).stopped(caller, "A11", lookleap.CodeTimeout, err)
		}
		defer leave()
	}
	if q.mode == refresh { // callers may share it only until it sends its first request
		v.verifications.Forget(q)
	}
	ctx, cancel := context.WithTimeout(caller, verifyTime)
	defer cancel()
	g := v.begin(q)
	g.subject = s
	for {
		now := v.clock.Now()
		if g.steps != v.clock.Steps() { // the clock was set back: begin again
			again := v.begin(q)
			again.subject, again.exchangesLeft = s, g.exchangesLeft
			g = again
		}
		if g.ev.DNS != nil && g.recalled == nil {
			g.recalled = v.recall(ctx, q, s, now)
		}
		o := walk(q.claim, &g.ev, g.recalled, now)
		if o.missing == nil {
			return g.settle(caller, o, now)
		}
		if err := g.gather(ctx, o.missing); err != nil {
			return g.stop(caller, err)
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
func (g *gathering) stop(caller context.Context, err error) *result {
	row, code := "A11", lookleap.CodeTimeout
	switch {
	case errors.Is(err, errBudget):
		row, code = "A10", lookleap.CodeBudget
	case errors.Is(err, lookleap.ErrClosed):
		code = lookleap.CodeClosed
	case errors.As(err, new(*flight.PanicError)):
		code = lookleap.CodeInternal
	case caller.Err() == nil:
		slow := backoff{scope: backoffPair, code: code, length: shortBackoff}
		g.v.memory.startBackoffs(g.subject, []backoff{slow}, g.v.clock.Now())
	}
	return g.stopped(caller, row, code, err)
}

func (g *gathering) stopped(ctx context.Context, row string, code lookleap.Code, cause error) *result {
	now := g.v.clock.Now()
	g.ev.Row, g.ev.Stopped = row, code
	o := decide(g.q.claim, &g.ev, now)
	o.cause = cause
	return g.conclude(ctx, o, now)
}

// conclude states an outcome and reports it to the host.
func (g *gathering) conclude(ctx context.Context, o *outcome, now time.Time) *result {
	v, r := g.v, o.conclude(g.q.claim, &g.ev, now)
	verdict := r.verdict()
	v.host.Report(ctx, lookleap.Event{Time: now, Kind: lookleap.EventVerdict, Code: verdict.Code,
		Subject: verdict.Subject, Verdict: verdict})
	if o.security || o.code == CodeQuery400 {
		v.report(ctx, o.code, o.row, verdict.Subject+": "+o.code.Title())
	}
	return r
}

func (v *Verifier) report(ctx context.Context, code lookleap.Code, row, message string) {
	f := warn(code, row, message, "")
	v.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: code, Subject: message, Finding: &f})
}
