package markdown

import "strings"

// maxNesting is how deep quotes and list items may be nested.
const maxNesting = 32

// Blocks calls yield for each leaf block of a text in order, until yield returns false. Where
// containers nest too deep, the rest of the text is one block of code, so that no command in it
// passes for prose.
func Blocks(text string, yield func(*Block) bool) {
	s := blockScanner{text: text, yield: yield}
	for s.next < len(text) && !s.stopped {
		s.start = s.next
		s.end, s.next = len(text), len(text)
		if n := strings.IndexAny(text[s.start:], "\r\n"); n >= 0 {
			s.end = s.start + n
			s.next = afterLineEnd(text, s.end)
		}
		s.line()
	}
	s.closeLeaf()
}

// leafKind is what an open leaf is.
type leafKind uint8

const (
	noLeaf leafKind = iota
	paragraph
	fenced
	indented
	htmlBlock
)

// container is an open quote or list item.
type container struct {
	quote  bool
	indent int  // of an item: the column in which its content begins, after that of its parent
	filled bool // it has content
}

type blockScanner struct {
	text    string
	yield   func(*Block) bool
	stopped bool

	containers []container
	leaf       leafKind
	block      Block  // of the open leaf
	fence      string // of a fenced leaf
	margin     int    // indentation of that fence
	html       int    // kind of HTML block, 1 to 7, as the specification numbers them

	start, end, next int // the current line, its end without the line feed, and the next line
	at, column       int
	partial          bool // at is a tab of which some columns are consumed

	nonspace, indent int // the next byte that is not a blank, and the columns up to it
	blank            bool
}

// look finds the next byte that is not a blank.
func (s *blockScanner) look() {
	i, column := s.at, s.column
loop:
	for i < s.end {
		switch s.text[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			break loop
		}
		i++
	}
	s.nonspace, s.indent, s.blank = i, column-s.column, i == s.end
}

// skipBlanks moves to where look found something.
func (s *blockScanner) skipBlanks() {
	s.at, s.column, s.partial = s.nonspace, s.column+s.indent, false
}

// skip moves over so many columns.
func (s *blockScanner) skip(columns int) {
	for columns > 0 && s.at < s.end {
		width := 1
		if s.text[s.at] == '\t' {
			width = 4 - s.column%4
		}
		s.partial = width > columns
		width = min(width, columns)
		s.column += width
		columns -= width
		if !s.partial {
			s.at++
		}
	}
}

func (s *blockScanner) atBlank() bool {
	return s.at < s.end && (s.text[s.at] == ' ' || s.text[s.at] == '\t')
}

// rest is the line from the next non-blank byte.
func (s *blockScanner) rest() string { return s.text[s.nonspace:s.end] }

// line reads the current line.
func (s *blockScanner) line() {
	s.at, s.column, s.partial = s.start, 0, false
	matched := 0
	for ; matched < len(s.containers); matched++ {
		s.look()
		if !s.continueContainer(&s.containers[matched]) {
			break
		}
	}
	continues := false // the open leaf
	if matched == len(s.containers) && s.leaf != noLeaf {
		s.look()
		if s.leaf == fenced && s.closesFence() {
			s.block.End = s.next
			s.closeLeaf()
			return
		}
		continues = s.continueLeaf()
	}
	if continues && s.leaf != paragraph {
		s.addLine()
		return
	}
	lazy := s.leaf == paragraph
	for {
		s.look()
		if s.blank {
			break
		}
		opened, isLeaf := s.open(matched, continues)
		if isLeaf || s.stopped {
			return
		}
		if !opened {
			s.skipBlanks()
			break
		}
		continues, lazy, matched = false, false, len(s.containers)
	}
	if !s.blank && (continues || lazy) {
		s.addLine()
		return
	}
	s.begin(matched, noLeaf)
	if !s.blank {
		s.begin(matched, paragraph)
		s.addLine()
	}
}

func (s *blockScanner) continueContainer(c *container) bool {
	switch {
	case c.quote:
		if s.indent > 3 || s.blank || s.text[s.nonspace] != '>' {
			return false
		}
		s.skipQuote()
	case s.blank:
		if !c.filled {
			return false
		}
		s.skipBlanks()
	case s.indent < c.indent:
		return false
	default:
		s.skip(c.indent)
	}
	return true
}

func (s *blockScanner) skipQuote() {
	s.skipBlanks()
	s.skip(1)
	if s.atBlank() {
		s.skip(1)
	}
}

// continueLeaf reports whether the line may belong to the open leaf.
func (s *blockScanner) continueLeaf() bool {
	switch s.leaf {
	case fenced:
		for i := 0; i < s.margin && s.atBlank(); i++ {
			s.skip(1)
		}
		return true
	case indented:
		return s.blank || s.indent > 3
	case htmlBlock:
		return !s.blank || s.html < 6
	}
	return !s.blank
}

func (s *blockScanner) closesFence() bool {
	rest := strings.TrimRight(s.rest(), " \t")
	return s.indent < 4 && len(rest) >= len(s.fence) && strings.Trim(rest, s.fence[:1]) == ""
}

