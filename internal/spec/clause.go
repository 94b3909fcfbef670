package spec

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Clause is one of the things that a requirement or attack case expects, and the leaf tests that show it.
type Clause struct {
	Name   string   // a, b, …
	Leaves []string // patterns of the names of leaf tests, such as reject-other-port or accept-*
	Text   string
}

// clauseCell matches a clause in a cell of the column expected.
var clauseCell = regexp.MustCompile(`^([a-z]) \[((?:accept|reject)[^\] ]*(?: (?:accept|reject)[^\] ]*)*)\] (\S.*)$`)

// parseClauses splits the column expected. Free text has none.
func parseClauses(expected string) ([]Clause, error) {
	if !strings.HasPrefix(expected, "a [") {
		return nil, nil
	}
	var clauses []Clause
	for i, cell := range strings.Split(expected, " | ") {
		parts := clauseCell.FindStringSubmatch(cell)
		name := string(rune('a' + i))
		if parts == nil || parts[1] != name {
			return nil, fmt.Errorf("%q is not the clause %s: write %s [accept-name reject-name] text", cell, name, name)
		}
		leaves := strings.Fields(parts[2])
		for _, leaf := range leaves {
			if _, err := path.Match(leaf, ""); err != nil {
				return nil, fmt.Errorf("clause %s: %q is not a pattern", name, leaf)
			}
		}
		clauses = append(clauses, Clause{name, leaves, parts[3]})
	}
	return clauses, nil
}

// unshown returns what the passed tests of a row do not show: a line for each clause with a pattern
// that no leaf test matches.
func (r *Requirement) unshown(tests []Test) []string {
	var leaves []string
	for _, test := range tests {
		leaves = append(leaves, leafOf(test.Name, r.ID))
	}
	var missing []string
	for _, c := range r.Clauses {
		for _, pattern := range c.Leaves {
			matches := func(leaf string) bool { ok, _ := path.Match(pattern, leaf); return ok }
			if !slices.ContainsFunc(leaves, matches) {
				missing = append(missing, fmt.Sprintf("clause %s: no test %s passed", c.Name, pattern))
			}
		}
	}
	return missing
}

// leafOf returns the step of a test's name after an id, without the number that go test adds.
func leafOf(name, id string) string {
	steps := steps(name)
	if i := slices.Index(steps, id); i >= 0 && i+1 < len(steps) {
		return steps[i+1]
	}
	return ""
}
