package spec

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Check compares the registers with the results, and the pages as they should be
// (see Pages) with those in docs. It returns one line for each problem: a test
// named by an id that does not exist, a row of a complete package that no test
// shows, an exclusion that a test contradicts, and a page that is not current.
func (s *Spec) Check(r *Results, want map[string][]byte, docs fs.FS) []string {
	var problems []string
	known := s.ids()
	for _, use := range r.unknown(func(id string) bool { return slices.Contains(known, id) }) {
		problems = append(problems, "no requirement or attack case has the id "+use)
	}
	evidence := r.evidence()
	for _, register := range s.Registers {
		for _, row := range register.Requirements {
			status, behind := s.status(row.ID, evidence[row.ID])
			switch {
			case status == Missing && slices.Contains(s.Complete, row.Package):
				if behind == "" {
					behind = "no test shows it"
				}
				problems = append(problems, fmt.Sprintf("%s (%s, package %s): %s", row.ID, row.Level, row.Package, behind))
			case status == Passed && s.Excluded[row.ID] != "":
				problems = append(problems, fmt.Sprintf("%s is excluded, but shown by %s: take it out of excluded.tsv", row.ID, behind))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if now, _ := fs.ReadFile(docs, name); !bytes.Equal(now, want[name]) {
			problems = append(problems, "docs/"+name+" is not current: write it from the results of all tests"+s.skippedNote(evidence))
		}
	}
	return problems
}

// skippedNote counts the tests of rows that were skipped. They are why a page
// differs on a machine without all suites and servers.
func (s *Spec) skippedNote(evidence map[string]*Evidence) string {
	count := 0
	for _, e := range evidence {
		count += len(e.Skipped)
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d tests of rows were skipped: are all suites there?)", count)
}
