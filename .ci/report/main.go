// Report reads the output of "go test -json" from standard input. It prints the
// output of what failed, one line for each package, one line in total, and one
// line that begins with "skipped:" for each reason for which tests were skipped.
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
	output := make(map[string][]string) // what a test printed, until it has ended
	skips := make(map[string]int)       // tests by the reason for which they were skipped
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
		if e.Action == "skip" && e.Test != "" {
			skips[reason(output[e.Package+" "+e.Test])]++
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
	for _, reason := range slices.Sorted(maps.Keys(skips)) {
		fmt.Printf("skipped: %d tests: %s\n", skips[reason], reason)
	}
	if err := lines.Err(); err != nil || total.failed > 0 || total.passed == 0 {
		os.Exit(1)
	}
}

// reason returns what a test said when it was skipped, without the place in the source.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		place, text, found := strings.Cut(strings.TrimSpace(line), ": ")
		if found && strings.Contains(place, ".go:") {
			return text
		}
	}
	return "no reason given"
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
