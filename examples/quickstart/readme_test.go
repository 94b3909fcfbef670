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
		// The files are outside the module, which other tests read meanwhile; the go command finds
		// the packages of the module from the working directory.
		dir, run := t.TempDir(), []string{"run"}
		program := regexp.MustCompile(`&lookleap\.Host\{[^/\n]*\}`).ReplaceAllString(string(p[1]), "theLab($0)")
		for name, text := range map[string]string{"main.go": program, "world.go": string(world)} {
			source := filepath.Join(dir, name)
			if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			run = append(run, source)
		}
		got, err := exec.Command("go", run...).CombinedOutput()
		want := strings.ReplaceAll(regexp.QuoteMeta(string(p[2])), "…", ".*")
		if err != nil || !regexp.MustCompile("^"+want+"$").Match(got) {
			t.Errorf("%v\ngot:\n%swant:\n%s", err, got, p[2])
		}
	}
}
