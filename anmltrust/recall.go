package anmltrust

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
)

// minEarly is the least time between two questions that a document's
// trust-verified causes (row E4).
const minEarly = 5 * time.Minute

// recall gives what is remembered about a question, as part E needs it.
func (v *Verifier) recall(ctx context.Context, q question, sub subject, now time.Time) *memory {
	pair := pairKey{sub.server.Domain, sub.site}
	mem := &memory{limited: q.in.limit(pair), skip: q.mode != normal}
	for _, k := range []verdictKey{{pairKey: pair}, {pair, sub.server.Host}} {
		v.share(ctx, k, now)
		got, ok := v.store.verdicts.Get(k)
		if !ok {
			continue
		}
		if got.grant != nil {
			mem.grants = append(mem.grants, got.grant)
		}
		if d := got.denial; d != nil && now.Before(d.until) {
			mem.denial = d
		}
	}
	if h, ok := v.store.hold(holdKey{kind: holdPair, pair: pair}, now); ok {
		mem.pair = h.code
	}
	if q.mode == normal && v.hinted(q.claim, pair, mem, now) {
		mem.skip = true
	}
	return mem
}

// hinted is row E4: a document says that the site's word changed since it was
// last asked. It is believed once in a while, and only to ask earlier.
func (v *Verifier) hinted(c Claim, pair pairKey, mem *memory, now time.Time) bool {
	if c.Verified.IsZero() || c.Verified.After(now) || len(mem.grants) == 0 || mem.denial != nil {
		return false
	}
	for _, g := range mem.grants {
		if !c.Verified.After(g.checked) {
			return false
		}
	}
	if last, ok := v.store.early.Get(pair); ok && now.Before(last.Add(minEarly)) {
		return false
	}
	v.store.early.Add(pair, now)
	return true
}

// settle remembers an outcome as its row says, and states it.
func (v *Verifier) settle(ctx context.Context, g *gathering, o *outcome, now time.Time) *result {
	pair := pairKey{o.server.Domain, o.site}
	g.q.in.setLimit(pair, o.code)
	for _, s := range o.stale {
		for _, k := range []verdictKey{{pairKey: pair}, {pair, o.server.Host}} {
			v.store.forget(k, s)
		}
	}
	if o.useKept != nil {
		return v.reuse(ctx, g, o, now)
	}
	v.placeHolds(o, now)
	v.store.drop(o.drop, o.subject)
	v.announce(ctx, o, now)
	r := v.conclude(ctx, g.q.claim, o, g.ev, now)
	if old := v.stillGood(g, o, now); old != nil {
		return old
	}
	if d := o.keepable(r, now); d != nil && (d.auth == nil || g.drops == v.store.age(o.site).drops.Load()) {
		k := verdictKey{pairKey: pair, host: o.server.Host}
		if o.byQuery {
			k.host = ""
		}
		v.store.keep(k, d)
		if !slices.ContainsFunc(g.ev.Exchanges, func(x Exchange) bool { return x.Local }) {
			v.publish(ctx, k, d)
		}
		v.shorten(g, r, d.until)
	} else if o.row == "B5" && g.q.mode == normal {
		v.shorten(g, r, g.wideUntil(now))
	}
	return r
}

