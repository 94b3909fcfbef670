package spec

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// modulePath is cut from the import paths on the page.
const modulePath = "github.com/lookleap/lookleap"

// Status says whether a requirement or attack case is shown by tests.
type Status string

// The states of a row.
const (
	Passed   Status = "passed"   // leaf tests passed, and no test of the id failed
	Excluded Status = "excluded" // no test can show it, for the reason given
	Missing  Status = "missing"
)

// status gives a row's state and what stands behind it: tests, or a reason.
func (s *Spec) status(id string, e *Evidence) (Status, string) {
	switch {
	case e.holds():
		return Passed, list(e.Passed, id)
	case e != nil && len(e.Failed) > 0:
		return Missing, "fails: " + list(e.Failed, id)
	case s.Excluded[id] != "":
		return Excluded, s.Excluded[id]
	}
	return Missing, ""
}

const intro = `# Conformance

What this module promises, and the tests that show it. Each row is a requirement of one of the documents, in the
register that internal/spec holds, or an attack case.

* **passed**: leaf subtests named by the id ran and passed. ` + "`go test ./... -run '/DVS-3\\.1-04'`" + ` runs those of one row.
* **excluded**: nothing that this module does can show it, for the reason given.
* **missing**: no test shows it yet.

This page is generated from the results of the tests (see CONTRIBUTING.md); changes by hand are lost.

`

// Page gives docs/conformance.md. The same outcomes give the same octets, in
// whatever order the tests ran.
func (s *Spec) Page(r *Results) []byte {
	var page bytes.Buffer
	page.WriteString(intro)
	registers, attacks := s.tables(r)
	writeSummary(&page, "* ", registers, attacks)
	for _, t := range registers {
		fmt.Fprintf(&page, "\n## %s\n\n%s", t.title, &t.rows)
	}
	page.WriteString("\n## Attack cases\n")
	for _, t := range attacks {
		fmt.Fprintf(&page, "\n### %s\n\n%s", t.title, &t.rows)
	}
	return page.Bytes()
}

// Summary gives one line for each register, and one for the attack cases.
func (s *Spec) Summary(r *Results) string {
	var b bytes.Buffer
	registers, attacks := s.tables(r)
	writeSummary(&b, "", registers, attacks)
	return b.String()
}

func writeSummary(b *bytes.Buffer, mark string, registers, attacks []*table) {
	for _, t := range registers {
		fmt.Fprintf(b, "%s%s: %d passed, %d excluded, %d missing\n", mark, t.title, t.count[Passed], t.count[Excluded], t.count[Missing])
	}
	passed, missing := 0, 0
	for _, t := range attacks {
		passed += t.count[Passed]
		missing += t.count[Missing]
	}
	fmt.Fprintf(b, "%sAttack cases: %d passed, %d missing\n", mark, passed, missing)
}

// table is one table of the page, with the counts of its rows.
type table struct {
	title string
	rows  bytes.Buffer
	count map[Status]int
}

// tables makes a table for each register and for each group of attack cases.
func (s *Spec) tables(r *Results) (registers, attacks []*table) {
	evidence := r.evidence()
	for _, register := range s.Registers {
		t := newTable(register.Document, "id", "level", "status", "tests or reason")
		for _, row := range register.Requirements {
			status, behind := s.status(row.ID, evidence[row.ID])
			t.add(status, row.ID, row.Level, string(status), behind)
		}
		registers = append(registers, t)
	}
	for i, attack := range s.Attacks {
		if i == 0 || s.Attacks[i-1].Group != attack.Group {
			attacks = append(attacks, newTable(attack.Group, "id", "attack", "status", "tests"))
		}
		status, behind := s.status(attack.ID, evidence[attack.ID])
		attacks[len(attacks)-1].add(status, attack.ID, attack.Title, string(status), behind)
	}
	return registers, attacks
}

func newTable(title string, columns ...string) *table {
	t := &table{title: title, count: make(map[Status]int)}
	fmt.Fprintf(&t.rows, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	return t
}

func (t *table) add(status Status, cells ...string) {
	t.count[status]++
	fmt.Fprintf(&t.rows, "| %s |\n", strings.Join(cells, " | "))
}

// What a row shows of its tests, before it only counts them.
const (
	maxFunctions = 3
	maxLeaves    = 4
)

// list names tests by package and function, and the leaves below the id. The
// tests are sorted, so that those of one function follow one another.
func list(tests []Test, id string) string {
	var functions []string
	for len(tests) > 0 {
		function := functionOf(tests[0])
		var leaves []string
		for len(tests) > 0 && functionOf(tests[0]) == function {
			leaves = append(leaves, below(tests[0].Name, id))
			tests = tests[1:]
		}
		leaves = slices.DeleteFunc(leaves, func(leaf string) bool { return leaf == "" })
		if len(leaves) > 0 {
			function += ": " + short(leaves, maxLeaves, ", ")
		}
		functions = append(functions, function)
	}
	return short(functions, maxFunctions, "; ")
}

// short joins the first few items and counts the others.
func short(items []string, most int, separator string) string {
	if len(items) > most {
		items = append(items[:most:most], fmt.Sprintf("%d more", len(items)-most))
	}
	return strings.Join(items, separator)
}

// functionOf gives package and test function as the page shows them.
func functionOf(t Test) string {
	pkg, below := strings.CutPrefix(t.Package, modulePath+"/")
	if !below {
		pkg = path.Base(pkg)
	}
	name, _, _ := strings.Cut(t.Name, "/")
	return code(pkg + "." + name)
}

// below gives the part of a test's name after an id.
func below(name, id string) string {
	for i, step := range steps(name) {
		if step == id {
			rest := strings.SplitN(name, "/", i+2)
			if len(rest) == i+2 {
				return code(rest[i+1])
			}
			break
		}
	}
	return ""
}

// code marks a name as code, in a table.
func code(s string) string {
	return "`" + strings.NewReplacer("`", "'", "|", `\|`).Replace(s) + "`"
}
