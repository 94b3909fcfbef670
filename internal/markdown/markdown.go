// Package markdown finds the code, the links and the HTML of a CommonMark text, with their places
// in the source. It does not render.
//
// It reads text that attackers write, so every function takes time in proportion to its input:
// containers nest at most 32 deep, and nothing is scanned again after it was found not to match.
// Known parsers take quadratic time for nested quotes, lists, brackets or emphasis. Package bench
// compares this one with such a parser on the examples of the CommonMark specification.
package markdown

import (
	"html"
	"strings"

	"golang.org/x/text/cases"
)

// Kind is what a [Block] holds.
type Kind uint8

const (
	// Prose is a paragraph or a heading. Its link definitions belong to it.
	Prose Kind = iota
	// Code is a fenced or indented code block.
	Code
	// HTML is a block of raw HTML.
	HTML
)

// Block is one leaf block. It is valid until the next one is read.
type Block struct {
	Kind       Kind
	Info       string // text behind the opening fence, without escapes
	Start, End int    // whole lines of the source, fences included
	Runs       []Run  // content, without fences
}

// Run is a part of the source that belongs to a block: what follows the marks of quotes and lists
// on one line, or several whole lines. Indented code keeps its indentation.
type Run struct {
	Start, End int // offsets in the source; the last line end is not included
	Pad        int // blanks before Start, which come from a tab that a container takes in part
}

// Text returns the content of a block, every line with its end.
func (b *Block) Text(source string) string {
	if len(b.Runs) == 0 {
		return ""
	}
	if first := b.Runs[0]; len(b.Runs) == 1 && first.Pad == 0 {
		return source[first.Start:afterLineEnd(source, first.End)]
	}
	var text []byte
	for _, r := range b.Runs {
		for range r.Pad {
			text = append(text, ' ')
		}
		text = append(append(text, source[r.Start:r.End]...), '\n')
	}
	return string(text)
}

// afterLineEnd returns where the next line begins, at the end of a line.
func afterLineEnd(text string, at int) int {
	switch {
	case at == len(text):
		return at
	case strings.HasPrefix(text[at:], "\r\n"):
		return at + 2
	}
	return at + 1
}

// ItemKind is what an [Item] is.
type ItemKind uint8

const (
	// Text is running text on one line, link texts included.
	Text ItemKind = iota
	// CodeSpan is code in running text, on one line.
	CodeSpan
	// Tag is a raw HTML tag or comment in running text.
	Tag
	// Link is the destination of a link, an image or an automatic link.
	Link
	// Definition is the destination of a link definition.
	Definition
)

// Item is a part of a block of prose.
type Item struct {
	Kind  ItemKind
	Text  string // as written; of a destination, without escapes
	Start int    // offset in the source, of a destination that of its first byte
	Label string // of a Definition, as written
	Title string // of a Link or Definition, without escapes
	Used  bool   // of a Definition: a link refers to it
}

// normalize returns a link label in the form in which labels are compared.
func normalize(label string) string {
	for i := range len(label) {
		if c := label[i]; c <= ' ' || 'A' <= c && c <= 'Z' || c >= 0x80 {
			return cases.Fold().String(strings.Join(strings.Fields(label), " "))
		}
	}
	return label
}

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// escape is a backslash escape or a character reference.
var escape = pattern("\\\\[!-/:-@\\[-`{-~]|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

// Unescape removes backslash escapes and reads character references.
func Unescape(text string) string {
	if !strings.ContainsAny(text, `\&`) {
		return text
	}
	return escape().ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '\\' {
			return found[1:]
		}
		value := html.UnescapeString(found)
		if strings.HasSuffix(value, ";") && found != "&semi;" { // none, or an old one without its semicolon
			return found
		}
		return value
	})
}