// addLine adds the rest of the line to the open leaf.
func (s *blockScanner) addLine() {
	r := Run{Start: s.at, End: s.end}
	if s.partial {
		r.Start++
		r.Pad = 4 - s.column%4
	}
	if n := len(s.block.Runs); n > 0 && s.at == s.start && r.Pad == 0 && afterLineEnd(s.text, s.block.Runs[n-1].End) == s.start {
		s.block.Runs[n-1].End = s.end
	} else {
		s.block.Runs = append(s.block.Runs, r)
	}
	s.block.End = s.next
	if s.leaf == htmlBlock && endsHTML(s.html, s.text[s.at:s.end]) {
		s.closeLeaf()
	}
}

// closeLeaf yields the open leaf.
func (s *blockScanner) closeLeaf() {
	if s.leaf != noLeaf && !s.stopped {
		s.stopped = !s.yield(&s.block)
	}
	s.leaf = noLeaf
}

// begin closes the leaf and all containers but the first, and opens another leaf.
func (s *blockScanner) begin(containers int, leaf leafKind) {
	s.closeLeaf()
	s.containers = s.containers[:containers]
	if leaf == noLeaf {
		return
	}
	s.fill()
	kind := Prose
	switch leaf {
	case fenced, indented:
		kind = Code
	case htmlBlock:
		kind = HTML
	}
	s.leaf = leaf
	s.block = Block{Kind: kind, Start: s.start, End: s.next, Runs: s.block.Runs[:0]}
}

// fill marks the innermost container as one that has content.
func (s *blockScanner) fill() {
	if n := len(s.containers); n > 0 {
		s.containers[n-1].filled = true
	}
}

// push opens a container below the first ones.
func (s *blockScanner) push(containers int, c container) {
	s.begin(containers, noLeaf)
	s.fill()
	s.containers = append(s.containers, c)
	if len(s.containers) < maxNesting {
		return
	}
	s.begin(len(s.containers), fenced)
	s.block.Runs = append(s.block.Runs, Run{Start: s.at, End: len(s.text)})
	s.block.End = len(s.text)
	s.closeLeaf()
	s.stopped = true
}

// open opens the block that begins here, if one does. Leaves take the whole line.
func (s *blockScanner) open(matched int, inParagraph bool) (opened, isLeaf bool) {
	if s.indent > 3 {
		if s.leaf == paragraph {
			return false, false
		}
		s.begin(matched, indented)
		s.addLine()
		return true, true
	}
	rest := s.rest()
	switch rest[0] {
	case '>':
		s.skipQuote()
		s.push(matched, container{quote: true})
		return true, false
	case '#':
		if level := len(rest) - len(strings.TrimLeft(rest, "#")); level > 6 || level < len(rest) &&
			rest[level] != ' ' && rest[level] != '\t' {
			return false, false
		}
		s.skipBlanks()
		s.begin(matched, paragraph)
		s.addLine()
		s.closeLeaf()
		return true, true
	case '`', '~':
		return s.openFence(matched, rest)
	case '<':
		kind := htmlKind(rest)
		if kind == 0 || kind == 7 && s.leaf == paragraph {
			return false, false
		}
		s.begin(matched, htmlBlock)
		s.html = kind
		s.addLine()
		return true, true
	case '=', '-', '_', '*', '+':
		if inParagraph && underline().MatchString(rest) && s.hasContent() {
			s.block.End = s.next
			s.closeLeaf()
			return true, true
		}
		if thematicBreak().MatchString(rest) {
			s.begin(matched, noLeaf)
			s.fill()
			return true, true
		}
	}
	return s.openItem(matched, inParagraph, rest), false
}

func (s *blockScanner) openFence(matched int, rest string) (opened, isLeaf bool) {
	info := strings.TrimLeft(rest, rest[:1])
	size := len(rest) - len(info)
	if size < 3 || rest[0] == '`' && strings.Contains(info, "`") {
		return false, false
	}
	s.begin(matched, fenced)
	s.fence, s.margin = rest[:size], s.indent
	s.block.Info = Unescape(strings.Trim(info, " \t"))
	return true, true
}

// openItem opens a list item if there is a list marker.
func (s *blockScanner) openItem(matched int, inParagraph bool, rest string) bool {
	m := itemPattern().FindStringSubmatch(rest)
	if m == nil {
		return false
	}
	marker := len(m[1])
	if inParagraph && (m[2] != "" && strings.TrimLeft(m[2], "0") != "1" || strings.Trim(rest[marker:], " \t") == "") {
		return false
	}
	outer := s.indent
	s.skipBlanks()
	s.skip(marker)
	s.look()
	padding := s.indent
	if padding > 4 || s.blank {
		padding = 1
	}
	if s.blank {
		s.skipBlanks()
	} else {
		s.skip(padding)
	}
	s.push(matched, container{indent: outer + marker + padding})
	return true
}

// hasContent reports whether the open paragraph is more than link definitions.
func (s *blockScanner) hasContent() bool {
	if r := s.block.Runs[0]; s.text[r.Start] != '[' {
		return true
	}
	p := proseReader{source: s.text}
	p.load(&s.block)
	return p.definitions(nil) < len(p.text)
}

var (
	// itemPattern is a list marker; its number is the second group.
	itemPattern = pattern(`^([-+*]|(\d{1,9})[.)])(?:[ \t]|$)`)
	// underline makes the paragraph above it a heading.
	underline = pattern(`^(?:=+|-+)[ \t]*$`)
	// thematicBreak is a line across the page.
	thematicBreak = pattern(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
)
