package agentstxt

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap"
)

// Other formats use the name agents.txt too: prose, Markdown, key-value lists,
// robots.txt. A file is of the draft's format if at least one line looks like a
// hash line or a directive, however badly written, because a client that takes a
// damaged policy for a foreign file opens a site that wants to be closed.

// isForeign reports whether no line of the file looks like this draft's. It
// breaks lines wherever some editor does, so that a file with wrong line ends is
// not one long comment.
func isForeign(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false // probably UTF-16, which may hide anything
	}
	for line := range bytes.FieldsFuncSeq(data, isLineBreak) {
		line = bytes.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
		if isHashLike(line) || isDirectiveLike(line) {
			return false
		}
	}
	return true
}

func isLineBreak(r rune) bool {
	return '\n' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// foreignFile is the error for a file of another format.
func foreignFile(at lookleap.Position) *lookleap.Error {
	return malformed(CodeForeignFormat, at, "the file has neither hash line nor directive, so it is of another format with the same name",
		"a client that should ignore such files sets Options.ForeignAbsent")
}

// isHashLike reports whether a line begins with "*" and at least 16 hex digits.
func isHashLike(line []byte) bool {
	const least = 16
	if len(line) <= least || line[0] != '*' {
		return false
	}
	for _, c := range line[1 : 1+least] {
		if unhex(c) < 0 {
			return false
		}
	}
	return true
}

// isDirectiveLike reports whether a line is a path and a word that could be an
// action: 3 to 12 capitals, or almost ALLOW or DISALLOW in any letter case.
func isDirectiveLike(line []byte) bool {
	if len(line) == 0 || line[0] != '/' {
		return false
	}
	fields := bytes.Fields(line[:min(len(line), 64<<10)])
	if len(fields) < 2 {
		return false
	}
	word := string(fields[1])
	capitals := len(word) >= 3 && len(word) <= 12
	for i := range len(word) {
		capitals = capitals && 'A' <= word[i] && word[i] <= 'Z'
	}
	if capitals {
		return true
	}
	word = strings.ToLower(word)
	return len(word) <= 12 && (edits(word, "allow") <= 2 || edits(word, "disallow") <= 2)
}

// edits returns how many bytes must be inserted, removed or replaced to make one
// word of another. Both are short.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
