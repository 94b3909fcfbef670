package lookleap

import (
	"bytes"
	"context"
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
type hostCache struct {
	cache Cache
	bound *plugin.Bound
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
	return got.value, got.expires, err
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
