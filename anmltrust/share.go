package anmltrust

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/lookleap/lookleap"
)

// What processes share through [lookleap.Host.Cache] is evidence, not decisions:
// each reader judges it again. Beside it stand marks, which say that grants from
// before a time were withdrawn. A process looks again after LocalHold, so that
// what one of them found out spreads.

// sharedVerdict is one entry of the shared cache.
type sharedVerdict struct {
	Domain  string          `json:"domain"`
	Site    string          `json:"site"`
	Host    string          `json:"host,omitempty"`
	Checked time.Time       `json:"checked"`
	Record  json.RawMessage `json:"record"`
}

// sharedMark withdraws what was granted before a time.
type sharedMark struct {
	Domain  string    `json:"domain,omitempty"`
	Site    string    `json:"site"`
	Host    string    `json:"host,omitempty"`
	Dropped time.Time `json:"dropped"`
}

const (
	verdictPrefix = "anmltrust/1/verdict/"
	markPrefix    = "anmltrust/1/mark/"
)

// share brings what is remembered under a key up to date with other processes.
func (v *Verifier) share(ctx context.Context, k verdictKey, now time.Time) {
	if v.host.Cache == nil {
		return
	}
	if last, ok := v.store.looked.Get(k); ok && now.Before(last.Add(v.limits.LocalHold)) && !now.Before(last) {
		return
	}
	v.store.looked.Add(k, now)
	dropped := v.marked(ctx, k)
	if own, ok := v.store.verdicts.Peek(k); ok && own.grant != nil && !own.grant.checked.After(dropped) {
		v.store.forget(k, own.grant)
		v.store.age(k.site).changes.Add(1)
	}
	d := v.shared(ctx, k, now)
	if own, ok := v.store.verdicts.Peek(k); ok && d == nil && own.grant != nil && own.grant.adopted {
		v.store.forget(k, own.grant) // who lent it does so no more
		v.store.age(k.site).changes.Add(1)
	}
	if d == nil || d.auth != nil && !d.checked.After(dropped) {
		return
	}
	own, _ := v.store.verdicts.Peek(k)
	if own.grant != nil && !d.checked.After(own.grant.checked) || own.denial != nil && !d.checked.After(own.denial.checked) {
		return
	}
	if d.auth == nil {
		v.store.drop(dropOf(d), subject{server: Server{Host: k.host, Domain: k.domain}, site: k.site})
	}
	v.store.keep(k, d)
}

// dropOf is what a definitive no of another process takes with it.
func dropOf(d *kept) reach {
	if d.byQuery {
		return dropPair
	}
	return dropHost
}

// marked is the time before which grants of a key were withdrawn, as far as the
// clock of who withdrew them can be behind. A grant from that while is asked for
// again.
func (v *Verifier) marked(ctx context.Context, k verdictKey) time.Time {
	var latest time.Time
	marks := []sharedMark{{Site: k.site}, {Site: k.site, Domain: k.domain}}
	if k.host != "" {
		marks = append(marks, sharedMark{Site: k.site, Domain: k.domain, Host: k.host})
	}
	for _, want := range marks {
		var got sharedMark
		if !v.load(ctx, want.key(), &got) {
			continue
		}
		if got.Site != want.Site || got.Domain != want.Domain || got.Host != want.Host {
			v.forged(ctx, want.key(), lookleap.ErrCacheForged)
		} else if got.Dropped.After(latest) {
			latest = got.Dropped
		}
	}
	if !latest.IsZero() {
		latest = latest.Add(Skew)
	}
	return latest
}

func (m sharedMark) key() string { return markPrefix + m.Site + "/" + m.Domain + "/" + m.Host }

// shared reads and judges what another process found out.
func (v *Verifier) shared(ctx context.Context, k verdictKey, now time.Time) *kept {
	key := verdictPrefix + k.String()
	var in sharedVerdict
	if !v.load(ctx, key, &in) {
		return nil
	}
	d, ok := v.adopt(k, &in, now)
	if seen, known := v.store.seen.Get(k); !ok || known && in.Checked.Before(seen) {
		v.forged(ctx, key, lookleap.ErrCacheForged) // another question's, an impossible one, or an older one put back
		return nil
	}
	v.store.seen.Add(k, in.Checked)
	return d
}

