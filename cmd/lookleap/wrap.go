package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// plural returns a number with the word for it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// wrap breaks lines between words, so that none is wider than the width. A continued line begins
// where the text of its line begins. A word that is wider than the width,
// such as a URL, stays whole. Width 0 wraps nothing.
func wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		wrapLine(&b, strings.TrimSuffix(line, "\n"), width)
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, width int) {
	words := strings.TrimLeft(line, " │├└─")
	indent := columns(line) - columns(words)
	b.WriteString(line[:len(line)-len(words)])
	next := strings.Repeat(" ", min(indent, width/2))
	at := indent
	for words != "" {
		end := strings.IndexByte(words[1:], ' ') + 1
		if end == 0 {
			end = len(words)
		}
		word := words[:end] // with the space before it
		words = words[end:]
		if at+columns(word) > width && at > len(next) {
			b.WriteString("\n" + next)
			word, at = strings.TrimLeft(word, " "), len(next)
		}
		b.WriteString(word)
		at += columns(word)
	}
}

// columns returns how wide a text is, without the sequences that set colors.
func columns(s string) int {
	for _, sequence := range []string{green, red, plain} {
		s = strings.ReplaceAll(s, sequence, "")
	}
	return utf8.RuneCountInString(s)
}
