package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A suite is the tests of one package, compiled with many mutants of a package.
type suite struct {
	binary string
	dir    string // where the tests run
	tests  []probe
}

// A probe is one test, run without a mutant.
type probe struct {
	name     string
	duration time.Duration
	reached  map[int]bool // mutants whose code runs
}

// slowest is the time for one test without a mutant. A slower one is left out: it would run
// again for each mutant that no other test notices.
const slowest = time.Minute

// environment is that of every compiled test: suites of others are out of reach, and a
// property that fails is not simplified and leaves no file, with which the next mutant would begin.
func environment(more ...string) []string {
	return slices.Concat(os.Environ(), []string{"LOOKLEAP_SUITES=/nonexistent", "GOMODCACHE=/nonexistent", "RAPID_NOFAILFILE=1", "RAPID_SHRINKTIME=0s"}, more)
}

// compileSuite compiles the tests of a package and finds out which mutants each one reaches.
// Tests that fail or last too long without a mutant are left out. When it is late, so are the others: no mutant
// is run then.
func compileSuite(ctx context.Context, root, pkg, overlay, dir string, parallel int, skip *regexp.Regexp, late func() bool) (*suite, error) {
	s := &suite{binary: filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_")+".test"), dir: filepath.Join(root, pkg)}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", s.binary, "./"+pkg)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c %s: %w: %s", pkg, err, output)
	}
	if _, err := os.Stat(s.binary); err != nil {
		return s, nil // a package without tests
	}
	names, err := s.command(ctx, time.Minute, nil, "-test.list", ".").Output()
	if err != nil {
		return nil, fmt.Errorf("tests of %s: %w", pkg, err)
	}
	var mu sync.Mutex
	return s, each(ctx, parallel, strings.Fields(string(names)), func(name string) error {
		if late() || skip != nil && skip.MatchString(name) || !regexp.MustCompile(`^(Test|Fuzz|Example)`).MatchString(name) {
			return nil
		}
		p := probe{name: name, reached: make(map[int]bool)}
		file := filepath.Join(dir, filepath.Base(s.binary)+"."+name)
		begin := time.Now()
		if err := s.command(ctx, slowest, []string{"LOOKLEAP_MUTANTS_REACHED=" + file}, "-test.run", "^"+name+"$").Run(); err != nil {
			fmt.Fprintf(os.Stderr, "mutate: %s %s does not pass without a mutant, so it is left out: %v\n", pkg, name, err)
			return nil
		}
		p.duration = time.Since(begin)
		text, _ := os.ReadFile(file) // missing: nothing was reached
		for _, id := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(id); err == nil {
				p.reached[n] = true
			}
		}
		mu.Lock()
		defer mu.Unlock()
		s.tests = append(s.tests, p)
		return nil
	})
}

// command runs the compiled tests. Their memory is limited: a mutant may never stop to append.
func (s *suite) command(ctx context.Context, limit time.Duration, env []string, args ...string) *exec.Cmd {
	args = append([]string{"-c", `ulimit -v 6000000 2>/dev/null; exec "$@"`, "sh", s.binary, "-test.timeout", limit.String()}, args...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, environment(env...), 5*time.Second
	return cmd
}

// kills reports whether a test notices the mutant, and which one. Quick tests run first, and
// those that noticed the mutant in an earlier run before them.
func (s *suite) kills(ctx context.Context, id int, earlier string) (killer string, killed bool, err error) {
	var batches [][]probe
	var batch []probe
	var sum time.Duration
	tests := slices.DeleteFunc(slices.Clone(s.tests), func(p probe) bool { return !p.reached[id] })
	slices.SortFunc(tests, func(a, b probe) int { return cmp.Compare(a.duration, b.duration) })
	if i := slices.IndexFunc(tests, func(p probe) bool { return p.name == earlier }); i >= 0 {
		batches = append(batches, []probe{tests[i]})
		tests = slices.Delete(tests, i, i+1)
	}
	most := 500 * time.Millisecond
	for _, p := range tests {
		if len(batch) > 0 && sum+p.duration > most {
			batches, batch, sum, most = append(batches, batch), nil, 0, 4*most
		}
		batch, sum = append(batch, p), sum+p.duration
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	for _, batch := range batches {
		killer, killed, err = s.runBatch(ctx, id, batch)
		if killed || err != nil {
			return killer, killed, err
		}
	}
	return "", false, nil
}

var failedTest = regexp.MustCompile(`(?m)^(?:--- FAIL: |\t+)((?:Test|Fuzz|Example)\w*)`)

func (s *suite) runBatch(ctx context.Context, id int, batch []probe) (killer string, killed bool, err error) {
	limit := 10 * time.Second
	names := make([]string, len(batch))
	for i, p := range batch {
		names[i] = p.name
		limit += 8 * p.duration
	}
	bounded, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	output, err := s.command(bounded, limit, []string{"LOOKLEAP_MUTANT=" + strconv.Itoa(id)}, "-test.failfast",
		"-test.run", "^("+strings.Join(names, "|")+")$").CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return "", false, nil
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case bounded.Err() == nil && !errors.As(err, &failed):
		return "", false, err
	}
	killer = names[0]
	if found := failedTest.FindSubmatch(output); found != nil && slices.Contains(names, string(found[1])) {
		killer = string(bytes.TrimSpace(found[1]))
	}
	return killer, true, nil
}

// each calls f for all items, several at a time, until one returns an error.
func each[T any](ctx context.Context, parallel int, items []T, f func(T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var wg sync.WaitGroup
	for range max(parallel, 1) {
		wg.Go(func() {
			for item := range work {
				if err := f(item); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, item := range items {
		select {
		case work <- item:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}
