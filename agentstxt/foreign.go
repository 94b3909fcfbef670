package agentstxt

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// The name agents.txt is older than the draft, and most sites that use it publish another
// format: contact data, a list of protocols, Markdown, or rules like those of robots.txt.
// This file decides which files are of the draft's format, and what the others mean.

// Foreign says what a file of another format means. A file is of this draft's format if
// one of its lines looks like a hash line ("*" and 16 or more hex digits) or like a
// directive (a path and a word within two edits of ALLOW or DISALLOW, in any letter case), or if "*" and 64 hex digits, or a path and DISALLOW on one line, stand anywhere
// in it. Any fault in such a file restricts its origin, whatever Foreign says.
type Foreign uint8

const (
	// ForeignRestrict restricts the origin, because the file has no hash line (section 5).
	ForeignRestrict Foreign = iota
	// ForeignIgnore treats the file as no policy and reports a finding. A file with rules
	// in the form of robots.txt still refuses the paths that these rules disallow.
	ForeignIgnore
)

// Web returns the options for the web as it is: files of other formats that share the
// name agents.txt count as no policy, and robots.txt is obeyed too. The token is the name
// by which robots.txt files address your program, such as "ExampleBot".
//
//	client := &http.Client{Transport: agentstxt.NewClient(host, agentstxt.Web("ExampleBot")).Guard()}
func Web(token string) Options {
	return Options{Foreign: ForeignIgnore, Robots: Robots{Tokens: []string{token}}}
}

// fixForeign names the way out of a refusal that only the draft's letter demands.
const fixForeign = `clients can use the options agentstxt.Web("YourBot"), which ignore such files and obey robots.txt, or set Options.Foreign to ForeignIgnore`

// isForeign reports whether a file is of another format with the name agents.txt, such
// as prose, Markdown or robots.txt. A file in which one line resembles a hash line or a
// directive is not foreign: a client that took a damaged policy for a foreign file would
// open a site that wants to be closed. isForeign accepts all line ends that editors use,
// so that a file with wrong line ends is not one long comment.
func isForeign(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false // probably UTF-16, which may hide anything
	}
	page := data
	if bytes.IndexByte(page, '&') >= 0 {
		page = []byte(html.UnescapeString(string(page)))
	}
	if bytes.IndexByte(page, '<') >= 0 {
		page = regexp.MustCompile(`</?[A-Za-z][^<>]*>`).ReplaceAll(page, []byte(" ")) // tags
	}
	for line := range bytes.FieldsFuncSeq(page, isLineBreak) {
		line = trimInvisible(line)
		if isHashLike(line) || isDirectiveLike(line) || hasDirective(line) {
			return false
		}
	}
	return !hasHash(data)
}

// hasDirective reports whether a path and behind it ALLOW or DISALLOW stand anywhere in a line that
// is no comment: in a list, a table, a quotation, a string, a diff or between tags.
func hasDirective(line []byte) bool {
	if bytes.HasPrefix(line, []byte("#")) {
		return false
	}
	var before []byte
	for word := range bytes.FieldsFuncSeq(line, func(r rune) bool { return isInvisible(r) || strings.ContainsRune("|<>\"'`,[]", r) }) {
		if isPath := bytes.HasPrefix(before, []byte("/")); isPath && (string(word) == "ALLOW" || string(word) == "DISALLOW") {
			return true
		}
		if word = bytes.TrimLeft(word, `+-*:=\`); len(word) > 0 { // signs of lists and diffs, and between a name and its value
			before = word
		}
	}
	return false
}

// hasHash reports whether "*" and 64 hex digits stand anywhere in a file: in a JSON string,
// behind a line number, or behind the sign of a diff or of quoted mail. In bold text and in
// comments of programs a checksum may follow an asterisk too, so after "**" and "/*" it does
// not count.
func hasHash(data []byte) bool {
	for at := 0; at < len(data); {
		star := bytes.IndexByte(data[at:], '*')
		if star < 0 {
			return false
		}
		star += at
		at = star + 1 + leadingHex(data[star+1:])
		if at-star == 1+64 && (star == 0 || data[star-1] != '*' && data[star-1] != '/') {
			return true
		}
	}
	return false
}

// trimInvisible removes blanks and characters without a glyph from the start of a line.
func trimInvisible(line []byte) []byte {
	return bytes.TrimLeftFunc(line, isInvisible)
}

func isInvisible(r rune) bool { return unicode.IsSpace(r) || plaintext.Invisible(r) }

func isLineBreak(r rune) bool {
	return '\n' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// foreignFile returns the error for a file of another format.
func foreignFile(at lookleap.Position) *lookleap.Error {
	return malformed(CodeForeignFormat, at, "the file has neither hash line nor directive, so it has another format", fixForeign)
}

// ignoreForeign returns the policy for a foreign file that is not to restrict its origin.
// The finding says what the file looks like.
func ignoreForeign(data []byte, o Options) *Policy {
	seen, line := firstLine(data)
	found := note(CodeForeignFormat, "AGT-3-12", "the file has another format than the draft's ("+seen+"), which counts as no policy", "")
	found.Position.Line, found.Position.Column = line, min(line, 1)
	p := absent(CodeForeignFormat, found)
	if rules := parseRobots(data, robotsOptions{tokens: o.Robots.Tokens, foreign: true}); rules.disallows() {
		p.foreign = rules
	}
	return p
}

// firstLine describes a foreign file by its first line that is not blank, or not a
// comment if there is such a line.
func firstLine(data []byte) (description string, line int) {
	comment, commentAt := "", 0
	for l := newLines(data); l.next(); {
		text := strings.TrimSpace(string(l.text[:min(len(l.text), 4*maxQuoted)]))
		switch {
		case text == "":
		case text[0] != '#':
			return "its first line is " + plaintext.Quote(text, maxQuoted), l.num
		case comment == "":
			comment, commentAt = text, l.num
		}
	}
	if comment == "" {
		return "it is empty", 0
	}
	return fmt.Sprintf("it has only comments, such as %s", plaintext.Quote(comment, maxQuoted)), commentAt
}

// isHashLike reports whether a line begins with "*" and at least 16 hex digits. After more
// asterisks or a blank, only the 64 digits of a hash line count, since a Markdown list may
// contain shorter numbers.
func isHashLike(line []byte) bool {
	const least, whole = 16, 64
	if len(line) == 0 || line[0] != '*' {
		return false
	}
	return leadingHex(line[1:]) >= least || leadingHex(bytes.TrimLeft(line, "* \t")) >= whole
}

// isDirectiveLike reports whether a line is a path and a word that is almost ALLOW or DISALLOW, in
// any letter case. A later word counts if it is exactly ALLOW or DISALLOW, because a path may
// wrongly contain a blank. Other words in capitals do not count: documentation of an API has lines
// of a path and a method.
func isDirectiveLike(line []byte) bool {
	if len(line) == 0 || line[0] != '/' {
		return false
	}
	fields := bytes.Fields(line[:min(len(line), 64<<10)])
	if len(fields) < 2 {
		return false
	}
	if isVerbLike(string(fields[1])) {
		return true
	}
	for _, field := range fields[2:] {
		if string(field) == "ALLOW" || string(field) == "DISALLOW" {
			return true
		}
	}
	return false
}

// isVerbLike reports whether a word could be a misspelled action.
func isVerbLike(word string) bool {
	word = strings.ToLower(word)
	return len(word) <= 12 && (textdiff.Edits(word, "allow") <= 2 || textdiff.Edits(word, "disallow") <= 2)
}
