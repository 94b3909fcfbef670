// Command conformance joins the registers of requirements with the results of
// the tests.
//
//	go test -json ./... >results.json
//	go run ./internal/spec/conformance -check results.json
//	go run ./internal/spec/conformance -write results.json
//
// It reads the output of "go test -json" from the files, or from standard input
// without any; the results of several modules may follow one another. -write
// writes docs/conformance.md. -check fails on whatever [spec.Spec.Check] finds,
// with one line for each. With neither it prints the summary.
//
// It exits with 1 if something is wrong and with 2 if it was called wrongly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lookleap/lookleap/internal/spec"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	write := flags.Bool("write", false, "write the page")
	check := flags.Bool("check", false, "check tests and page against the registers")
	page := flags.String("page", "", "`file` of the page (docs/conformance.md of the module)")
	if flags.Parse(args) != nil {
		return 2
	}
	if *write && *check {
		fmt.Fprintln(stderr, "conformance: -write or -check, not both")
		return 2
	}
	problems, err := conformance(*write, *check, *page, flags.Args(), stdin, stdout)
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

func conformance(write, check bool, page string, inputs []string, stdin io.Reader, stdout io.Writer) (problems []string, err error) {
	s, err := spec.Load()
	if err != nil {
		return nil, err
	}
	results, err := read(inputs, stdin)
	if err != nil {
		return nil, err
	}
	if page == "" && (write || check) {
		root, err := moduleRoot()
		if err != nil {
			return nil, err
		}
		page = filepath.Join(root, "docs", "conformance.md")
	}
	switch {
	case write:
		return nil, os.WriteFile(page, s.Page(results), 0o644)
	case check:
		now, err := os.ReadFile(page)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return s.Check(results, now), nil
	}
	fmt.Fprint(stdout, s.Summary(results))
	return nil, nil
}

// read reads results from files, or from standard input without any. Input
// without a single outcome would look like a module without tests: an error.
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
			return "", errors.New("there is no go.mod above the present directory: name the page with -page")
		}
		dir = parent
	}
}
