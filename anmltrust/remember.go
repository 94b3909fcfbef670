package anmltrust

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
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
	pair := s.pair()
	r := &recalled{ignoreGrants: q.mode != normal}
	if q.in != nil {
		q.in.mu.Lock()
		r.rateLimited = q.in.rateLimited[pair]
		q.in.mu.Unlock()
	}
	newer := !q.claim.Verified.After(now) // than every grant
	for _, k := range s.decisionKeys() {
		if v.evidence.Active() {
			v.readShared(ctx, k, now)
		}
		known, _ := v.memory.decisions.get(k)
		if known.grant != nil {
			r.grants = append(r.grants, known.grant)
			newer = newer && q.claim.Verified.After(known.grant.checked)
		}
		if d := known.denial; d != nil && now.Before(d.until) {
			r.denial = d
		}
	}
	b, _ := v.memory.backoff(backoffKey{scope: backoffPair, pair: pair}, now)
	r.backoff = b.code
	// Row E4: a document says that the site was verified after the remembered grant. The
	// verifier then asks the site earlier, but at most once in each minHintInterval.
	if q.mode == normal && newer && len(r.grants) > 0 && r.denial == nil {
		if last, _ := v.memory.hints.Get(pair); !now.Before(last.Add(minHintInterval)) {
			v.memory.hints.Add(pair, now)
			r.ignoreGrants = true
		}
	}
	return r
}

// settle remembers an outcome as its row says, and states it.
func (v *Verifier) settle(ctx context.Context, g *gathering, o *outcome, now time.Time) *result {
	q := g.q
	if q.in != nil && o.rateLimited != "" {
		q.in.mu.Lock()
		q.in.rateLimited[o.pair()] = o.rateLimited
		q.in.mu.Unlock()
	}
	for _, grant := range o.ended {
		v.memory.forgetGrant(decisionKey{pair: o.pair()}, grant)
		v.memory.forgetGrant(decisionKey{o.pair(), o.server.Host}, grant)
	}
	if o.reuse != nil {
		r := o.reused(o.reuse, q.claim)
		if g.withdrawals == v.memory.generation(o.site).withdrawals.Load() {
			v.letStandWhileAdvertised(g, r, o.reuse.until)
		}
		return r
	}
	v.memory.startBackoffs(o, now)
	v.shareBackoffs(ctx, o)
	if o.withdraws != withdrawNothing {
		v.memory.withdraw(o.withdraws, o.subject)
		v.announce(ctx, o, now)
	}
	r := v.conclude(ctx, q.claim, o, g.ev, now)
	if previous := v.previousGrant(g, o, now); previous != nil {
		return previous
	}
	if d := o.decision(r, now); d != nil && (d.auth == nil || g.withdrawals == v.memory.generation(o.site).withdrawals.Load()) {
		k := o.decisionKey()
		v.memory.remember(k, d)
		if !slices.ContainsFunc(g.ev.Exchanges, func(x Exchange) bool { return x.Local }) {
			v.evidence.Put(ctx, k.String(), shared.Entry[json.RawMessage]{Asked: d.checked, Found: d.checked, Value: d.record}, d.until)
		}
		v.letStandWhileAdvertised(g, r, d.until)
	} else if o.unnarrowed && o.rateLimited == "" && q.mode == normal {
		v.letStandWhileAdvertised(g, r, g.unnarrowedUntil(now))
	}
	return r
}

// decision returns the decision as it is remembered, or nil if it is not.
func (o *outcome) decision(r *result, now time.Time) *decision {
	if !o.storable || o.unnarrowed || !now.Before(o.until) {
		return nil
	}
	return &decision{auth: r.auth, err: r.err, code: o.code, sources: o.sources, checked: now, until: o.until,
		fromQuery: o.fromQuery, record: r.verdict().Record}
}

// previousGrant returns the grant that a refresh with a temporary failure leaves in force.
func (v *Verifier) previousGrant(g *gathering, o *outcome, now time.Time) *result {
	if g.q.mode == fresh || !isTemporary(o.code) {
		return nil
	}
	if g.q.mode == normal && o.rateLimited != "" {
		return nil // row E0: in this interaction the endpoint is not asked again
	}
	again := *g.recalled
	again.ignoreGrants, again.backoff = false, ""
	o = walk(g.q.claim, g.ev, &again, now)
	if o.reuse == nil { // a denial would have decided before
		return nil
	}
	return o.reused(o.reuse, g.q.claim)
}

// reused states an earlier decision as the answer to this claim (rows E1 and E6).
func (o *outcome) reused(d *decision, c Claim) *result {
	row, status, old := "E1", lookleap.Passed, (&result{d.auth, d.err}).verdict()
	if d.auth == nil {
		row, status = "E6", lookleap.Failed
	}
	verdict := *old
	verdict.Subject = fmt.Sprintf("%s for %s", hostOrURL(o.server, c), o.site)
	verdict.Record = recordFor(d.record, c)
	last := len(old.Checks) - 1
	verdict.Checks = append(slices.Clone(old.Checks[:last]),
		lookleap.Check{Requirement: row, Code: d.code, Status: status,
			Message: "an earlier verification stands: " + old.Summary, Until: d.until})
	if d.auth == nil {
		return &result{err: &lookleap.VerifyError{Verdict: &verdict, Err: d.err.Err}}
	}
	a := *d.auth
	a.Cached = true
	a.Server = o.server
	a.DNSSEC = o.dnssec
	a.Verdict = &verdict
	return &result{auth: &a}
}

