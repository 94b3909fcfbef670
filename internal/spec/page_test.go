package spec

import (
	"fmt"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	pages := loadSmall(t).Pages(results(t,
		"pass wellknown TestURL/WK-1-01/accept-https",
		"pass wellknown TestURL/WK-1-01/reject|http`",
		"fail dvs TestRoot/DVS-3.1-04/reject-port",
		"pass dvs TestRoot/DVS-3.1-04/accept",
		"pass fetch TestFetch/A01/reject-host",
		"pass examples/mcp TestFetch/A01",
	), []string{"examples/mcp"})
	for name, wants := range map[string][]string{
		"conformance.md": {
			"\n| [RFC 8615, Well-Known URIs](conformance/wellknown.md) | 1 | 1 | 1 |\n",
			"\n| [Domain-Verified Skills, draft-zzn-dvs-00](conformance/dvs.md) | 0 | 0 | 2 |\n",
			"\n| [Attack cases](conformance/attacks.md) | 1 | 0 | 2 |\n| all | 2 | 1 | 5 |\n",
		},
		"conformance/wellknown.md": {
			"# RFC 8615, Well-Known URIs\n\n1 passed, 1 excluded, 1 missing. [How to read this page](../conformance.md).\n\n## Section 1\n\n### WK-1-01\n",
			"\n### WK-1-01\n\nMUST · agent · passed\n\none\n\n* a. x -> y (`accept*`)\n\n    go test ./wellknown -run '^TestURL$/^WK-1-01'\n\n`wellknown.TestURL`: `accept-https`, `reject|http'`\n",
			"\n### WK-1-02\n\nDEF · implementation · excluded\n\ntwo\n\nnobody can tell\n",
			"\n## Appendix A\n\n### WK-A-01\n\nSHOULD · service · missing\n\nthree | \"four\"\n\n* a. no (`reject`)\n",
		},
		"conformance/dvs.md": {
			"\n## Section 3.1\n\n### DVS-3.1-04\n\nMUST NOT · agent · missing\n\nfour\n\n* a. yes (`accept*`)\n\nfails: `dvs.TestRoot`: `reject-port`\n\n### DVS-3.1-05\n",
		},
		"conformance/attacks.md": {
			"\n## URLs\n\n### A01\n\nattack · passed\n\nhosts\n\n* a. no (`reject-host`)\n\n    go test -C examples/mcp -run '^TestFetch$/^A01'\n    go test ./fetch -run '^TestFetch$/^A01'\n\n" +
				"`examples/mcp.TestFetch`; `fetch.TestFetch`: `reject-host`\n\n### A02\n\nattack · missing\n\npaths\n\n* a. no (`reject`)\n\n## Fetching\n",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(string(pages[name]), want) {
				t.Errorf("%s has no %q:\n%s", name, want, pages[name])
			}
		}
	}
}

func TestSummary(t *testing.T) {
	summary := loadSmall(t).Summary(results(t, "pass w TestURL/WK-1-01/accept"))
	if want := "RFC 8615, Well-Known URIs: 1 passed, 1 excluded, 1 missing\n"; !strings.HasPrefix(summary, want) {
		t.Errorf("the summary does not begin with %s:\n%s", want, summary)
	}
}

// TestSectionsStayTogether has a section in two places of its register.
func TestSectionsStayTogether(t *testing.T) {
	page := loadSmall(t).page("x", "X", []entry{{"Section 1", "", "one", Requirement{ID: "WK-1-01"}}, {"Section 2", "", "two", Requirement{ID: "WK-1-02"}}, {"Section 1", "", "three", Requirement{ID: "WK-1-03"}}}, nil, nil)
	if text := page.text.String(); strings.Count(text, "## Section 1\n") != 1 || strings.Index(text, "three") > strings.Index(text, "two") {
		t.Error(text)
	}
}

func TestManyTestsAreCounted(t *testing.T) {
	var lines []string
	for function := range 5 {
		for leaf := range 6 {
			lines = append(lines, fmt.Sprintf("pass dvs TestRoot%d/DVS-3.1-04/accept-%d", function, leaf))
		}
	}
	leaves := ": `accept-0`, `accept-1`, `accept-2`, `accept-3`, more; "
	want := "\n`dvs.TestRoot0`" + leaves + "`dvs.TestRoot1`" + leaves + "`dvs.TestRoot2`" + leaves + "more\n"
	if page := string(loadSmall(t).Pages(results(t, lines...), nil)["conformance/dvs.md"]); !strings.Contains(page, want) {
		t.Errorf("the page has no %s", want)
	}
}

// TestPagesDoNotDependOnOrder: go test numbers repeated names in the order in which they run.
func TestPagesDoNotDependOnOrder(t *testing.T) {
	page := func(first, second string) string {
		return string(loadSmall(t).Pages(results(t, "pass dvs TestRoot/DVS-3.1-04/"+first, "pass dvs TestRoot/DVS-3.1-04#01/"+second), nil)["conformance/dvs.md"])
	}
	if a, b := page("accept-a", "accept-b"), page("accept-b", "accept-a"); a != b || !strings.Contains(a, "`accept-a`, `accept-b`") {
		t.Errorf("the pages differ:\n%s\n%s", a, b)
	}
}

func TestEscape(t *testing.T) {
	if got, want := escape("<ask> of `a_b*` & [c]\\"), "\\<ask> of \\`a\\_b\\*\\` \\& \\[c]\\\\"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRootPackage(t *testing.T) {
	if got := functionOf(Test{modulePath, "TestHost/x"}); got != "`lookleap.TestHost`" {
		t.Errorf("the root package is shown as %s", got)
	}
}
