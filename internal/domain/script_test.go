package domain

import (
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name, input string
		scripts     string // of the first label
		mixed       bool
		display     string // "" if only the A-label may be shown
	}{
		{"ascii", "example.com", "Latin", false, ""},
		{"digits", "123.example", "", false, ""},
		{"latin", "b\u00fccher.example", "Latin", false, "b\u00fccher.example"},
		{"latin-combining", "x\u030c.example", "Latin", false, "x\u030c.example"},
		{"latin-digits", "caf\u00e9-24.example", "Latin", false, "caf\u00e9-24.example"},
		{"cyrillic", "\u043f\u0440\u0438\u043c\u0435\u0440.example", "Cyrillic", false, "\u043f\u0440\u0438\u043c\u0435\u0440.example"},
		{"japanese", "\u65e5\u672c\u306e\u30c6\u30b9\u30c8.example", "Han Hiragana Katakana", false, "\u65e5\u672c\u306e\u30c6\u30b9\u30c8.example"},
		{"korean", "\u97d3\uad6d.example", "Han Hangul", false, "\u97d3\uad6d.example"},
		{"bopomofo", "\u4e2d\u3105.example", "Bopomofo Han", false, "\u4e2d\u3105.example"},
		{"latin-cyrillic", "\u0430pple.com", "Cyrillic Latin", true, ""},
		{"latin-greek", "ex\u03b1mple.com", "Greek Latin", true, ""},
		{"latin-han", "abc\u4e2d.example", "Han Latin", true, ""},
		{"hangul-hiragana", "\uad6d\u306e.example", "Hangul Hiragana", true, ""},
		{"labels-apart", "\u043f\u0440\u0438\u043c\u0435\u0440.b\u00fccher.example", "Cyrillic", false, "\u043f\u0440\u0438\u043c\u0435\u0440.b\u00fccher.example"},
		{"slash-look-alike", "example\u2044x.example", "Latin", false, ""},
		{"emoji", "\u2603.example", "", false, ""},
		{"one-of-two", "b\u00fccher.\u0430pple.com", "Latin", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, err := ParseHost(c.input)
			if err != nil {
				t.Fatal(err)
			}
			label := Labels(host)[0]
			if got := strings.Join(label.Scripts, " "); got != c.scripts || label.Mixed != c.mixed {
				t.Errorf("scripts %q, mixed %t; want %q, %t", got, label.Mixed, c.scripts, c.mixed)
			}
			display, ok := Unicode(host)
			if !ok {
				display = ""
			}
			if display != c.display || ok != (c.display != "") {
				t.Errorf("display %q %t, want %q", display, ok, c.display)
			}
		})
	}
}
