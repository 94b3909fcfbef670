package main

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const subject = `package limits

func Within(n, most int) bool {
	if n < 0 {
		return false
	}
	return n <= most && most > 0
}

func Check(n int) error {
	if err := positive(n); err != nil {
		return err
	}
	return nil
}
`

func mutants(t *testing.T, source string) []Mutant {
	t.Helper()
	all, err := Mutants("limits.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMutants(t *testing.T) {
	var got []string
	for _, m := range mutants(t, subject) {
		got = append(got, oneLine(m.Operator+": "+m.From+" -> "+m.To))
		if _, err := parser.ParseFile(token.NewFileSet(), "", m.Apply([]byte(subject)), 0); err != nil {
			t.Errorf("%s: %v", &m, err)
		}
	}
	for _, want := range []string{
		"condition is never true: n < 0 -> false && (n < 0)",
		"condition is always true: n < 0 -> true || (n < 0)",
		"comparison changed: n < 0 -> n <= 0",
		"result flipped: false -> true",
		"operand dropped: n <= most && most > 0 -> n <= most",
		"operand dropped: n <= most && most > 0 -> most > 0",
		"comparison changed: n <= most -> n < most",
		"constant changed: 0 -> 1",
		"condition is never true: err != nil -> false && (err != nil)",
		"error dropped: err -> nil",
	} {
		found := false
		for _, g := range got {
			found = found || g == want
		}
		if !found {
			t.Errorf("no mutant %q among\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// module writes a module with one package whose tests are given.
func module(t *testing.T, test string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.com/limits\n\ngo 1.26\n",
		"limits.go":      strings.Replace(subject, "func Check", "func positive(n int) error { return nil }\n\nfunc Check", 1),
		"limits_test.go": "package limits\n\nimport \"testing\"\n\nfunc TestWithin(t *testing.T) {\n" + test + "\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module many times")
	}
	root := module(t, `	if Within(-1, 2) || !Within(2, 2) || Within(3, 2) || Within(0, 0) { t.Error("wrong") }`)
	stored := filepath.Join(t.TempDir(), "results")
	run := func(from, to string) Outcome {
		t.Helper()
		known, err := loadResults(stored)
		if err != nil {
			t.Fatal(err)
		}
		r := &runner{root: root, limit: time.Minute, results: known}
		all, err := collect(root, []string{"limits.go"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].From == from && all[i].To == to {
				outcome, err := r.run(t.Context(), &all[i])
				if err != nil {
					t.Fatal(err)
				}
				return outcome
			}
		}
		t.Fatalf("no mutant from %q to %q", from, to)
		return ""
	}
	for _, c := range []struct {
		from, to string
		want     Outcome
	}{
		{"n <= most", "n < most", Killed},
		{"n < 0", "false && (n < 0)", Killed},
		{"err != nil", "false && (err != nil)", Survived}, // no test calls Check
	} {
		if got := run(c.from, c.to); got != c.want {
			t.Errorf("%s → %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
	t.Run("results-are-kept-by-content", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir()) // no go command: the outcome must come from the file
		if got := run("n <= most", "n < most"); got != Killed {
			t.Error(got)
		}
	})
	t.Run("the-tree-is-not-changed", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(root, "limits.go"))
		if err != nil || !strings.Contains(string(data), "n <= most && most > 0") {
			t.Error(string(data), err)
		}
	})
}

func TestNotBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	root := module(t, "")
	known, _ := loadResults("")
	r := &runner{root: root, limit: time.Minute, results: known}
	m := Mutant{File: "limits.go", From: "package", To: "pakage", start: 0, end: len("package")}
	if got, err := r.run(context.Background(), &m); got != NotBuilt || err != nil {
		t.Error(got, err)
	}
}

func TestEquivalents(t *testing.T) {
	m := mutants(t, subject)[0]
	reasons := equivalents("# comment\n" + m.ID() + "\tthe caller has checked it\n")
	if reasons[m.ID()] != "the caller has checked it" || len(reasons) != 1 {
		t.Error(reasons)
	}
	// Each line of the reviewed list is about a mutant that still exists.
	for id := range equivalents(equivalentList) {
		file, _, _ := strings.Cut(id, "\t")
		source, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Error(err)
			continue
		}
		all, err := Mutants(file, source)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for i := range all {
			found = found || all[i].ID() == id
		}
		if !found {
			t.Errorf("no such mutant: %s", id)
		}
	}
}

func TestChangedLines(t *testing.T) {
	lines, err := changedLines("diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -3,0 +4,2 @@ func\n+a\n+b\n@@ -9 +11 @@\n-c\n+d\n@@ -20,2 +21,0 @@\n-e\n-f\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := lines["x.go"]; len(got) != 3 || !got[4] || !got[5] || !got[11] {
		t.Error(got)
	}
	if _, err := changedLines("+++ b/x.go\n@@ -1 +x @@\n"); err == nil {
		t.Error("a malformed hunk is read")
	}
}
