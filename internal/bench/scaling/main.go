// Command scaling measures how processor time grows with hostile input, for the functions that read
// what others wrote. It fills texts with repeated pieces, runs each reader at two sizes, and fails if
// the time grows faster than n^1.25 or takes more than 100 ns a byte.
//
//	go run ./scaling [-quick] [-run regexp]
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// The limits of docs/performance.md ("No input may be slow").
const (
	maxExponent  = 1.25
	maxNsPerByte = 100
	leastTime    = 500 * time.Microsecond // a shorter processor time proves nothing
)

// reader is a function that reads what others wrote.
type reader struct {
	name   string
	inputs []input
	// prepare returns what is measured. It is called for each run.
	prepare func(text []byte) (work func())
	scale   int  // the inputs are so many times larger, because the fixed cost is large; 0: 1
	slow    bool // the measuring costs more than what is measured, so the time per byte says nothing
}

// input is a text in any size: n is the number of its repeated pieces.
type input struct {
	name string
	make func(n int) []byte
}

func main() {
	run := flag.String("run", "", "only readers and inputs that match")
	quick := flag.Bool("quick", false, "small sizes, and no limit on the time per byte")
	flag.Parse()
	only, bytes, failed, measured := regexp.MustCompile(*run), 4<<10, 0, 0
	if *quick {
		bytes = 2 << 10
	}
	for _, r := range readers() {
		for _, in := range r.inputs {
			if name := r.name + " " + in.name; only.MatchString(name) {
				measured++
				perByte := !*quick && !r.slow
				if m := measure(r, in, bytes, perByte); m.exceeds(perByte) {
					failed++
					fmt.Printf("%s: n^%.2f, %.1f ns/B, %d B in %v\n", name, m.exponent(), m.nsPerByte(), m.size[1], m.took[1])
				}
			}
		}
	}
	fmt.Printf("%d inputs measured, %d beyond the limits\n", measured, failed)
	if failed > 0 || measured == 0 {
		os.Exit(1)
	}
}

// measurement is the least processor time of a reader at two sizes.
type measurement struct {
	size [2]int // bytes
	took [2]time.Duration
}

// growth is how many times larger the second size is.
const growth = 8

// measure runs a reader on an input. A measurement beyond the limits is repeated, and then at larger
// sizes: noise and steps in the cost disappear there, and slowness stays.
func measure(r reader, in input, bytes int, perByte bool) (m measurement) {
	n := max(8, bytes*max(1, r.scale)*64/max(1, len(in.make(64))))
	for attempt := range 5 {
		small, large := in.make(n), in.make(growth*n)
		m.size = [2]int{len(small), len(large)}
		m.took = [2]time.Duration{least(r, small, 2+attempt), least(r, large, 1+attempt)}
		if !m.exceeds(perByte) {
			break
		}
		if attempt > 0 {
			n *= 2
		}
	}
	return m
}

func (m *measurement) exponent() float64 {
	if m.size[1] < 4*m.size[0] { // the input does not grow
		return 0
	}
	return math.Log(float64(m.took[1])/float64(m.took[0])) / math.Log(float64(m.size[1])/float64(m.size[0]))
}

func (m *measurement) nsPerByte() float64 {
	return float64(m.took[1]-m.took[0]) / float64(m.size[1]-m.size[0]+1)
}

func (m *measurement) exceeds(perByte bool) bool {
	return m.took[1] >= leastTime && (m.exponent() > maxExponent || perByte && m.nsPerByte() > maxNsPerByte)
}

// least returns the least processor time of some runs. The garbage collector stands still
// meanwhile: it starts at some size of the heap, which would look like growth.
func least(r reader, text []byte, runs int) time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	best := time.Duration(math.MaxInt64)
	for range runs {
		work := r.prepare(text)
		runtime.GC()
		begin := processor()
		work()
		best = min(best, max(processor()-begin, time.Microsecond))
	}
	return best
}

// processor returns the processor time of this process.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// repeated is a text in which a piece stands n times in the place of the NUL, with its number in the
// places of %d.
func repeated(text, piece, between string) input {
	return input{fmt.Sprintf("%.24q %q", text, piece), func(n int) []byte {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(strings.ReplaceAll(piece, "%d", fmt.Sprint(i)))
		}
		return []byte(strings.Replace(text, nul, b.String(), 1))
	}}
}

// nul marks the place in a text that is filled.
const nul = "\x00"

// letters are pieces that any text can be full of.
var letters = []string{"a", "a%d", " ", "\t", "\n", "\r\n", "a b ", "é", "ﷺ", "e\u0301", "\u202e", "\U000e0041", "\x00", "\xff", "%41", "%", "%252e", "../", "./", "/", "//",
	"\\", ".", "-", "--", "_", ":", "::", "@", "#", "?", "&", "=", ";", ",", "a,", "a=b;", "\"", "\\\"", "'", "<", "<a", "</", "<!--", "-->", "(", ")", "[", "]", "[]", "](", "![", "{", "}",
	"*", "**", "*a", "`", "```", "~~~\n", "|", "^", "$", "> ", "- ", "1. ", "\t- ", "xn--", "a.", "A", "0", "9", "1e", "%d", "%d.", "%d:", "null", "true,", "\"a\":", "\"a%d\":1,"}

// filled are texts full of each of the letters.
func filled(texts ...string) (list []input) {
	for _, text := range texts {
		for _, piece := range letters {
			list = append(list, repeated(text, piece, ""))
		}
	}
	return list
}

// with are a text full of each of some pieces.
func with(text, between string, pieces ...string) (list []input) {
	for _, piece := range pieces {
		list = append(list, repeated(text, piece, between))
	}
	return list
}
