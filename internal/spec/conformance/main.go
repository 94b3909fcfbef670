// Command conformance joins the registers of requirements with the results of
// the tests.
//
//	go test -json ./... >results.json
//	go run ./internal/spec/conformance -check results.json
//	go run ./internal/spec/conformance -write results.json
//
// It reads the output of "go test -json" from the files, or from standard input
// if there are none. The results of several modules may follow one another.
//
//   - -write writes docs/conformance.md and the pages below docs/conformance.
//   - -check fails on whatever [spec.Spec.Check] finds, with a line for each.
//   - -alone runs the tests of each row alone and fails if those of one row do.
//
// Without a flag it prints the summary. It exits with 1 if something is wrong and
// with 2 if the command line is.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lookleap/lookleap/internal/spec"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	modes := map[string]*bool{
		"write": flags.Bool("write", false, "write the pages"),
		"check": flags.Bool("check", false, "check tests and pages against the registers"),
		"alone": flags.Bool("alone", false, "run the tests of each row alone"),
	}
	docs := flags.String("docs", "", "`directory` of the pages (docs of the module)")
	if flags.Parse(args) != nil {
		return 2
	}
	mode := ""
	for name, set := range modes {
		if *set && mode != "" {
			fmt.Fprintln(stderr, "conformance: only one of -write, -check and -alone")
			return 2
		}
		if *set {
			mode = name
		}
	}
	problems, err := conformance(mode, *docs, flags.Args(), stdin, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "conformance:", err)
		return 1
	}
	for _, problem := range problems {
		fmt.Fprintln(stdout, problem)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}

func conformance(mode, docs string, inputs []string, stdin io.Reader, stdout io.Writer) (problems []string, err error) {
	s, err := spec.Load()
	if err != nil {
		return nil, err
	}
	results, err := read(inputs, stdin)
	if err != nil {
		return nil, err
	}
	if mode == "" {
		fmt.Fprint(stdout, s.Summary(results))
		return nil, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	if mode == "alone" {
		return alone(root, s.Commands(results))
	}
	if docs == "" {
		docs = filepath.Join(root, "docs")
	}
	nested, err := nestedModules(root)
	if err != nil {
		return nil, err
	}
	pages := s.Pages(results, nested)
	if mode == "check" {
		problems, notes := s.Check(results, pages, os.DirFS(docs))
		for _, note := range notes {
			fmt.Fprintln(stdout, "   note:", note)
		}
		return problems, nil
	}
	return nil, writePages(docs, pages)
}

func writePages(docs string, pages map[string][]byte) error {
	for name, text := range pages {
		file := filepath.Join(docs, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read reads results from files, or from standard input if there are none. Input
// without a single outcome is an error: it would look like a module without tests.
func read(names []string, stdin io.Reader) (*spec.Results, error) {
	results := &spec.Results{}
	if len(names) == 0 {
		if err := results.Read(stdin); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if err := readFile(results, name); err != nil {
			return nil, err
		}
	}
	if results.Len() == 0 {
		return nil, errors.New("there is no outcome of a test: is this the output of go test -json?")
	}
	return results, nil
}

func readFile(results *spec.Results, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := results.Read(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// moduleRoot finds the directory of go.mod above the present one.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("there is no go.mod above the present directory: run it inside the module")
		}
		dir = parent
	}
}

// nestedModules returns the directories of the modules below the root.
func nestedModules(root string) ([]string, error) {
	var dirs []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		case path.Base(name) == "go.mod" && name != "go.mod":
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	return dirs, err
}
