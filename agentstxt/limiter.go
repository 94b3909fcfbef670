package agentstxt

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/zero"
)

// Limiter counts requests in rolling windows, one for each origin and directive. It
// counts exactly: it stores the time of each request until the window has passed. It
// may be used from several goroutines at once.
//
// It counts the requests of one process. Its memory is bounded: when it is full, it
// allows no request until a window has passed.
type Limiter struct {
	window time.Duration
	max    int // requests counted at once

	mu      sync.Mutex
	windows map[limitKey]*window
	counted int
	swept   time.Time // when expireAll last ran
}

// limitKey is the digest of an origin and of a directive's path. The directive's line
// is not part of it, since it may change with the file.
type limitKey [sha256.Size]byte

func limitKeyOf(origin, path string) limitKey {
	return sha256.Sum256([]byte(origin + " " + path))
}

// window is a ring of the times of requests, oldest first.
type window struct {
	times []int64 // Unix nanoseconds
	first int
	n     int
}

// NewLimiter returns a limiter; a [Guard] already has one. A length of 0 means one hour,
// and a counted of 0 means the default of [Limits.Counted].
func NewLimiter(length time.Duration, counted int) *Limiter {
	if length <= 0 {
		length = time.Hour
	}
	return &Limiter{window: length, max: Limits{Counted: counted}.withDefaults().Counted, windows: make(map[limitKey]*window)}
}

// Take counts one request to an origin under the decision d. It reports whether the
// request may be sent and, if not, when the next one may be. It allows every request
// under a decision without a limit and does not count it. It refuses every request
// under a decision that denies.
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
	if l.counted >= l.max {
		l.expireAll(now)
	}
	if l.counted >= l.max {
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

// Used returns the number of counted requests under the directive with this path.
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

// expire removes the requests that are older than the window. It removes none if the
// clock was set back.
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

// expireAll removes old requests of all windows, at most once a second.
func (l *Limiter) expireAll(now time.Time) {
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	for key, w := range l.windows {
		l.expire(key, w, now)
	}
}

// at returns the time of request i, counted from the oldest.
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
