package spec

import (
	"bytes"
	"fmt"
	"slices"
)

// Check compares the promises with the results and with the page as it stands.
// It gives one line for each problem: what looks like an id and is none, a row of
// a complete package that no test shows, an exclusion that a test contradicts,
// and a stale page.
func (s *Spec) Check(r *Results, page []byte) []string {
	var problems []string
	for _, use := range r.unknown(s.known) {
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
	if !bytes.Equal(page, s.Page(r)) {
		problems = append(problems, "docs/conformance.md is stale: write it anew from the results of all tests"+s.skippedNote(evidence))
	}
	return problems
}

func (s *Spec) known(id string) bool {
	if slices.ContainsFunc(s.Attacks, func(a Attack) bool { return a.ID == id }) {
		return true
	}
	return slices.ContainsFunc(s.Registers, func(register Register) bool {
		return slices.ContainsFunc(register.Requirements, func(r Requirement) bool { return r.ID == id })
	})
}

// skippedNote tells of tests that count and did not run, which is what makes the
// page differ where a suite is absent.
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
