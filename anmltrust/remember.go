package anmltrust

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/shared"
)

// recalled is what is remembered about one question, as part E needs it. The
// zero value is nothing.
type recalled struct {
	rateLimited  lookleap.Code // an endpoint answered 429 earlier in this interaction
	grants       []*decision
	denial       *decision
	backoff      lookleap.Code // of the pair
	ignoreGrants bool          // fresh, refresh, or a newer trust-verified
}

// minHintInterval is the least time between two questions to a site that the attribute
// trust-verified of a document causes (row E4).
const minHintInterval = 5 * time.Minute

// recall returns what is remembered about a question.
func (v *Verifier) recall(ctx context.Context, q question, s subject, now time.Time) *recalled {
	r := &recalled{ignoreGrants: q.mode != normal}
	if q.in != nil {
		q.in.mu.Lock()
		r.rateLimited = q.in.rateLimited[s.pair()]
		q.in.mu.Unlock()
	}
	newer := !q.claim.Verified.After(now) // than every grant
	for _, k := range s.decisionKeys() {
		if v.evidence.Active() {
			v.readShared(ctx, k, now)
		}
		switch d := v.memory.decision(k); {
		case d == nil:
		case d.auth == nil:
			r.denial = d
		default:
			r.grants = append(r.grants, d)
			newer = newer && q.claim.Verified.After(d.checked())
		}
	}
	ofPair := decisionKey{pair: s.pair()}
	b, _ := v.memory.holds.Fresh(hold{scope: backoffPair, decisionKey: ofPair})
	r.backoff = b.code
	// Row E4: a document says that the site was verified after the remembered grant. The
	// verifier then asks the site earlier, but at most once in each minHintInterval.
	if q.mode == normal && newer && len(r.grants) > 0 && r.denial == nil {
		r.ignoreGrants = v.memory.first(hold{scope: holdHint, decisionKey: ofPair}, now.Add(minHintInterval))
	}
	return r
}

// first reports whether something was not done in the time that ends now, and holds it until
// another time if so.
func (m *memory) first(h hold, until time.Time) bool {
	if _, held := m.holds.Fresh(h); held {
		return false
	}
	m.holds.Put(h, flight.Loaded[backoff]{Until: until})
	return true
}

// settle remembers an outcome as its row says, and states it.
func (g *gathering) settle(ctx context.Context, o *outcome, now time.Time) *result {
	v, m, in := g.v, g.v.memory, g.q.in
	if in != nil && o.rateLimited != "" {
		in.mu.Lock()
		in.rateLimited[o.pair()] = o.rateLimited
		in.mu.Unlock()
	}
	for _, k := range o.decisionKeys() {
		if d, _ := m.decisions.Peek(k); slices.Contains(o.ended, d.Value) {
			m.decisions.Invalidate(k)
		}
	}
	if o.reuse != nil {
		return o.reused(g.q.claim)
	}
	m.startBackoffs(o.subject, o.backoffs, now)
	v.shareBackoffs(ctx, o)
	if len(o.withdraws) > 0 {
		m.withdraw(o.site, o.withdraws...)
		for _, key := range o.withdraws {
			v.withdrawn.PutNewest(ctx, key, shared.Entry[struct{}]{Asked: now, Found: now}, now.Add(maxGrant))
		}
	}
	if o.code == lookleap.CodeDNSSECBogus && !g.ev.DNS.Held {
		m.withdrawals.add(unsignedManifests(o.site))
		m.records.Invalidate(o.site)
	}
	r := g.conclude(ctx, o, now)
	if previous := g.previousGrant(o, now); previous != nil {
		return previous
	}
	k, d := o.decisionKey(), o.decision(g.q.claim, r)
	if d == nil || d.auth != nil && m.withdrawals.since(g.began, k.withdrawnBy()...) {
		return r
	}
	d.began = g.began
	m.remember(k, d)
	if !slices.ContainsFunc(g.ev.Exchanges, func(x Exchange) bool { return x.Local }) {
		v.evidence.Put(ctx, k.String(), shared.Entry[json.RawMessage]{Asked: now, Found: now, Value: r.verdict().Record}, d.until)
	}
	return r
}

// unsignedManifests is where the manifests of a site are withdrawn after a DNSSEC failure.
func unsignedManifests(site string) string { return withdrawal(site, "*", "") }

// decision returns the decision as it is remembered, or nil if it is not.
func (o *outcome) decision(c Claim, r *result) *decision {
	if !o.storable || o.unnarrowed || o.until.IsZero() {
		return nil
	}
	return &decision{result: *r, claim: c, until: o.until}
}

// previousGrant returns the grant that a refresh with a temporary failure leaves in force.
func (g *gathering) previousGrant(o *outcome, now time.Time) *result {
	if g.q.mode == fresh || !isTemporary(o.code) || g.recalled == nil {
		return nil
	}
	if g.q.mode == normal && o.rateLimited != "" {
		return nil // row E0: in this interaction the endpoint is not asked again
	}
	again := *g.recalled
	again.ignoreGrants, again.backoff = false, ""
	if o = walk(g.q.claim, &g.ev, &again, now); o.reuse == nil {
		return nil
	}
	return o.reused(g.q.claim)
}

