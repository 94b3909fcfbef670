package lookleaptest

import (
	"context"
	"sync"
	"time"
)

// Clock is the clock of an internet: the system's time (in a bubble of testing/synctest,
// that of the bubble) until a test sets or stops it.
type Clock struct {
	mu      sync.Mutex
	offset  time.Duration
	frozen  time.Time     // zero while the clock runs
	changed chan struct{} // closed, and replaced, when the clock is set
}

func newClock() *Clock { return &Clock{changed: make(chan struct{})} }

// Now returns the time in UTC. It can be used as the Now field of options.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time {
	if !c.frozen.IsZero() {
		return c.frozen
	}
	return time.Now().Add(c.offset).UTC()
}

// Advance moves the clock; d may be negative.
func (c *Clock) Advance(d time.Duration) {
	c.set(func(now time.Time) time.Time { return now.Add(d) })
}

// Set sets the clock. It runs on from there, unless it is stopped.
func (c *Clock) Set(t time.Time) {
	c.set(func(time.Time) time.Time { return t })
}

func (c *Clock) set(to func(time.Time) time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := to(c.now()).Round(0).UTC()
	if c.frozen.IsZero() {
		c.offset = time.Until(t)
	} else {
		c.frozen = t
	}
	c.wake()
}

// Freeze stops the clock. Only Advance and Set move it from then on.
func (c *Clock) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = c.now().Round(0)
	c.wake()
}

func (c *Clock) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// sleep waits until the clock has advanced by d or ctx ends.
func (c *Clock) sleep(ctx context.Context, d time.Duration) error {
	until := c.Now().Add(d)
	for {
		c.mu.Lock()
		left, frozen, changed := until.Sub(c.now()), !c.frozen.IsZero(), c.changed
		c.mu.Unlock()
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		expired := timer.C
		if frozen {
			expired = nil
		}
		select {
		case <-ctx.Done():
		case <-expired:
		case <-changed:
		}
		timer.Stop()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
