package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/spec"
)

// TestAlone has a module of two rows, of which the second passes only after the first.
func TestAlone(t *testing.T) {
	const module = "github.com/lookleap/lookleap"
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module " + module + "\n\ngo 1.26\n",
		"rows/rows_test.go": "package rows\n\nimport \"testing\"\n\nvar ran bool\n\nfunc TestRows(t *testing.T) {\n\tt.Run(\"WK-1-01/accept\", func(*testing.T) { ran = true })\n\tt.Run(\"WK-1-02/accept\", func(t *testing.T) {\n\t\tif !ran {\n\t\t\tt.Fatal(\"relies on WK-1-01\")\n\t\t}\n\t})\n}\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	row := func(id, pkg string) spec.Command {
		return spec.Command{ID: id, Package: module + "/" + pkg, Pattern: "^TestRows$/^" + id}
	}
	problems, err := alone(root, []spec.Command{row("WK-1-01", "rows"), row("WK-1-02", "rows"), row("WK-1-03", "rows")})
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != 2 || !strings.Contains(problems[0], "WK-1-02 fails") || !strings.Contains(problems[0], "relies on WK-1-01") || !strings.Contains(problems[1], "WK-1-03 has no test") {
		t.Errorf("got %q", problems)
	}
	if _, err := alone(root, []spec.Command{row("WK-1-01", "absent")}); err == nil {
		t.Error("a package that cannot be compiled is accepted")
	}
}
