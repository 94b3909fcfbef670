package spec

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadsAreBounded fails where a program of the module reads to the end of what another party
// sends, without a limit on the same line or a comment that says what limits it.
func TestReadsAreBounded(t *testing.T) {
	root, files := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if unread(d) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if unboundedRead(line) {
				t.Errorf("%s:%d: %s\n\tread through io.LimitReader or http.MaxBytesReader, or say on the line what ends the reading", path, i+1, strings.TrimSpace(line))
			}
		}
		return err
	})
	if err != nil || files < 300 {
		t.Fatal(files, err)
	}
	for line, want := range map[string]bool{
		"b, err := io.ReadAll(resp.Body)":                      true,
		"b, err := io.ReadAll(io.LimitReader(resp.Body, 1))":   false,
		"_, err := b.ReadFrom(resp.Body)":                      true,
		"err := json.NewDecoder(resp.Body).Decode(&v)":         true,
		"err := json.NewDecoder(bytes.NewReader(b)).Decode(v)": false,
		"b, err := io.ReadAll(r) // which ends at the limit":   false,
	} {
		if unboundedRead(line) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}

// unread reports whether a directory does not belong to the module, as the go command sees it: its
// name begins with a dot. Its files can come and go while a test runs.
func unread(d fs.DirEntry) bool {
	name := d.Name()
	return d.IsDir() && strings.HasPrefix(name, ".") && name != ".." && name != ".ci" && name != ".github"
}

// unboundedRead reports whether a line reads a stream into memory and has no bound or comment.
func unboundedRead(line string) bool {
	for _, bound := range []string{"io.LimitReader(", "http.MaxBytesReader(", "//"} {
		if strings.Contains(line, bound) {
			return false
		}
	}
	return strings.Contains(line, "io.ReadAll(") || strings.Contains(line, ".ReadFrom(") && strings.Contains(line, "Body") ||
		strings.Contains(line, "NewDecoder(") && strings.Contains(line, ".Body")
}
