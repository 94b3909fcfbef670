package lookleaptest

import (
	"context"
	"time"

	"github.com/lookleap/lookleap/internal/lab"
)

// Clock is the clock of an internet: the system's time (in a bubble of testing/synctest,
// that of the bubble) until a test sets or stops it.
type Clock struct{ clock *lab.Clock }

// Now returns the time in UTC. It can be used as the Now field of options.
func (c *Clock) Now() time.Time { return c.clock.Now() }

// Advance moves the clock; d may be negative.
func (c *Clock) Advance(d time.Duration) { c.clock.Advance(d) }

// Set sets the clock. It runs on from there, unless it is stopped.
func (c *Clock) Set(t time.Time) { c.clock.Set(t) }

// Freeze stops the clock. Only Advance and Set move it from then on.
func (c *Clock) Freeze() { c.clock.Freeze() }

// Sleep waits until the clock has advanced by d or ctx ends.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error { return c.clock.Sleep(ctx, d) }
