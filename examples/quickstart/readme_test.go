package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the programs of the README as a reader would paste them. Each
// prints the block of text that follows it; an ellipsis there is any text.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```.*?```text\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(programs) != 2 {
		t.Fatalf("%d programs, want 2", len(programs))
	}
	for _, p := range programs {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, p[1], 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", file)
		cmd.Dir = "../.."
		got, err := cmd.CombinedOutput()
		want := strings.ReplaceAll(regexp.QuoteMeta(string(p[2])), "…", ".*")
		if err != nil || !regexp.MustCompile("^"+want+"$").Match(got) {
			t.Errorf("%v\ngot:\n%swant:\n%s", err, got, p[2])
		}
	}
}
