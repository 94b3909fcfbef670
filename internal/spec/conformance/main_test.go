package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/spec"
)

// outcomes has a passed test for each row of the packages that claim to have one,
// and for WK-1-01.
func outcomes(t *testing.T) string {
	t.Helper()
	s, err := spec.Load()
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	show := func(pkg, id string, clauses []spec.Clause) {
		leaves := []string{"accept"}
		for _, c := range clauses {
			leaves = append(leaves, c.Leaves...)
		}
		for _, leaf := range leaves {
			fmt.Fprintf(&lines, `{"Action":"pass","Package":"github.com/lookleap/lookleap/%s","Test":%q}`+"\n", pkg, "TestRow/"+id+"/"+leaf)
		}
	}
	for _, register := range s.Registers {
		for _, row := range register.Requirements {
			if row.ID == "WK-1-01" || slices.Contains(s.Complete, row.Package) && s.Excluded[row.ID] == "" {
				show(row.Package, row.ID, row.Clauses)
			}
		}
	}
	for _, attack := range s.Attacks {
		show("attacks", attack.ID, attack.Clauses)
	}
	return lines.String()
}

func TestRun(t *testing.T) {
	dir, outcome := t.TempDir(), outcomes(t)
	for name, text := range map[string]string{"result.json": outcome, "empty.json": "ok\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unknown := outcome + strings.ReplaceAll(outcome, "WK-1-01", "WK-1-99")
	for _, step := range []struct {
		args, stdin    string // DIR is a directory
		code           int
		stdout, stderr string // part of what is printed
	}{
		{"-check -docs DIR/docs", outcome, 1, "is not current", ""},
		{"-write -docs DIR/docs", outcome, 0, "", ""},
		{"-check -docs DIR/docs", outcome, 0, "", ""},
		{"-check -docs DIR/docs DIR/result.json", "", 0, "", ""},
		{"-check -docs DIR/docs DIR/result.json DIR/result.json", "", 0, "", ""},
		{"-check -docs DIR/docs", unknown, 1, "no requirement or attack case has the id WK-1-99", ""},
		{"", outcome, 0, "RFC 8615, Well-Known URIs: ", ""},
		{"", "", 1, "", "no outcome"},
		{"-write -docs DIR/docs DIR/empty.json", "", 1, "", "there is no outcome"},
		{"-check -docs DIR/docs DIR/result.json DIR/empty.json", "", 0, "", ""},
		{"-check -docs DIR/docs DIR/absent.json", "", 1, "", "absent.json"},
		{"-write -docs DIR/result.json", outcome, 1, "", "not a directory"},
		{"-write -check", outcome, 2, "", "only one of"},
		{"-unknown", outcome, 2, "", "-unknown"},
	} {
		var stdout, stderr strings.Builder
		args := strings.Fields(step.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "DIR", dir) // which can have blanks
		}
		code := run(args, strings.NewReader(step.stdin), &stdout, &stderr)
		if code != step.code || !strings.Contains(stdout.String(), step.stdout) || !strings.Contains(stderr.String(), step.stderr) {
			t.Errorf("%q: exit %d, %q, %q", step.args, code, stdout.String(), stderr.String())
		}
	}
}

func TestModuleRoot(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "spec", "conformance")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if root, err := moduleRoot(); err == nil {
		t.Errorf("outside of a module the root is %s", root)
	}
}
