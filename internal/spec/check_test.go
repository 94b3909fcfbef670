package spec

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// attacksShown are results that show each attack case of the small spec.
var attacksShown = []string{"pass fetch TestFetch/A01/reject-host", "pass fetch TestFetch/A02/reject", "pass fetch TestFetch/F01/reject"}

func TestCheck(t *testing.T) {
	shown := []string{"pass wellknown TestURL/WK-1-01/accept", "pass wellknown TestURL/WK-A-01/reject"}
	for _, test := range []struct {
		name  string
		lines []string
		page  string // stands for docs/conformance/dvs.md; "" is the page of these results
		want  []string
	}{
		{"all-is-well", shown, "", nil},
		{"other-packages-may-miss-a-must", append(shown, "pass dvs TestRoot"), "", nil},
		{"missing-must", shown[1:], "", []string{"WK-1-01 (MUST, package wellknown): no test shows it"}},
		{"missing-should", shown[:1], "", []string{"WK-A-01 (SHOULD, package wellknown): no test shows it"}},
		{"skipped", append(shown[:1:1], "skip wellknown TestURL/WK-A-01/reject"), "", []string{"WK-A-01 (SHOULD, package wellknown): no test shows it"}},
		{"failing", append(shown, "fail wellknown TestURL/WK-1-01/reject"), "", []string{"WK-1-01 (MUST, package wellknown): fails: `wellknown.TestURL`: `reject`"}},
		{"unknown-id", append(shown, "pass dvs TestRoot/DVS-9-01/accept"), "", []string{"no requirement or attack case has the id DVS-9-01 in " + modulePath + "/dvs TestRoot/DVS-9-01/accept"}},
		{"excluded-and-shown", append(shown, "pass dvs TestRoot/WK-1-02/accept"), "", []string{"WK-1-02 is excluded, but shown by `dvs.TestRoot`: `accept`: take it out of excluded.tsv"}},
		{"stale", shown, "# Old\n", []string{"docs/conformance/dvs.md is not current: write it from the results of all tests"}},
		{"stale-for-skips", append(shown, "skip dvs TestRoot/DVS-3.1-04/accept", "skip dvs TestRoot/A01/accept"), "# Old\n",
			[]string{"note: docs/conformance/dvs.md is not compared: 2 tests of rows were skipped"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, r := loadSmall(t), results(t, append(test.lines, attacksShown...)...)
			pages, docs := s.Pages(r, nil), fstest.MapFS{}
			for name, text := range pages {
				docs[name] = &fstest.MapFile{Data: text}
			}
			if test.page != "" {
				docs["conformance/dvs.md"] = &fstest.MapFile{Data: []byte(test.page)}
			}
			got, notes := s.Check(r, pages, docs)
			for _, note := range notes {
				got = append(got, "note: "+note)
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("the problems are %q, want %q", got, test.want)
			}
		})
	}
}

func TestCheckOfAttacks(t *testing.T) {
	shown := []string{"pass wellknown TestURL/WK-1-01/accept", "pass wellknown TestURL/WK-A-01/reject"}
	for name, test := range map[string]struct {
		line string
		want string
	}{
		"missing":        {"pass fetch TestFetch", "A01 (attack case): no test shows it"},
		"another-clause": {"pass fetch TestFetch/A01/reject-port", "A01 (attack case): clause a: no test reject-host passed"},
		"failing":        {"fail fetch TestFetch/A01/reject-host", "A01 (attack case): fails: `fetch.TestFetch`: `reject-host`"},
	} {
		t.Run(name, func(t *testing.T) {
			problems, _ := loadSmall(t).Check(results(t, slices.Concat(shown, attacksShown[1:], []string{test.line})...), nil, fstest.MapFS{})
			if strings.Join(problems, "\n") != test.want {
				t.Errorf("the problems are %q, want %q", problems, test.want)
			}
		})
	}
}

func TestCheckReportsAbsentPages(t *testing.T) {
	s, r := loadSmall(t), results(t, append(attacksShown, "pass wellknown TestURL/WK-1-01/accept", "pass wellknown TestURL/WK-A-01/reject")...)
	pages := s.Pages(r, nil)
	if problems, _ := s.Check(r, pages, fstest.MapFS{}); len(pages) != 8 || len(problems) != len(pages) {
		t.Errorf("%d pages, problems %q", len(pages), problems)
	}
}
