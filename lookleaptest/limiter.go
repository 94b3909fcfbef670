package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestLimiter tests an implementation of [lookleap.Limiter]: at most the limit is granted
// in any window, among all callers and processes, and a hold is never shortened. It waits
// for a few windows of at most a second.
func TestLimiter(t *testing.T, e Engine[lookleap.Limiter]) {
	t.Helper()
	testContract(t, e, limiterPromises)
}

var limiterPromises = []promise[lookleap.Limiter]{
	{
		name:   "limit",
		text:   "Take grants the limit of the Rate that it is called with, and then returns the wait until the oldest use leaves the window",
		verify: limiterLimit,
	}, {
		name:   "keys-with-each-byte",
		text:   "two keys that differ in one byte are counted separately",
		verify: limiterKeys,
	}, {
		name:   "wait-counts-nothing",
		text:   "Wait returns what Take would and counts nothing, and a Take that is not granted counts nothing",
		verify: limiterWait,
	}, {
		name:   "window-rolls",
		text:   "in no window are more uses granted than the limit, and a use is granted after the wait that Take returned, which is no longer than it must be",
		verify: limiterRolls,
	}, {
		name:   "hold",
		text:   "Hold permits no use for its time, never shortens a hold, forgets no use, and applies to a zero Rate too",
		verify: limiterHold,
	}, {
		name:   "no-rate",
		text:   "the zero Rate permits any number of uses",
		verify: limiterNoRate,
	}, {
		name:   "concurrent-use",
		text:   "of concurrent calls of Take exactly as many are granted as the limit permits",
		verify: limiterConcurrent,
	}, {
		name:   "cancellation",
		text:   "a call whose context has ended returns, at most the limit is granted, and a Hold that returned nil applies",
		verify: limiterCancelled,
	}, {
		name:   "shared-data",
		needs:  needsSharing,
		text:   "all handles count together and share holds, also those that are opened later",
		verify: limiterShared,
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, each call returns an error by the deadline of its context",
		verify: limiterHangs,
	},
}

type limiterTrial = trial[lookleap.Limiter]

// limiterScript are the calls of one handle.
type limiterScript struct {
	*limiterTrial
	limiter lookleap.Limiter
}

func openLimiter(r *limiterTrial) limiterScript {
	r.Helper()
	return limiterScript{r, r.open()}
}

func (s limiterScript) take(key string, rate lookleap.Rate) time.Duration {
	s.Helper()
	return s.waitOf("Take", func(ctx context.Context) (time.Duration, error) { return s.limiter.Take(ctx, key, rate) })
}

func (s limiterScript) wait(key string, rate lookleap.Rate) time.Duration {
	s.Helper()
	return s.waitOf("Wait", func(ctx context.Context) (time.Duration, error) { return s.limiter.Wait(ctx, key, rate) })
}

func (s limiterScript) hold(key string, d time.Duration) {
	s.Helper()
	s.must(s.attempt(func(ctx context.Context) error { return s.limiter.Hold(ctx, key, d) }), "Hold")
}

func (s limiterScript) waitOf(name string, call func(context.Context) (time.Duration, error)) (wait time.Duration) {
	s.Helper()
	err := s.attempt(func(ctx context.Context) (err error) {
		wait, err = call(ctx)
		return err
	})
	s.must(err, name)
	return wait
}

// granted checks that the next n uses are granted and that the one after them is not.
func (s limiterScript) granted(n int, key string, rate lookleap.Rate) {
	s.Helper()
	for i := range n {
		if wait := s.take(key, rate); wait != 0 {
			s.broken("use %d of %d of %s has to wait %v", i+1, n, shown(key), wait)
		}
	}
	if wait := s.take(key, rate); wait <= rate.Window*9/10 || wait > rate.Window {
		s.broken("use %d of %s, one above the limit, has to wait %v in a window of %v", n+1, shown(key), wait, rate.Window)
	}
}

// perHour is a rate whose window does not pass during a test.
var perHour = lookleap.Rate{Limit: 3, Window: time.Hour}

func limiterLimit(r *limiterTrial) {
	s := openLimiter(r)
	s.granted(3, "key", perHour)
	s.granted(1, "single", lookleap.Rate{Limit: 1, Window: 24 * time.Hour})
	s.granted(200, "many", lookleap.Rate{Limit: 200, Window: time.Hour})
	s.granted(1, "key", lookleap.Rate{Limit: 4, Window: time.Hour})
	if wait := s.take("key", lookleap.Rate{Limit: 2, Window: time.Hour}); wait <= 0 {
		s.broken("a use was granted with a limit of 2 after 4 uses with higher limits")
	}
}

