package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the programs of the README and of the guide as a reader would paste them, on the
// lab of testdata/readme in the place of the internet. Each prints the block of
// text that follows it; an ellipsis there is any text.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	var readme []byte
	for _, page := range []string{"../../README.md", "../../docs/guide.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		readme = append(readme, text...)
	}
	world, err := os.ReadFile("testdata/readme/world.go")
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```.*?```text\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(programs) != 4 {
		t.Fatalf("%d programs, want 4", len(programs))
	}
	for _, p := range programs {
		// Below the module, so that its packages are found; "./..." skips such names.
		dir, err := os.MkdirTemp(".", ".readme-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		program := regexp.MustCompile(`&lookleap\.Host\{[^/\n]*\}`).ReplaceAllString(string(p[1]), "theLab($0)")
		for name, text := range map[string]string{"main.go": program, "world.go": string(world)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := exec.Command("go", "run", "./"+dir).CombinedOutput()
		want := strings.ReplaceAll(regexp.QuoteMeta(string(p[2])), "…", ".*")
		if err != nil || !regexp.MustCompile("^"+want+"$").Match(got) {
			t.Errorf("%v\ngot:\n%swant:\n%s", err, got, p[2])
		}
	}
}
