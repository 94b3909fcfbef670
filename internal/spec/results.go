package spec

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	registerID = regexp.MustCompile(`^(WK|AGT|DVS|AIU|ANML)-([0-9][0-9.]*|[A-Z])-[0-9]{2}$`)
	likeID     = regexp.MustCompile(`^(WK|AGT|DVS|AIU|ANML)-([0-9]|[A-Z]-)|^[A-P][0-9]{2}$`) // what a misspelt id looks like
	attackID   = regexp.MustCompile(`^[A-P][0-9]{2}$`)
	repetition = regexp.MustCompile(`#[0-9]+$`) // what go test adds to a name that is taken
)

// Test names one test or subtest.
type Test struct {
	Package string // import path
	Name    string // TestName/sub/sub, as go test prints it
}

// outcome is how a test ended; of several runs the greatest counts.
type outcome int

const (
	skipped outcome = iota
	passed
	failed
)

// Results are the outcomes of tests, from any number of runs and modules.
type Results struct {
	outcomes map[Test]outcome
}

// maxLine bounds a line of test output, in bytes.
const maxLine = 64 << 20

// Len counts the tests that ended.
func (r *Results) Len() int { return len(r.outcomes) }

// Read adds the output of "go test -json" (go doc test2json). Lines that are no
// JSON are the go command's own and are passed over.
func (r *Results) Read(in io.Reader) error {
	if r.outcomes == nil {
		r.outcomes = make(map[Test]outcome)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var event struct{ Action, Package, Test string }
		if bytes.Contains(lines.Bytes(), []byte(`"Action":"output"`)) || json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		end, ok := map[string]outcome{"skip": skipped, "pass": passed, "fail": failed}[event.Action]
		if !ok || event.Test == "" {
			continue
		}
		test := Test{event.Package, event.Test}
		r.outcomes[test] = max(end, r.outcomes[test])
	}
	return lines.Err()
}

// Evidence is what the tests say about one id. The lists are sorted.
type Evidence struct {
	Passed  []Test // leaf tests
	Failed  []Test // tests of any level
	Skipped []Test // leaf tests
}

// holds reports whether the id is shown.
func (e *Evidence) holds() bool { return e != nil && len(e.Passed) > 0 && len(e.Failed) == 0 }

// evidence collects what the tests say about each id in their names.
func (r *Results) evidence() map[string]*Evidence {
	parents := r.parents()
	found := make(map[string]*Evidence)
	for _, test := range r.tests() {
		steps := steps(test.Name)
		for i, step := range steps {
			counts := attackID.MatchString(step)
			if registerID.MatchString(step) {
				counts = i+1 < len(steps) && (strings.HasPrefix(steps[i+1], "accept") || strings.HasPrefix(steps[i+1], "reject"))
			} else if !counts {
				continue
			}
			e := found[step]
			if e == nil {
				e = &Evidence{}
				found[step] = e
			}
			switch leaf := !parents[test]; {
			case r.outcomes[test] == failed:
				e.Failed = append(e.Failed, test)
			case leaf && counts && r.outcomes[test] == passed:
				e.Passed = append(e.Passed, test)
			case leaf && counts:
				e.Skipped = append(e.Skipped, test)
			}
		}
	}
	return found
}

// unknown returns what looks like the id of a requirement or attack case and is
// none: the id and one test that uses it.
func (r *Results) unknown(known func(id string) bool) []string {
	found := make(map[string]Test)
	for _, test := range r.tests() {
		for _, step := range steps(test.Name) {
			if _, again := found[step]; likeID.MatchString(step) && !known(step) && !again {
				found[step] = test
			}
		}
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(found)) {
		list = append(list, fmt.Sprintf("%s in %s %s", id, found[id].Package, found[id].Name))
	}
	return list
}

// tests returns all tests in order.
func (r *Results) tests() []Test {
	return slices.SortedFunc(maps.Keys(r.outcomes), func(a, b Test) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Name, b.Name))
	})
}

// parents returns the tests that have subtests.
func (r *Results) parents() map[Test]bool {
	parents := make(map[Test]bool)
	for test := range r.outcomes {
		for name := test.Name; ; {
			slash := strings.LastIndexByte(name, '/')
			if slash < 0 {
				break
			}
			name = name[:slash]
			parents[Test{test.Package, name}] = true
		}
	}
	return parents
}

// steps splits a test's name, without the numbers that go test adds.
func steps(name string) []string {
	steps := strings.Split(name, "/")
	for i, step := range steps {
		steps[i] = repetition.ReplaceAllString(step, "")
	}
	return steps
}