func limiterKeys(r *limiterTrial) {
	s := openLimiter(r)
	once := lookleap.Rate{Limit: 1, Window: time.Hour}
	for _, key := range awkwardKeys() {
		if wait := s.take(key, once); wait != 0 {
			s.broken("the first use of %s has to wait %v", shown(key), wait)
		}
	}
	for _, key := range awkwardKeys() {
		if wait := s.take(key, once); wait == 0 {
			s.broken("a second use of %s was granted", shown(key))
		}
	}
	for _, keys := range [][]string{{"held/a", "held/A"}, {"HELD/a", "Held/a"}, {"held\x00a", "held\x00b", "held"}, {"held/", "held"}} {
		s.hold(keys[0], time.Hour)
		for _, other := range keys[1:] {
			if wait := max(s.wait(other, perHour), s.take(other, perHour)); wait != 0 {
				s.broken("a hold of %s makes a use of %s wait %v", shown(keys[0]), shown(other), wait)
			}
		}
	}
}

func limiterWait(r *limiterTrial) {
	s := openLimiter(r)
	for range 10 {
		if wait := s.wait("key", perHour); wait != 0 {
			s.broken("Wait returned %v for a key that was not used", wait)
		}
	}
	s.granted(3, "key", perHour)
	if wait := s.wait("key", perHour); wait <= 0 || wait > time.Hour {
		s.broken("Wait returned %v for a key at its limit", wait)
	}
	before := s.take("key", perHour)
	for range 10 {
		s.take("key", perHour)
	}
	if after := s.take("key", perHour); after > before {
		s.broken("uses that were not granted made the wait longer: %v after %v", after, before)
	}
}

// staggered uses the limit at two moments, so that a use is permitted when the first of
// them leaves the window.
func (s limiterScript) staggered() {
	s.Helper()
	rate := lookleap.Rate{Limit: 2, Window: 500 * time.Millisecond}
	s.take("staggered", rate)
	first := time.Now()
	time.Sleep(rate.Window / 2)
	s.take("staggered", rate)
	asked := time.Now()
	wait := s.take("staggered", rate)
	if most := first.Add(rate.Window + rounding).Sub(asked); wait > 0 && wait > most {
		s.broken("Take returned the wait %v, and the oldest use leaves the window in %v", wait, most-rounding)
	}
}

// rounding is how much longer than necessary a wait may be.
const rounding = 100 * time.Millisecond

// limiterRolls takes as fast as it is permitted to, and compares the times of its grants.
func limiterRolls(r *limiterTrial) {
	s := openLimiter(r)
	rate := lookleap.Rate{Limit: 4, Window: 400 * time.Millisecond}
	type grant struct{ asked, granted time.Time }
	var grants []grant
	for tries := 0; len(grants) < 3*rate.Limit; tries++ {
		asked := time.Now()
		wait := s.take("key", rate)
		if wait == 0 {
			grants = append(grants, grant{asked, time.Now()})
			continue
		}
		if tries > 100 {
			s.broken("after 100 calls that waited as Take said, only %d uses were granted", len(grants))
		}
		time.Sleep(wait)
	}
	for i := rate.Limit; i < len(grants); i++ {
		if within := grants[i].granted.Sub(grants[i-rate.Limit].asked); within < rate.Window {
			s.broken("%d uses were granted within %v, and the limit is %d in %v", rate.Limit+1, within, rate.Limit, rate.Window)
		}
	}
	s.staggered()
}

func limiterHold(r *limiterTrial) {
	s := openLimiter(r)
	s.hold("key", time.Hour)
	for _, shorter := range []time.Duration{time.Second, 0, -2 * time.Hour} {
		s.hold("key", shorter)
	}
	for _, rate := range []lookleap.Rate{perHour, {}} {
		if wait := s.take("key", rate); wait < 59*time.Minute || wait > time.Hour {
			s.broken("after a hold of an hour, and shorter ones, Take returned the wait %v", wait)
		}
		if wait := s.wait("key", rate); wait < 59*time.Minute || wait > time.Hour {
			s.broken("after a hold of an hour, and shorter ones, Wait returned %v", wait)
		}
	}
	s.hold("long", 48*time.Hour)
	if wait := s.take("long", perHour); wait <= 47*time.Hour || wait > 48*time.Hour {
		s.broken("after a hold of 48 hours, Take returned the wait %v", wait)
	}
	s.granted(3, "used", perHour)
	s.hold("used", time.Millisecond)
	if wait := s.take("used", perHour); wait < 50*time.Minute {
		s.broken("after a short hold of a key at its limit, Take returned the wait %v", wait)
	}
	if wait := s.take("other", perHour); wait != 0 {
		s.broken("a hold of another key makes a use wait %v", wait)
	}
	s.hold("none", 0)
	s.hold("none", -time.Hour)
	if wait := s.take("none", perHour); wait != 0 {
		s.broken("a hold of no time makes a use wait %v", wait)
	}
	s.hold("short", 200*time.Millisecond)
	for tries := 0; ; tries++ {
		wait := s.take("short", perHour)
		if wait == 0 {
			break
		}
		if wait > 200*time.Millisecond || tries > 20 {
			s.broken("a hold of 200 ms makes a use wait %v, %d times", wait, tries+1)
		}
		time.Sleep(wait)
	}
}

