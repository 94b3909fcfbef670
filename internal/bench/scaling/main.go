// Command scaling measures how processor time grows with hostile input, for every
// exported function that reads what others wrote. It runs each function at several
// sizes and prints, for each, the largest exponent of the growth and the largest time
// per byte. It fails if one is beyond its limit.
//
//	go run ./scaling [-quick] [-run regexp] [-family regexp] [-bytes n] [-ns n] [-all] [-profile file]
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime/pprof"
	"strings"
	"time"
)

func main() {
	var o options
	run := flag.String("run", "", "only targets that match")
	only := flag.String("family", "", "only families that match")
	flag.BoolVar(&o.quick, "quick", false, "small sizes, pairs of elements with two targets only, and no limit on the time per byte")
	flag.IntVar(&o.bytes, "bytes", 0, "size of the smallest input; 0: 4096, or 2048 with -quick")
	flag.Float64Var(&o.limits.nsPerByte, "ns", maxNsPerByte, "largest time per byte, in nanoseconds; 0: no limit")
	flag.BoolVar(&o.all, "all", false, "print every result")
	profile := flag.String("profile", "", "write a profile of the processor to this file")
	flag.Parse()
	o.targets, o.families = regexp.MustCompile(*run), regexp.MustCompile(*only)
	o.limits.exponent = maxExponent
	if o.quick || o.limits.nsPerByte == 0 {
		o.limits.nsPerByte = math.Inf(1)
	}
	if o.bytes == 0 {
		o.bytes = 4 << 10
		if o.quick {
			o.bytes = 2 << 10
		}
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	failed := measureAll(o)
	pprof.StopCPUProfile()
	if failed > 0 {
		os.Exit(1)
	}
}

// options are the flags of the program.
type options struct {
	quick, all        bool
	bytes             int
	targets, families *regexp.Regexp
	limits            limits
}

// measures reports whether a family is measured with a target. Pairs of elements are
// most of the families; the quick setting measures them with the two targets that compare
// elements with one another, so that a run is short.
func (o *options) measures(t target, f family) bool {
	pairs := strings.Contains(f.name, "pair/")
	return o.families.MatchString(f.name) && !(o.quick && pairs && t.name != "anml.ParseXML" && t.name != "anml.Findings")
}

// suspect is an input that was beyond the limits. It is measured again after all others:
// what another program did to the caches of the processor has ended then.
type suspect struct {
	target target
	family family
	fixed  time.Duration
}

// measureAll prints a row for each target, and each result that is beyond the limits.
func measureAll(o options) (failed int) {
	fmt.Printf("%-26s %6s  %-6s %-44s %-10s %-44s %s\n", "function", "inputs", "growth", "with", "ns/B", "with", "measured in")
	count := 0
	var suspects []suspect
	for _, t := range targets() {
		if !o.targets.MatchString(t.name) {
			continue
		}
		begin := time.Now()
		fixed := fixedCost(t)
		var steepest, slowest result
		inputs := 0
		for _, f := range t.families {
			if !o.measures(t, f) {
				continue
			}
			r := measure(t, f, o.bytes, fixed, o.limits)
			inputs++
			if r.exceeds(t, o.limits) {
				suspects = append(suspects, suspect{t, f, fixed})
				continue
			}
			if o.all {
				fmt.Println("    ", &r)
			}
			if r.took[sizes-1] < leastTime {
				continue
			}
			if r.exponent > steepest.exponent {
				steepest = r
			}
			if r.nsPerByte > slowest.nsPerByte {
				slowest = r
			}
		}
		count += inputs
		fmt.Printf("%-26s %6d  n^%.2f %-44s %-10.1f %-44s %v\n", t.name, inputs, steepest.exponent, steepest.family,
			slowest.nsPerByte, slowest.family, time.Since(begin).Round(time.Second/10))
	}
	for _, s := range suspects {
		if r := measure(s.target, s.family, o.bytes, s.fixed, o.limits); r.exceeds(s.target, o.limits) {
			failed++
			fmt.Println("SLOW", &r)
		} else {
			fmt.Println("     within the limits at the second look:", &r)
		}
	}
	fmt.Println(count, "inputs measured,", failed, "beyond the limits")
	return failed
}
