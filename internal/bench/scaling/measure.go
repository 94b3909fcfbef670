package main

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"time"
)

// target is something that reads what others wrote.
type target struct {
	name     string
	covers   []string // exported functions and methods that it calls, as package.Name or package.Type.Name
	families []family
	// prepare makes what is measured from an input. It is called for each run.
	prepare func(input []byte) (work func())
	scale   int  // its inputs are so many times larger, because it has a large fixed cost; 0: 1
	slow    bool // the measuring costs more than what is measured, so the time per byte says nothing
}

// The limits of performance.md ("No input may be slow").
const (
	maxExponent  = 1.25
	maxNsPerByte = 100
)

// sizes is how many sizes of input are measured: n, 2n, 4n and 8n.
const sizes = 4

// leastTime is the shortest processor time that proves anything.
const leastTime = 500 * time.Microsecond

// result is the measurement of one target with one family.
type result struct {
	target, family string
	inputs         [sizes][]byte
	took           [sizes]time.Duration // the least of several runs
	exponent       float64              // of the size, in the growth of the time
	nsPerByte      float64              // at the largest size, without the fixed cost of the target
}

// processor returns the processor time of this process, including the garbage collector.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fixedCost returns what a target costs with an input of one piece.
func fixedCost(t target) time.Duration {
	return leastOf(t, t.families[0].make(1), 5)
}

// measure runs a target on inputs of a family, of which the smallest has at least a
// number of bytes. Most are fast at the first look, at two sizes. The others are
// measured at four sizes, several times and then larger: noise passes and slowness stays.
func measure(t target, f family, bytes int, fixed time.Duration, limits limits) result {
	n := 64
	if size := len(f.make(n)) / n; size > 0 {
		n = max(8, bytes*max(1, t.scale)/size)
	}
	r := newResult(t, f, n)
	r.took[0], r.took[sizes-1] = leastOf(t, r.inputs[0], 2), leastOf(t, r.inputs[sizes-1], 1)
	r.fit(fixed, 0, sizes-1)
	if !r.exceeds(t, limits) {
		return r
	}
	// A step in the cost, such as a table that grows or a limit from which on something else
	// is done, disappears at larger sizes.
	for _, larger := range []int{1, 4, 16} {
		r = newResult(t, f, larger*n)
		r.repeat(t, fixed, limits)
		if !r.exceeds(t, limits) {
			break
		}
	}
	return r
}

func newResult(t target, f family, n int) result {
	r := result{target: t.name, family: f.name}
	for i := range r.inputs {
		r.inputs[i] = f.make(n << i)
		r.took[i] = math.MaxInt64
	}
	return r
}

// repeat measures at all sizes until the result is within the limits, four times at most.
func (r *result) repeat(t target, fixed time.Duration, limits limits) {
	for attempt := range 4 {
		for i, input := range r.inputs {
			runtime.GC()
			r.took[i] = min(r.took[i], leastOf(t, input, 2+2*attempt))
		}
		r.fit(fixed, 0, 1, 2, 3)
		if !r.exceeds(t, limits) {
			return
		}
	}
}

// leastOf returns the least processor time of some runs: of fewer if they take long.
func leastOf(t target, input []byte, runs int) time.Duration {
	least, spent := time.Duration(math.MaxInt64), time.Duration(0)
	for i := 0; i < runs && spent < time.Second/2; i++ {
		work := t.prepare(input)
		begin := processor()
		work()
		took := processor() - begin
		least = min(least, max(took, time.Microsecond))
		spent += took
	}
	return least
}

// fit computes the exponent from the times at some of the sizes, by least squares.
func (r *result) fit(fixed time.Duration, at ...int) {
	var x, y, xx, xy float64
	for _, i := range at {
		a, b := math.Log(float64(len(r.inputs[i]))), math.Log(float64(r.took[i]))
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	if n := float64(len(at)); len(r.inputs[sizes-1]) > 4*len(r.inputs[0]) { // some images in JSON do not grow
		r.exponent = (n*xy - x*y) / (n*xx - x*x)
	}
	r.nsPerByte = float64(max(0, r.took[sizes-1]-fixed)) / float64(len(r.inputs[sizes-1]))
}

// limits says what makes a result fail.
type limits struct{ exponent, nsPerByte float64 }

// exceeds reports whether a result is beyond the limits.
func (r *result) exceeds(t target, limits limits) bool {
	if r.took[sizes-1] < leastTime {
		return false
	}
	return r.exponent > limits.exponent || !t.slow && r.nsPerByte > limits.nsPerByte
}

func (r *result) String() string {
	return fmt.Sprintf("%-26s %-50s n^%.2f %7.1f ns/B %8d B %v", r.target, r.family, r.exponent, r.nsPerByte,
		len(r.inputs[sizes-1]), r.took[sizes-1].Round(time.Microsecond))
}