func limiterNoRate(r *limiterTrial) {
	s := openLimiter(r)
	for range 50 {
		if wait := s.take("key", lookleap.Rate{}); wait != 0 {
			s.broken("Take returned the wait %v for a zero Rate", wait)
		}
	}
}

func limiterConcurrent(r *limiterTrial) {
	s := openLimiter(r)
	for round := range 10 {
		s.limitTogether(fmt.Sprint("round-", round), s.limiter)
	}
}

// limitTogether takes from many goroutines at the same moment.
func (s limiterScript) limitTogether(key string, handles ...lookleap.Limiter) {
	s.Helper()
	const callers, limit = 24, 7
	waits := make([]time.Duration, callers)
	for i, err := range s.together(callers, func(ctx context.Context, i int) (err error) {
		waits[i], err = handles[i%len(handles)].Take(ctx, key, lookleap.Rate{Limit: limit, Window: time.Hour})
		return err
	}) {
		if err != nil {
			s.broken("caller %d returned the error %q", i, err)
		}
	}
	granted := 0
	for _, wait := range waits {
		if wait == 0 {
			granted++
		}
	}
	if granted != limit {
		s.broken("%d of %d concurrent uses were granted, and the limit is %d", granted, callers, limit)
	}
}

func limiterCancelled(r *limiterTrial) {
	s := openLimiter(r)
	granted := 0
	for range 5 {
		var wait time.Duration
		err := r.attemptIn(cancelled(), func(ctx context.Context) (err error) {
			wait, err = s.limiter.Take(ctx, "key", perHour)
			return err
		})
		if errors.Is(err, errHung) {
			s.broken("%v", err)
		}
		if err == nil && wait == 0 {
			granted++
		}
	}
	for range 5 {
		if s.take("key", perHour) == 0 {
			granted++
		}
	}
	if granted > perHour.Limit {
		s.broken("%d uses were granted, and the limit is %d", granted, perHour.Limit)
	}
	err := r.attemptIn(cancelled(), func(ctx context.Context) error { return s.limiter.Hold(ctx, "held", time.Hour) })
	if errors.Is(err, errHung) {
		s.broken("Hold: %v", err)
	}
	if wait := s.take("held", perHour); err == nil && wait < 50*time.Minute {
		s.broken("Hold returned no error, and then Take the wait %v", wait)
	}
}

func limiterShared(r *limiterTrial) {
	one, two := openLimiter(r), openLimiter(r)
	for i, s := range []limiterScript{one, two, one} {
		if wait := s.take("key", perHour); wait != 0 {
			s.broken("use %d of 3 has to wait %v", i+1, wait)
		}
	}
	if wait := two.take("key", perHour); wait == 0 {
		two.broken("the handles count separately: a fourth use was granted")
	}
	one.hold("held", time.Hour)
	if wait := two.take("held", perHour); wait < 59*time.Minute {
		two.broken("the hold of another handle makes a use wait %v instead of an hour", wait)
	}
	one.limitTogether("together", one.limiter, two.limiter)
	after := openLimiter(r)
	for _, key := range []string{"key", "held", "together"} {
		if wait := after.take(key, perHour); wait == 0 {
			after.broken("a handle that was opened later granted a use of %s", shown(key))
		}
	}
}

func limiterHangs(r *limiterTrial) {
	s := openLimiter(r)
	resume := r.engine.Hang(r.TB)
	for name, call := range map[string]func(context.Context) error{
		"Take": func(ctx context.Context) error { _, err := s.limiter.Take(ctx, "key", perHour); return err },
		"Wait": func(ctx context.Context) error { _, err := s.limiter.Wait(ctx, "key", perHour); return err },
		"Hold": func(ctx context.Context) error { return s.limiter.Hold(ctx, "other", time.Hour) },
	} {
		if err := s.attempt(call); err == nil || errors.Is(err, errHung) {
			resume()
			s.broken("%s returned %v", name, err)
		}
	}
	resume()
	if wait := s.take("after", perHour); wait != 0 {
		s.broken("after the back end answered again, a first use has to wait %v", wait)
	}
}
