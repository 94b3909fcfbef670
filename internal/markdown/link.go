package markdown

import "strings"

// push opens a bracket.
func (p *proseReader) push(o opener) {
	if n := len(p.openers); n > 0 {
		p.openers[n-1].nested = true
	}
	p.openers = append(p.openers, o)
}

// closeBracket reads what a closing bracket ends: a link, an image or nothing. A link contains no
// other link.
func (p *proseReader) closeBracket(at int) (after int) {
	last := len(p.openers) - 1
	if last < 0 {
		return at + 1
	}
	o := p.openers[last]
	active := o.image || last >= p.inactive
	p.openers = p.openers[:last]
	p.inactive = min(p.inactive, last)
	if !active {
		return at + 1
	}
	if target := p.destination(at + 1); target.end > 0 {
		after = p.consumed(at+1, target.end)
		p.yield(Item{Kind: Link, Text: target.text, Title: target.title, Start: p.place(target.start)})
	} else if end := p.reference(o, at); end > 0 {
		after = p.consumed(at+1, end)
	} else {
		return at + 1
	}
	if !o.image {
		p.inactive = last
	}
	return after
}

// found is a link's destination and its position.
type found struct {
	text       string
	title      string // without escapes
	start, end int    // the destination's first byte, and what follows the link; 0 if this is not a link
}

// destination reads "(destination title)" behind a link text.
func (p *proseReader) destination(at int) found {
	if at >= len(p.text) || p.text[at] != '(' {
		return found{}
	}
	at = skipSpace(p.text, at+1)
	text, start, end := linkTarget(p.text, at)
	if end < 0 {
		return found{}
	}
	title := ""
	if next := skipSpace(p.text, end); next > end {
		end = next
		said, after := linkTitle(p.text, end)
		if after > 0 {
			title, end = said, skipSpace(p.text, after)
		}
	}
	if end >= len(p.text) || p.text[end] != ')' {
		return found{}
	}
	return found{text, title, start, end + 1}
}

// reference looks a link up by its label, and returns where it ends, or 0.
func (p *proseReader) reference(o opener, at int) int {
	if len(p.known) == 0 {
		return 0
	}
	label, end := linkLabel(p.text, at+1)
	if label == "" {
		if o.nested || at-o.at > maxLabel {
			return 0
		}
		label = p.text[o.at:at]
	}
	d := p.known[normalize(label)]
	if d == nil {
		return 0
	}
	d.Used = true
	return max(end, at+1)
}

// maxLabel is the length of a label in bytes.
const maxLabel = 999

// linkLabel reads "[label]" and returns where it ends; 0 if there is none.
func linkLabel(text string, at int) (label string, end int) {
	m := labelPattern().FindStringSubmatch(text[min(at, len(text)):min(at+maxLabel+2, len(text))])
	if m == nil {
		return "", 0
	}
	return m[1], at + len(m[0])
}

var (
	labelPattern = pattern(`^\[((?s:[^\\\[\]]|\\.)*)\]`)
	angleTarget  = pattern(`^<((?:[^\\<>\n\r]|\\.)*)>`)
	titlePattern = pattern(`^(?s:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\(((?:[^()\\]|\\.)*)\))`)
)

// maxParentheses is how deep parentheses nest in a destination.
const maxParentheses = 32

// linkTarget reads a destination and returns where it begins and ends; the end is -1 if there is
// none.
func linkTarget(text string, at int) (target string, start, end int) {
	if at < len(text) && text[at] == '<' {
		m := angleTarget().FindStringSubmatch(text[at:])
		if m == nil {
			return "", 0, -1
		}
		return Unescape(m[1]), at + 1, at + len(m[0])
	}
	depth, i := 0, at
scan:
	for i < len(text) {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && isPunct(text[i+1]):
			i++
		case c == '(':
			depth++
			if depth > maxParentheses {
				return "", 0, -1
			}
		case c == ')':
			if depth == 0 {
				break scan
			}
			depth--
		case c <= ' ', c == 0x7f:
			break scan
		}
		i++
	}
	if depth > 0 {
		return "", 0, -1
	}
	return Unescape(text[at:i]), at, i
}

// linkTitle reads a title and returns where it ends, or 0.
func linkTitle(text string, at int) (title string, end int) {
	m := titlePattern().FindStringSubmatch(text[min(at, len(text)):])
	if m == nil {
		return "", 0
	}
	return Unescape(m[1] + m[2] + m[3]), at + len(m[0])
}

// definitions reads the link definitions that the block begins with, and returns where the rest
// begins.
func (p *proseReader) definitions(each func(d Item, label string)) int {
	at := 0
	for at < len(p.text) && p.text[at] == '[' {
		d, label, end := p.definition(at)
		if end == 0 {
			break
		}
		if each != nil {
			each(d, label)
		}
		at = end
	}
	return at
}

// definition reads one link definition, and returns where it ends, or 0.
func (p *proseReader) definition(at int) (d Item, label string, end int) {
	label, end = linkLabel(p.text, at)
	if strings.TrimSpace(label) == "" || end >= len(p.text) || p.text[end] != ':' {
		return Item{}, "", 0
	}
	begin := skipSpace(p.text, end+1)
	target, start, end := linkTarget(p.text, begin)
	if end <= begin {
		return Item{}, "", 0
	}
	d = Item{Kind: Definition, Text: target, Start: p.place(start), Label: label}
	rest := lineRest(p.text, end)
	if next := skipSpace(p.text, end); next > end {
		if title, after := linkTitle(p.text, next); after > 0 {
			if behind := lineRest(p.text, after); behind > 0 {
				d.Title, rest = title, behind
			}
		}
	}
	return d, normalize(label), rest
}

// lineRest returns where the next line begins, if only blanks precede it, or 0.
func lineRest(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	if at < len(text) && text[at] != '\n' && text[at] != '\r' {
		return 0
	}
	return afterLineEnd(text, at)
}
