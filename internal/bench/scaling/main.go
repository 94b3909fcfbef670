// Command scaling measures how processor time grows with hostile input, for every
// exported function that reads what others wrote. It runs each at four sizes,
// prints nanoseconds a byte and the exponent of the growth, and fails where
// either is beyond the bounds.
//
//	go run ./scaling [-run regexp] [-family regexp] [-octets n] [-all]
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/pprof"
)

func main() {
	run := flag.String("run", "", "only targets that match")
	only := flag.String("family", "", "only families that match")
	octets := flag.Int("octets", 4<<10, "size of the smallest input")
	all := flag.Bool("all", false, "print what is within the bounds too")
	profile := flag.String("profile", "", "write a profile of the processor to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		defer pprof.StopCPUProfile()
	}
	targetNames, familyNames := regexp.MustCompile(*run), regexp.MustCompile(*only)
	if failed := measureAll(targetNames, familyNames, *octets, *all); failed > 0 {
		pprof.StopCPUProfile()
		os.Exit(1)
	}
}

// measureAll prints what is beyond the bounds, and the slowest family of each target.
func measureAll(targetNames, familyNames *regexp.Regexp, octets int, all bool) (failed int) {
	count := 0
	for _, t := range targets() {
		var worst result
		for _, f := range t.families {
			if !targetNames.MatchString(t.name) || !familyNames.MatchString(f.name) {
				continue
			}
			r := measure(t, f, octets)
			if count++; r.failed(t) {
				failed++
				fmt.Println("SLOW", &r)
			} else if all {
				fmt.Println("    ", &r)
			}
			if r.nsPerByte > worst.nsPerByte {
				worst = r
			}
		}
		if worst.target != "" {
			fmt.Println("slowest:", &worst)
		}
	}
	fmt.Println(count, "measured,", failed, "beyond the bounds")
	return failed
}
