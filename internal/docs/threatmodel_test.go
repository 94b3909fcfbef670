package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatModel checks that each test that the threat model names exists, with its subtest.
func TestThreatModel(t *testing.T) {
	repository := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(repository, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)(?:/([a-z0-9-]+))?`")
	place := regexp.MustCompile("in `\\./([a-z/]*)`")
	source := func(dir string) string {
		files, err := filepath.Glob(filepath.Join(repository, dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		var all strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	count := 0
	for line := range strings.Lines(string(page)) {
		dirs := []string{"dvs"}
		for _, m := range place.FindAllStringSubmatch(line, -1) {
			dirs = append(dirs, m[1])
		}
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			count++
			found := false
			for _, dir := range dirs {
				text := source(dir)
				found = found || strings.Contains(text, "func "+m[1]+"(") && (m[2] == "" || strings.Contains(text, `"`+m[2]+`"`))
			}
			if !found {
				t.Errorf("there is no %s/%s in %v", m[1], m[2], dirs)
			}
		}
	}
	if count < 15 {
		t.Errorf("only %d tests are named", count)
	}
}
