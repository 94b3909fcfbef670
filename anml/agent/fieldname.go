package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap/internal/confusable"
)

// fieldKey is the name of a field in the one spelling in which what the user
// forbids is compared: without case, accents, separators and characters that
// nobody sees, and with one letter for all that look like it. So a denial holds
// for every name that the user would take for the same field, while whatever
// permits compares names exactly (section 16.3). A name without a letter or a
// digit is its own key.
func fieldKey(name string) string {
	key := asciiKey(name)
	if !isASCII(name) {
		key = asciiKey(latin(name))
	}
	if key == "" {
		return name
	}
	return ligatures.Replace(key)
}

// ligatures are pairs of letters that look like one.
var ligatures = strings.NewReplacer("rn", "m", "vv", "w")

// latin is a text with the ASCII letters that its own look like, and in lower case and
// without accents where they look like none. What separates words is left out.
func latin(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(text))) {
		switch letters := confusable.Letters(r); {
		case letters != "":
			b.WriteString(letters)
		case r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.N, unicode.M) && !unseen(r):
			b.WriteString(spelled(string(r)))
		}
	}
	return b.String()
}

// asciiKey is the key of a name in one pass. It folds the case of ASCII letters, and
// keeps characters that are not ASCII.
func asciiKey(name string) string {
	key := make([]byte, 0, 32)
	for i := range len(name) {
		switch c := lower(name[i]); {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '|', c >= utf8.RuneSelf:
			key = append(key, stroke(c))
		}
	}
	return string(key)
}

// stroke is the ASCII letter that a letter or digit cannot be told from.
func stroke(c byte) byte {
	switch c {
	case '0':
		return 'o'
	case '1', 'i', '|':
		return 'l' // I, l, 1 and | are one stroke
	}
	return c
}

// sameField reports whether the user would take two names for the same field.
func sameField(a, b string) bool { return a == b || fieldKey(a) == fieldKey(b) }
