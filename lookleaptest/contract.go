package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Engine says how a contract test opens the implementation that it tests. Open is
// required; each other hook allows more promises to be checked, and the test skips the
// promises whose hook is nil with a message.
//
// The test calls the hooks with the name of some data: a directory, a prefix of keys or a
// schema, for example. It uses a new name for each promise. A name consists of at most 40
// lower-case letters, digits and hyphens.
type Engine[T any] struct {
	// Open opens the data of a name, which is empty at first. It ends the test if that
	// fails, and registers with t.Cleanup what has to be closed.
	//
	// A second Open of a name returns another handle of the same data, as another process
	// or the same process after a restart would have it. Set Private if it returns empty
	// data instead.
	Open func(t testing.TB, name string) T

	// Private is for implementations that keep their data in the memory of the process: two
	// calls of Open with one name return two separate implementations.
	Private bool

	// Damage changes the stored bytes of a name, for example with a bit flip or by cutting
	// them, as a failing disk would.
	Damage func(t testing.TB, name string)

	// Hang makes the back end of all handles stop answering without closing connections,
	// until resume is called. The test calls resume once.
	Hang func(t testing.TB) (resume func())

	// Patience is how long one call may take before the test counts it as hung; 0: 10
	// seconds. It is the only use of real time, and matters only if a call hangs.
	Patience time.Duration
}

// promise is one part of a contract.
type promise[T any] struct {
	name   string // of the subtest
	text   string // what the contract says, for the message of a failure
	needs  need
	verify func(r *trial[T])
}

// need is what a promise needs of an engine, and what the test says without it.
type need string

const (
	needsSharing need = "the implementation is private to its process" // Open twice with one name
	needsDamage  need = "the engine has no Damage hook"
	needsHang    need = "the engine has no Hang hook"
)

// testContract runs one subtest for each promise.
func testContract[T any](t *testing.T, e Engine[T], promises []promise[T]) {
	t.Helper()
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) { p.test(t, e) })
	}
}

// test verifies the promise with an engine.
func (p promise[T]) test(t testing.TB, e Engine[T]) {
	t.Helper()
	lacking := map[need]bool{needsSharing: e.Private, needsDamage: e.Damage == nil, needsHang: e.Hang == nil}
	switch {
	case e.Open == nil:
		t.Fatal("lookleaptest: the Engine has no Open function")
	case lacking[p.needs]:
		t.Skip("not tested: " + p.needs)
	case e.Patience <= 0:
		e.Patience = 10 * time.Second
	}
	p.verify(&trial[T]{probe{t, p.text, e.Patience}, e, "contract-" + p.name})
}

// trial is one promise being verified.
type trial[T any] struct {
	probe
	engine Engine[T]
	data   string // the name of the data
}

// open returns a handle of the promise's data.
func (r *trial[T]) open() T {
	r.Helper()
	return r.engine.Open(r.TB, r.data)
}

// probe makes the calls that verify a promise.
type probe struct {
	testing.TB
	text     string // of the promise
	patience time.Duration
}

// broken ends the test with the promise that does not hold.
func (p *probe) broken(format string, args ...any) {
	p.Helper()
	p.Fatalf("broken promise: %s.\nObserved: %s", p.text, fmt.Sprintf(format, args...))
}

// must ends the test if a call failed that has no reason to.
func (p *probe) must(err error, call string) {
	p.Helper()
	if err != nil {
		p.broken("%s returned the error %q", call, err)
	}
}

// errHung is the result of a call that did not return in time.
var errHung = errors.New("the call did not return in time")

// attempt makes one call with a deadline of half the patience. If the call ignores the
// deadline too, attempt returns errHung.
func attempt[V any](p *probe, call func(ctx context.Context) (V, error)) (V, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.patience/2)
	defer cancel()
	return attemptIn(p, ctx, call)
}

// attemptIn is attempt with a context of the caller.
func attemptIn[V any](p *probe, ctx context.Context, call func(ctx context.Context) (V, error)) (value V, err error) {
	type result struct {
		value V
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				done <- result{err: fmt.Errorf("the call panicked: %v", cause)}
			}
		}()
		value, err := call(ctx)
		done <- result{value, err}
	}()
	late := time.NewTimer(p.patience)
	defer late.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-late.C:
		return value, errHung
	}
}

// do is attempt for a call that returns nothing else.
func (p *probe) do(call func(ctx context.Context) error) error {
	_, err := attempt(p, func(ctx context.Context) (any, error) { return nil, call(ctx) })
	return err
}

// together lets n callers begin at the same moment, and checks that none returns an error. A
// caller makes many calls, and waits for those of the others, so it gets ten times the patience.
func (p *probe) together(n int, call func(ctx context.Context, i int) error) {
	p.Helper()
	patient := *p
	patient.patience *= 10
	begin, errs := make(chan struct{}), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			errs[i] = patient.do(func(ctx context.Context) error { return call(ctx, i) })
		})
	}
	close(begin)
	all.Wait()
	for i, err := range errs {
		if err != nil {
			p.broken("caller %d of %d: %v", i, n, err)
		}
	}
}

// cancelled returns a context that has already ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
