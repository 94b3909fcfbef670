package flight

import (
	"math"
	"sync/atomic"
	"time"
)

// Clock is a time source that may be set back while a process runs. What has
// ended by a Clock does not come back: a small step back is waited out, and a
// larger one counts as a step, which makes everything doubtful that was
// remembered before it. A Clock is safe for concurrent use.
type Clock struct {
	source    func() time.Time
	stepped   func(back time.Duration)
	tolerance time.Duration
	latest    atomic.Int64 // Unix time in milliseconds
	steps     atomic.Uint64
}

// jitter is how far the source may go back without a step by default: Now stands
// still until the source has caught up.
const jitter = time.Second

// CorrectionTolerance is how far a clock may be set back without what users agreed
// to being forgotten. Time services correct a clock that drifts, or a machine that
// slept, by seconds. Asking users again because of that protects no one: a Clock
// with this tolerance stands still until its source has caught up. A whole minute
// counts as a step.
const CorrectionTolerance = time.Minute - time.Second

// NewClock returns a Clock that reads source. It calls stepped, which may be
// nil, after each step with how far the clock went back.
func NewClock(source func() time.Time, stepped func(back time.Duration)) *Clock {
	return NewTolerantClock(jitter, source, stepped)
}

// NewTolerantClock is [NewClock] for a Clock that waits out steps back of up to
// tolerance.
func NewTolerantClock(tolerance time.Duration, source func() time.Time, stepped func(back time.Duration)) *Clock {
	c := &Clock{source: source, stepped: stepped, tolerance: tolerance}
	c.latest.Store(math.MinInt64)
	return c
}

// Now returns the source's time, or the latest one seen if the source went back
// by no more than is tolerated: a second by default.
func (c *Clock) Now() time.Time {
	t := c.source()
	// Milliseconds, so that readers on several cores rarely write. UnixNano would
	// overflow in 2262, and a Host whose clock fails is in the year 9999.
	n := t.UnixMilli()
	for {
		latest := c.latest.Load()
		switch {
		case n == latest:
			return t
		case n > latest:
			if c.latest.CompareAndSwap(latest, n) {
				return t
			}
		case latest-n <= c.tolerance.Milliseconds():
			return time.UnixMilli(latest).In(t.Location())
		default:
			c.steps.Add(1) // first, so that who sees the new time sees the step too
			if !c.latest.CompareAndSwap(latest, n) {
				continue
			}
			if c.stepped != nil {
				c.stepped(time.UnixMilli(latest).Sub(t))
			}
			return t
		}
	}
}

// Steps counts the steps back that Now has seen. What was remembered under
// another count is doubtful.
func (c *Clock) Steps() uint64 { return c.steps.Load() }
