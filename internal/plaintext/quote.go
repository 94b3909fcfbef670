package plaintext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DefaultLimit is the number of characters that [Quote], [Block] and [URL] show if the caller
// sets no number.
const DefaultLimit = 400

// Clip returns the first most bytes of a text, without half a character, and marks that it
// was cut.
func Clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// Quote returns text as one line in quotation marks, with at most limit characters between them
// (0 or less: [DefaultLimit]).
//
// A quotation mark or backslash of the text gets a backslash before it. A character that could
// hide, move or forge something becomes \u{1B}, with its code point in hexadecimal, and a byte
// that is not UTF-8 becomes \x{FF}. So do the blanks of a run after the third, which could push
// what follows to a place that looks like another line. Text beyond the limit is cut, and how
// much is said after the closing mark; no escape is cut in two. Texts that differ are shown
// differently unless they are cut.
func Quote(text string, limit int) string {
	p := newPrinter(text, limit)
	p.escapeQuotes, p.escapeBlanks = true, true
	p.WriteByte('"')
	rest := text
	for rest != "" {
		size := p.put(rest)
		if size == 0 {
			break
		}
		rest = rest[size:]
	}
	p.WriteByte('"')
	if rest != "" {
		p.WriteString("\u2026 " + more(rest))
	}
	return p.String()
}

// maxSentence bounds what [Line] shows. It is far above any sentence, path or host of ours.
const maxSentence = 16 << 10

// Line returns a sentence of ours as one line. Remote words stand in it in quotation marks
// already, by [Quote], so marks and backslashes stay as they are; whatever else could hide,
// move or forge something is shown as in [Quote].
func Line(sentence string) string { return lineWithin(sentence, maxSentence) }

// WholeLine is [Line] for what a user approves, so it cuts nothing.
func WholeLine(sentence string) string { return lineWithin(sentence, len(`\u{10FFFF}`)*len(sentence)) }

func lineWithin(sentence string, limit int) string {
	p := newPrinter(sentence, limit)
	p.sentence = true
	rest := sentence
	for rest != "" {
		size := p.put(rest)
		if size == 0 {
			p.WriteString("\u2026 " + more(rest))
			break
		}
		rest = rest[size:]
	}
	return p.String()
}

// rowLength is the number of characters after which Block begins another row.
const rowLength = 100

// Block returns a text of several lines, such as the body of a document or a script, with "| "
// before each line, ": " before the rest of a line that is longer than a row, which begins with a
// word if words are short enough, and at most limit
// characters in all (0 or less: [DefaultLimit]). Each row ends with a line feed. Characters are
// shown as in [Quote], but quotation marks and blanks as they are. A row without such a
// beginning is ours: it says how much was cut.
func Block(text string, limit int) string {
	p := newPrinter(text, limit)
	rest, start := text, "| "
	for rest != "" && p.room > 0 {
		p.WriteString(start)
		size, ended := p.row(rest)
		p.WriteByte('\n')
		rest, start = rest[size:], ": "
		if ended {
			start = "| "
		}
	}
	if rest != "" {
		p.WriteString("\u2026 " + more(rest) + "\n")
	}
	return p.String()
}

// row writes at most a row of text. It returns how many bytes it took and whether they end with
// a line break.
func (p *printer) row(text string) (size int, ended bool) {
	p.scanner = scanner{}
	end := max(p.room-rowLength, 0)
	for size < len(text) {
		if n := lineBreak(text[size:]); n > 0 {
			p.room--
			return size + n, true
		}
		if size > 0 && text[size-1] == ' ' && p.room-end < wordLength(text[size:]) {
			break
		}
		n := 0
		if p.room > end {
			n = p.put(text[size:])
		}
		if n == 0 {
			break
		}
		size += n
	}
	return size, false
}

// maxWord is the number of characters up to which a word is not divided between rows.
const maxWord = 40

// wordLength returns the number of characters before the next blank or line break, and 0 for a word
// that is too long.
func wordLength(text string) (n int) {
	for i := range text {
		if text[i] == ' ' || lineBreak(text[i:]) > 0 {
			return n
		}
		n++
		if n > maxWord {
			return 0
		}
	}
	return n
}

// more tells how much text is not shown.
func more(text string) string {
	n := utf8.RuneCountInString(text)
	if n == 1 {
		return "(1 more character)"
	}
	return fmt.Sprintf("(%d more characters)", n)
}

// printer writes characters of untrusted text in a form that can be shown.
type printer struct {
	strings.Builder
	scanner
	escapeQuotes bool
	escapeBlanks bool
	sentence     bool // backslashes are ours
	blanks       int  // blanks in a row
	room         int  // characters that may be written
}

func newPrinter(text string, limit int) *printer {
	if limit <= 0 {
		limit = DefaultLimit
	}
	p := &printer{room: limit}
	p.Grow(min(len(text), limit) + len(`""`))
	return p
}

// maxBlanks is the length of a run of blanks that is shown as it is.
const maxBlanks = 3

// put writes the first character of text and returns its size in bytes, or 0 if there is no room.
func (p *printer) put(text string) int {
	c, size, class := p.next(text)
	p.blanks++
	if c != ' ' {
		p.blanks = 0
	}
	escape := ""
	switch {
	case class == invalid:
		escape = fmt.Sprintf(`\x{%02X}`, c)
	case class != visible, p.escapeBlanks && p.blanks > maxBlanks:
		escape = fmt.Sprintf(`\u{%X}`, c)
	case c == '\\' && !p.sentence, p.escapeQuotes && c == '"':
		escape = `\` + text[:size]
	}
	length := max(len(escape), 1)
	if length > p.room {
		p.room = 0
		return 0
	}
	p.room -= length
	if escape == "" {
		p.WriteString(text[:size])
		return size
	}
	p.scanner = scanner{} // a combining mark must not change what is ours
	p.WriteString(escape)
	return size
}
