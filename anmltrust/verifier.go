package anmltrust

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
)

// Limits bound what a [Verifier] does. A zero field takes its default.
type Limits struct {
	Exchange  time.Duration // for one question, redirects included; 10 s
	Time      time.Duration // for one verification; 30 s
	Exchanges int           // of one verification; 8
	Verdicts  int           // remembered; 4,096
	Manifests int           // remembered; 256
	LocalHold time.Duration // how long a decision of a shared cache is used without looking there again; 60 s, at most
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
	if l.LocalHold <= 0 || l.LocalHold > time.Minute {
		l.LocalHold = time.Minute
	}
	def(&l.Exchanges, 8)
	def(&l.Verdicts, 4096)
	def(&l.Manifests, 256)
	return l
}

// Options are the choices of [NewVerifier].
type Options struct {
	Rules  Rules
	Limits Limits
}

// Verifier finds out who may speak for whom. It gathers evidence through a
// [lookleap.Host], decides as [Decide] does, and remembers decisions as the
// procedure says. All methods may be called from several goroutines at once; a
// question that many callers ask at once is asked of the site once.
type Verifier struct {
	host   *lookleap.Host
	policy Rules
	limits Limits
	clock  *flight.Clock
	store  *store
	quick  *flight.Memo[shortcutKey, *shortcut]
	runs   flight.Group[question, *result]
	looks  flight.Group[string, *DNSEvidence]
	reads  flight.Group[readKey, *Exchange]
	gates  gates
}

// NewVerifier builds a verifier on a host.
func NewVerifier(host *lookleap.Host, o Options) *Verifier {
	v := &Verifier{host: host, policy: o.Rules, limits: o.Limits.withDefaults()}
	v.store = newStore(v.limits)
	v.clock = flight.NewClock(host.Time, v.clockStepped)
	v.quick = flight.NewMemo[shortcutKey, *shortcut](v.limits.Verdicts, v.clock.Now)
	return v
}

// ready refuses a verifier that NewVerifier did not make, or that has no host.
func (v *Verifier) ready() error {
	if v == nil || v.host == nil {
		return usageError("the verifier has no host", "make it with NewVerifier")
	}
	return nil
}

// ready refuses an interaction that Begin did not make.
func (i *Interaction) ready() error {
	if i == nil {
		return usageError("there is no interaction", "make it with Verifier.Begin")
	}
	return i.verifier.ready()
}

// maxBackstep is how far a clock may be set back without a finding.
const maxBackstep = 5 * time.Minute

// clockStepped forgets what was remembered: what has ended must not come back,
// and nothing else must stay for longer than it was granted.
func (v *Verifier) clockStepped(back time.Duration) {
	v.store.purge()
	if back > maxBackstep {
		v.finding(context.Background(), lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeClockRollback,
			Message: fmt.Sprintf("the clock went back by %s", back)})
	}
}

// Budget is how many requests a document may still cause; Take uses one up. Give
// a pointer: questions under one budget share their answers.
type Budget interface{ Take() bool }

// alone is a budget that cannot be compared, so that nobody shares it.
type alone struct{ Budget }

func comparableBudget(b Budget) Budget {
	if b == nil || reflect.ValueOf(b).Comparable() {
		return b
	}
	return &alone{b}
}

// mode is why a question is asked.
type mode uint8

const (
	normal mode = iota
	refresh
	fresh
)

// question is one verification: callers with the same one share its answer.
type question struct {
	claim  Claim
	mode   mode
	in     *Interaction
	budget Budget
}

// result is an answer, with what the shortcut needs to know.
type result struct {
	auth *Authorization
	err  *lookleap.VerifyError
}

func (r *result) give() (*Authorization, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.auth, nil
}

// Verify decides a claim, from memory where the procedure allows it. A nil error
// comes with an authorization of Tier 1 or more; every error is Tier 0 and a
// [*lookleap.VerifyError] with the whole story. What failed because ctx ended is
// not remembered, and says nothing about the site.
func (v *Verifier) Verify(ctx context.Context, c Claim) (*Authorization, error) {
	if err := v.ready(); err != nil {
		return nil, err
	}
	if r := v.shortcut(ctx, &c); r != nil {
		return r.give()
	}
	return v.verify(ctx, question{claim: c})
}

// VerifyFresh decides a claim anew, right before an action with consequences
// (section 13.4): no grant from memory is used, the DNS is asked again, and the
// source too. An earlier no, or a backoff, stands. See [Confirm].
func (v *Verifier) VerifyFresh(ctx context.Context, c Claim) (*Authorization, error) {
	if err := v.ready(); err != nil {
		return nil, err
	}
	return v.verify(ctx, question{claim: c, mode: fresh})
}

