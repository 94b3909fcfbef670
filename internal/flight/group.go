package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// Group runs at most one function per key at a time. Callers that ask for a key while its
// function runs share the result. The zero value is ready. A Group is safe for concurrent use
// and must not be copied.
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

// ErrAbandoned is the cause of a cancelled function: no caller waits for it any more.
var ErrAbandoned = errors.New("flight: every caller left")

// ErrRecursive is the error for a function that asks, with its context, for its own key. It
// would wait for itself.
var ErrRecursive = errors.New("flight: the function waits for its own result")

// PanicError is the error that every caller gets if the function panicked.
type PanicError struct {
	Value any
	Stack []byte // nil if the function ended its goroutine
}

func (e *PanicError) Error() string { return fmt.Sprintf("flight: panic: %v", e.Value) }

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// working is the context key that marks the function of a key.
type working[K comparable, V any] struct {
	group *Group[K, V]
	key   K
}

// Do returns the result of fn for a key. It runs fn unless fn already runs for the key.
//
// The context of fn has the first caller's values and no deadline; fn must bound its own time.
// That context is cancelled when the last caller leaves. A caller whose context ends gets the
// error of that context at once, while the others continue to wait. A panic in fn becomes a
// [*PanicError]. Results are not kept.
func (g *Group[K, V]) Do(ctx context.Context, key K, fn func(context.Context) (V, error)) (V, error) {
	return g.do(ctx, key, fn, nil, false)
}

// Renew is Do for callers that need a run that began after their call: it always runs fn. Later
// callers of Do share its result. Earlier callers keep the run for which they wait.
func (g *Group[K, V]) Renew(ctx context.Context, key K, fn func(context.Context) (V, error)) (V, error) {
	return g.do(ctx, key, fn, nil, true)
}

// memory is where results are kept. The Group's lock is held during both functions, so that a caller
// finds either a kept result or a running function.
type memory[V any] struct {
	held func() (V, bool)
	keep func(V) // not called if the key was forgotten or renewed, or if no caller waits any more
}

func (g *Group[K, V]) do(
	ctx context.Context, key K, fn func(context.Context) (V, error), m *memory[V], renew bool,
) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if ctx.Value(working[K, V]{g, key}) != nil {
		return none, ErrRecursive
	}
	c := g.join(ctx, key, fn, m, renew)
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		g.leave(key, c)
		return none, ctx.Err()
	}
}

// join adds the caller to the running call of a key. It starts the function if it does not run,
// or if renew is set.
func (g *Group[K, V]) join(
	ctx context.Context, key K, fn func(context.Context) (V, error), m *memory[V], renew bool,
) *call[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &call[V]{done: make(chan struct{}), callers: 1}
	if running := g.calls[key]; running != nil && !renew {
		running.callers++
		return running
	}
	if m != nil && !renew {
		if value, ok := m.held(); ok {
			c.value = value
			close(c.done)
			return c
		}
	}
	detached := context.WithValue(context.WithoutCancel(ctx), working[K, V]{g, key}, true)
	detached, c.cancel = context.WithCancelCause(detached)
	if g.calls == nil {
		g.calls = make(map[K]*call[V])
	}
	g.calls[key] = c
	go g.run(detached, key, c, fn, m)
	return c
}

// run runs fn and ends the call, also if fn panics or ends its goroutine.
func (g *Group[K, V]) run(ctx context.Context, key K, c *call[V], fn func(context.Context) (V, error), m *memory[V]) {
	c.err = &PanicError{Value: "the function ended its goroutine"}
	defer func() {
		if p := recover(); p != nil {
			c.err = &PanicError{p, debug.Stack()}
		}
		g.mu.Lock()
		if g.calls[key] == c {
			delete(g.calls, key)
			if m != nil && c.err == nil {
				m.keep(c.value)
			}
		}
		g.mu.Unlock()
		close(c.done)
		c.cancel(nil)
	}()
	c.value, c.err = fn(ctx)
}

// leave removes a caller. After the last one, it cancels the function and forgets the key, so that
// the next caller starts the function again.
func (g *Group[K, V]) leave(key K, c *call[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.callers--
	if c.callers == 0 && c.cancel != nil { // nil: a kept result
		c.cancel(ErrAbandoned)
		if g.calls[key] == c {
			delete(g.calls, key)
		}
	}
}

// Forget makes the next caller start a new run. A function that runs continues for its callers.
func (g *Group[K, V]) Forget(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.calls, key)
}
