package spec

import (
	"strings"
	"testing"
	"testing/fstest"
)

// clausesOf returns the small spec with the column expected of WK-1-01.
func clausesOf(expected string) (*Spec, error) {
	files := small()
	text := string(files["registers/wellknown.tsv"].Data)
	files["registers/wellknown.tsv"] = &fstest.MapFile{Data: []byte(strings.Replace(text, "a [accept*] x -> y", expected, 1))}
	return load(files)
}

func TestClauses(t *testing.T) {
	s, err := clausesOf("a [accept-plain reject-port*] one | b [reject-host] two")
	if err != nil {
		t.Fatal(err)
	}
	const other = "pass wellknown TestURL/WK-A-01/reject"
	at := func(leaf string) string { return "pass wellknown TestURL/WK-1-01/" + leaf }
	all := []string{other, at("accept-plain"), at("reject-port-80"), at("reject-host")}
	for name, test := range map[string]struct {
		lines []string
		want  string // part of the problem
	}{
		"shown":               {all, ""},
		"more-tests":          {append(all, at("accept-more")), ""},
		"below-the-leaf":      {append(all[:3:3], at("reject-host/one")), ""},
		"no-accept":           {append([]string{other}, all[2:]...), "WK-1-01 (MUST, package wellknown): clause a: no test accept-plain passed"},
		"no-reject":           {[]string{other, all[1], all[3]}, "clause a: no test reject-port* passed"},
		"second-clause":       {all[:3], "clause b: no test reject-host passed"},
		"other-side":          {append(all[:3:3], at("accept-host")), "clause b: no test reject-host passed"},
		"longer-name":         {append(all[:3:3], at("reject-hosts")), "clause b: no test reject-host passed"},
		"of-another-row":      {append(all[:3:3], "pass wellknown TestURL/WK-A-01/reject-host"), "clause b: no test reject-host passed"},
		"skipped":             {append(all[:3:3], "skip wellknown TestURL/WK-1-01/reject-host"), "clause b: no test reject-host passed"},
		"shown-and-one-fails": {append(all, "fail wellknown TestURL/WK-1-01/reject-host/two"), "fails"},
	} {
		t.Run(name, func(t *testing.T) {
			problems, _ := s.Check(results(t, append(test.lines, attacksShown...)...), nil, fstest.MapFS{})
			if got := strings.Join(problems, "\n"); (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	page := string(s.Pages(results(t, all...), nil)["conformance/wellknown.md"])
	if !strings.Contains(page, "* a. one (`accept-plain reject-port*`)\n* b. two (`reject-host`)\n") {
		t.Error(page)
	}
}

func TestClausesRefused(t *testing.T) {
	for _, expected := range []string{
		"a -> b", "", "See a [1]", // only an excluded row has none
		"a [accept-x]", "a [] text", "a [passes] text", "a [accept-x text", "a [accept-x] one | c [reject-y] two", "a [accept-x] one | two", "a [accept-[] text",
	} {
		if _, err := clausesOf(expected); err == nil {
			t.Errorf("%q is accepted", expected)
		}
	}
}
