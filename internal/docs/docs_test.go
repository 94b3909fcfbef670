// Package docs runs the programs of the pages below docs, as a reader would paste them.
package docs

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
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

// build compiles a program below the module, so that its packages are found.
func build(t *testing.T, text string) (binary string) {
	t.Helper()
	dir, err := os.MkdirTemp(".", ".page-") // "./..." skips such names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", binary, "./"+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	return binary
}

// startSite starts examples/site at a free port.
func startSite(t *testing.T) (address string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.Addr().String()
	_ = free.Close()
	binary := filepath.Join(t.TempDir(), "site")
	if out, err := exec.Command("go", "build", "-o", binary, "../../examples/site").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	site := exec.Command(binary, "-addr", address)
	output, err := site.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = site.Process.Kill(), site.Wait() })
	_, _ = fmt.Fscan(output, new(string)) // it begins to listen now
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return address
		}
	}
	t.Fatal("the site does not listen")
	return ""
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
	"agentstxt": "github.com/lookleap/lookleap/agentstxt", "anml": "github.com/lookleap/lookleap/anml",
	"dvs": "github.com/lookleap/lookleap/dvs", "lookleaptest": "github.com/lookleap/lookleap/lookleaptest",
}

// TestFunctions compiles the functions of the pages, and runs those that are tests.
func TestFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	for page, want := range map[string]int{"recipes.md": 10, "publishing.md": 1} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../docs", page))
			if err != nil {
				t.Fatal(err)
			}
			dir, err := os.MkdirTemp(".", ".page-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			n := 0
			for _, b := range block.FindAllStringSubmatch(string(text), -1) {
				if b[1] != "go" {
					continue
				}
				n++
				var file strings.Builder
				file.WriteString("package page\n\nimport (\n")
				for name, path := range imports {
					if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(b[2]) {
						fmt.Fprintf(&file, "\t%q\n", path)
					}
				}
				file.WriteString(")\n\n" + b[2])
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("block%d_test.go", n)), []byte(file.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if n != want {
				t.Errorf("%d functions, want %d", n, want)
			}
			if out, err := exec.Command("go", "test", "./"+dir).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
