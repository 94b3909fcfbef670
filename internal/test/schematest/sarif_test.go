package schematest

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// command builds the command-line tool.
func command(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "lookleap")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", "..", ".."), "-o", tool, "./cmd/lookleap")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return tool
}

// officialSchema returns the schema of SARIF 2.1.0 as OASIS published it. The module of a SARIF
// library holds it as a constant that it does not export.
func officialSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "pkg", "report", "v210", "sarif", "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err = strconv.Unquote(l.Value)
		}
		return err == nil
	})
	if err != nil || !strings.Contains(text, "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema") {
		t.Fatal("the module has no such schema", err)
	}
	return compiled(t, "sarif.json", []byte(text))
}

// TestSARIF validates the reports of each outcome against the schema of SARIF 2.1.0.
func TestSARIF(t *testing.T) {
	tool, dir := command(t), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const head = "---\nname: refund\ndescription: Refunds an order.\n---\n"
	write("before/refund/SKILL.md", head+"Ask.\n")
	write("now/refund/SKILL.md", head+"Ask more.\n")
	write("now/refund/a b%.txt", "x")
	write("bad/refund/SKILL.md", "---\nname: Refund\n---\n<!-- hidden \u202e -->\n")
	run := func(want int, args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), tool, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit); err != nil && exit == nil || c.ProcessState.ExitCode() != want {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	official := officialSchema(t)
	run(0, "lock", "before/refund", "--url", "https://shop.example/skills/refund/", "--out", "skills.lock")
	for name, c := range map[string]struct {
		exit    int
		args    []string
		results int
	}{
		"accepted":    {0, []string{"lock", "before/refund", "--check", "skills.lock"}, 0},
		"changed":     {3, []string{"lock", "now/refund", "--check", "skills.lock"}, 2},
		"refused":     {1, []string{"skill", "bad/refund"}, 2},
		"not-checked": {4, []string{"skill", "none/refund"}, 0},
		"several":     {1, []string{"skill", "bad/refund", "now/refund", "none"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name+".sarif")
			run(c.exit, append(c.args, "--sarif", file)...)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(official, string(text)); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			if broken := bytes.Replace(text, []byte(`"2.1.0"`), []byte(`"2.1"`), 1); validate(official, string(broken)) == nil {
				t.Error("the schema accepts another version")
			}
			report, err := sarif.FromBytes(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(report.Runs[0].Results); got < c.results || c.results == 0 && got > 0 {
				t.Errorf("%d results", got)
			}
		})
	}
}
