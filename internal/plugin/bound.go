package plugin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Bound limits the calls of one plug-in: how long a caller waits, and how many calls may run at the
// same time. A call continues after its caller left, until the plug-in returns. If Most calls run,
// further calls fail at once. A nil Bound is for a plug-in that limits itself.
type Bound struct {
	Limit time.Duration             // for one call; 0: until the caller's context ends
	Most  int64                     // calls that run at the same time
	Fail  func(reason string) error // returns the error of a call without a result
	Busy  error                     // of a call beyond Most; nil: as Fail says
	Guard func(*error)              // is deferred around each call and recovers panics; nil: a panic is an error of Fail

	open   atomic.Int64
	paused atomic.Int64 // Unix time in nanoseconds, see [Bound.Resting]
}

// Await runs a call of a plug-in. It waits until the call returns, its limit has passed, or ctx
// ends. A panic becomes an error.
func Await[T any](ctx context.Context, b *Bound, call func(context.Context) (T, error)) (T, error) {
	if b == nil {
		return call(ctx)
	}
	var none T
	done, ended, err := Start(ctx, b, call)
	if err != nil {
		return none, err
	}
	<-ended.Done()
	if context.Cause(ended) == errLate {
		b.paused.Store(time.Now().Add(restTime).UnixNano())
		return none, b.Fail(fmt.Sprintf("no answer within %v", b.Limit))
	}
	select {
	case o := <-done:
		return o.value, o.err
	default: // the caller left
		return none, ctx.Err()
	}
}

// Outcome is how a call ended.
type Outcome[T any] struct {
	value T
	err   error
}

// errLate is the cause of a context that ended because the limit had passed.
var errLate = errors.New("the limit of the call has passed")

// Start runs a call on its own goroutine and does not wait for it. The context that it returns is
// that of the call: it ends with ctx, when the limit has passed, and after the outcome was sent.
func Start[T any](ctx context.Context, b *Bound, call func(context.Context) (T, error)) (<-chan Outcome[T], context.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if b.open.Add(1) > b.Most {
		b.open.Add(-1)
		if b.Busy != nil {
			return nil, nil, b.Busy
		}
		return nil, nil, b.Fail(fmt.Sprintf("%d calls have not returned", b.Most))
	}
	limit := b.Limit
	if limit <= 0 {
		limit = math.MaxInt64
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, errLate)
	done := make(chan Outcome[T], 1)
	go func() {
		o := Outcome[T]{err: errEnded}
		defer func() {
			if o.err == errEnded {
				o.err = b.Fail(errEnded.Error())
			}
			if o.err == nil {
				b.paused.Store(0)
			}
			b.open.Add(-1)
			done <- o
			stop()
		}()
		guard := b.Guard
		if guard == nil {
			guard = b.recovered
		}
		defer guard(&o.err)
		o.value, o.err = call(ctx)
	}()
	return done, ctx, nil
}

// errEnded is the error of a call that neither returned nor panicked.
var errEnded = errors.New("it ended its goroutine")

// recovered turns a panic into an error.
func (b *Bound) recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = b.Fail(fmt.Sprintf("it panics: %v", cause))
	}
}

// restTime is how long a plug-in rests after a call that took too long.
const restTime = 5 * time.Second

// Resting reports whether a recent call took too long. A caller that can do without the plug-in
// then need not wait for it again.
func (b *Bound) Resting() bool {
	return time.Now().UnixNano() < b.paused.Load()
}

type promptCheckKey struct{}

// WithPromptCheck adds a check to a context that is used to ask for consent. It runs
// when the request's turn comes, before it is shown. If it returns an error, the
// request is not shown, and that error is the result.
func WithPromptCheck(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, promptCheckKey{}, check)
}

// PromptCheck runs the context's check, if there is one.
func PromptCheck(ctx context.Context) error {
	if check, ok := ctx.Value(promptCheckKey{}).(func() error); ok {
		return check()
	}
	return nil
}
