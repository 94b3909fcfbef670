package agentstxt

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestRobotsDecisions: the reason of each kind of decision by a robots.txt file.
func TestRobotsDecisions(t *testing.T) {
	rules := "User-agent: *\nDisallow: /x\nAllow: /x/y\nDisallow: /z*w\nDisallow: /dir/*$\n"
	f := ParseRobots([]byte(rules), "ExampleBot")
	long := "/x" + strings.Repeat("a", maxRobotsPath-2)
	for _, c := range []struct {
		name    string
		f       *RobotsFile
		path    string
		allowed bool
		code    lookleap.Code
		line    int
	}{
		{"accept-no-file", nil, "/x", true, CodeNoPolicy, 0},
		{"accept-missing-file", &RobotsFile{reason: CodeNoPolicy}, "/x", true, CodeNoPolicy, 0},
		{"accept-empty-file", ParseRobots(nil, "ExampleBot"), "/x", true, CodeUnlisted, 0},
		{"reject-unreadable-file", &RobotsFile{reason: lookleap.CodeUnavailable, err: ErrUnavailable}, "/x", false, refusalCode(ErrUnavailable), 0},
		{"accept-robots-of-an-unreadable-file", &RobotsFile{reason: lookleap.CodeUnavailable, err: ErrUnavailable}, "/robots.txt", true, codePolicyFile, 0},
		{"reject-rule", f, "/x", false, CodeRobotsDisallowed, 2},
		{"reject-path-without-slash", f, "x", false, CodeRobotsDisallowed, 2},
		{"accept-longer-rule", f, "/x/y", true, CodeAllowed, 3},
		{"accept-no-rule", f, "/y", true, CodeUnlisted, 0},
		{"reject-wildcard", f, "/z1w2", false, CodeRobotsDisallowed, 4},
		{"accept-wildcard", f, "/z1", true, CodeUnlisted, 0},
		{"accept-robots", f, "/robots.txt", true, codePolicyFile, 0},
		{"reject-longest-path", f, long, false, CodeRobotsDisallowed, 2},
		{"reject-longer-path", f, long + "a", false, lookleap.CodeURLTooLong, 0},
		{"reject-longer-path-without-rule", f, "/" + strings.Repeat("b", maxRobotsPath), false, lookleap.CodeURLTooLong, 0},
	} {
		t.Run("AGT-1-01/"+c.name, func(t *testing.T) {
			if d := c.f.Decide(c.path); d.Path != c.path || d.Allowed != c.allowed || d.Code != c.code || d.Line != c.line || d.Matched != (c.line > 0) {
				t.Errorf("%.60v; want %v, %s, line %d", d, c.allowed, c.code, c.line)
			}
		})
	}
	for token, ok := range map[string]bool{"": true, "ExampleBot": true, "AI2-Bot_x": true, "Example Bot": false, "ExampleBot/1.0": false, "é": false} {
		c := NewClient(&lookleap.Host{}, Options{Robots: Robots{Tokens: []string{token}}})
		if _, err := c.Decide(t.Context(), ""); (lookleap.CodeOf(err) != lookleap.CodeUsage) != ok {
			t.Errorf("%q: %v", token, err)
		}
	}
	unreadable := &RobotsFile{err: ErrUnavailable}
	if unreadable.Err() != ErrUnavailable || (*RobotsFile)(nil).Err() != nil || f.Err() != nil {
		t.Error("the error of a file is another one")
	}
}

// TestRobotsUsage: of the statements about a path the longest counts, and of equals the strictest.
func TestRobotsUsage(t *testing.T) {
	usage := func(lines, path string) string {
		return ParseRobots([]byte("User-agent: *\nDisallow:\n"+lines), "ExampleBot").Usage(path).String()
	}
	one := func(line string) string { return usage(line+"\n", "/p/q") }
	yes, no := one("Content-Signal: ai-train=yes"), one("Content-Signal: ai-train=no")
	if yes == no {
		t.Fatal(yes)
	}
	const all = "Content-Usage: / train-ai=y\n"
	const deep = "Content-Usage: /p train-ai=n\n"
	for name, c := range map[string]struct{ lines, path, want string }{
		"longest-last":   {all + deep, "/p/q", usage(deep, "/p/q")},
		"longest-first":  {deep + all, "/p/q", usage(deep, "/p/q")},
		"elsewhere":      {deep + all, "/q", usage(all, "/q")},
		"only-elsewhere": {deep, "/q", Usage{}.String()},
		"equals":         {"Content-Usage: /p train-ai=y\n" + deep, "/p", usage(deep, "/p")},
		"equals-turned":  {deep + "Content-Usage: /p train-ai=y\n", "/p", usage(deep, "/p")},
		"none":           {"", "/p", Usage{}.String()},
	} {
		t.Run("AGT-1-01/accept-usage-"+name, func(t *testing.T) {
			if got := usage(c.lines, c.path); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if usage(all, "/p") == usage(deep, "/p") {
		t.Error("the statements do not differ")
	}
}

// TestEachReading denies a path that a server reads as a disallowed one in a single step, and
// allows its neighbours that no server reads so.
func TestEachReading(t *testing.T) {
	p := mustParse(t, Options{}, "/admin/x$ DISALLOW")
	for name, paths := range map[string][]string{
		"escape":          {"/%61dmin/x", "/admin%2Fx", "/admin%2fx"},
		"double-escape":   {"/%2561dmin/x", "/admin%252Fx"},
		"backslash":       {`/admin\x`, "/admin%5Cx", "/admin%5cx"},
		"dots":            {"/./admin/x", "/a/../admin/x", "/admin/./x", "/admin/a/%2e%2e/x"},
		"slashes":         {"//admin/x", "/admin//x", "/admin///x"},
		"authority":       {"//host/admin/x", "//host:1//admin/x"},
		"parameters":      {"/admin;a/x", "/admin/x;a=b", "/;a/admin/x"},
		"trailing-dot":    {"/admin/x.", "/admin./x", "/admin/x..."},
		"trailing-blank":  {"/admin/x%20", "/admin%20/x", "/admin/x.%20."},
		"tab":             {"/ad%09min/x", "/admin/%09x", "/admin/x%09"},
		"line-feed":       {"/ad%0Amin/x", "/admin/x%0a"},
		"carriage-return": {"/ad%0Dmin/x", "/admin/x%0d"},
		"nul":             {"/admin/x%00", "/admin/x%00.html"},
		"question-mark":   {"/admin/x%3F", "/admin/x%3fa=b"},
		"number-sign":     {"/admin/x%23", "/admin/x%23a"},
	} {
		t.Run("AGT-6-15/reject-reading-with-"+name, func(t *testing.T) {
			for _, path := range paths {
				if d := p.Decide(path); d.Allowed || d.Code != disallowed || d.Line != 2 {
					t.Errorf("%q: %v", path, d)
				}
			}
		})
	}
	t.Run("AGT-6-15/accept-without-such-a-reading", func(t *testing.T) {
		for _, path := range []string{"/admin/xy", "/admin/.x", "/admin/x%21", "/admin/%20x", "/admin/x%7F", "/admin/x%2Fy", "/admin/x/y;a", "/host//admin/y", "/ad%0Bmin/x", "/admin/x%25"} {
			if d := p.Decide(path); !d.Allowed || d.Code != unlisted {
				t.Errorf("%q: %v", path, d)
			}
		}
	})
}
