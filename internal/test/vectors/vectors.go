// Package vectors reads and writes the published test vectors of the document packages: the files
// in testdata/vectors, which other implementations use too. Only tests import it.
package vectors

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// Update is the flag with which a test writes what it got as what is expected.
var Update = flag.Bool("update-vectors", false, "write the expectations of testdata/vectors")

// File is one file of testdata/vectors.
type File[T any] struct {
	Specification string `json:"specification,omitempty"` // the document, if it is not a draft
	Draft         string `json:"draft,omitempty"`
	Input         string `json:"input"` // what a case consists of
	Cases         []T    `json:"cases"`
}

// Read returns the cases of a file, and decodes the other members of the file into more. The test
// fails if the file is of another revision or has less than ten cases.
func Read[T any](t testing.TB, name, revision string, more ...any) []T {
	t.Helper()
	return Open[T](t, name, revision, more...).Cases
}

// Open returns a file, for a test that also writes it.
func Open[T any](t testing.TB, name, revision string, more ...any) *File[T] {
	t.Helper()
	data, err := os.ReadFile(path(name))
	if err != nil {
		t.Fatal(err)
	}
	file := new(File[T])
	for _, to := range append(more, file) {
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if cmp.Or(file.Draft, file.Specification) != revision || file.Input == "" || len(file.Cases) < 10 {
		t.Fatalf("%s: %d cases for %q", name, len(file.Cases), revision)
	}
	return file
}

// Write writes the file.
func (f *File[T]) Write(name string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path(name), append(text, '\n'), 0o666)
}

func path(name string) string { return filepath.Join("testdata", "vectors", name) }
