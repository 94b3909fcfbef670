// Command check compares published files with the list of package corpus.
//
//	go run ./internal/corpus/check [-page FILE] [-write FILE] [-add FILE] DIR
//
// It finds the files of the list in DIR by their SHA-256, whatever their names, and prints
// a line for each that is judged differently. It exits with 1 if there is one, or if DIR
// has none of the files. Files that are not listed are ignored, and missing ones are
// counted. -add reads kind, repository, path, commit and file name, separated by tabs, and
// adds these files to the list with the result of today. -write writes the list with the
// results of today, -page the page of shares.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/corpus"
)

func main() {
	problems, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if problems > 0 {
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (problems int, err error) {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	page := flags.String("page", "", "write the page of shares to this `file`")
	write := flags.String("write", "", "write the list with the results of today to this `file`")
	add := flags.String("add", "", "add the files that this `file` names to the list")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	entries, err := corpus.Load()
	if err != nil {
		return 0, err
	}
	for _, dir := range flags.Args() {
		files, err := read(dir)
		if err != nil {
			return 0, err
		}
		if *add != "" {
			if entries, err = added(entries, *add, dir); err != nil {
				return 0, err
			}
		}
		n, err := compare(entries, files, *write != "", out)
		if problems += n; err != nil {
			return problems, err
		}
	}
	if *write != "" {
		if err := os.WriteFile(*write, corpus.Format(entries), 0o644); err != nil {
			return problems, err
		}
	}
	if *page != "" {
		err = os.WriteFile(*page, corpus.Page(entries), 0o644)
	}
	return problems, err
}

// read returns the files below a directory by their SHA-256.
func read(dir string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		files[digest(content)] = content
		return err
	})
	return files, err
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// compare judges the files of the list that are there. With update, it changes the list
// instead of reporting differences.
func compare(entries []corpus.Entry, files map[string][]byte, update bool, out io.Writer) (problems int, err error) {
	found := 0
	for i, e := range entries {
		content, ok := files[e.SHA256]
		if !ok {
			continue
		}
		found++
		got, err := corpus.Judge(e.Kind, content)
		switch {
		case err != nil:
			return problems, err
		case update:
			entries[i].Result = got
		case got != e.Result:
			problems++
			fmt.Fprintf(out, "%s %s/%s: %s %s, listed as %s %s\n", e.Kind, e.Repo, e.Path, got.Outcome, got.Why,
				e.Result.Outcome, e.Result.Why)
		}
	}
	fmt.Fprintf(out, "%d of %d files of the list are here, %d are judged differently\n", found, len(entries), problems)
	if found == 0 {
		problems++
	}
	return problems, nil
}

// added returns the list with the files that a table names.
func added(entries []corpus.Entry, table, dir string) ([]corpus.Entry, error) {
	rows, err := os.ReadFile(table)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(rows)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("%s: not five columns: %q", table, line)
		}
		content, err := os.ReadFile(filepath.Join(dir, f[4]))
		if err != nil {
			return nil, err
		}
		e := corpus.Entry{Kind: corpus.Kind(f[0]), Repo: f[1], Path: f[2], Commit: f[3], SHA256: digest(content)}
		if e.Result, err = corpus.Judge(e.Kind, content); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(entries, func(o corpus.Entry) bool { return o.Kind == e.Kind && o.Repo == e.Repo && o.Path == e.Path }) {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b corpus.Entry) int {
		return bytes.Compare(corpus.Format([]corpus.Entry{a}), corpus.Format([]corpus.Entry{b}))
	})
	return entries, nil
}
