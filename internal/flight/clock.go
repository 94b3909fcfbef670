package flight

import (
	"math"
	"sync/atomic"
	"time"
)

// Clock reads a time source that may be set back while the process runs, so that what has expired
// stays expired. After a small step back, a Clock stands still until the source has caught up. A
// larger one counts as a step: do not trust what was remembered before it. A Clock is safe for
// concurrent use.
type Clock struct {
	source    func() time.Time
	stepped   func(back time.Duration)
	tolerance time.Duration
	latest    atomic.Int64 // Unix time in milliseconds
	steps     atomic.Uint64
}

// jitter is how far the source may go back by default before that counts as a step.
const jitter = time.Second

// CorrectionTolerance is the tolerance for what users agreed to. Time services correct a clock
// that drifts, or a machine that slept, by seconds; to ask users again because of that protects no
// one. A whole minute counts as a step.
const CorrectionTolerance = time.Minute - time.Second

// NewClock returns a Clock that reads source. After each step it calls stepped, which may be nil,
// with how far the source went back.
func NewClock(source func() time.Time, stepped func(back time.Duration)) *Clock {
	return NewTolerantClock(jitter, source, stepped)
}

// NewTolerantClock is [NewClock] for a Clock that stands still if its source goes back by up to
// tolerance.
func NewTolerantClock(tolerance time.Duration, source func() time.Time, stepped func(back time.Duration)) *Clock {
	c := &Clock{source: source, stepped: stepped, tolerance: tolerance}
	c.latest.Store(math.MinInt64)
	return c
}

// Now returns the source's time, or the latest time that it returned if the source went back by no
// more than the tolerance: a second by default.
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
			c.steps.Add(1) // first, so that a caller that sees the new time also sees the step
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

// Steps returns how often Now saw a step back. Do not trust what was remembered under another
// count.
func (c *Clock) Steps() uint64 { return c.steps.Load() }
