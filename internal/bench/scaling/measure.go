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
	slow    bool // it is measured with something else, so that its time says nothing
}

// The bounds of performance.md ("No input may be slow").
const (
	mostExponent  = 1.25
	mostNsPerByte = 100
)

// result is what was found out about one target with one family.
type result struct {
	target, family string
	octets         [steps]int
	took           [steps]time.Duration // least of several runs
	exponent       float64
	nsPerByte      float64
}

// steps are the sizes: n, 2n, 4n and 8n.
const steps = 4

// processor is the processor time of this process, the garbage collector's included.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs a target on a family at four sizes, the smallest of at least so many
// octets. What looks slow is measured again: noise passes, slowness stays.
func measure(t target, f family, least int) result {
	r := result{target: t.name, family: f.name}
	n := 64
	if per := len(f.make(n)) / n; per > 0 {
		n = max(8, least/per)
	}
	r.sizes(t, f, n)
	if r.failed(t) { // a step in the cost, such as a table that grows, is over at larger sizes
		larger := result{target: t.name, family: f.name}
		larger.sizes(t, f, 4*n)
		if !larger.failed(t) || larger.exponent > r.exponent {
			return larger
		}
	}
	return r
}

// sizes measures at n, 2n, 4n and 8n pieces.
func (r *result) sizes(t target, f family, n int) {
	var inputs [steps][]byte
	for i := range inputs {
		inputs[i] = f.make(n << i)
		r.octets[i] = len(inputs[i])
		r.took[i] = math.MaxInt64
	}
	for attempt := 0; attempt < 3 && (attempt == 0 || r.failed(t)); attempt++ {
		for i, input := range inputs {
			r.took[i] = min(r.took[i], least3(t, input, attempt))
		}
		r.fit()
	}
}

// least3 is the least processor time of a few runs: fewer of what takes long.
func least3(t target, input []byte, attempt int) time.Duration {
	best, spent := time.Duration(math.MaxInt64), time.Duration(0)
	for i := 0; i < 2+4*attempt && spent < time.Second/2; i++ {
		work := t.prepare(input)
		if attempt > 0 {
			runtime.GC()
		}
		begin := processor()
		work()
		took := processor() - begin
		best = min(best, max(took, time.Microsecond))
		spent += took
	}
	return best
}

// fit finds the exponent of the power of the size with which the time grows, by
// least squares.
func (r *result) fit() {
	var x, y, xx, xy float64
	for i := range r.octets {
		a, b := math.Log(float64(r.octets[i])), math.Log(float64(r.took[i]))
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	r.exponent = (steps*xy - x*y) / (steps*xx - x*x)
	r.nsPerByte = float64(r.took[steps-1]) / float64(r.octets[steps-1])
}

// failed reports whether the result is beyond the bounds. A time that the clock
// hardly sees proves nothing.
func (r *result) failed(t target) bool {
	if r.took[steps-1] < 500*time.Microsecond {
		return false
	}
	return r.exponent > mostExponent || !t.slow && r.nsPerByte > mostNsPerByte
}

func (r *result) String() string {
	return fmt.Sprintf("%-22s %-58s %8.1f ns/B  n^%.2f  %8d B %v", r.target, r.family, r.nsPerByte, r.exponent, r.octets[steps-1], r.took[steps-1].Round(time.Microsecond))
}
