package dvs

import (
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/markdown"
)

// Block is a run of lines of the instructions.
type Block struct {
	Code     bool   // commands or other code: running it needs consent (section 5.2), whatever the text around it says
	Language string // first word after the opening fence, if any; untrusted
	Text     string // without fences, and without the marks of the quotes and lists around it
	lookleap.Position
}

// Blocks splits the instructions into prose and code by CommonMark: fenced and indented code, also
// in lists and quotes, and blocks of HTML with an element for code such as <pre>. It renders
// nothing. After 10,000 blocks, the rest of the text is one more block, of code.
func (s *Skill) Blocks() []Block {
	if s == nil {
		return nil
	}
	l := blockLister{skill: s}
	markdown.Blocks(s.Body, func(b *markdown.Block) bool {
		if b.Kind == markdown.Prose {
			return true
		}
		text := b.Text(s.Body)
		if text == "" && b.Kind == markdown.Code || b.Kind == markdown.HTML && !hasCode(text) {
			return true
		}
		language, _, _ := strings.Cut(b.Info, " ")
		return l.prose(b.Start) && l.add(Block{Code: true, Language: language, Text: text}, b.Runs[0].Start, b.End)
	})
	if len(l.blocks) <= maxBlocks {
		l.prose(len(s.Body))
	}
	return l.blocks
}

// What is made of one body at most. A page that people read has far less.
const (
	maxBlocks     = 10_000
	maxReferences = 10_000
)

// blockLister collects blocks.
type blockLister struct {
	skill  *Skill
	place  lineCounter
	blocks []Block
	at     int // what stands before was listed
}

// prose lists what stands before an offset, unless that is blank, and reports whether more may be
// listed.
func (l *blockLister) prose(end int) bool {
	start := l.at
	if strings.TrimSpace(l.skill.Body[start:end]) == "" {
		return true
	}
	return l.add(Block{Text: l.skill.Body[start:end]}, start, end)
}

// add lists a block that begins at an offset and takes the lines up to end.
func (l *blockLister) add(b Block, start, end int) bool {
	l.at = end
	b.Position = l.skill.bodyPlace(&l.place, start)
	more := len(l.blocks) < maxBlocks
	if !more {
		b.Code, b.Language, b.Text = true, "", l.skill.Body[start:]
	}
	l.blocks = append(l.blocks, b)
	return more
}

// bodyPlace returns the position in the file of an offset in the body. Places that are asked for in
// order take one pass.
func (s *Skill) bodyPlace(place *lineCounter, at int) lookleap.Position {
	p := positionIn(place, s.Body, at)
	p.Line += s.BodyPosition.Line - 1
	p.Offset += s.BodyPosition.Offset
	return p
}

// Reference is something that the instructions point to. Nothing was resolved or checked.
type Reference struct {
	Target string // without escapes and fragment; untrusted
	Bare   bool   // a path in running text or code, which may mean anything
	Code   bool   // it stands in a code block
	lookleap.Position
}

// References lists what the instructions point to, each target once, in order (section 4.4): links,
// images and link definitions by CommonMark, URLs in attributes of HTML such as href and src, and,
// in text and code spans, https URLs and paths that look like files of the skill. In code blocks
// only such paths count. Fragments of the page itself are left out, and so is what comes after
// 10,000 targets.
func (s *Skill) References() []Reference {
	if s == nil {
		return nil
	}
	r := referenceLister{skill: s, seen: map[string]bool{}}
	reader := markdown.NewReader(s.Body)
	markdown.Blocks(s.Body, func(b *markdown.Block) bool {
		switch r.code = b.Kind == markdown.Code; b.Kind {
		case markdown.Prose:
			reader.Items(b, r.item)
		case markdown.HTML:
			text := b.Text(s.Body)
			r.code = hasCode(text)
			r.html(text, b.Runs[0].Start)
		default:
			for _, run := range b.Runs {
				r.bare(s.Body[run.Start:run.End], run.Start)
			}
		}
		return len(r.found) < maxReferences
	})
	return r.found
}

// maxTarget bounds a target in octets; what is longer is no reference.
const maxTarget = 2048

// referenceLister collects references.
type referenceLister struct {
	skill *Skill
	place lineCounter
	seen  map[string]bool
	found []Reference
	code  bool // in a code block
}

func (r *referenceLister) item(i markdown.Item) {
	switch i.Kind {
	case markdown.Text, markdown.CodeSpan:
		r.bare(i.Text, i.Start)
	case markdown.Tag:
		r.html(i.Text, i.Start)
	default:
		r.add(i.Text, i.Start, false)
	}
}

func (r *referenceLister) add(target string, at int, bare bool) {
	target, _, _ = strings.Cut(target, "#")
	if target == "" || len(target) > maxTarget || r.seen[target] || len(r.found) == maxReferences {
		return
	}
	r.seen[target] = true
	r.found = append(r.found, Reference{Target: target, Bare: bare, Code: r.code, Position: r.skill.bodyPlace(&r.place, at)})
}

// html lists the URLs in the attributes of HTML, and what its text names. Their place is that of
// the HTML.
func (r *referenceLister) html(text string, at int) {
	readHTML(text, func(p htmlPart) {
		if p.name == "" {
			if !p.comment {
				r.bare(p.text, at)
			}
			return
		}
		for target := range p.targets() {
			r.add(target, at, false)
		}
	})
}

// bare lists the URLs and paths in running text. It looks at every octet once.
func (r *referenceLister) bare(text string, start int) {
	for at := 0; at < len(text) && len(r.found) < maxReferences; {
		rest := text[at:]
		switch c := rest[0]; {
		case isURLStart(rest):
			size := urlLength(rest)
			if !r.code {
				r.add(strings.TrimRight(rest[:size], ".,;:!?"), start+at, false)
			}
			at += size
		case isPathOctet(c):
			size := 1
			for size < len(rest) && isPathOctet(rest[size]) {
				size++
			}
			if word := strings.TrimRight(rest[:size], "."); isFilePath(word) {
				r.add(word, start+at, true)
			}
			at += size
		default:
			_, size := utf8.DecodeRuneInString(rest)
			at += size
		}
	}
}

func isURLStart(text string) bool {
	return len(text) > 7 && text[0]|0x20 == 'h' && (strings.EqualFold(text[:7], "http://") || len(text) > 8 && strings.EqualFold(text[:8], "https://"))
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
