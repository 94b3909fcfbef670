package lookleap

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"
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

// callBound bounds the calls of one plug-in. Nil is the bound of a default part,
// which bounds itself.
type callBound struct {
	part  part
	limit time.Duration
	most  int64

	open   atomic.Int64 // calls that have not returned
	paused atomic.Int64 // Unix time in nanoseconds, see [callBound.resting]
}

// await runs a call of a plug-in and waits until it returns, its limit has
// passed, or ctx ends. A panic is an error.
func await[T any](ctx context.Context, b *callBound, call func(context.Context) (T, error)) (T, error) {
	if b == nil {
		return call(ctx)
	}
	var none T
	done, stop, err := start(ctx, b, call)
	if err != nil {
		return none, err
	}
	defer stop()
	timer := time.NewTimer(b.limit)
	defer timer.Stop()
	select {
	case o := <-done:
		if o.err != nil && ctx.Err() == nil && o.late {
			return none, b.late()
		}
		return o.value, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, b.late()
	}
}

type outcome[T any] struct {
	value T
	err   error
	late  bool // the limit had passed
}

// start runs a call on a goroutine of its own.
func start[T any](ctx context.Context, b *callBound, call func(context.Context) (T, error)) (<-chan outcome[T], context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if b.open.Add(1) > b.most {
		b.open.Add(-1)
		return nil, nil, &pluginError{b.part, fmt.Sprintf("%d calls have not returned", b.most)}
	}
	ctx, stop := context.WithTimeout(ctx, b.limit)
	done := make(chan outcome[T], 1)
	go func() {
		o := outcome[T]{err: &pluginError{b.part, "it ended its goroutine"}}
		defer func() {
			o.late = ctx.Err() != nil
			stop()
			if o.err == nil {
				b.paused.Store(0)
			}
			b.open.Add(-1)
			done <- o
		}()
		defer b.part.guard(&o.err)
		o.value, o.err = call(ctx)
	}()
	return done, stop, nil
}

// late is the error of a call that took too long. The plug-in then rests.
func (b *callBound) late() error {
	b.paused.Store(time.Now().Add(restTime).UnixNano())
	return &pluginError{b.part, fmt.Sprintf("no answer within %v", b.limit)}
}

// restTime is how long nobody waits for a cache that did not answer, so that one
// question after another does not cost a wait each.
const restTime = 5 * time.Second

func (b *callBound) resting() bool {
	until := b.paused.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// hostCache is the cache of a [Host]. A panic in it is an error, and so is a call
// that does not return in time.
type hostCache struct {
	cache Cache
	bound *callBound
}

type cached struct {
	value   []byte
	expires time.Time
}

func (c hostCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if c.bound != nil && c.bound.resting() {
		return nil, time.Time{}, &pluginError{partCache, "it did not answer a moment ago"}
	}
	got, err := await(ctx, c.bound, func(ctx context.Context) (got cached, err error) {
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
	if c.bound == nil || !c.bound.resting() {
		_, err := await(ctx, c.bound, do)
		return err
	}
	if _, _, err := start(context.WithoutCancel(ctx), c.bound, do); err != nil {
		return err
	}
	return &pluginError{partCache, "it did not answer a moment ago"}
}
