package spec

import (
	"fmt"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	s := loadSmall(t)
	page := string(s.Page(results(t,
		"pass wellknown TestURL/WK-1-01/accept-https",
		"pass wellknown TestURL/WK-1-01/reject|http`",
		"fail dvs TestRoot/DVS-3.1-04/reject-port",
		"pass dvs TestRoot/DVS-3.1-04/accept",
		"pass fetch TestFetch/A01/reject-host",
		"pass examples/mcp TestFetch/A01",
	)))
	for _, want := range []string{
		"\n* RFC 8615, Well-Known URIs: 1 passed, 1 excluded, 1 missing\n",
		"\n* Domain-Verified Skills, draft-zzn-dvs-00: 0 passed, 0 excluded, 2 missing\n* ANML",
		"\n* Attack cases: 1 passed, 2 missing\n\n## RFC 8615, Well-Known URIs\n\n| id | level | status | tests or reason |\n|---|---|---|---|\n",
		"\n| WK-1-01 | MUST | passed | `wellknown.TestURL`: `accept-https`, `reject\\|http'` |\n",
		"\n| WK-1-02 | DEF | excluded | nobody can tell |\n",
		"\n| WK-A-01 | SHOULD | missing |  |\n",
		"\n| DVS-3.1-04 | MUST NOT | missing | fails: `dvs.TestRoot`: `reject-port` |\n",
		"\n## Attack cases\n\n### URLs\n\n| id | attack | status | tests |\n|---|---|---|---|\n",
		"\n| A01 | hosts | passed | `examples/mcp.TestFetch`; `fetch.TestFetch`: `reject-host` |\n| A02 | paths | missing |  |\n",
		"\n### Fetching\n\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if want := "RFC 8615, Well-Known URIs: 1 passed, 1 excluded, 1 missing\n"; !strings.HasPrefix(s.Summary(results(t, "pass w TestURL/WK-1-01/accept")), want) {
		t.Errorf("the summary does not begin with %s", want)
	}
}

func TestManyTestsAreCounted(t *testing.T) {
	var lines []string
	for function := range 5 {
		for leaf := range 6 {
			lines = append(lines, fmt.Sprintf("pass dvs TestRoot%d/DVS-3.1-04/accept-%d", function, leaf))
		}
	}
	leaves := ": `accept-0`, `accept-1`, `accept-2`, `accept-3`, 2 more; "
	want := "| `dvs.TestRoot0`" + leaves + "`dvs.TestRoot1`" + leaves + "`dvs.TestRoot2`" + leaves + "2 more |\n"
	if page := string(loadSmall(t).Page(results(t, lines...))); !strings.Contains(page, want) {
		t.Errorf("the page has no %s", want)
	}
}

func TestRootPackage(t *testing.T) {
	if got := functionOf(Test{modulePath, "TestHost/x"}); got != "`lookleap.TestHost`" {
		t.Errorf("the root package is shown as %s", got)
	}
}
