package markdown

import (
	"regexp"
	"sync"
)

// htmlBlocks are the kinds of HTML blocks, in the order of the specification: how the first line
// begins, and what ends the block. Those without an end are ended by a blank line.
var htmlBlocks = sync.OnceValue(func() (kinds []struct{ begin, end *regexp.Regexp }) {
	for _, k := range [][2]string{
		{`(?i)^<(?:pre|script|style|textarea)(?:[ \t>]|$)`, `(?i)</(?:pre|script|style|textarea)>`},
		{`^<!--`, `-->`},
		{`^<\?`, `\?>`},
		{`^<![A-Za-z]`, `>`},
		{`^<!\[CDATA\[`, `\]\]>`},
		{`(?i)^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|` +
			`figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|` +
			`search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[ \t>]|/>|$)`, ``},
		{tag + `[ \t]*$`, ``},
	} {
		kind := struct{ begin, end *regexp.Regexp }{begin: regexp.MustCompile(k[0])}
		if k[1] != "" {
			kind.end = regexp.MustCompile(k[1])
		}
		kinds = append(kinds, kind)
	}
	return kinds
})

// htmlKind returns which kind of HTML block a line begins, as the specification numbers them; 0 if
// it begins none.
func htmlKind(line string) int {
	for i, kind := range htmlBlocks() {
		if kind.begin.MatchString(line) {
			if i == 6 && rawTag().MatchString(line) {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// endsHTML reports whether a line ends a block of a kind.
func endsHTML(kind int, line string) bool {
	end := htmlBlocks()[kind-1].end
	return end != nil && end.MatchString(line)
}

func skipSpace(text string, at int) int {
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	return at
}

// tag is a start tag or an end tag.
const tag = `^<(?:[A-Za-z][A-Za-z0-9-]*` +
	`(?:[\t-\r ]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[\t-\r ]*=[\t-\r ]*(?:[^\t-\r "'=<>\x60]+|'[^']*'|"[^"]*"))?)*` +
	`[\t-\r ]*/?>|/[A-Za-z][A-Za-z0-9-]*[\t-\r ]*>)`

var (
	tagPattern = pattern(tag)
	rawTag     = pattern(`(?i)^<(?:pre|script|style|textarea)\b`)
)

// pattern compiles an expression at its first use and not before main.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// tagEnd returns where the tag ends that a text begins with, or 0.
func tagEnd(text string) int { return len(tagPattern().FindString(text)) }
