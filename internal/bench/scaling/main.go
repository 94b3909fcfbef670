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
)

func main() {
	run := flag.String("run", "", "only targets that match")
	only := flag.String("family", "", "only families that match")
	octets := flag.Int("octets", 16<<10, "size of the smallest input")
	all := flag.Bool("all", false, "print what is within the bounds too")
	flag.Parse()
	targetNames, familyNames := regexp.MustCompile(*run), regexp.MustCompile(*only)
	failed, count := 0, 0
	for _, t := range targets() {
		var worst result
		for _, f := range t.families {
			if !targetNames.MatchString(t.name) || !familyNames.MatchString(f.name) {
				continue
			}
			r := measure(t, f, *octets)
			if count++; r.failed(t) {
				failed++
				fmt.Println("SLOW", &r)
			} else if *all {
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
	if failed > 0 {
		os.Exit(1)
	}
}
