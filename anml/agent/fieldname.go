package agent

import (
	"strings"
	"unicode/utf8"
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
		key = strings.Map(lookOf, spelled(name))
	}
	if key == "" {
		return name
	}
	return strings.ReplaceAll(key, "rn", "m")
}

// asciiKey is the key of a name in ASCII, as nearly all are, in one pass.
func asciiKey(name string) string {
	key := make([]byte, 0, 32)
	for i := range len(name) {
		switch c := lower(name[i]); {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			key = append(key, byte(lookOf(rune(c))))
		}
	}
	return string(key)
}

// sameField reports whether the user would take two names for the same field.
func sameField(a, b string) bool { return a == b || fieldKey(a) == fieldKey(b) }

// lookOf is the letter of a-z that a folded letter or digit looks like, or itself.
func lookOf(r rune) rune {
	switch r {
	case '0':
		return 'o'
	case '1', 'i', 'ı':
		return 'l' // I, l and 1 are one stroke
	}
	if r < utf8.RuneSelf {
		return r
	}
	if i := strings.IndexRune(lookalikes, r); i >= 0 {
		return lookOf(rune(looks[utf8.RuneCountInString(lookalikes[:i])]))
	}
	return r
}

// looks are the Latin letters that the [lookalikes] look like, in their order.
const looks = "aeopcyxijshdqwlrmhtkb" + "ovikpauw" + "ouhngq"
