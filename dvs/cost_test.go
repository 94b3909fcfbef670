package dvs_test

import (
	"testing"
	"time"
)

// checkCost holds what f does to some processor time, with an attempt more for a
// busy machine and much more time under the race detector.
func checkCost(t *testing.T, most time.Duration, f func()) {
	t.Helper()
	most *= raceFactor
	took := most + 1
	for attempt := 0; attempt < 3 && took > most; attempt++ {
		start := processorTime()
		f()
		took = min(took, processorTime()-start)
	}
	if took > most {
		t.Errorf("took %v, and %v is the most", took, most)
	}
}
