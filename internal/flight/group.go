package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group runs at most one function per key at a time. Callers who ask for a key
// that is being worked on share its result. The zero value is ready; a Group is
// safe for concurrent use and not copied.
type Group[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*call[V]
}

// call is one run of a function. Its value and error are set before done closes.
type call[V any] struct {
	done    chan struct{}
	value   V
	err     error
	callers int                     // guarded by the Group's mu
	cancel  context.CancelCauseFunc // of the function
}

// ErrNobodyWaits is why a function's context is cancelled.
var ErrNobodyWaits = errors.New("flight: every caller left")

// ErrRecursive is a function that asks, through its context, for the key that it
// is itself finding out.
var ErrRecursive = errors.New("flight: the question asks for its own answer")

// PanicError is a panic of a function, as every caller gets it.
type PanicError struct {
	Value any
	Stack []byte // nil where the function ended its goroutine
}

func (e *PanicError) Error() string { return fmt.Sprintf("flight: panic: %v", e.Value) }

// Unwrap returns the panic's value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// working marks the context of the function that finds out a key.
type working[K comparable, V any] struct {
	group *Group[K, V]
	key   K
}

// Do returns the result of fn for a key, running it unless it is running already.
//
// fn gets a context with the first caller's values and no deadline, which
// is cancelled when the last caller left; it bounds its own time. A caller whose
// context ends gets that context's error at once, and the others go on waiting.
// A panic in fn is a [*PanicError]. Results are not kept.
func (g *Group[K, V]) Do(ctx context.Context, key K, fn func(context.Context) (V, error)) (V, error) {
	return g.do(ctx, key, fn, nil, false)
}

// Renew is Do for callers that consider a run that began before their call too
// old: it always runs fn. Callers of Do who come later share its result; those
// who came earlier keep the run that they wait for.
func (g *Group[K, V]) Renew(ctx context.Context, key K, fn func(context.Context) (V, error)) (V, error) {
	return g.do(ctx, key, fn, nil, true)
}

// store is where results are kept. Both methods are called under the Group's
// lock, so that a result is either found held or found being worked on.
type store[K comparable, V any] interface {
	held(key K) (V, bool)
	keep(key K, value V) // unless the key was forgotten or renewed, or no one waits any more
}

func (g *Group[K, V]) do(ctx context.Context, key K, fn func(context.Context) (V, error), s store[K, V], renew bool) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if ctx.Value(working[K, V]{g, key}) != nil {
		return none, ErrRecursive
	}
	c := g.join(ctx, key, fn, s, renew)
	select {
	case <-c.done:
		g.leave(key, c)
		return c.value, c.err
	case <-ctx.Done():
		g.leave(key, c)
		return none, ctx.Err()
	}
}

// join counts the caller in, starting the function if no caller did, or if
// the caller wants it run again.
func (g *Group[K, V]) join(ctx context.Context, key K, fn func(context.Context) (V, error), s store[K, V], renew bool) *call[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.calls[key]; c != nil && !renew {
		c.callers++
		return c
	}
	if s != nil && !renew {
		if value, ok := s.held(key); ok {
			return finished(value)
		}
	}
	c := &call[V]{done: make(chan struct{}), callers: 1}
	detached := context.WithValue(context.WithoutCancel(ctx), working[K, V]{g, key}, true)
	detached, c.cancel = context.WithCancelCause(detached)
	if g.calls == nil {
		g.calls = make(map[K]*call[V])
	}
	g.calls[key] = c
	go g.run(detached, key, c, fn, s)
	return c
}

// finished is a call that someone else ended a moment ago.
func finished[V any](value V) *call[V] {
	c := &call[V]{done: make(chan struct{}), value: value, callers: 1, cancel: func(error) {}}
	close(c.done)
	return c
}

// run ends the call whatever fn does: return, panic, or end its goroutine.
func (g *Group[K, V]) run(ctx context.Context, key K, c *call[V], fn func(context.Context) (V, error), s store[K, V]) {
	c.err = &PanicError{Value: "the function ended its goroutine"}
	defer func() {
		if p := recover(); p != nil {
			c.err = &PanicError{p, debug.Stack()}
		}
		g.finish(key, c, s)
	}()
	c.value, c.err = fn(ctx)
}

func (g *Group[K, V]) finish(key K, c *call[V], s store[K, V]) {
	g.mu.Lock()
	if g.calls[key] == c {
		delete(g.calls, key)
		if s != nil && c.err == nil {
			s.keep(key, c.value)
		}
	}
	g.mu.Unlock()
	close(c.done)
	c.cancel(nil)
}

// leave counts a caller out. The last one cancels the function and frees the
// key, so that the next caller starts it again.
func (g *Group[K, V]) leave(key K, c *call[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.callers--; c.callers == 0 {
		c.cancel(ErrNobodyWaits)
		if g.calls[key] == c {
			delete(g.calls, key)
		}
	}
}

// Forget lets the next caller start a new run, although the function may still run
// for those who wait.
func (g *Group[K, V]) Forget(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.calls, key)
}
