package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/corpus"
)

func TestCompare(t *testing.T) {
	content := []byte("User-agent: *\nDisallow: /\n")
	entry := corpus.Entry{Kind: corpus.RobotsTxt, Repo: "a/b", Path: "robots.txt", Commit: "c", SHA256: digest(content), Result: corpus.Result{Outcome: corpus.Taken, Why: "closes the site to all"}}
	files := map[string][]byte{entry.SHA256: content}
	var out strings.Builder
	if n, err := compare([]corpus.Entry{entry}, files, false, &out); n != 0 || err != nil {
		t.Error(n, err, out.String())
	}
	other := entry
	other.Result = corpus.Result{Outcome: corpus.Refused}
	entries := []corpus.Entry{other}
	if n, err := compare(entries, files, false, &out); n != 1 || err != nil || !strings.Contains(out.String(), "a/b/robots.txt: taken closes the site to all, listed as refused") {
		t.Error(n, err, out.String())
	}
	if n, err := compare(entries, files, true, &out); n != 0 || err != nil || entries[0] != entry {
		t.Error(n, err, entries)
	}
	if n, _ := compare(entries, nil, false, &out); n != 1 {
		t.Error("a directory without a listed file is no problem")
	}
}

// TestRun adds a file to the list and finds it again, whatever its name.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("file", "Welcome, agents of a test.\n")
	rows := write("rows.tsv", "agents.txt\ta/b\tagents.txt\tc\tfile\n")
	list, page := filepath.Join(dir, "list.tsv"), filepath.Join(dir, "web.md")
	var out strings.Builder
	if n, err := run([]string{"-add", rows, "-write", list, "-page", page, dir}, &out); n != 0 || err != nil {
		t.Fatal(n, err, out.String())
	}
	written, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(written), "agents.txt\ta/b\tagents.txt\tc\t"+digest([]byte("Welcome, agents of a test.\n"))+"\tforeign\tforeign-format\n") {
		t.Error(string(written), err)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "| agents.txt |") {
		t.Error(string(text), err)
	}
	if n, err := run([]string{t.TempDir()}, &out); n == 0 || err != nil {
		t.Error("an empty directory is no problem", n, err)
	}
}