// wideUntil is how long it stands that a site narrows nothing: as long as what
// it was read from, and not at all where a source failed.
func (g *gathering) wideUntil(now time.Time) time.Time {
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

// keepable is the decision as it is remembered; nil for one that is not.
func (o *outcome) keepable(r *result, now time.Time) *kept {
	if !o.store || !now.Before(o.until) {
		return nil
	}
	d := &kept{auth: r.auth, err: r.err, code: o.code, sources: o.sources, checked: now, until: o.until, byQuery: o.byQuery}
	switch {
	case r.auth != nil && o.row != "B5":
		d.record = r.auth.Verdict.Record
	case r.err != nil:
		d.record = r.err.Verdict.Record
	default:
		return nil
	}
	return d
}

// stillGood is an earlier grant that a failed refresh leaves standing.
func (v *Verifier) stillGood(g *gathering, o *outcome, now time.Time) *result {
	if g.mem == nil || !g.mem.skip || g.q.mode == fresh || o.tier > Unlisted || !isTransient(o.code) || g.ev.DNS == nil || g.ev.DNS.Outcome != DNSAnswer {
		return nil
	}
	if g.q.mode == normal && (o.code == CodeQuery429 || o.code == CodeManifest429) {
		return nil // the endpoint asked for patience in this interaction
	}
	again := *g.mem
	again.skip, again.pair = false, ""
	if o = walk(g.q.claim, g.ev, &again, now); o.useKept == nil || o.useKept.auth == nil {
		return nil
	}
	return &result{auth: cachedFor(o, o.useKept, g.q.claim)}
}

// reuse gives an earlier decision to a claim that asks the same (rows E1 and E6).
func (v *Verifier) reuse(ctx context.Context, g *gathering, o *outcome, now time.Time) *result {
	d := o.useKept
	var r *result
	if d.auth != nil {
		r = &result{auth: cachedFor(o, d, g.q.claim)}
	} else {
		r = &result{err: deniedFor(o, d, g.q.claim)}
	}
	if g.q.mode == normal {
		v.shorten(g, r, d.until)
	}
	return r
}

// cachedFor is a kept grant as an answer about this claim.
func cachedFor(o *outcome, d *kept, c Claim) *Authorization {
	a := *d.auth
	a.Cached, a.Server, a.DNSSEC = true, o.server, o.dnssec
	a.Verdict = reused(o, "E1", d.auth.Verdict, d, c)
	return &a
}

func deniedFor(o *outcome, d *kept, c Claim) *lookleap.VerifyError {
	return &lookleap.VerifyError{Verdict: reused(o, "E6", d.err.Verdict, d, c), Err: d.err.Err}
}

// reused is the story of an earlier decision, told about this claim.
func reused(o *outcome, row string, old *lookleap.Verdict, d *kept, c Claim) *lookleap.Verdict {
	verdict := *old
	verdict.Subject = fmt.Sprintf("%s for %s", hostOrURL(o.server, c), o.site)
	verdict.Record = recordFor(d.record, c)
	status := lookleap.Passed
	if d.auth == nil {
		status = lookleap.Failed
	}
	last := len(old.Checks) - 1
	verdict.Checks = append(append(make([]lookleap.Check, 0, len(old.Checks)+1), old.Checks[:last]...),
		lookleap.Check{Requirement: row, Code: d.code, Status: status, Message: "an earlier verification stands: " + old.Summary, Until: d.until})
	return &verdict
}

// recordFor is a record about another host of the same serving domain.
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

// shorten lets the next caller with this claim find the answer at once, until it
// or the site's record ends.
func (v *Verifier) shorten(g *gathering, r *result, until time.Time) {
	c := &g.q.claim
	if !c.Verified.IsZero() || g.q.in != nil && g.q.in.anyLimit() {
		return
	}
	d, ok := v.store.dns.Peek(g.sub.site)
	if !ok {
		return
	}
	if d.until.Before(until) {
		until = d.until
	}
	if most := v.clock.Now().Add(v.limits.LocalHold); v.host.Cache != nil && most.Before(until) {
		until = most
	}
	v.putShortcut(c, g.sub.site, r, until)
}

func (v *Verifier) putShortcut(c *Claim, site string, r *result, until time.Time) {
	s := &shortcut{age: v.store.age(site)}
	s.when = s.age.changes.Load()
	if s.result = *r; r.auth != nil && !r.auth.Cached {
		cached := *r.auth
		cached.Cached = true
		s.auth = &cached
	}
	v.quick.Put(keyOf(c), flight.Loaded[*shortcut]{Value: s, Until: until})
}

// placeHolds starts the backoffs of an outcome.
func (v *Verifier) placeHolds(o *outcome, now time.Time) {
	for _, h := range o.holds {
		k := holdKey{kind: h.kind}
		switch h.kind {
		case holdPair:
			k.pair = pairKey{o.server.Domain, o.site}
		case holdManifest:
			k.pair, k.uri = pairKey{site: o.site}, h.uri
		default:
			k.uri = h.uri
		}
		v.store.holds.Add(k, keptHold{h.code, h.transient, now.Add(h.length)})
	}
}
