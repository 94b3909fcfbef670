package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// need is what a promise needs of an engine.
type need uint8

const (
	needsSharing need = 1 << iota // Open twice with one name
	needsDamage
	needsHang
)

// missing returns why a promise cannot be verified with an engine, or "".
func (e *Engine[T]) missing(n need) string {
	switch {
	case n&needsSharing != 0 && e.Private:
		return "the implementation is private to its process"
	case n&needsDamage != 0 && e.Damage == nil:
		return "the engine has no Damage hook"
	case n&needsHang != 0 && e.Hang == nil:
		return "the engine has no Hang hook"
	}
	return ""
}

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
	if e.Open == nil {
		t.Fatal("lookleaptest: the Engine has no Open function")
	}
	if reason := e.missing(p.needs); reason != "" {
		t.Skip("not tested: " + reason)
	}
	if e.Patience <= 0 {
		e.Patience = 10 * time.Second
	}
	p.verify(&trial[T]{TB: t, engine: e, text: p.text, data: "contract-" + p.name})
}

// trial is one promise being verified.
type trial[T any] struct {
	testing.TB
	engine Engine[T]
	text   string
	data   string // the name of the data
}

// open returns a handle of the promise's data.
func (r *trial[T]) open() T {
	r.Helper()
	return r.engine.Open(r.TB, r.data)
}

// broken ends the test with the promise that does not hold.
func (r *trial[T]) broken(format string, args ...any) {
	r.Helper()
	r.Fatalf("broken promise: %s.\nObserved: %s", r.text, fmt.Sprintf(format, args...))
}

// must ends the test if a call failed that has no reason to.
func (r *trial[T]) must(err error, call string) {
	r.Helper()
	if err != nil {
		r.broken("%s returned the error %q", call, err)
	}
}

// errHung is the result of a call that did not return in time.
var errHung = errors.New("the call did not return in time")

// attempt makes one call with a deadline of half the patience. If the call ignores the
// deadline too, attempt returns errHung.
func (r *trial[T]) attempt(call func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.engine.Patience/2)
	defer cancel()
	return r.attemptIn(ctx, call)
}

// attemptIn is attempt with a context of the caller.
func (r *trial[T]) attemptIn(ctx context.Context, call func(ctx context.Context) error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				done <- fmt.Errorf("the call panicked: %v", cause)
			}
		}()
		done <- call(ctx)
	}()
	late := time.NewTimer(r.engine.Patience)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return errHung
	}
}

// together lets n callers begin at the same moment and returns their errors. A caller makes
// many calls, and waits for those of the others, so it gets ten times the patience.
func (r *trial[T]) together(n int, call func(ctx context.Context, i int) error) []error {
	patient := *r
	patient.engine.Patience *= 10
	begin, errs, done := make(chan struct{}), make([]error, n), make(chan struct{}, n)
	for i := range n {
		go func() {
			<-begin
			errs[i] = patient.attempt(func(ctx context.Context) error { return call(ctx, i) })
			done <- struct{}{}
		}()
	}
	close(begin)
	for range n {
		<-done
	}
	return errs
}

// cancelled returns a context that has already ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// awkwardKeys are keys that an engine may confuse: one for each byte, parts of paths and
// patterns, keys that are prefixes of each other, and long keys that differ at the end.
func awkwardKeys() []string {
	long := strings.Repeat("k", 2048)
	keys := []string{
		"a/b", "a/b/", "a//b", "../a/b", "a/../b", "%61/b", "a%2Fb", "A/b", "a/B", "a/b ", " a/b", "a/b\x00", "a/b\n",
		"*", "a*", "a?", "a[b]", "{a}b", "a:b", "a\\b", "$1", "'; --", "https://shop.example/a?b=c#d",
		"é", "e\u0301", "\xff\xfe", "\xc3", "🔑", long + "1", long + "2",
	}
	for b := range 256 {
		keys = append(keys, "byte/"+string([]byte{byte(b)}))
	}
	return keys
}

// shown returns a key or a value for a message, cut if it is long.
func shown(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q… (%d bytes)", s[:40], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// allBytes is a value with each byte.
func allBytes() []byte {
	value := make([]byte, 256)
	for i := range value {
		value[i] = byte(i)
	}
	return value
}