// Refresh asks again before a grant expires, from [Authorization.RefreshAfter] on.
// What it asks of the site begins after the call. A new grant replaces the old
// one, and a definitive no replaces it at once. A temporary failure keeps the
// previous grant until that grant expires.
func (v *Verifier) Refresh(ctx context.Context, c Claim) (*Authorization, error) {
	if err := v.ready(); err != nil {
		return nil, err
	}
	return v.verify(ctx, question{claim: c, mode: refresh})
}

// Interaction is one run of an agent: an endpoint that asked for patience in it
// is not asked again until it ends, and what may not be stored is kept in it. It
// may be used from several goroutines.
type Interaction struct {
	verifier *Verifier
	mu       sync.Mutex
	limited  map[pairKey]lookleap.Code
	read     map[sourceKey]*keptManifest
}

// Begin starts an interaction. It holds nothing that must be closed.
func (v *Verifier) Begin() *Interaction {
	return &Interaction{verifier: v, limited: make(map[pairKey]lookleap.Code), read: make(map[sourceKey]*keptManifest)}
}

// Verify is [Verifier.Verify] within the interaction. The budget may be nil.
func (i *Interaction) Verify(ctx context.Context, c Claim, b Budget) (*Authorization, error) {
	if err := i.ready(); err != nil {
		return nil, err
	}
	if !i.anyLimit() {
		if r := i.verifier.shortcut(ctx, &c); r != nil {
			return r.give()
		}
	}
	return i.verifier.verify(ctx, question{claim: c, in: i, budget: comparableBudget(b)})
}

// VerifyFresh is [Verifier.VerifyFresh] within the interaction.
func (i *Interaction) VerifyFresh(ctx context.Context, c Claim) (*Authorization, error) {
	if err := i.ready(); err != nil {
		return nil, err
	}
	return i.verifier.verify(ctx, question{claim: c, in: i, mode: fresh})
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

func (i *Interaction) limit(p pairKey) lookleap.Code {
	if i == nil {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.limited[p]
}

func (i *Interaction) setLimit(p pairKey, code lookleap.Code) {
	if i == nil || code != CodeQuery429 && code != CodeManifest429 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.limited[p] = code
}

func (i *Interaction) manifest(k sourceKey) *keptManifest {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.read[k]
}

func (i *Interaction) keepManifest(k sourceKey, m *keptManifest) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.read) < maxInteractionManifests {
		i.read[k] = m
	}
}

const maxInteractionManifests = 32

// shortcutKey and shortcut are how a decision that stands is found again without
// reading the claim: until then, and while nothing about the site was dropped.
type shortcutKey struct{ url, site string }

// keyOf takes an ordinary URL for its host, since the path decides nothing.
func keyOf(c *Claim) shortcutKey {
	const prefix = "https://"
	if plainURI(c.URL) {
		rest := c.URL[len(prefix):]
		return shortcutKey{rest[:strings.IndexByte(rest, '/')], c.Site}
	}
	return shortcutKey{c.URL, c.Site}
}

type shortcut struct {
	result
	age  *age
	when uint64
}

// shortcut gives a decision that still stands. A claim with anything unusual is
// read in full.
func (v *Verifier) shortcut(ctx context.Context, c *Claim) *result {
	if !c.Verified.IsZero() || c.Response || c.Refused != "" || ctx.Err() != nil {
		return nil
	}
	got, ok := v.quick.Peek(keyOf(c))
	if !ok || got.Value.age.changes.Load() != got.Value.when {
		return nil
	}
	return &got.Value.result
}

func (i *Interaction) anyLimit() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.limited) > 0
}

func (v *Verifier) verify(ctx context.Context, q question) (*Authorization, error) {
	sub, _, code := q.claim.preCheck()
	if k := kin(sub.server, sub.site); code != "" || k == self || k == below && v.policy.SelfSubdomains == TrustSubdomains {
		now := v.clock.Now()
		ev := Evidence{Policy: v.policy}
		o := walk(q.claim, &ev, nil, now)
		r := v.conclude(ctx, q.claim, o, &ev, now)
		if k == self && r.auth != nil { // nothing but the claim itself was looked at
			v.putShortcut(&q.claim, sub.site, r, now.Add(selfHold))
		}
		return r.give()
	}
	if q.mode == fresh { // what others began to ask earlier is not new enough
		return v.run(ctx, q, sub).give()
	}
	r, err := v.runs.Do(ctx, q, func(ctx context.Context) (*result, error) { return v.run(ctx, q, sub), nil })
	if err == nil {
		return r.give()
	}
	return v.stopped(ctx, q, err).give()
}

// selfHold is how long it is remembered that a server is the site itself.
const selfHold = time.Hour

