package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	{"limit", "Take grants the limit of the Rate that it is called with, " +
		"and then returns the wait until the oldest use leaves the window", "", ofLimiter(limiterScript.limits)},
	{"keys-with-each-byte", "two keys that differ in one byte are counted separately", "",
		ofLimiter(limiterScript.distinctKeys)},
	{"wait-counts-nothing", "Wait returns what Take would and counts nothing, " +
		"and a Take that is not granted counts nothing", "", ofLimiter(limiterScript.waits)},
	{"window-rolls", "in no window are more uses granted than the limit, and a use is granted after the wait " +
		"that Take returned, which is no longer than it must be", "", ofLimiter(limiterScript.rolls)},
	{"hold", "Hold permits no use for its time, never shortens a hold, forgets no use, " +
		"and applies to a zero Rate too", "", ofLimiter(limiterScript.holds)},
	{"no-rate", "the zero Rate permits any number of uses", "", ofLimiter(func(s limiterScript) {
		for range 50 {
			s.waitsFor(0, 0, "key", lookleap.Rate{})
		}
	})},
	{"concurrent-use", "of concurrent calls of Take exactly as many are granted as the limit permits", "",
		ofLimiter(func(s limiterScript) {
			for round := range 10 {
				s.limitsTogether(fmt.Sprint("round-", round), s)
			}
		})},
	{"cancellation", "a call whose context has ended returns, at most the limit is granted, " +
		"and a Hold that returned nil applies", "", ofLimiter(limiterScript.cancelled)},
	{"shared-data", "all handles count together and share holds, also those that are opened later", needsSharing,
		ofLimiter(limiterScript.shares)},
	{"back-end-hangs", "while the back end hangs, each call returns an error by the deadline of its context", needsHang,
		ofLimiter(limiterScript.hangs)},
}

type limiterTrial = trial[lookleap.Limiter]

// limiterScript are the calls of one handle.
type limiterScript struct {
	*limiterTrial
	lookleap.Limiter
}

func ofLimiter(verify func(limiterScript)) func(*limiterTrial) {
	return func(r *limiterTrial) { verify(limiterScript{r, r.open()}) }
}

func (s limiterScript) take(key string, rate lookleap.Rate) time.Duration {
	s.Helper()
	wait, err := attempt(&s.probe, func(ctx context.Context) (time.Duration, error) { return s.Take(ctx, key, rate) })
	s.must(err, "Take")
	return wait
}

func (s limiterScript) wait(key string, rate lookleap.Rate) time.Duration {
	s.Helper()
	wait, err := attempt(&s.probe, func(ctx context.Context) (time.Duration, error) { return s.Wait(ctx, key, rate) })
	s.must(err, "Wait")
	return wait
}

func (s limiterScript) hold(key string, d time.Duration) {
	s.Helper()
	s.must(s.do(func(ctx context.Context) error { return s.Hold(ctx, key, d) }), "Hold")
}

// waitsFor checks that a use of a key has to wait for at least and at most so long.
func (s limiterScript) waitsFor(least, most time.Duration, key string, rate lookleap.Rate) {
	s.Helper()
	if wait := s.take(key, rate); wait < least || wait > most {
		s.broken("a use of %s has to wait %v, and not between %v and %v", shown(key), wait, least, most)
	}
}

// granted checks that the next n uses are granted and that the one after them is not.
func (s limiterScript) granted(n int, key string, rate lookleap.Rate) {
	s.Helper()
	for range n {
		s.waitsFor(0, 0, key, rate)
	}
	s.waitsFor(rate.Window*9/10, rate.Window, key, rate)
}

// perHour is a rate whose window does not pass during a test.
var perHour = lookleap.Rate{Limit: 3, Window: time.Hour}

func (s limiterScript) limits() {
	s.granted(3, "key", perHour)
	s.granted(1, "single", lookleap.Rate{Limit: 1, Window: 24 * time.Hour})
	s.granted(200, "many", lookleap.Rate{Limit: 200, Window: time.Hour})
	s.granted(1, "key", lookleap.Rate{Limit: 4, Window: time.Hour})
	s.waitsFor(1, time.Hour, "key", lookleap.Rate{Limit: 2, Window: time.Hour})
}

func (s limiterScript) distinctKeys() {
	once := lookleap.Rate{Limit: 1, Window: time.Hour}
	for _, key := range awkwardKeys() {
		s.waitsFor(0, 0, key, once)
	}
	for _, key := range awkwardKeys() {
		s.waitsFor(1, time.Hour, key, once)
	}
	for _, keys := range [][]string{
		{"held/a", "held/A"}, {"HELD/a", "Held/a"}, {"held\x00a", "held\x00b", "held"}, {"held/", "held"},
	} {
		s.hold(keys[0], time.Hour)
		for _, other := range keys[1:] {
			if wait := max(s.wait(other, perHour), s.take(other, perHour)); wait != 0 {
				s.broken("a hold of %s makes a use of %s wait %v", shown(keys[0]), shown(other), wait)
			}
		}
	}
}

