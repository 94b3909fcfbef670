package lookleap

import (
	"context"
	"crypto/sha256"
	"math"
	"sync"
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

// maxCounted is the number of uses and holds that a limiter in memory remembers at once.
const maxCounted = 1 << 18

// NewMemoryLimiter returns a Limiter in memory. It counts exactly: it stores the time of each use
// until its window has passed, for up to 262,144 uses. When it is full, it permits nothing until a
// window has passed.
func NewMemoryLimiter() Limiter { return newMemoryLimiter(maxCounted, time.Now) }

func newMemoryLimiter(counted int, now func() time.Time) *memoryLimiter {
	return &memoryLimiter{now: now, max: counted, keys: make(map[limitKey]*limited)}
}

type memoryLimiter struct {
	now func() time.Time
	max int

	mu      sync.Mutex
	keys    map[limitKey]*limited
	counted int
	// elapsed is the time that has passed on the clock, in nanoseconds. It stands still when
	// the clock is set back, so that no window ends early and no hold becomes longer.
	elapsed int64
	last    time.Time
	swept   int64
}

// limitKey is the digest of a key, so that long keys need no more memory.
type limitKey [sha256.Size]byte

// limited are the uses of a key.
type limited struct {
	times  []int64 // the oldest first
	window int64   // the longest window of its rates
	until  int64   // end of the hold
}

func (l *memoryLimiter) Take(ctx context.Context, key string, r Rate) (time.Duration, error) {
	return l.use(ctx, key, r, true)
}

func (l *memoryLimiter) Wait(ctx context.Context, key string, r Rate) (time.Duration, error) {
	return l.use(ctx, key, r, false)
}

func (l *memoryLimiter) use(ctx context.Context, key string, r Rate, count bool) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.tick()
	k := limitKey(sha256.Sum256([]byte(key)))
	w := l.keys[k]
	var wait int64
	if w != nil {
		w.window = max(w.window, int64(r.Window))
		l.expire(k, w, now)
		wait = w.wait(r, now)
	}
	if wait > 0 || !r.limits() {
		return time.Duration(wait), nil
	}
	if !l.room(now) {
		return r.Window, nil
	}
	if !count {
		return 0, nil
	}
	if w == nil {
		w = &limited{window: int64(r.Window)}
	}
	l.keys[k] = w
	w.times = append(w.times, now)
	l.counted++
	return 0, nil
}

func (l *memoryLimiter) Hold(ctx context.Context, key string, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.tick()
	k := limitKey(sha256.Sum256([]byte(key)))
	w := l.keys[k]
	if w == nil {
		if !l.room(now) {
			return &Error{Code: CodeLimit, Message: "the limiter is full, so a wait cannot be kept", Fix: "use a Limiter with more room"}
		}
		w = new(limited)
		l.keys[k] = w
	}
	if w.until == 0 {
		l.counted++
	}
	w.until = max(w.until, now+min(int64(d), math.MaxInt64-now))
	return nil
}

// tick returns the time that has passed on the clock.
func (l *memoryLimiter) tick() int64 {
	now := l.now()
	if gone := now.Sub(l.last); gone > 0 && !l.last.IsZero() {
		l.elapsed += int64(gone)
	}
	l.last = now
	return l.elapsed
}

// room reports whether one more use or hold can be remembered. In a full limiter it looks for
// those that have ended, at most once a second.
func (l *memoryLimiter) room(now int64) bool {
	if l.counted >= l.max && now-l.swept >= int64(time.Second) {
		l.swept = now
		for k, w := range l.keys {
			l.expire(k, w, now)
		}
	}
	return l.counted < l.max
}

// expire removes the uses that are older than the window, and a hold that has ended.
func (l *memoryLimiter) expire(k limitKey, w *limited, now int64) {
	for len(w.times) > 0 && w.times[0] <= now-w.window {
		w.times = w.times[1:]
		l.counted--
	}
	if w.until != 0 && w.until <= now {
		w.until = 0
		l.counted--
	}
	if len(w.times) == 0 && w.until == 0 {
		delete(l.keys, k)
	}
}

// wait returns how long a rate and the hold do not permit a use.
func (w *limited) wait(r Rate, now int64) int64 {
	wait := max(w.until-now, 0)
	if r.limits() && len(w.times) >= r.Limit {
		wait = max(wait, w.times[len(w.times)-r.Limit]+int64(r.Window)-now)
	}
	return wait
}
