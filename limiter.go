package lookleap

import (
	"context"
	"time"

	"github.com/lookleap/lookleap/internal/plugin"
)

// Limiter counts uses of a key in exact rolling windows, and keeps the waits that servers
// asked for. The packages of documents use it for the limits of agents.txt, the rate of
// actions of package agent, the probes for documents, and every Retry-After. Processes that
// share a Limiter keep these limits together.
//
// The default of a [Host] is [NewMemoryLimiter], which counts in one process.
//
// What an engine must guarantee: Take is atomic across all processes, so that at most
// [Rate.Limit] of the calls within any [Rate.Window] are granted. All calls use the clock
// of the engine, because the clocks of processes differ; that is why waits are durations.
// A window or a hold that is lost with the engine permits more, so an engine should be
// durable for at least the length of the windows. A Limiter is called from several
// goroutines at once.
type Limiter interface {
	// Take counts one use of a key and returns 0. If the rate or a hold does not permit it,
	// Take counts nothing and returns how long to wait until it might.
	Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error)
	// Wait returns what Take would, and counts nothing.
	Wait(ctx context.Context, key string, r Rate) (wait time.Duration, err error)
	// Hold permits no use of a key for a time from now. It never shortens a hold.
	Hold(ctx context.Context, key string, d time.Duration) error
}

// Rate is how many uses are permitted in a rolling window. The zero Rate permits any
// number: only holds apply.
type Rate struct {
	Limit  int
	Window time.Duration
}

// limits reports whether the rate counts uses.
func (r Rate) limits() bool { return r.Limit > 0 && r.Window > 0 }

// Take counts one use of a key with the Limiter of the Host; see [Limiter]. If the Limiter
// fails, Take returns an error with [CodeLimiterFailed], and the use is not permitted.
func (h *Host) Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error) {
	return h.limit(ctx, func(ctx context.Context, l Limiter) (time.Duration, error) { return l.Take(ctx, key, r) })
}

// Wait returns how long Take would have to wait, and counts nothing; see [Limiter].
func (h *Host) Wait(ctx context.Context, key string, r Rate) (wait time.Duration, err error) {
	return h.limit(ctx, func(ctx context.Context, l Limiter) (time.Duration, error) { return l.Wait(ctx, key, r) })
}

// Hold permits no use of a key for a time from now; see [Limiter]. It is stored even if
// ctx has ended, because other processes need it.
func (h *Host) Hold(ctx context.Context, key string, d time.Duration) error {
	_, err := h.limit(context.WithoutCancel(ctx), func(ctx context.Context, l Limiter) (time.Duration, error) { return 0, l.Hold(ctx, key, d) })
	return err
}

func (h *Host) limit(ctx context.Context, call func(context.Context, Limiter) (time.Duration, error)) (time.Duration, error) {
	if err := h.usable(); err != nil {
		return 0, err
	}
	parts := h.parts()
	wait, err := plugin.Await(h.enter(ctx), parts.limitCalls, func(ctx context.Context) (_ time.Duration, err error) {
		defer partLimiter.guard(&err)
		return call(ctx, parts.limiter)
	})
	if err != nil {
		return 0, partLimiter.coded(err)
	}
	return max(wait, 0), nil
}
