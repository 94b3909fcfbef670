package dvs

import (
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

// Block is a run of lines of the instructions.
type Block struct {
	Code     bool   // commands or other code: running it needs consent (section 5.2), whatever the text around it says
	Language string // the first word behind the opening fence, if there is one; untrusted
	Text     string // without the fences
	lookleap.Position
}

// Blocks splits the instructions into prose and code: what stands between fences
// of three or more backticks or tildes, or is indented by four blanks behind a
// blank line. It is one pass over the lines; Markdown is not rendered. Behind
// 10,000 blocks, all the rest is one more block, of code.
func (s *Skill) Blocks() []Block {
	var blocks []Block
	for b := range scanBlocks(s.Body) {
		if len(blocks) == maxBlocks {
			b = block{code: true, start: b.start, end: len(s.Body), line: b.line}
		}
		position := s.BodyPosition
		position.Line += b.line
		position.Column = 1
		position.Offset += b.start
		blocks = append(blocks, Block{Code: b.code, Language: b.language, Text: s.Body[b.start:b.end], Position: position})
		if len(blocks) > maxBlocks {
			break
		}
	}
	return blocks
}

// What is made of one body at most. A page that people read has far less.
const (
	maxBlocks     = 10_000
	maxReferences = 10_000
)

// block is a Block by offsets; line counts from 0.
type block struct {
	code       bool
	language   string
	start, end int
	line       int
}

// scanBlocks gives the blocks of a text in order. Blank prose is left out.
func scanBlocks(text string) func(yield func(block) bool) {
	return func(yield func(block) bool) {
		s := blockScanner{text: text, yield: yield, blank: true}
		for at, line := 0, 0; at < len(text) && !s.stopped; line++ {
			end := len(text)
			if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
				end = at + n + 1
			}
			s.line(at, end, line)
			at = end
		}
		s.flush(len(text))
	}
}

type blockScanner struct {
	text    string
	yield   func(block) bool
	stopped bool
	current block
	fence   string // of the open code block
	blank   bool   // the line before was blank
	list    bool   // inside a list, where indentation is no code
}

// flush ends the current block at an offset.
func (s *blockScanner) flush(end int) {
	b := s.current
	b.end = end
	s.current = block{}
	if !s.stopped && b.end > b.start && (b.code || strings.TrimSpace(s.text[b.start:b.end]) != "") {
		s.stopped = !s.yield(b)
	}
}

func (s *blockScanner) begin(b block) { s.current = b }

func (s *blockScanner) line(start, end, number int) {
	line := strings.TrimRight(s.text[start:end], " \t\r\n")
	content := strings.TrimLeft(line, " \t")
	indent := len(line) - len(content)
	fence := fenceOf(content)
	switch {
	case s.fence != "":
		if fence != "" && fence[0] == s.fence[0] && len(fence) >= len(s.fence) && len(content) == len(fence) {
			s.flush(start)
			s.fence = ""
			s.begin(block{start: end, line: number + 1})
		}
	case fence != "":
		s.flush(start)
		language, _, _ := strings.Cut(strings.TrimSpace(content[len(fence):]), " ")
		s.fence = fence
		s.begin(block{code: true, language: language, start: end, line: number + 1})
	case content == "":
	case s.current.code && indent < 4:
		s.flush(start)
		s.begin(block{start: start, line: number})
	case !s.current.code && s.blank && !s.list && isCodeIndent(line):
		s.flush(start)
		s.begin(block{code: true, start: start, line: number})
	}
	if s.fence == "" && content != "" {
		s.list = isListItem(content) || s.list && indent > 0
	}
	s.blank = content == ""
}

// fenceOf gives the backticks or tildes that a line begins with, if they open or
// close a code block.
func fenceOf(content string) string {
	if content == "" || content[0] != '`' && content[0] != '~' {
		return ""
	}
	rest := strings.TrimLeft(content, content[:1])
	fence := content[:len(content)-len(rest)]
	if len(fence) < 3 || fence[0] == '`' && strings.Contains(rest, "`") {
		return ""
	}
	return fence
}

func isCodeIndent(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(strings.TrimLeft(line, " "), "\t")
}

func isListItem(content string) bool {
	rest := strings.TrimLeft(content, "0123456789")
	if len(rest) < len(content) {
		return strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")
	}
	return len(content) > 1 && strings.ContainsRune("-*+", rune(content[0])) && content[1] == ' '
}

// Reference is something that the instructions point to. Nothing was resolved or
// checked.
type Reference struct {
	Target string // as it was written, without a fragment; untrusted
	Bare   bool   // a path in running text or code, which may mean anything
	Code   bool   // it stands in a code block
	lookleap.Position
}

// References lists what the instructions point to, each target once, in order:
// links, images, link definitions, URLs, and paths that look like files of the
// skill (section 4.4). Fragments of the page itself are left out, and so is what
// comes after 10,000 targets.
func (s *Skill) References() []Reference {
	r := referenceScanner{skill: s, seen: map[string]bool{}}
	for b := range scanBlocks(s.Body) {
		r.line, r.lineStart = s.BodyPosition.Line+b.line, b.start
		if r.scan(b); len(r.found) == maxReferences {
			break
		}
	}
	return r.found
}

