package agentstxt

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/zero"
)

// Limiter counts requests in rolling windows, one window for each origin and
// directive. It counts exactly: it remembers the time of each request that it
// let pass until the window has moved past it. It may be used from several
// goroutines at once.
//
// It counts what one process sends. Its memory is bounded: when that is full, it
// lets nothing more pass until a window moves on.
type Limiter struct {
	window time.Duration
	most   int // requests remembered

	mu      sync.Mutex
	windows map[limitKey]*window
	counted int
	swept   time.Time // when all windows were last moved on
}

// limitKey names what is limited together: the digest of the origin and of the
// directive's path, since its line may move when the file changes.
type limitKey [sha256.Size]byte

func limitKeyOf(origin, path string) limitKey {
	return sha256.Sum256([]byte(origin + " " + path))
}

// window holds the times of requests, oldest first, in a ring.
type window struct {
	times []int64 // Unix nanoseconds
	first int
	n     int
}

// NewLimiter gives a limiter of its own; a [Guard] has one already. A window of 0
// means one hour, and counted of 0 the default of [Limits.Counted].
func NewLimiter(length time.Duration, counted int) *Limiter {
	if length <= 0 {
		length = time.Hour
	}
	return &Limiter{window: length, most: Limits{Counted: counted}.withDefaults().Counted, windows: make(map[limitKey]*window)}
}

// Take counts one request of an origin under a decision that allows it. It
// reports whether the request may be sent and, if not, when one may be. A
// decision without a limit always passes and counts nothing; one that denies
// never does.
func (l *Limiter) Take(origin string, d Decision, now time.Time) (ok bool, next time.Time) {
	switch {
	case !d.Allowed:
		return false, time.Time{}
	case d.Limit <= 0:
		return true, time.Time{}
	}
	l = zero.Or(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := limitKeyOf(origin, d.Rule)
	w := l.windows[key]
	if w != nil {
		l.expire(key, w, now)
		if w.n >= d.Limit {
			return false, w.at(w.n - d.Limit).Add(l.window)
		}
	}
	if l.counted >= l.most {
		l.expireAll(now)
	}
	if l.counted >= l.most {
		return false, now.Add(l.window)
	}
	if w == nil {
		w = new(window)
	}
	l.windows[key] = w
	w.add(now)
	l.counted++
	return true, time.Time{}
}

// Used is how many requests count at the moment under the directive with this
// path.
func (l *Limiter) Used(origin, path string, now time.Time) int {
	l = zero.Or(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := limitKeyOf(origin, path)
	w := l.windows[key]
	if w == nil {
		return 0
	}
	l.expire(key, w, now)
	return w.n
}

// expire drops the requests that the window has moved past. A clock that went
// back drops nothing.
func (l *Limiter) expire(key limitKey, w *window, now time.Time) {
	before := now.Add(-l.window).UnixNano()
	for w.n > 0 && w.times[w.first] <= before {
		w.first = (w.first + 1) % len(w.times)
		w.n--
		l.counted--
	}
	if w.n == 0 {
		delete(l.windows, key)
	}
}

// expireAll makes room, once a second at most.
func (l *Limiter) expireAll(now time.Time) {
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	for key, w := range l.windows {
		l.expire(key, w, now)
	}
}

// at is the time of request i, counted from the oldest.
func (w *window) at(i int) time.Time {
	return time.Unix(0, w.times[(w.first+i)%len(w.times)])
}

func (w *window) add(now time.Time) {
	at := now.UnixNano()
	if w.n > 0 {
		at = max(at, w.times[(w.first+w.n-1)%len(w.times)])
	}
	if w.n == len(w.times) {
		grown := make([]int64, max(8, 2*w.n))
		for i := range w.n {
			grown[i] = w.times[(w.first+i)%len(w.times)]
		}
		w.times, w.first = grown, 0
	}
	w.times[(w.first+w.n)%len(w.times)] = at
	w.n++
}