// adopt judges shared evidence by this process's own policy. It is not ok when
// the entry is none that a verifier writes; nothing usable is nil.
func (v *Verifier) adopt(k verdictKey, in *sharedVerdict, now time.Time) (*kept, bool) {
	if in.Domain != k.domain || in.Site != k.site || in.Host != k.host || in.Checked.After(now.Add(Skew)) {
		return nil, false
	}
	claim, ev, err := decodeRecord(in.Record)
	if err != nil {
		return nil, false
	}
	ev.Policy = v.policy
	o := walk(claim, ev, nil, in.Checked)
	if o.need != nil || o.site != k.site || o.server.Domain != k.domain || o.byQuery != (k.host == "") || k.host != "" && o.server.Host != k.host {
		return nil, false
	}
	r := &result{}
	a, err := o.conclude(claim, ev, in.Checked)
	if err != nil {
		r.err = err.(*lookleap.VerifyError)
	}
	r.auth = a
	d := o.keepable(r, in.Checked)
	if d == nil || !now.Before(d.until) {
		return nil, true
	}
	d.adopted = true
	return d, true
}

// publish tells other processes of a decision.
func (v *Verifier) publish(ctx context.Context, k verdictKey, d *kept) {
	if v.host.Cache == nil {
		return
	}
	v.store.looked.Add(k, d.checked)
	v.store.seen.Add(k, d.checked)
	v.save(ctx, verdictPrefix+k.String(), sharedVerdict{k.domain, k.site, k.host, d.checked, d.record}, d.until)
}

// announce tells other processes what a definitive no took with it.
func (v *Verifier) announce(ctx context.Context, o *outcome, now time.Time) {
	if v.host.Cache == nil || o.drop == dropNothing {
		return
	}
	m := sharedMark{Site: o.site, Dropped: now}
	marks := []sharedMark{m}
	switch o.drop {
	case dropPair, dropHost, dropHostOnly:
		m.Domain = o.server.Domain
		marks[0] = m
		if o.drop != dropPair {
			marks[0].Host = o.server.Host
		}
	}
	for _, m := range marks {
		v.save(ctx, m.key(), m, now.Add(maxGrant))
	}
}

// load reads one entry. Whatever is wrong with it is a miss, and reported.
func (v *Verifier) load(ctx context.Context, key string, into any) bool {
	value, _, err := v.cacheGet(ctx, key)
	switch {
	case errors.Is(err, lookleap.ErrCacheForged):
		v.forged(ctx, key, err)
		return false
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		v.finding(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeIO, Message: "the shared cache failed: " + clip(err.Error())})
		return false
	}
	if err := json.Unmarshal(value, into); err != nil {
		v.forged(ctx, key, err)
		return false
	}
	return true
}

// cacheGet turns a panic of the cache into a miss.
func (v *Verifier) cacheGet(ctx context.Context, key string) (value []byte, expires time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, errCachePanics
		}
	}()
	return v.host.SharedCache().Get(ctx, key)
}

var errCachePanics = errors.New("the cache panicked")

func (v *Verifier) save(ctx context.Context, key string, value any, until time.Time) {
	defer func() {
		if p := recover(); p != nil {
			v.finding(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeIO, Message: errCachePanics.Error()})
		}
	}()
	data, err := json.Marshal(value)
	if err == nil {
		err = v.host.SharedCache().Put(ctx, key, data, until)
	}
	if err != nil && ctx.Err() == nil {
		v.finding(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeIO, Message: "the shared cache failed: " + clip(err.Error())})
	}
}

func (v *Verifier) forged(ctx context.Context, key string, err error) {
	v.finding(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeCacheForged, Message: "the entry " + quote(key) + " is none of ours: " + clip(err.Error()),
		Fix: "seal the cache, and find out who writes to it"})
}