// reused states the earlier decision as the answer to this claim (rows E1 and E6).
func (o *outcome) reused(c Claim) *result {
	d := o.reuse
	row, status, old := "E1", lookleap.Passed, d.verdict()
	if d.auth == nil {
		row, status = "E6", lookleap.Failed
	}
	verdict := *old
	if c != d.claim { // of another document of the same serving domain
		verdict.Subject = o.about(c)
		if _, ev, err := decodeRecord(old.Record); err == nil {
			verdict.Record = encodeRecord(c, ev, o.server)
		}
	}
	verdict.Checks = append(slices.Clone(old.Checks[:len(old.Checks)-1]),
		lookleap.Check{Requirement: row, Code: old.Code, Status: status,
			Message: "an earlier verification stands: " + old.Summary, Until: d.until})
	if d.auth == nil {
		return &result{err: &lookleap.VerifyError{Verdict: &verdict, Err: d.err.Err}}
	}
	a := *d.auth
	a.Cached, a.Server, a.DNSSEC, a.Verdict = true, o.server, o.dnssec, &verdict
	return &result{auth: &a}
}

// Processes share evidence, not decisions, through [lookleap.Host.Cache]: each
// process judges it again by its own rules. Tombstones say that grants from before
// a time were withdrawn. A process reads again after [shared.LookAgain], so that what one
// of them found out reaches all.

// readShared brings the decision about a key up to date with other processes.
func (v *Verifier) readShared(ctx context.Context, k decisionKey, now time.Time) {
	m := v.memory
	if !m.first(hold{scope: holdSharedRead, decisionKey: k}, now.Add(shared.LookAgain)) {
		return
	}
	began := m.withdrawals.now()
	tombstone, _ := v.withdrawn.Newest(ctx, k.withdrawnBy()...) // an error has been reported, and grants nothing
	last, _ := m.decisions.Peek(k)
	own := last.Value // may have ended: nothing older takes its place
	d := v.adopt(ctx, k, now)
	switch {
	case own == nil, own.auth == nil:
	case d == nil && own.adopted, // the process that shared it withdrew it
		v.withdrawn.Ends(tombstone, own.checked()):
		m.decisions.Invalidate(k)
	}
	if d == nil || d.auth != nil && v.withdrawn.Ends(tombstone, d.checked()) || own != nil && !d.checked().After(own.checked()) {
		return
	}
	if d.auth == nil {
		keys := k.withdrawnBy()[2:] // of the host
		if keys = append(keys, withdrawal(k.site, k.domain, anyQuery)); k.host == "" {
			keys = []string{withdrawal(k.site, k.domain, "")}
		}
		m.withdraw(k.site, keys...)
	}
	d.began = began
	m.remember(k, d)
}

// adopt reads the evidence of another process and judges it by the rules of this
// one. It returns nil if there is none, or if nothing usable follows from it.
func (v *Verifier) adopt(ctx context.Context, k decisionKey, now time.Time) *decision {
	e, err := v.evidence.Get(ctx, k.String())
	if err != nil {
		return nil
	}
	claim, ev, err := decodeRecord(e.Value)
	if err != nil {
		v.evidence.Report(ctx, k.String(), fmt.Errorf("%w: %w", shared.ErrForged, err))
		return nil
	}
	ev.Policy = v.rules
	o := walk(claim, ev, nil, e.Found)
	if o.missing != nil || o.decisionKey() != k {
		v.evidence.Report(ctx, k.String(), shared.ErrForged)
		return nil
	}
	d := o.decision(claim, o.conclude(claim, ev, e.Found))
	if d == nil || !now.Before(d.until) {
		return nil
	}
	d.adopted = true
	return d
}

// sharedBackoff returns the backoff of an endpoint that another process started. If the Limiter
// fails, there is none: a backoff spares the server, and grants nothing.
func (v *Verifier) sharedBackoff(ctx context.Context, m Mechanism, uri string) (backoff, bool) {
	possible := [...]backoff{{code: CodeManifest429}, {code: CodeManifestUnavailable, temporary: true}}
	if m == Query {
		possible = [...]backoff{{code: CodeQuery429}, {code: CodeQueryUnavailable, temporary: true}}
	}
	for _, b := range possible {
		if wait, err := v.host.Wait(ctx, sharedBackoffKey(b.code, uri), lookleap.Rate{}); err == nil && wait > 0 {
			return b, true
		}
	}
	return backoff{}, false
}

// shareBackoffs tells other processes about the backoffs of endpoints that an outcome starts.
func (v *Verifier) shareBackoffs(ctx context.Context, o *outcome) {
	for _, b := range o.backoffs {
		if b.scope != backoffEndpoint {
			continue
		}
		if err := v.host.Hold(ctx, sharedBackoffKey(b.code, b.uri), b.length); err != nil {
			v.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: b.uri, Err: err})
		}
	}
}
