package spec

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

const notShown = "no test shows it"

// Check compares the registers with the results, and the pages as they should be
// (see Pages) with those in docs. It returns one line for each problem: a test
// named by an id that does not exist, a row of a complete package or an attack case
// that no test shows, an exclusion that a test contradicts, and a page that is not current. If
// tests of rows were skipped, because a suite or a server is not there, a page that
// differs is only a note.
func (s *Spec) Check(r *Results, want map[string][]byte, docs fs.FS) (problems, notes []string) {
	known := s.ids()
	for _, use := range r.unknown(func(id string) bool { return slices.Contains(known, id) }) {
		problems = append(problems, "no requirement or attack case has the id "+use)
	}
	evidence := r.evidence()
	for _, register := range s.Registers {
		for _, row := range register.Requirements {
			status, behind := s.status(&row, evidence[row.ID])
			switch {
			case status == Missing && slices.Contains(s.Complete, row.Package):
				problems = append(problems, fmt.Sprintf("%s (%s, package %s): %s", row.ID, row.Level, row.Package, cmp.Or(behind, notShown)))
			case status == Passed && s.Excluded[row.ID] != "":
				problems = append(problems, fmt.Sprintf("%s is excluded, but shown by %s: take it out of excluded.tsv", row.ID, behind))
			}
		}
	}
	for _, attack := range s.Attacks {
		row := attack.row()
		if status, behind := s.status(&row, evidence[row.ID]); status == Missing {
			problems = append(problems, fmt.Sprintf("%s (attack case): %s", row.ID, cmp.Or(behind, notShown)))
		}
	}
	skipped := 0
	for _, e := range evidence {
		skipped += len(e.Skipped)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		now, err := fs.ReadFile(docs, name)
		switch {
		case bytes.Equal(now, want[name]):
		case skipped > 0 && err == nil:
			notes = append(notes, fmt.Sprintf("docs/%s is not compared: %d tests of rows were skipped", name, skipped))
		default:
			problems = append(problems, "docs/"+name+" is not current: write it from the results of all tests")
		}
	}
	return problems, notes
}
