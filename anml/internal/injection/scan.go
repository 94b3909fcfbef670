// Package injection recognises texts that try to give an agent orders: prompt
// injection (ANML section 13.3). It looks for patterns in many languages, in
// every reading that hides one: look-alike letters, invisible characters,
// comments between letters, encodings.
//
// It is a heuristic. What it finds is withheld; what it does not find is still
// untrusted, and nothing may depend on its silence.
package injection

import "strings"

// Bounds of one scan.
const (
	scanRunes = 32 << 10  // of a text that is looked at
	scanTotal = 256 << 10 // bytes that are looked at, in all that stands encoded in the text
	scanDepth = 2         // of text encoded in text
	scanParts = 64        // encoded pieces of one text that are looked into
)

// Scan looks for a pattern in a text, in every reading of it that an agent's
// model might make of it, and returns the kind of the first that it finds; "" for
// none. Of a text longer than 32,768 characters it reads the beginning; one in
// which more stands encoded than can be looked at counts as found.
func Scan(text string) string {
	left := scanTotal
	return scan(firstRunes(text, scanRunes), 0, &left)
}

func scan(text string, depth int, left *int) string {
	*left -= len(text)
	if *left < 0 {
		return "encoded"
	}
	folded := Fold(text)
	for _, m := range markers {
		if strings.Contains("\n"+folded, m) {
			return "markup"
		}
	}
	for _, reading := range readings(folded) {
		if kind := match(words(reading)); kind != "" {
			return kind
		}
	}
	if depth == scanDepth {
		return ""
	}
	for _, hidden := range decodings(text) {
		if kind := scan(hidden, depth+1, left); kind != "" {
			return kind
		}
	}
	return ""
}

func firstRunes(text string, n int) string {
	for i := range text {
		n--
		if n < 0 {
			return text[:i]
		}
	}
	return text
}
