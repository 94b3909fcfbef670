// Package confusable finds texts that look alike, by the data of Unicode Technical
// Standard 39. What looks alike is not the same: the package is for denials and
// warnings, and never for permissions.
package confusable

//go:generate go run gen.go confusables.txt

import (
	_ "embed" // of the table
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Skeleton returns the skeleton of a text by UTS 39 section 4: two texts look alike
// if their skeletons are equal. It keeps the case of letters.
func Skeleton(s string) string {
	if isASCII(s) && !strings.ContainsAny(s, "01I|m") {
		return s
	}
	t := tables()
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if to, ok := t.skeletons[r]; ok {
			b.WriteString(to)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFD.String(b.String())
}

// Letters returns the lower-case ASCII letters and digits that a character looks like
// in one of its cases, mostly one of them, and "" for none. It knows more than
// [Skeleton]: small capitals, and letters with a stroke or a hook.
func Letters(r rune) string {
	if r < utf8.RuneSelf {
		r = unicode.ToLower(r)
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return string(r)
		}
		return ""
	}
	t := tables()
	for _, form := range [...]rune{r, unicode.ToUpper(r), unicode.ToLower(r)} {
		if letter, ok := t.letters[form]; ok {
			return string(letter)
		}
		if to := strings.ToLower(t.skeletons[form]); to != "" && isASCII(to) {
			return to
		}
	}
	return ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// Version is the version of Unicode that the table is of.
const Version = "15.0.0"

// table is Unicode's data (confusables.txt of UTS 39, https://www.unicode.org/license.txt) and,
// after an empty line, the letters that gen.go finds by names of characters. Each line is a quoted
// Go string: a text, a tab and the characters that look like it.
//
//go:embed table.txt
var table string

// lookup is the table, read.
type lookup struct {
	skeletons map[rune]string
	letters   map[rune]rune
}

// tables reads the table when it is first needed: most processes never see a text that is not
// ASCII.
var tables = sync.OnceValue(func() lookup {
	t := lookup{make(map[rune]string, 6300), make(map[rune]rune, 510)}
	skeletons, letters, _ := strings.Cut(table, "\n\n")
	each(skeletons, func(from rune, to string) { t.skeletons[from] = to })
	each(letters, func(from rune, to string) { t.letters[from] = rune(to[0]) })
	return t
})

// each visits the lines of a part of the table.
func each(part string, visit func(from rune, to string)) {
	for line := range strings.Lines(part) {
		text, _ := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		to, sources, _ := strings.Cut(text, "\t")
		for _, from := range sources {
			visit(from, to)
		}
	}
}