// maxTarget bounds a target in octets; what is longer is no reference.
const maxTarget = 2048

type referenceScanner struct {
	skill     *Skill
	seen      map[string]bool
	found     []Reference
	line      int
	lineStart int
}

func (r *referenceScanner) add(target string, at int, b block, bare bool) {
	target, _, _ = strings.Cut(target, "#")
	if target == "" || len(target) > maxTarget || r.seen[target] {
		return
	}
	r.seen[target] = true
	r.found = append(r.found, Reference{Target: target, Bare: bare, Code: b.code,
		Position: lookleap.Position{Line: r.line, Column: at - r.lineStart + 1, Offset: r.skill.BodyPosition.Offset + at}})
}

// scan looks at every octet once, but for the targets, which are short.
func (r *referenceScanner) scan(b block) {
	text := r.skill.Body
	for at := b.start; at < b.end && len(r.found) < maxReferences; {
		rest := text[at:b.end]
		switch c := rest[0]; {
		case c == '\n':
			r.line++
			r.lineStart = at + 1
			at++
		case c == ']' && !b.code && strings.HasPrefix(rest, "]("):
			at = r.link(at+len("]("), b)
		case c == ']' && !b.code && strings.HasPrefix(rest, "]:") && isDefinition(text[r.lineStart:at]):
			at = r.link(at+len(rest)-len(strings.TrimLeft(rest[len("]:"):], " \t")), b)
		case isURLStart(rest):
			size := urlLength(rest)
			if !b.code {
				r.add(strings.TrimRight(rest[:size], ".,;:!?"), at, b, false)
			}
			at += size
		case isPathOctet(c):
			size := 1
			for size < len(rest) && isPathOctet(rest[size]) {
				size++
			}
			if word := strings.TrimRight(rest[:size], "."); isFilePath(word) {
				r.add(word, at, b, true)
			}
			at += size
		default:
			_, size := utf8.DecodeRuneInString(rest)
			at += size
		}
	}
}

// link adds the target that begins at an offset, and gives where it ends.
func (r *referenceScanner) link(at int, b block) (after int) {
	text := r.skill.Body[at:b.end]
	target, size := linkTarget(text)
	if strings.HasPrefix(text, "<") {
		r.add(target, at+1, b, false)
	} else {
		r.add(target, at, b, false)
	}
	return at + size
}

// linkTarget reads the target of a link, in <> or up to a blank or the closing
// parenthesis, and gives how much was read.
func linkTarget(text string) (target string, size int) {
	if strings.HasPrefix(text, "<") {
		inner := text[1:min(len(text), maxTarget)]
		if n := strings.IndexAny(inner, "<>\n"); n >= 0 && inner[n] == '>' {
			return inner[:n], n + 2
		}
		return "", 1
	}
	depth := 0
	for size < len(text) && size <= maxTarget {
		switch c := text[size]; {
		case c == '(' && depth < 4:
			depth++
		case c == ')' && depth > 0:
			depth--
		case c <= ' ', c == ')':
			return text[:size], size
		case c == '(', c == '[', c == ']', c == '<':
			return "", size
		}
		size++
	}
	return text[:size], size
}

// isDefinition reports whether a line so far is the label of a link definition.
func isDefinition(before string) bool {
	label := strings.TrimLeft(before, " ")
	return len(before)-len(label) < 4 && strings.HasPrefix(label, "[") && len(before) < 1000 && !strings.HasPrefix(label, "[^")
}

func isURLStart(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

func urlLength(text string) int {
	n := strings.IndexFunc(text[:min(len(text), maxTarget+1)], func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"'`()[]{}|\\", r) })
	if n < 0 {
		return min(len(text), maxTarget+1)
	}
	return n
}

func isPathOctet(c byte) bool {
	return plainStart[c] == plainWord || c == '-' || c == '.' || c == '/' || c == '~' || c == '%'
}

// isFilePath reports whether a word reads as the relative path of a bundled file:
// Markdown, or something with a known extension in a directory.
func isFilePath(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	if dot <= 0 || word[0] == '/' || word[0] == '~' || strings.HasSuffix(word[:dot], "/") || strings.Contains(word, "//") || len(word) > maxTarget {
		return false
	}
	extension := strings.ToLower(word[dot:])
	if extensions[extension] == markdownFile {
		return true
	}
	return strings.Contains(word, "/") && (extensions[extension] != 0 || scriptExtensions[extension])
}

// scriptExtensions are those of files that interpreters run.
var scriptExtensions = func() map[string]bool {
	table := map[string]bool{}
	for e := range strings.FieldsSeq(".py .sh .bash .zsh .js .mjs .cjs .ts .tsx .rb .pl .php .ps1 .bat .cmd .lua .r .go .rs .java .swift .sql .awk .exe") {
		table[e] = true
	}
	return table
}()
