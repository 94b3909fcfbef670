package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Outcome is what the tests say about a mutant.
type Outcome string

// The outcomes. A mutant that does not compile says nothing about the tests, nor does one
// that the reviewed list calls equivalent.
const (
	Killed     Outcome = "killed"
	Survived   Outcome = "survived"
	NotBuilt   Outcome = "not built"
	Equivalent Outcome = "equivalent"
	LeftOut    Outcome = "left out" // there was no time
)

// runner runs the tests against mutants. The tree is never changed: the go command reads
// mutated files through an overlay.
type runner struct {
	root     string         // of the module
	tests    []string       // packages whose tests run after those of the mutant's own
	limit    time.Duration  // of one run of all tests of a package, for a mutant that is compiled alone
	until    time.Time      // no mutant is begun later, unless zero
	parallel int            // how many mutants run at the same time
	skip     *regexp.Regexp // tests that do not count
	results  *results
	progress func(m *Mutant, o Outcome) // called for each mutant, one at a time

	mu sync.Mutex
}

// run finds the outcomes for mutants of one package, from an earlier run if neither the file
// nor the tests have changed.
func (r *runner) run(ctx context.Context, dir string, mutants []*Mutant) error {
	testsHash, err := r.contents(append([]string{dir}, r.tests...))
	if err != nil {
		return err
	}
	var open []numbered
	for i, m := range mutants {
		if o, ok := r.results.outcome(m, testsHash); ok {
			r.progress(m, o)
			continue
		}
		open = append(open, numbered{Mutant: m, id: i + 1})
	}
	if len(open) == 0 {
		return nil
	}
	if r.late() {
		for _, m := range open {
			r.progress(m.Mutant, LeftOut)
		}
		return nil
	}
	p, err := loadProgram(ctx, r.root, dir)
	if err != nil {
		return err
	}
	done := func(m *Mutant, o Outcome, killer string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.progress(m, o)
		return r.results.put(m, testsHash, o, killer)
	}
	pathOf := func(m *Mutant) string { return filepath.Join(p.dir, filepath.Base(m.File)) }
	open = slices.DeleteFunc(open, func(m numbered) bool {
		elsewhere := p.source[pathOf(m.Mutant)] == nil // a file of another system
		if elsewhere {
			r.progress(m.Mutant, NotBuilt)
		}
		return elsewhere
	})
	var alone []numbered
	for len(open) > 0 {
		woven, later, single, err := p.weave(open, pathOf)
		if err != nil {
			return err
		}
		alone = append(alone, single...)
		if err := r.runWoven(ctx, dir, woven, done); err != nil {
			return err
		}
		open = later
	}
	return each(ctx, r.parallel, alone, func(m numbered) error {
		switch {
		case !p.builds(m.Mutant, pathOf(m.Mutant)):
			return done(m.Mutant, NotBuilt, "")
		case r.late():
			return done(m.Mutant, LeftOut, "")
		}
		o, err := r.runAlone(ctx, dir, m.Mutant, pathOf(m.Mutant), m.Apply(p.source[pathOf(m.Mutant)]))
		if err != nil {
			return err
		}
		return done(m.Mutant, o, "")
	})
}

// weight orders the mutants, so that those that switch a check off run before time is over.
func weight(operator string) int {
	switch operator {
	case "condition is never true", "error dropped", "result flipped", "call removed":
		return 0
	case "operand dropped", "negation dropped", "arguments swapped":
		return 1
	case "constant changed":
		return 3
	}
	return 2
}

func (r *runner) late() bool { return !r.until.IsZero() && time.Now().After(r.until) }

// runWoven runs the mutants of one overlay: each test binary is compiled once.
func (r *runner) runWoven(ctx context.Context, dir string, woven *overlay, done func(*Mutant, Outcome, string) error) error {
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	file, err := woven.write(temp)
	if err != nil {
		return err
	}
	open := woven.mutants
	slices.SortStableFunc(open, func(a, b numbered) int { return weight(a.Operator) - weight(b.Operator) })
	for i, pkg := range append([]string{dir}, r.tests...) {
		s, err := compileSuite(ctx, r.root, pkg, file, temp, r.parallel, r.skip, r.late)
		if err != nil {
			return err
		}
		var mu sync.Mutex
		var left []numbered
		err = each(ctx, r.parallel, open, func(m numbered) error {
			if r.late() {
				return done(m.Mutant, LeftOut, "")
			}
			killer, killed, err := s.kills(ctx, m.id, r.results.killer(m.Mutant))
			switch {
			case err != nil:
				return err
			case killed:
				return done(m.Mutant, Killed, killer)
			case i == len(r.tests):
				return done(m.Mutant, Survived, "")
			}
			mu.Lock()
			defer mu.Unlock()
			left = append(left, m)
			return nil
		})
		if err != nil {
			return err
		}
		open = left
	}
	return nil
}

// runAlone compiles one mutant and runs all tests.
func (r *runner) runAlone(ctx context.Context, dir string, m *Mutant, path string, mutated []byte) (Outcome, error) {
	temp, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	file, err := (&overlay{files: map[string]string{path: string(mutated)}}).write(temp)
	if err != nil {
		return "", err
	}
	for _, pkg := range append([]string{dir}, r.tests...) {
		if outcome, err := r.test(ctx, file, pkg); err != nil || outcome != Survived {
			return outcome, err
		}
	}
	return Survived, nil
}

// test runs the tests of one package. Tests that hang notice the mutant, too.
func (r *runner) test(ctx context.Context, overlay, pkg string) (Outcome, error) {
	bounded, cancel := context.WithTimeout(ctx, r.limit+time.Minute) // the time to compile
	defer cancel()
	args := []string{"test", "-overlay", overlay, "-vet=off", "-failfast", "-count=1", "-timeout", r.limit.String()}
	if r.skip != nil {
		args = append(args, "-skip", r.skip.String())
	}
	cmd := exec.CommandContext(bounded, "go", append(args, "./"+pkg)...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), "LOOKLEAP_SUITES=/nonexistent", "RAPID_NOFAILFILE=1")
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return Survived, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bounded.Err() != nil:
		return Killed, nil
	case !errors.As(err, &failed):
		return "", fmt.Errorf("go test %s: %w", pkg, err)
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return NotBuilt, nil
	}
	return Killed, nil
}

// contents is the digest of the Go files of packages and of their test data.
func (r *runner) contents(packages []string) (string, error) {
	h := sha256.New()
	for _, p := range packages {
		entries, err := os.ReadDir(filepath.Join(r.root, p))
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(r.root, p, e.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s/%s\n%x\n", p, e.Name(), sha256.Sum256(data))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
