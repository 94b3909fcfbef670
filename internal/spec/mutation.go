package spec

import (
	_ "embed"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// mutationScores is written by internal/mutate.
//
//go:embed mutation.tsv
var mutationScores string

const mutationIntro = `
## Broken on purpose

A test that cannot fail proves nothing. So [internal/mutate](../internal/mutate) breaks the deciding files in small ways,
and the tests of the package run against each mutant. *Noticed* is the share of the mutants at which a test failed, among
those that change the behaviour. Files that were not measured say nothing about their tests.

| package | deciding files | measured | mutants run | noticed | not run |
|---|--:|--:|--:|--:|--:|
`

// mutations sums up the mutants of one package.
type mutations struct {
	files, measured           int
	killed, survived, leftOut int
}

// mutationTable returns the section about mutants of docs/conformance.md: the packages in
// the order of the scores.
func mutationTable(scores string) (string, error) {
	var order []string
	packages := make(map[string]*mutations)
	var missing []string
	for line := range strings.Lines(scores) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if fields[0] == "" || strings.HasPrefix(fields[0], "#") {
			continue
		}
		dir := path.Dir(fields[0])
		m := packages[dir]
		if m == nil {
			m = new(mutations)
			packages[dir], order = m, append(order, dir)
		}
		m.files++
		if len(fields) == 1 {
			missing = append(missing, code(fields[0]))
			continue
		}
		if len(fields) != 7 {
			return "", fmt.Errorf("mutation.tsv: %s has %d fields instead of 7", fields[0], len(fields))
		}
		var numbers [5]int
		for i, field := range fields[2:] {
			n, err := strconv.Atoi(field)
			if err != nil {
				return "", fmt.Errorf("mutation.tsv: %s: %w", fields[0], err)
			}
			numbers[i] = n
		}
		m.measured++
		m.killed += numbers[0]
		m.survived += numbers[1]
		m.leftOut += numbers[4]
	}
	var b strings.Builder
	b.WriteString(mutationIntro)
	for _, dir := range order {
		m := packages[dir]
		noticed := "not measured"
		if all := m.killed + m.survived; all > 0 {
			noticed = strconv.Itoa(100*m.killed/all) + " %"
		}
		if dir == "." {
			dir = "lookleap"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %d |\n", code(dir), m.files, m.measured, m.killed+m.survived, noticed, m.leftOut)
	}
	if len(missing) > 0 {
		fmt.Fprintf(&b, "\nNot measured: %s.\n", strings.Join(missing, ", "))
	}
	return b.String(), nil
}
