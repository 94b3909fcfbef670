package anmltrust

import (
	"sync/atomic"
	"time"
)

// clock is the Host's time as a verifier sees it: it never runs backwards, so
// that what has expired stays expired (docs/trust-procedure.md, at the end).
type clock struct {
	source func() time.Time
	latest atomic.Int64 // Unix time in nanoseconds
	warn   func(back time.Duration)
}

// grain is how finely the clock is kept: coarser than readers on several cores
// come, so that they do not fight for one word of memory.
const grain = int64(time.Millisecond)

// maxBackstep is how far a clock may be set back without a finding.
const maxBackstep = 5 * time.Minute

func (c *clock) now() time.Time {
	t := c.source()
	n := t.UnixNano()
	for {
		latest := c.latest.Load()
		switch {
		case n > latest+grain:
			if !c.latest.CompareAndSwap(latest, n) {
				continue
			}
		case n < latest:
			if back := time.Duration(latest - n); back > maxBackstep && c.warn != nil {
				c.warn(back)
			}
			return time.Unix(0, latest).UTC()
		}
		return t
	}
}
