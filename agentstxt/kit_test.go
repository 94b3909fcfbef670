package agentstxt

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// vector is the hash line of the three directives of section 3.
const vector = "*e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a"

const vectorFile = vector + "\n/status ALLOW\n/dashboard ALLOW limit=50\n/admin DISALLOW\n"

// signed puts the right hash line before lines, whatever they are.
func signed(lines ...string) string {
	text := strings.Join(lines, "\n")
	return hashOf(text) + "\n" + text + "\n"
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "*" + hex.EncodeToString(sum[:])
}

func mustParse(t testing.TB, o Options, lines ...string) *Policy {
	t.Helper()
	p, err := Parse([]byte(signed(lines...)), o)
	if err != nil {
		t.Fatalf("parsing %q: %v", lines, err)
	}
	return p
}

// wantDenied fails unless the policy denies everything but its own file.
func wantDenied(t testing.TB, p *Policy) {
	t.Helper()
	for _, path := range []string{"/", "", "/status", "/robots.txt", "/.well-known/x", "/agents.txt/x", "/Agents.txt", "//agents.txt"} {
		if d := p.Decide(path); d.Allowed || d.Code != CodeRestricted {
			t.Errorf("Decide(%q) = %v, want a denial for restriction", path, d)
		}
	}
	for _, path := range []string{"/agents.txt", "/agents.txt?x=1", "/%61gents.txt", "/./agents.txt"} {
		if d := p.Decide(path); !d.Allowed || d.Code != CodePolicyFile {
			t.Errorf("Decide(%q) = %v, want the policy file to stay readable", path, d)
		}
	}
}

// hasFinding gives the first finding with a code.
func hasFinding(p *Policy, code lookleap.Code) (lookleap.Finding, bool) {
	for _, f := range p.Findings() {
		if f.Code == code {
			return f, true
		}
	}
	return lookleap.Finding{}, false
}

// testdata gives the files below testdata that match.
func testdata(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	return files
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
