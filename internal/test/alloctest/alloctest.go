// Package alloctest bounds the memory that a piece of work takes.
package alloctest

import (
	"math"
	"runtime"
	"testing"
)

// attempts is how often work is measured before it counts as too expensive.
const attempts = 10

// AtMost fails the test if f allocates more than most bytes, garbage included. The runtime
// counts for the whole process, where servers and the end of other tests allocate too: f is
// called again until one call stays within the bound. Under the race detector f is called once and
// not measured: it makes pools, such as those of package regexp, forget what they hold.
func AtMost(t testing.TB, most int, f func()) {
	t.Helper()
	if Race {
		f()
		return
	}
	least := uint64(math.MaxUint64)
	for range attempts {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if least = min(least, after.TotalAlloc-before.TotalAlloc); least <= uint64(most) {
			return
		}
	}
	t.Errorf("at least %d KiB were allocated, and %d KiB is the most", least>>10, most>>10)
}

// CheckEstimate calls load ten times, which returns a value and an estimate of its memory in bytes.
// It fails the test if the values use more than twice of what is estimated.
func CheckEstimate(t testing.TB, load func() (value any, estimated int)) {
	t.Helper()
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	var kept [10]any
	before, estimated := heap(), 0
	for i := range kept {
		value, n := load()
		kept[i] = value
		estimated += n
	}
	if used := heap() - before; used > 2*estimated {
		t.Errorf("%d bytes are estimated, %d are used", estimated, used)
	}
	runtime.KeepAlive(kept)
}
