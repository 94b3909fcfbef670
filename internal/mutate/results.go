package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// results are the outcomes of earlier runs, in a file with one line for each: the digest of
// the tests, the outcome, the test that noticed, and the mutant's ID, separated by tabs.
//
// A mutant that a test noticed stays known by that test, which runs first when files have
// changed. One that survived runs again when a Go file of the tested packages has changed.
type results struct {
	path    string
	known   map[string]Outcome // by digest and ID
	killers map[string]string  // by ID
}

// loadResults reads the file; a missing file has no results. An empty path keeps nothing.
func loadResults(path string) (*results, error) {
	r := &results{path, make(map[string]Outcome), make(map[string]string)}
	if path == "" {
		return r, nil
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 4)
		if len(fields) == 4 && slices.Contains([]Outcome{Killed, Survived, NotBuilt}, Outcome(fields[1])) {
			r.known[fields[0]+"\t"+fields[3]] = Outcome(fields[1])
			r.killers[fields[3]] = fields[2]
		}
	}
	return r, nil
}

func (r *results) outcome(m *Mutant, digest string) (Outcome, bool) {
	o, ok := r.known[digest+"\t"+m.ID()]
	return o, ok
}

func (r *results) killer(m *Mutant) string { return r.killers[m.ID()] }

func (r *results) put(m *Mutant, digest string, o Outcome, killer string) error {
	if o == LeftOut {
		return nil
	}
	r.known[digest+"\t"+m.ID()] = o
	if r.path == "" {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\t%s\n", digest, o, killer, m.ID())
	return errors.Join(err, f.Close())
}
