package main

import (
	"strings"
	"testing"
)

// Lines are wrapped at any width, no word is lost, and only a word alone is wider.
func TestWrap(t *testing.T) {
	text := "yes  \"https://example.com/\"\n     warning 1:2: the hash line is missing from the file\n     ├─ + the site is a third party to the server [B8]\n     fix " + strings.Repeat("x", 90) + " end\n\n"
	if wrap(text, 0) != text {
		t.Error("width 0 changes the text")
	}
	for width := range 130 {
		wrapped := wrap(text, width)
		if strings.Join(strings.Fields(wrapped), " ") != strings.Join(strings.Fields(text), " ") {
			t.Fatalf("width %d changes words:\n%s", width, wrapped)
		}
		for line := range strings.Lines(wrapped) {
			line = strings.TrimSuffix(line, "\n")
			if width > 0 && columns(line) > width && len(strings.Fields(strings.Trim(line, " │├└─"))) > 1 {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
	if got := wrap("     fix put it at the end\n", 20); got != "     fix put it at\n     the end\n" {
		t.Errorf("%q", got)
	}
}
