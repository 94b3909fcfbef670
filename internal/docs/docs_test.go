// Package docs runs the programs of the pages below docs, as a reader would paste them.
package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// program is a program of a page, and the output that the page shows for it.
type program struct{ text, output string }

var (
	block   = regexp.MustCompile("(?s)```(go|text)\n(.*?)```")
	ellipse = strings.NewReplacer("…", "(?s:.*)")
)

// programs returns the complete programs of a page.
func programs(t *testing.T, page string) (all []program) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		switch {
		case b[1] == "go" && strings.HasPrefix(b[2], "package main"):
			all = append(all, program{text: b[2]})
		case b[1] == "text" && len(all) > 0 && all[len(all)-1].output == "":
			all[len(all)-1].output = b[2]
		}
	}
	return all
}

// build compiles a program. Its file is outside the module, which other tests read meanwhile; the
// go command finds the packages of the module from the working directory.
func build(t *testing.T, text string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	return binary
}

// startSite starts examples/site at a free port. The site says where it is when it listens.
func startSite(t *testing.T) (address string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "site")
	if out, err := exec.Command("go", "build", "-o", binary, "../../examples/site").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	site := exec.Command(binary, "-addr", "127.0.0.1:0")
	output, err := site.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = site.Process.Kill(), site.Wait() })
	if _, err := fmt.Fscanf(output, "A site for agents is at http://%s Try:\n", &address); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(address, ".")
}

// TestTutorial runs each program against examples/site. The user agrees to everything.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	all := programs(t, "tutorial.md")
	if len(all) != 4 {
		t.Fatalf("%d programs", len(all))
	}
	address := startSite(t)
	for _, p := range all {
		run := exec.Command(build(t, strings.ReplaceAll(p.text, "localhost:8080", address)))
		run.Stdin = strings.NewReader("y\ny\ny\n")
		got, err := run.CombinedOutput()
		if err != nil || !regexp.MustCompile("^"+ellipse.Replace(regexp.QuoteMeta(p.output))+"$").Match(got) {
			t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, p.output)
		} else {
			t.Logf("%s", got)
		}
	}
}

// imports are the packages that the functions of the pages use, by name.
var imports = map[string]string{
	"bufio": "bufio", "context": "context", "errors": "errors", "fmt": "fmt", "io": "io", "net": "net", "netip": "net/netip",
	"os": "os", "filepath": "path/filepath", "slog": "log/slog", "template": "html/template", "testing": "testing",
	"time": "time", "x509": "crypto/x509", "http": "net/http",
	"lookleap": "github.com/lookleap/lookleap", "agent": "github.com/lookleap/lookleap/anml/agent",
	"aiuri": "github.com/lookleap/lookleap/aiuri", "receipt": "github.com/lookleap/lookleap/contrib/receipt",
	"agentstxt": "github.com/lookleap/lookleap/agentstxt", "anml": "github.com/lookleap/lookleap/anml",
	"dvs": "github.com/lookleap/lookleap/dvs", "gate": "github.com/lookleap/lookleap/contrib/gate", "lookleaptest": "github.com/lookleap/lookleap/lookleaptest",
}

// TestFunctions compiles the functions of the pages, and runs those that are tests.
func TestFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	for page, want := range map[string]int{"recipes.md": 12, "publishing.md": 1} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../docs", page))
			if err != nil {
				t.Fatal(err)
			}
			dir, test := t.TempDir(), []string{"test"}
			for _, b := range block.FindAllStringSubmatch(string(text), -1) {
				if b[1] != "go" {
					continue
				}
				var file strings.Builder
				file.WriteString("package page\n\nimport (\n")
				for name, path := range imports {
					if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(b[2]) {
						fmt.Fprintf(&file, "\t%q\n", path)
					}
				}
				file.WriteString(")\n\n" + b[2])
				source := filepath.Join(dir, fmt.Sprintf("block%d_test.go", len(test)))
				if err := os.WriteFile(source, []byte(file.String()), 0o666); err != nil {
					t.Fatal(err)
				}
				test = append(test, source)
			}
			if n := len(test) - 1; n != want {
				t.Errorf("%d functions, want %d", n, want)
			}
			if out, err := exec.Command("go", test...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
