package markdown

import (
	"regexp"
	"strings"
	"sync"
)

// rawTags begin HTML blocks that only their end tags close, and blockTags those that a blank line
// closes.
var (
	rawTags   = words("pre script style textarea")
	blockTags = words(`address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form
		frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody
		td tfoot th thead title tr track ul`)
)

// words returns the set of the words of a list, which is made at its first use and not before main.
func words(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		table := map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			table[w] = true
		}
		return table
	})
}

// htmlKind returns which kind of HTML block a line begins, as the specification numbers them; 0 if
// it begins none.
func htmlKind(rest string) int {
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return 2
	case strings.HasPrefix(rest, "<?"):
		return 3
	case strings.HasPrefix(rest, "<![CDATA["):
		return 5
	case len(rest) > 2 && rest[1] == '!' && isLetter(rest[2]):
		return 4
	}
	closing := strings.HasPrefix(rest, "</")
	name := rest[1:]
	if closing {
		name = rest[2:]
	}
	size := tagName(name)
	after := name[size:]
	name = strings.ToLower(name[:min(size, len("blockquote")+1)]) // no longer name is listed
	ends := after == "" || after[0] == ' ' || after[0] == '\t' || after[0] == '>'
	switch {
	case !closing && rawTags()[name] && ends:
		return 1
	case blockTags()[name] && (ends || strings.HasPrefix(after, "/>")):
		return 6
	}
	if rawTags()[name] && !closing {
		return 0
	}
	if end := tagEnd(rest); end > 0 && strings.Trim(rest[end:], " \t") == "" {
		return 7
	}
	return 0
}

// endsHTML reports whether a line ends a block of a kind. Those of the kinds 6 and 7 end before a
// blank line.
func endsHTML(kind int, line string) bool {
	switch kind {
	case 1:
		for {
			at := strings.Index(line, "</")
			if at < 0 {
				return false
			}
			line = line[at+2:]
			if size := tagName(line); size < len(line) && line[size] == '>' && rawTags()[strings.ToLower(line[:min(size, len("textarea")+1)])] {
				return true
			}
		}
	case 2:
		return strings.Contains(line, "-->")
	case 3:
		return strings.Contains(line, "?>")
	case 4:
		return strings.Contains(line, ">")
	case 5:
		return strings.Contains(line, "]]>")
	}
	return false
}

// tagName returns the length of the tag name that a text begins with.
func tagName(text string) int {
	if text == "" || !isLetter(text[0]) {
		return 0
	}
	n := 1
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n]) || text[n] == '-') {
		n++
	}
	return n
}

func skipSpace(text string, at int) int {
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	return at
}

// tagPattern is a start tag or an end tag.
var tagPattern = pattern(`^<(?:[A-Za-z][A-Za-z0-9-]*` +
	`(?:[\t-\r ]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[\t-\r ]*=[\t-\r ]*(?:[^\t-\r "'=<>\x60]+|'[^']*'|"[^"]*"))?)*` +
	`[\t-\r ]*/?>|/[A-Za-z][A-Za-z0-9-]*[\t-\r ]*>)`)

// pattern compiles an expression at its first use and not before main.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// tagEnd returns where the tag ends that a text begins with, or 0.
func tagEnd(text string) int { return len(tagPattern().FindString(text)) }
