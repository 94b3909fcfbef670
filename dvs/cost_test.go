package dvs_test

import (
	"runtime"
	"testing"
)

// maxCost is what reading a hostile document of a mebibyte may take in octets of
// memory, garbage included: some 17 MiB, and room for what others in this process
// take.
const maxCost = 48 << 20

// checkCost holds what f does to maxCost. What goes back and forth over its input
// leaves garbage at every turn; the time is for the benchmarks, since a busy
// machine takes any.
func checkCost(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > maxCost {
		t.Errorf("%d MiB were allocated, and %d is the most", used>>20, maxCost>>20)
	}
}
