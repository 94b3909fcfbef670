package spec

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// stilted are words that readers have to decode, each with the plain one.
var stilted = []struct{ pattern, plain string }{
	{`nobody`, "no one, or a passive"},
	{`somebody`, "someone, or who it is: the user, an attacker"},
	{`whoever`, "who it is: the caller, the server"},
	{`whom`, "who, or a passive"},
	{`lest`, "so that … not"},
	{`anew`, "again"},
	{`earnest`, "in production"},
	{`mend(s|ed|ing)?`, "fix"},
	{`octets?`, "byte, except where an RFC's text needs its unit"},
	{`gives`, "returns, sets, or what happens"},
	{`beside`, "next to, with, besides"},
	{`(it|that|they|which|status|one|ones) (is|are|was|were) none`, "the condition itself"},
}

// TestWords keeps the comments, the texts and the pages of the module in plain words. Of tests
// it reads the comments alone: their strings are input too.
func TestWords(t *testing.T) {
	texts := moduleTexts(t)
	for _, s := range stilted {
		t.Run(strings.Trim(regexp.MustCompile(`[^a-z]+`).ReplaceAllString(s.pattern, "-"), "-"), func(t *testing.T) {
			word := regexp.MustCompile(`(?i)(^|[^A-Za-z_./-])(` + s.pattern + `)($|[^A-Za-z_/-])`)
			for _, text := range texts {
				for i, line := range strings.Split(text.text, "\n") {
					if word.MatchString(line) && !strings.Contains(line, "RFC ") {
						t.Errorf("%s:%d: %s\n\twrite %s", text.file, text.line+i, strings.TrimSpace(line), s.plain)
					}
				}
			}
		})
	}
}

// moduleText is a comment, a string or a page, and where it begins.
type moduleText struct {
	file string
	line int
	text string
}

func moduleTexts(t *testing.T) (texts []moduleText) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if unread(d) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		switch {
		case d.IsDir() && (file == "docs/conformance" || file == "internal/spec/registers"):
			return fs.SkipDir
		case strings.HasSuffix(file, ".md"), file == ".ci/run", file == "cmd/lookleap/help.txt":
			text, err := os.ReadFile(path)
			texts = append(texts, moduleText{file, 1, string(text)})
			return err
		case strings.HasSuffix(file, ".go") && file != "internal/spec/words_test.go":
			text, err := os.ReadFile(path)
			texts = append(texts, goTexts(file, text)...)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 1000 {
		t.Fatalf("only %d texts found", len(texts))
	}
	return texts
}

// goTexts returns the comments of a Go file and, unless it is a test, its strings.
func goTexts(name string, src []byte) (texts []moduleText) {
	files := token.NewFileSet()
	file := files.AddFile(name, files.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		at, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return texts
		case tok == token.COMMENT, tok == token.STRING && !strings.HasSuffix(name, "_test.go"):
			texts = append(texts, moduleText{name, files.Position(at).Line, text})
		}
	}
}
