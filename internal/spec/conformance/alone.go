package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/lookleap/lookleap/internal/spec"
)

// alone runs the tests of each row without those of the others, as the command
// on the page does, and returns one line for each row of which no test passes or
// one fails. It compiles the tests of a package once for all rows.
func alone(root string, commands []spec.Command) ([]string, error) {
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	programs := make(map[string]string) // by package
	for _, c := range commands {
		if programs[c.Package] != "" {
			continue
		}
		program := filepath.Join(dir, fmt.Sprintf("%d.test", len(programs)))
		build := exec.Command("go", "test", "-c", "-o", program, ".")
		build.Dir = filepath.Join(root, c.Dir())
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", c.Package, err, out)
		}
		programs[c.Package] = program
	}
	problems := make([]string, len(commands))
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range commands {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			problems[i] = runRow(programs[c.Package], root, c)
		})
	}
	running.Wait()
	return slices.DeleteFunc(problems, func(p string) bool { return p == "" }), nil
}

// runRow runs the tests of one row in one package. It returns "" if a subtest of
// the row passes and no test fails.
func runRow(program, root string, c spec.Command) string {
	cmd := exec.Command(program, "-test.v", "-test.run", c.Pattern)
	cmd.Dir = filepath.Join(root, c.Dir())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fmt.Sprintf("%s fails in %s if it runs alone (-run '%s'):\n%s", c.ID, c.Package, c.Pattern, out)
	case err != nil:
		return fmt.Sprintf("%s in %s: %v", c.ID, c.Package, err)
	}
	for line := range strings.Lines(string(out)) {
		name, passed := strings.CutPrefix(strings.TrimLeft(line, " "), "--- PASS: ")
		if passed && strings.Contains(name, "/"+c.ID) {
			return ""
		}
	}
	return fmt.Sprintf("%s has no test in %s that passes alone (-run '%s')", c.ID, c.Package, c.Pattern)
}