// recordFor returns a record as one about the claim of another host of the same
// serving domain.
func recordFor(data []byte, c Claim) []byte {
	old, ev, err := decodeRecord(data)
	if err != nil || old == c {
		return data
	}
	s, err := ServerOf(c.URL)
	if err != nil {
		return data
	}
	return encodeRecord(c, ev, s)
}

// letStandWhileAdvertised lets an answer stand until it or the site's record
// ends, and where processes share a cache until it has to be read again.
func (v *Verifier) letStandWhileAdvertised(g *gathering, r *result, until time.Time) {
	d, ok := v.memory.records.Peek(g.site)
	if !ok || !g.q.claim.Verified.IsZero() {
		return
	}
	if d.until.Before(until) {
		until = d.until
	}
	if v.evidence.Active() {
		for _, k := range g.decisionKeys() {
			last, _ := v.memory.sharedReads.Peek(k)
			if again := last.Add(v.limits.LocalHold); again.Before(until) {
				until = again
			}
		}
	}
	v.letStand(&g.q.claim, g.site, r, until)
}

// unnarrowedUntil is until when it stands that a site narrows nothing: as long
// as what it was read from, and not at all if a source failed.
func (g *gathering) unnarrowedUntil(now time.Time) time.Time {
	if g.ev.DNS.Outcome != DNSAnswer && g.ev.DNS.Outcome != DNSAbsent {
		return now
	}
	until := now.Add(g.ev.DNS.ttl())
	for i := range g.ev.Exchanges {
		x := &g.ev.Exchanges[i]
		if x.manifest == nil || x.NoStore {
			return now
		}
		if fresh := x.freshUntil(x.manifest, g.ev.DNS.ttl()); fresh.Before(until) {
			until = fresh
		}
	}
	return until
}

// Processes share evidence, not decisions, through [lookleap.Host.Cache]: each
// process judges it again by its own rules. Tombstones say that grants from before
// a time were withdrawn. A process reads again after LocalHold, so that what one
// of them found out reaches all.

// readShared brings the decision about a key up to date with other processes.
func (v *Verifier) readShared(ctx context.Context, k decisionKey, now time.Time) {
	if last, _ := v.memory.sharedReads.Get(k); now.Before(last.Add(v.limits.LocalHold)) {
		return
	}
	v.memory.sharedReads.Add(k, now)
	tombstone, _ := v.withdrawn.Newest(ctx, tombstoneKey(k.site, "", ""), tombstoneKey(k.site, k.domain, ""),
		tombstoneKey(k.site, k.domain, cmp.Or(k.host, anyQuery))) // an error has been reported, and grants nothing
	own, _ := v.memory.decisions.get(k)
	if own.grant != nil && v.withdrawn.Ends(tombstone, own.grant.checked) {
		v.dropGrant(k, own.grant)
		own.grant = nil
	}
	d := v.adopt(ctx, k, now)
	switch {
	case d == nil && own.grant != nil && own.grant.adopted: // the process that shared it withdrew it
		v.dropGrant(k, own.grant)
	case d == nil, d.auth != nil && v.withdrawn.Ends(tombstone, d.checked):
	case own.grant != nil && !d.checked.After(own.grant.checked), own.denial != nil && !d.checked.After(own.denial.checked):
	default:
		if d.auth == nil {
			w := withdrawHost
			if d.fromQuery {
				w = withdrawPair
			}
			v.memory.withdraw(w, subject{server: Server{Host: k.host, Domain: k.domain}, site: k.site})
		}
		v.memory.remember(k, d)
	}
}

func (v *Verifier) dropGrant(k decisionKey, grant *decision) {
	v.memory.forgetGrant(k, grant)
	v.memory.generation(k.site).changes.Add(1)
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
	d := o.decision(o.conclude(claim, ev, e.Found), e.Found)
	if d == nil || !now.Before(d.until) {
		return nil
	}
	d.adopted = true
	return d
}

// anyQuery stands for a host where the grants of a pair's query endpoints are withdrawn.
const anyQuery = "?"

// tombstoneKey is where grants of a site, of a pair or of a host are withdrawn.
func tombstoneKey(site, domain, host string) string { return site + "/" + domain + "/" + host }

// announce tells other processes which grants a definitive no withdrew.
func (v *Verifier) announce(ctx context.Context, o *outcome, now time.Time) {
	keys := []string{tombstoneKey(o.site, "", "")}
	switch o.withdraws {
	case withdrawPair:
		keys = []string{tombstoneKey(o.site, o.server.Domain, "")}
	case withdrawHostOnly:
		keys = []string{tombstoneKey(o.site, o.server.Domain, o.server.Host)}
	case withdrawHost:
		keys = []string{tombstoneKey(o.site, o.server.Domain, o.server.Host), tombstoneKey(o.site, o.server.Domain, anyQuery)}
	}
	for _, key := range keys {
		v.withdrawn.PutNewest(ctx, key, shared.Entry[struct{}]{Asked: now, Found: now}, now.Add(maxGrant))
	}
}
