package receipt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestPython runs the verifier of docs/recipes.md, which shares no code with this module.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import cryptography").Run() != nil {
		t.Skip("python3 or its package cryptography is not installed")
	}
	page, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```python\n")
	program, _, found := strings.Cut(program, "```")
	if n := strings.Count(program, "\n"); !found || n > 80 {
		t.Fatalf("%d lines", n)
	}
	ring := newRing(t, "1")
	d := newDesk(t, lookleap.NewMemoryStore(), ring, lookleaptest.Approve(), lookleaptest.Refuse())
	_, _ = d.call(t), d.call(t)
	list := all(t, d.log)
	flip := func(at int) []string {
		changed := []byte(list[1])
		changed[at] ^= 1
		return []string{list[0], string(changed), list[2]}
	}
	for name, c := range map[string]struct {
		receipts []string
		keys     []byte
	}{
		"accept-all":               {list, ring.JWKS()},
		"reject-changed-header":    {flip(8), ring.JWKS()},
		"reject-changed-payload":   {flip(strings.Index(list[1], ".") + 30), ring.JWKS()},
		"reject-changed-signature": {flip(len(list[1]) - 20), ring.JWKS()},
		"reject-last-bits":         {flip(len(list[1]) - 1), ring.JWKS()},
		"reject-removed":           {slices.Delete(slices.Clone(list), 1, 2), ring.JWKS()},
		"reject-other-key":         {list, newRing(t, "1").JWKS()},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range map[string]string{"verify.py": program, "keys": string(c.keys), "receipts": strings.Join(c.receipts, "\n")} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			verify := exec.Command(python, "verify.py", "keys", "receipts")
			verify.Dir = dir
			out, err := verify.CombinedOutput()
			if (err == nil) != strings.HasPrefix(name, "accept") || err == nil && strings.Count(string(out), "\n") != len(list) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
