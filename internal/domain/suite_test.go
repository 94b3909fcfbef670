package domain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suite reads a file of a test suite that others wrote. Without the suite the test is skipped.
func suite(t *testing.T, name ...string) []byte {
	t.Helper()
	root := os.Getenv("LOOKLEAP_SUITES")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for !exists(filepath.Join(dir, "go.mod")) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
		root = filepath.Join(dir, "..", "shared", "suites")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{root}, name...)...))
	if err != nil {
		t.Skipf("the suite is absent (LOOKLEAP_SUITES names its directory): %v", err)
	}
	return data
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// urlCase is an entry of the URL data of web-platform-tests; the data also has plain strings as
// comments.
type urlCase struct {
	Input    string  `json:"input"`
	Base     *string `json:"base"`
	Failure  bool    `json:"failure"`
	Protocol string  `json:"protocol"`
	Hostname string  `json:"hostname"`
	Port     string  `json:"port"`
	Pathname string  `json:"pathname"`
	Search   string  `json:"search"`
}

func readSuite[T any](t *testing.T, name ...string) []T {
	t.Helper()
	var entries []json.RawMessage
	if err := json.Unmarshal(suite(t, name...), &entries); err != nil {
		t.Fatal(err)
	}
	var cases []T
	for _, entry := range entries {
		var c T
		if entry[0] != '{' {
			continue
		}
		if err := json.Unmarshal(entry, &c); err != nil {
			t.Fatalf("%s: %v", entry, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// asHTTPS rewrites an http URL, so that cases about URLs with a host also reach the rules for
// https.
func asHTTPS(s string) string {
	if len(s) >= 5 && strings.EqualFold(s[:5], "http:") {
		return "https:" + s[5:]
	}
	return s
}

// Nothing that browsers refuse, or read as a URL of another host, comes out as canonical.
func TestSuiteURL(t *testing.T) {
	cases := readSuite[urlCase](t, "wpt-url", "urltestdata.json")
	lenient := Rules{Schemes: []string{"https", "http", "ws", "wss"}, AllowIP: true, AllowSpecial: true}
	for _, run := range []struct {
		name  string
		rules Rules
		https bool
	}{
		{"strict", Rules{}, false},
		{"strict-as-https", Rules{}, true},
		{"lenient", lenient, false},
		{"lenient-as-https", lenient, true},
	} {
		t.Run(run.name, func(t *testing.T) {
			var refused, accepted, failures int
			for _, c := range cases {
				if run.https {
					c.Input, c.Protocol = asHTTPS(c.Input), asHTTPS(c.Protocol)
				}
				var u URL
				var err error
				if c.Base == nil {
					u, err = run.rules.Parse(c.Input)
				} else {
					base := *c.Base
					if run.https {
						base = asHTTPS(base)
					}
					var b URL
					if b, err = lenient.Parse(base); err == nil {
						u, err = run.rules.Resolve(b, c.Input)
					} else {
						u, err = run.rules.Parse(c.Input)
					}
				}
				if c.Failure {
					failures++
				}
				if err != nil {
					refused++
					continue
				}
				accepted++
				if c.Failure {
					t.Errorf("%q (base %v): a failure there, %s here", c.Input, c.Base, u)
					continue
				}
				port := c.Port
				if port == "443" && u.Scheme() == "https" {
					port = ""
				}
				if port != "" {
					port = ":" + port
				}
				if theirs := c.Protocol + "//" + c.Hostname + port; theirs != u.Origin() && !(run.https && u.Port() == 80) {
					t.Errorf("%q: origin %s there, %s here", c.Input, theirs, u.Origin())
				}
				if path, err := canonicalPath(c.Pathname, 0, false); err != nil || path != u.Path() {
					t.Errorf("%q: path %s there, %s here", c.Input, c.Pathname, u.Path())
				}
				query := strings.ReplaceAll(u.RawQuery(), "'", "%27") // browsers escape an apostrophe, RFC 3986 allows it
				if c.Search != strings.TrimSuffix("?"+query, "?") {
					t.Errorf("%q: query %s there, %s here", c.Input, c.Search, u.RawQuery())
				}
			}
			t.Logf("%d cases: %d failures there; here %d refused, %d accepted with the same origin, path and query", len(cases), failures, refused, accepted)
			if accepted == 0 || refused < failures {
				t.Errorf("the run shows nothing")
			}
		})
	}
}

// What IDNA makes of a host is what browsers make of it, or it is refused.
func TestSuiteToASCII(t *testing.T) {
	cases := readSuite[struct {
		Input  string  `json:"input"`
		Output *string `json:"output"`
	}](t, "wpt-url", "toascii.json")
	rules := Rules{AllowSpecial: true}
	var refused, accepted, failures int
	for _, c := range cases {
		if c.Output == nil {
			failures++
		}
		host, err := rules.ParseHost(c.Input)
		switch {
		case err != nil:
			refused++
		case c.Output == nil:
			t.Errorf("%q: a failure there, %s here", c.Input, host)
		case host != *c.Output:
			t.Errorf("%q: %s there, %s here", c.Input, *c.Output, host)
		default:
			accepted++
		}
	}
	t.Logf("%d cases: %d failures there; here %d refused, %d accepted with the same result", len(cases), failures, refused, accepted)
}

func TestSuitePublicSuffix(t *testing.T) {
	data := string(suite(t, "psl", "tests.txt"))
	rules := Rules{AllowSpecial: true}
	count := 0
	for line := range strings.Lines(data) {
		input, want, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(input, "//") {
			continue
		}
		count++
		got := "null"
		if host, err := rules.ParseHost(input); err == nil {
			if domain, ok := Registrable(host); ok {
				got = domain
			}
		}
		if want != "null" {
			host, err := rules.ParseHost(want) // some expectations are U-labels
			if err != nil {
				t.Fatal(err)
			}
			want = host
		}
		if got != want {
			t.Errorf("%s: registrable domain %s, want %s", input, got, want)
		}
	}
	if count == 0 {
		t.Error("no cases")
	}
	t.Logf("%d cases", count)
}