func (s limiterScript) waits() {
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
		s.waitsFor(1, before, "key", perHour)
	}
}

// rounding is how much longer than necessary a wait may be.
const rounding = 100 * time.Millisecond

// rolls takes as fast as it is permitted to, and compares the times of its grants.
func (s limiterScript) rolls() {
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
	// The first of two uses at different moments leaves the window, and then another one is permitted.
	rate = lookleap.Rate{Limit: 2, Window: 500 * time.Millisecond}
	s.take("staggered", rate)
	first := time.Now()
	time.Sleep(rate.Window / 2)
	s.take("staggered", rate)
	s.waitsFor(0, max(0, time.Until(first.Add(rate.Window+rounding))), "staggered", rate)
}

func (s limiterScript) holds() {
	for _, d := range []time.Duration{time.Hour, time.Second, 0, -2 * time.Hour} { // the first one counts
		s.hold("key", d)
	}
	for _, rate := range []lookleap.Rate{perHour, {}} {
		s.waitsFor(59*time.Minute, time.Hour, "key", rate)
		if wait := s.wait("key", rate); wait < 59*time.Minute || wait > time.Hour {
			s.broken("after a hold of an hour, and shorter ones, Wait returned %v", wait)
		}
	}
	s.hold("long", 48*time.Hour)
	s.waitsFor(47*time.Hour, 48*time.Hour, "long", perHour)
	s.granted(3, "used", perHour)
	s.hold("used", time.Millisecond)
	s.waitsFor(50*time.Minute, time.Hour, "used", perHour)
	s.waitsFor(0, 0, "other", perHour)
	s.hold("none", 0)
	s.hold("none", -time.Hour)
	s.waitsFor(0, 0, "none", perHour)
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

// limitsTogether takes from many goroutines at the same moment.
func (s limiterScript) limitsTogether(key string, handles ...limiterScript) {
	s.Helper()
	waits := make([]time.Duration, 24)
	const limit = 7
	s.together(len(waits), func(ctx context.Context, i int) (err error) {
		waits[i], err = handles[i%len(handles)].Take(ctx, key, lookleap.Rate{Limit: limit, Window: time.Hour})
		return err
	})
	granted := slices.DeleteFunc(waits, func(wait time.Duration) bool { return wait != 0 })
	if len(granted) != limit {
		s.broken("%d of %d concurrent uses were granted, and the limit is %d", len(granted), len(waits), limit)
	}
}

func (s limiterScript) cancelled() {
	granted := 0
	for range 5 {
		wait, err := attemptIn(&s.probe, cancelled(), func(ctx context.Context) (time.Duration, error) {
			return s.Take(ctx, "key", perHour)
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
	_, err := attemptIn(&s.probe, cancelled(), func(ctx context.Context) (any, error) {
		return nil, s.Hold(ctx, "held", time.Hour)
	})
	if errors.Is(err, errHung) {
		s.broken("Hold: %v", err)
	}
	if wait := s.take("held", perHour); err == nil && wait < 50*time.Minute {
		s.broken("Hold returned no error, and then Take the wait %v", wait)
	}
}

func (s limiterScript) shares() {
	two := limiterScript{s.limiterTrial, s.open()}
	for _, handle := range []limiterScript{s, two, s} {
		handle.waitsFor(0, 0, "key", perHour)
	}
	two.waitsFor(1, time.Hour, "key", perHour)
	s.hold("held", time.Hour)
	two.waitsFor(59*time.Minute, time.Hour, "held", perHour)
	s.limitsTogether("together", s, two)
	later := limiterScript{s.limiterTrial, s.open()}
	for _, key := range []string{"key", "held", "together"} {
		later.waitsFor(1, time.Hour, key, perHour)
	}
}

func (s limiterScript) hangs() {
	resume := s.engine.Hang(s.TB)
	for name, call := range map[string]func(context.Context) error{
		"Take": func(ctx context.Context) error { _, err := s.Take(ctx, "key", perHour); return err },
		"Wait": func(ctx context.Context) error { _, err := s.Wait(ctx, "key", perHour); return err },
		"Hold": func(ctx context.Context) error { return s.Hold(ctx, "other", time.Hour) },
	} {
		if err := s.do(call); err == nil || errors.Is(err, errHung) {
			resume()
			s.broken("%s returned %v", name, err)
		}
	}
	resume()
	s.waitsFor(0, 0, "after", perHour)
}
