package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
)

// runner runs the tests against mutants. The tree is never changed: the go command reads a
// mutated file through an overlay.
type runner struct {
	root    string        // of the module
	tests   []string      // packages whose tests must notice, besides the mutant's own
	limit   time.Duration // of one run of the tests
	env     []string      // of the tests
	results *results
}

// run returns the outcome for one mutant, from an earlier run if neither the mutated file
// nor the packages under test have changed.
func (r *runner) run(ctx context.Context, m *Mutant) (Outcome, error) {
	path := filepath.Join(r.root, m.File)
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	mutated := m.Apply(source)
	packages := append([]string{"./" + filepath.ToSlash(filepath.Dir(m.File))}, r.tests...)
	key, err := r.key(mutated, m.File, packages)
	if err != nil {
		return "", err
	}
	if earlier, ok := r.results.get(key); ok {
		return earlier, nil
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, path, mutated)
	if err != nil {
		return "", err
	}
	for _, p := range packages {
		outcome, err := r.test(ctx, overlay, p)
		if err != nil {
			return "", err
		}
		if outcome != Survived {
			return outcome, r.results.put(key, outcome)
		}
	}
	return Survived, r.results.put(key, Survived)
}

// writeOverlay writes the file that makes the go command read the mutated text.
func writeOverlay(dir, path string, mutated []byte) (string, error) {
	file := filepath.Join(dir, "mutated.go")
	if err := os.WriteFile(file, mutated, 0o600); err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {absolute: file}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// test runs the tests of one package. Tests that hang notice the mutant, too.
func (r *runner) test(ctx context.Context, overlay, pkg string) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit+time.Minute) // the time to compile
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-count=1", "-timeout", r.limit.String(), pkg)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), r.env...)
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return Survived, nil
	case ctx.Err() == context.DeadlineExceeded:
		return Killed, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !errors.As(err, &failed):
		return "", fmt.Errorf("go test %s: %w", pkg, err)
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return NotBuilt, nil
	}
	return Killed, nil
}

// key names a run by everything that decides its outcome: the mutated file and the Go files
// and test data of the packages whose tests run.
func (r *runner) key(mutated []byte, file string, packages []string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%x\n", file, strings.Join(packages, " "), sha256.Sum256(mutated))
	for _, p := range packages {
		err := filepath.WalkDir(filepath.Join(r.root, p), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != filepath.Join(r.root, p) && d.Name() != "testdata" && !strings.Contains(path, "testdata"):
				return fs.SkipDir // another package
			case d.IsDir() || !d.Type().IsRegular():
				return nil
			}
			data, err := os.ReadFile(path)
			fmt.Fprintf(h, "%s\n%x\n", path, sha256.Sum256(data))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// results are the outcomes of earlier runs, in a file with one line for each.
type results struct {
	path  string
	known map[string]Outcome
}

// loadResults reads the file; a missing file has no results. An empty path keeps nothing.
func loadResults(path string) (*results, error) {
	r := &results{path, make(map[string]Outcome)}
	if path == "" {
		return r, nil
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if key, outcome, ok := strings.Cut(strings.TrimSpace(line), " "); ok && slices.Contains([]Outcome{Killed, Survived, NotBuilt}, Outcome(outcome)) {
			r.known[key] = Outcome(outcome)
		}
	}
	return r, nil
}

func (r *results) get(key string) (Outcome, bool) {
	o, ok := r.known[key]
	return o, ok
}

func (r *results) put(key string, o Outcome) error {
	r.known[key] = o
	if r.path == "" {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", key, o)
	return errors.Join(err, f.Close())
}
