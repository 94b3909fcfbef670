// Report reads the output of "go test -json" from standard input and prints the
// output of what failed, one line for each package, and one line in total.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// event is one line of "go test -json" (go doc test2json), as far as it is needed.
type event struct {
	Action  string
	Package string // "" where a build failed
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// count is how many tests, subtests included, ended in which way.
type count struct {
	passed, failed, skipped int
	elapsed                 float64
	verdict                 string // of the package
}

func main() {
	packages := make(map[string]*count)
	output := make(map[string][]string) // what a test printed, until it has passed
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text()) // not JSON: the go command itself
			continue
		}
		if e.Package == "" {
			fmt.Print(e.Output)
			continue
		}
		c := packages[e.Package]
		if c == nil {
			c = &count{}
			packages[e.Package] = c
		}
		c.take(e, output)
	}
	total := count{}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		c := packages[name]
		fmt.Printf("%-4s  %6.1f s  %s  %s\n", c.verdict, c.elapsed, c, name)
		total.passed += c.passed
		total.failed += c.failed
		total.skipped += c.skipped
		if c.verdict == "FAIL" && c.failed == 0 {
			total.failed++ // it did not build, or ended before its tests did
		}
	}
	fmt.Println(total)
	if err := lines.Err(); err != nil || total.failed > 0 || total.passed == 0 {
		os.Exit(1)
	}
}

func (c *count) take(e event, output map[string][]string) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		output[key] = append(output[key], e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if e.Action == "fail" {
		fmt.Print(strings.Join(output[key], ""))
	}
	delete(output, key)
	if e.Test == "" {
		c.elapsed = e.Elapsed
		c.verdict = map[string]string{"pass": "ok", "fail": "FAIL", "skip": "none"}[e.Action]
		return
	}
	switch e.Action {
	case "pass":
		c.passed++
	case "fail":
		c.failed++
	case "skip":
		c.skipped++
	}
}

func (c count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}
