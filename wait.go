package lookleap

import (
	"bytes"
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/plugin"
)

// How long a caller waits for one call of a plug-in, and how many calls may not
// have returned. A call that outlives its caller keeps running until the plug-in
// returns; beyond the number no further call is made.
const (
	cacheWait    = 2 * time.Second
	ledgerWait   = 10 * time.Second
	resolverWait = 30 * time.Second

	cacheCalls    = 64
	ledgerCalls   = 64
	resolverCalls = 1024
)

// bounded returns the bound of the calls of a plug-in.
func (p part) bounded(limit time.Duration, most int64) *plugin.Bound {
	return &plugin.Bound{Limit: limit, Most: most, Guard: p.guard, Fail: func(reason string) error { return &pluginError{p, reason} }}
}

// hostCache is the cache of a [Host]. A panic in it is an error, and so is a call
// that does not return in time.
//
// An entry whose expiry the Host's clock has passed once does not come back when
// the clock is set back.
type hostCache struct {
	cache Cache
	bound *plugin.Bound
	host  *Host // nil: there is none
}

type cached struct {
	value   []byte
	expires time.Time
}

func (c hostCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if c.bound != nil && c.bound.Resting() {
		return nil, time.Time{}, &pluginError{partCache, "it did not answer a moment ago"}
	}
	got, err := plugin.Await(ctx, c.bound, func(ctx context.Context) (got cached, err error) {
		defer partCache.guard(&err)
		got.value, got.expires, err = c.cache.Get(ctx, key)
		return got, err
	})
	if err == nil && c.host.hasPassed(got.expires) {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return got.value, got.expires, err
}

// latestTime is the latest time that a Host's clock showed to the shared cache.
type latestTime struct {
	mu     sync.Mutex
	latest time.Time
	seen   time.Time // when it was seen, by the system's monotonic clock
}

// believeLatest is for how long a clock that was set back may not repeat itself.
// No entry that one of the packages uses is older than this. It has an end so that
// a clock that was years ahead does not disable the cache of a process for good.
const believeLatest = 7 * 24 * time.Hour

// hasPassed reports whether the Host's clock shows a time or a later one, or has
// done so lately. The zero time says nothing.
func (h *Host) hasPassed(t time.Time) bool {
	if h == nil || t.IsZero() {
		return false
	}
	now, err := h.clock()
	if err != nil {
		return true
	}
	l := &h.cacheTime
	l.mu.Lock()
	defer l.mu.Unlock()
	if system := time.Now(); now.After(l.latest) || system.Sub(l.seen) >= believeLatest {
		l.latest, l.seen = now, system
	}
	return !t.After(l.latest)
}

func (c hostCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if c.bound != nil {
		value = bytes.Clone(value) // the call may outlive the caller
	}
	return c.change(ctx, func(ctx context.Context) error { return c.cache.Put(ctx, key, value, expires) })
}

func (c hostCache) Delete(ctx context.Context, key string) error {
	return c.change(ctx, func(ctx context.Context) error { return c.cache.Delete(ctx, key) })
}

// change runs Put or Delete. While the cache rests nobody waits for it, and the
// call is made all the same: other processes may need what it tells them.
func (c hostCache) change(ctx context.Context, call func(context.Context) error) error {
	do := func(ctx context.Context) (_ struct{}, err error) {
		defer partCache.guard(&err)
		return struct{}{}, call(ctx)
	}
	if c.bound == nil || !c.bound.Resting() {
		_, err := plugin.Await(ctx, c.bound, do)
		return err
	}
	if _, _, err := plugin.Start(context.WithoutCancel(ctx), c.bound, do); err != nil {
		return err
	}
	return &pluginError{partCache, "it did not answer a moment ago"}
}