// stopped is row A11 for a caller who left, and the answer to a panic below.
func (v *Verifier) stopped(ctx context.Context, q question, err error) *result {
	now := v.clock.Now()
	ev := Evidence{Policy: v.policy, Fresh: q.mode == fresh, Stopped: lookleap.CodeTimeout, Row: "A11"}
	if ctx.Err() == nil {
		ev.Stopped = lookleap.CodeInternal
	}
	o := walk(q.claim, &ev, nil, now)
	o.narrow = false // nothing was found out
	o.deny("A11", ev.Stopped)
	o.cause = err
	return v.conclude(ctx, q.claim, o, &ev, now)
}

// conclude states an outcome and reports it.
func (v *Verifier) conclude(ctx context.Context, c Claim, o *outcome, ev *Evidence, now time.Time) *result {
	a, err := o.conclude(c, ev, now)
	r := &result{auth: a}
	verdict := (*lookleap.Verdict)(nil)
	if err != nil {
		r.err = err.(*lookleap.VerifyError)
		verdict = r.err.Verdict
	} else {
		verdict = a.Verdict
	}
	v.host.Report(ctx, lookleap.Event{Time: now, Kind: lookleap.EventVerdict, Code: verdict.Code, Subject: verdict.Subject, Verdict: verdict})
	if o.security || o.code == CodeQuery400 {
		v.finding(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: o.code, Requirement: o.row, Message: verdict.Subject + ": " + o.code.Title()})
	}
	return r
}

func (v *Verifier) finding(ctx context.Context, f lookleap.Finding) {
	v.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: f.Message, Finding: &f})
}

// The ends of a gathering that are no evidence.
var (
	errBudget    = errors.New("the document's budget of requests is used up")
	errExchanges = errors.New("the verification used up its exchanges")
)

// run gathers until the procedure ends. Decisions of one pair are found out one
// after another, so that the second finds what the first one learnt; a fresh one
// waits for nobody.
func (v *Verifier) run(ctx context.Context, q question, sub subject) *result {
	pair := pairKey{sub.server.Domain, sub.site}
	if q.mode != fresh {
		leave, err := v.gates.enter(ctx, pair)
		if err != nil {
			return v.stopped(ctx, q, err)
		}
		defer leave()
	}
	if q.mode == refresh { // callers may share it only as long as it has asked nothing
		v.runs.Forget(q)
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, v.limits.Time)
	defer cancel()
	g := &gathering{v: v, q: q, sub: sub, left: v.limits.Exchanges}
	for {
		now := v.clock.Now()
		if g.ev == nil || g.steps != v.clock.Steps() { // what was found out before the clock stepped back is doubtful
			g.steps, g.drops, g.mem = v.clock.Steps(), v.store.age(sub.site).drops.Load(), nil
			g.ev = &Evidence{Policy: v.policy, Fresh: q.mode == fresh}
		}
		if g.ev.DNS != nil && g.mem == nil {
			g.mem = v.recall(ctx, q, sub, now)
		}
		o := walk(q.claim, g.ev, g.mem, now)
		if o.need == nil {
			return v.settle(caller, g, o, now)
		}
		if err := g.gather(ctx, o.need); err != nil {
			return v.stop(caller, g, o, err)
		}
	}
}

// stop ends a gathering early (rows A10 and A11). Only a site that is too slow is
// left alone for a while.
func (v *Verifier) stop(caller context.Context, g *gathering, o *outcome, err error) *result {
	now := v.clock.Now()
	row, code := "A11", lookleap.CodeTimeout
	switch {
	case errors.Is(err, errBudget):
		row, code = "A10", lookleap.CodeBudget
	case errors.Is(err, lookleap.ErrClosed):
		code = lookleap.CodeClosed
	case caller.Err() == nil:
		o.holds = append(o.holds, placedHold{hold: hold{kind: holdPair, code: code, length: shortHold}})
		v.placeHolds(o, now)
	}
	g.ev.Stopped, g.ev.Row = code, row
	o.deny(row, code)
	if o.cause == nil {
		o.cause = err
	}
	return v.conclude(caller, g.q.claim, o, g.ev, now)
}

// gates let one verification of a pair run at a time.
type gates struct {
	mu   sync.Mutex
	open map[pairKey]*gate
}

type gate struct {
	turn    chan struct{}
	waiting int
}

func (g *gates) enter(ctx context.Context, k pairKey) (leave func(), err error) {
	g.mu.Lock()
	if g.open == nil {
		g.open = make(map[pairKey]*gate)
	}
	at := g.open[k]
	if at == nil {
		at = &gate{turn: make(chan struct{}, 1)}
		g.open[k] = at
	}
	at.waiting++
	g.mu.Unlock()
	away := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if at.waiting--; at.waiting == 0 {
			delete(g.open, k)
		}
	}
	select {
	case at.turn <- struct{}{}:
		return func() { <-at.turn; away() }, nil
	case <-ctx.Done():
		away()
		return nil, ctx.Err()
	}
}
