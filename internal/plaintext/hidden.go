package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Hidden counts the characters of a text that a reader cannot see, or that change what stands
// around them.
type Hidden struct {
	Control    int `json:"control,omitempty"`    // C0, DEL and C1, and so every terminal escape
	LineBreak  int `json:"lineBreak,omitempty"`  // U+2028 and U+2029
	Bidi       int `json:"bidi,omitempty"`       // marks, embeddings, overrides and isolates of direction
	ZeroWidth  int `json:"zeroWidth,omitempty"`  // joiners, zero-width spaces, soft hyphens, fillers, annotations and other invisible characters
	Variation  int `json:"variation,omitempty"`  // variation selectors
	Tag        int `json:"tag,omitempty"`        // U+E0000 to U+E007F, which spell ASCII invisibly
	Space      int `json:"space,omitempty"`      // blanks other than U+0020
	Mark       int `json:"mark,omitempty"`       // combining marks with nothing to stand on, more than four on one letter, or drawn across it
	Private    int `json:"private,omitempty"`    // private use
	Unassigned int `json:"unassigned,omitempty"` // noncharacters and code points without a character in our version of Unicode
	Invalid    int `json:"invalid,omitempty"`    // bytes that are not UTF-8
}

// Count returns what is hidden in a text of several lines. LF, CR before LF and TAB are
// ordinary there.
func Count(text string) Hidden {
	var n [classes]int
	var s scanner
	for i := 0; i < len(text); {
		if size := lineBreak(text[i:]); size > 0 || text[i] == '\t' {
			i += max(size, 1)
			s = scanner{}
			continue
		}
		_, size, class := s.next(text[i:])
		n[class]++
		i += size
	}
	return Hidden{
		Control: n[control], LineBreak: n[separator], Bidi: n[bidi], ZeroWidth: n[zeroWidth], Variation: n[variation], Tag: n[tag],
		Space: n[space], Mark: n[mark], Private: n[private], Unassigned: n[unassigned], Invalid: n[invalid],
	}
}

// lineBreak returns the length of the LF or CR LF that text begins with, or 0.
func lineBreak(text string) int {
	switch {
	case strings.HasPrefix(text, "\n"):
		return 1
	case strings.HasPrefix(text, "\r\n"):
		return 2
	}
	return 0
}

type counter struct {
	name  string
	count int
}

func (h Hidden) counters() []counter {
	return []counter{
		{"control", h.Control}, {"line separator", h.LineBreak}, {"bidi control", h.Bidi}, {"zero-width", h.ZeroWidth}, {"variation selector", h.Variation},
		{"tag", h.Tag}, {"unusual space", h.Space}, {"combining mark", h.Mark}, {"private use", h.Private}, {"unassigned", h.Unassigned}, {"not UTF-8", h.Invalid},
	}
}

// Total returns the number of hidden characters.
func (h Hidden) Total() int {
	total := 0
	for _, c := range h.counters() {
		total += c.count
	}
	return total
}

// String returns "2 control, 14 tag", or "none".
func (h Hidden) String() string {
	var parts []string
	for _, c := range h.counters() {
		if c.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.count, c.name))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// class says whether a character may be shown as it is, and if not, why.
type class uint8

const (
	visible class = iota
	control
	separator
	bidi
	zeroWidth
	variation
	tag
	space
	mark
	private
	unassigned
	invalid
	classes
)

// maxMarks is the number of combining marks that one letter may carry. Vietnamese, Hebrew, Thai
// and Tibetan need up to four.
const maxMarks = 4

// scanner classifies the characters of a text in order. The zero scanner stands where a
// combining mark would combine with what is ours.
type scanner struct {
	room int // combining marks that may follow
}

// next classifies the character that text, not empty, begins with. Of a byte that is not UTF-8,
// c is the byte.
func (s *scanner) next(text string) (c rune, size int, class class) {
	if b := text[0]; ' ' <= b && b <= '~' { // nearly everything
		s.room = maxMarks
		return rune(b), 1, visible
	}
	c, size = utf8.DecodeRuneInString(text)
	if c == utf8.RuneError && size == 1 {
		c, class = rune(text[0]), invalid
	} else {
		class = classOf(c)
	}
	switch {
	case class != visible:
		s.room = 0
	case !unicode.Is(unicode.M, c):
		s.room = maxMarks
	case s.room == 0 || unicode.Is(unicode.Me, c) || isOverlay(text[:size]):
		s.room = 0
		class = mark
	case unicode.Is(unicode.Mc, c): // takes a place of its own
		s.room = maxMarks
	default:
		s.room--
	}
	return c, size, class
}

// Invisible reports whether a reader sees nothing, or moved text, where a character is: controls but
// for TAB and LF, line separators, marks of direction, zero-width and tag characters, variation
// selectors, and code points that are no characters.
func Invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\t' && r != '\n'
	case r <= 0x9f, 0xe0000 <= r && r <= 0xe007f, r == '\u2028', r == '\u2029', r == '\ufffc':
		return true
	case r < 0x300:
		return r == '\u00ad'
	case 0x3000 <= r && r <= 0xd7ff:
		return r == '\u3164' // the Hangul filler; the rest are letters of East Asia
	case r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef:
		return true // no characters at all; YAML knows them only as escapes
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isOverlay reports whether a combining mark is drawn across its letter, as U+0336 COMBINING
// LONG STROKE OVERLAY.
func isOverlay(char string) bool { return norm.NFD.PropertiesString(char).CCC() == 1 }

// classOf classifies a character apart from its neighbours.
func classOf(c rune) class {
	switch {
	case unicode.Is(unicode.Cc, c):
		return control
	case c == '\u2028' || c == '\u2029':
		return separator
	case unicode.Is(unicode.Bidi_Control, c):
		return bidi
	case unicode.Is(unicode.Variation_Selector, c):
		return variation
	case 0xe0000 <= c && c <= 0xe007f:
		return tag
	case c == '\ufffc': // object replacement character: often drawn as nothing
		return zeroWidth
	case unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point):
		return zeroWidth
	case c != ' ' && unicode.Is(unicode.Zs, c), c == '\u2800', c == '\U0001d159': // blank Braille pattern and note head
		return space
	case unicode.Is(unicode.Co, c):
		return private
	case !unicode.IsPrint(c):
		return unassigned
	}
	return visible
}
