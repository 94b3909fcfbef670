package main

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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

func TestMutantsOfNumbers(t *testing.T) {
	const source = "package p\n\nfunc f() (int, bool, error) {\n" +
		"show(plaintext.Quote(text, 40), make([]int, 2, 8+n-1), make(map[int]int, 9), Quote(text, 50))\n" +
		"if g(3) {\nreturn 4, true, errors.New(text)\n}\nreturn 5, true, nil\n}\n"
	var got []string
	for _, m := range mutants(t, source) {
		if m.Operator == "constant changed" || m.Operator == "result flipped" {
			got = append(got, m.From)
		}
	}
	if want := "2 50 3 true 5"; strings.Join(got, " ") != want {
		t.Errorf("the numbers %v are changed, want %s", got, want)
	}
}

// more is what the module has besides: its mutants need other forms.
const more = `
func positive(n int) error { return nil }

func Level() (level int) {
	level = 7
	return level
}

func Name(tag string) string {
	var name [3]byte
	return string(name[:]) + tag
}
`

// module writes a module with one package whose tests are given.
func module(t *testing.T, test string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.com/limits\n\ngo 1.26\n",
		"limits.go":      subject + more,
		"limits_test.go": "package limits\n\nimport \"testing\"\n\nfunc TestWithin(t *testing.T) {\n" + test + "\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// outcomes runs all mutants of the module's one file. The keys are the texts before and after.
func outcomes(t *testing.T, root, stored string, change func(r *runner)) map[[2]string]Outcome {
	t.Helper()
	known, err := loadResults(stored)
	if err != nil {
		t.Fatal(err)
	}
	all, err := collect(root, []string{"limits.go"})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[[2]string]Outcome)
	r := &runner{root: root, limit: time.Minute, parallel: 2, results: known, progress: func(m *Mutant, o Outcome) { got[[2]string{m.From, m.To}] = o }}
	if change != nil {
		change(r)
	}
	var mutants []*Mutant
	for i := range all {
		mutants = append(mutants, &all[i])
	}
	if err := r.run(t.Context(), ".", mutants); err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		t.Fatal("no mutant ran")
	}
	return got
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	root := module(t, `	if Within(-1, 2) || !Within(2, 2) || Within(3, 2) || Within(0, 0) || Level() != 7 { t.Error("wrong") }`)
	stored := filepath.Join(t.TempDir(), "results")
	got := outcomes(t, root, stored, nil)
	for _, c := range []struct {
		name, from, to string
		want           Outcome
	}{
		{"comparison", "n <= most", "n < most", Killed},
		{"condition", "n < 0", "false && (n < 0)", Killed},
		{"result", "false", "true", Killed},
		{"statement", "level = 7", "_ = 7", Killed},
		{"value", "7", "8", Killed},
		{"not-reached", "err != nil", "false && (err != nil)", Survived}, // no test calls Check
		{"not-reached-error", "err", "nil", Survived},
		{"compiled-alone", "3", "4", Survived}, // a constant: it cannot be selected when the tests run
		{"not-built", "string(name[:]) + tag", "string(name[:]) - tag", NotBuilt},
	} {
		t.Run(c.name, func(t *testing.T) {
			if o := got[[2]string{c.from, c.to}]; o != c.want {
				t.Errorf("%s → %s: %q, want %s", c.from, c.to, o, c.want)
			}
		})
	}
	t.Run("results-are-kept-by-content", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir()) // no go command: the outcomes must come from the file
		if again := outcomes(t, root, stored, nil); !maps.Equal(again, got) {
			t.Error(again)
		}
	})
	t.Run("a-changed-test-runs-again", func(t *testing.T) {
		file := filepath.Join(root, "limits_test.go")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(file, data, 0o600)
		if err := os.WriteFile(file, []byte(strings.Replace(string(data), "Within(2, 2)", "Within(1, 2)", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := outcomes(t, root, stored, nil)[[2]string{"n <= most", "n < most"}]; o != Survived {
			t.Error(o)
		}
	})
	t.Run("a-test-that-does-not-count", func(t *testing.T) {
		skipped := outcomes(t, root, "", func(r *runner) { r.skip = regexp.MustCompile("^TestWithin$") })
		if o := skipped[[2]string{"n < 0", "false && (n < 0)"}]; o != Survived {
			t.Error(o)
		}
	})
	t.Run("time-is-over", func(t *testing.T) {
		late := outcomes(t, root, "", func(r *runner) { r.until = time.Now().Add(-time.Second) })
		if o := late[[2]string{"n < 0", "false && (n < 0)"}]; o != LeftOut {
			t.Error(o)
		}
	})
	t.Run("the-tree-is-not-changed", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(root, "limits.go"))
		if err != nil || !strings.Contains(string(data), "n <= most && most > 0") {
			t.Error(string(data), err)
		}
		if _, err := os.Stat(filepath.Join(root, selector)); err == nil {
			t.Error("the selector is in the tree")
		}
	})
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
