package dvs

import (
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/markdown"
)

// Block is a run of lines of the instructions.
type Block struct {
	Code     bool   // commands or other code: running it needs consent (section 5.2), whatever the text around it says
	Language string // first word after the opening fence, if any; untrusted
	Text     string // without fences, and without the marks of the quotes and lists around it
	Position lookleap.Position
}

// Blocks splits the instructions into prose and code by CommonMark: fenced and indented code, also
// in lists and quotes, HTML blocks with an element for code such as <pre>, and everything up to the
// end of such an element. After 10,000 blocks, the rest of the text is one block of code.
func (s *Skill) Blocks() []Block {
	if s == nil {
		return nil
	}
	l := blockLister{skill: s}
	var reader *markdown.Reader // only for prose with tags: it reads the whole text
	var pre preElement
	markdown.Blocks(s.Body, func(b *markdown.Block) bool {
		text := b.Text(s.Body)
		isCode := pre.open || b.Kind == markdown.Code && text != "" || b.Kind == markdown.HTML && hasCode(text)
		switch {
		case b.Kind == markdown.HTML:
			isCode = pre.read(text) || isCode
		case b.Kind == markdown.Prose && strings.Contains(text, "<"):
			if reader == nil {
				reader = markdown.NewReader(s.Body)
			}
			reader.Items(b, func(i markdown.Item) {
				if i.Kind == markdown.Tag {
					isCode = pre.read(i.Text) || isCode
				}
			})
		}
		if !isCode {
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

type blockLister struct {
	skill  *Skill
	place  lineCounter
	blocks []Block
	at     int // what stands before was listed
}

// prose adds the text before an offset unless it is blank, and reports whether more blocks may be
// added.
func (l *blockLister) prose(end int) bool {
	start := l.at
	if strings.TrimSpace(l.skill.Body[start:end]) == "" {
		return true
	}
	return l.add(Block{Text: l.skill.Body[start:end]}, start, end)
}

// add adds a block that begins at an offset and ends at end, and reports whether more blocks may
// be added.
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

// Reference is a target in the instructions. It was not resolved or checked.
type Reference struct {
	Target   string // without escapes and fragment; untrusted
	Bare     bool   // a path in text or code, which may not be meant as a reference
	Code     bool   // it is in a code block
	Position lookleap.Position
}

// References returns the references of the instructions in order, each target once (section 4.4):
// links, images and link definitions by CommonMark, URLs in HTML attributes such as href and src,
// and, in text and code spans, https URLs and paths that look like files of the skill. In code
// blocks only such paths count. Fragments of the page itself are left out. The list ends after
// 10,000 targets.
func (s *Skill) References() []Reference {
	if s == nil {
		return nil
	}
	r := referenceLister{skill: s, seen: map[string]bool{}}
	reader := markdown.NewReader(s.Body)
	markdown.Blocks(s.Body, func(b *markdown.Block) bool {
		r.code = b.Kind == markdown.Code
		switch b.Kind {
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

// maxTarget bounds a target in bytes; longer ones are not references.
const maxTarget = 2048

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

// html adds the URLs in the attributes of HTML, and the references in its text. Their position is
// that of the HTML.
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
		for _, a := range p.attrs {
			if a.Key == "style" || a.Key == "srcdoc" { // text that a browser reads for URLs
				r.bare(a.Val, at)
			}
		}
	})
}

// bare adds the URLs and paths in plain text. It reads every byte once.
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
		case isPathByte(c):
			size := 1
			for size < len(rest) && isPathByte(rest[size]) {
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
	return len(text) > 7 && text[0]|0x20 == 'h' &&
		(strings.EqualFold(text[:7], "http://") || len(text) > 8 && strings.EqualFold(text[:8], "https://"))
}

func urlLength(text string) int {
	n := strings.IndexFunc(text[:min(len(text), maxTarget+1)],
		func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"'`()[]{}|\\", r) })
	if n < 0 {
		return min(len(text), maxTarget+1)
	}
	return n
}

func isPathByte(c byte) bool {
	return isWord(c) || c == '-' || c == '.' || c == '/' || c == '~' || c == '%'
}

// isFilePath reports whether a word reads as the relative path of a bundled file:
// Markdown, or something with a known extension in a directory.
func isFilePath(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	if dot <= 0 || word[0] == '/' || word[0] == '~' || strings.HasSuffix(word[:dot], "/") || strings.Contains(word, "//") ||
		len(word) > maxTarget {
		return false
	}
	extension := strings.ToLower(word[dot:])
	if extensions()[extension] == markdownFile {
		return true
	}
	return strings.Contains(word, "/") && (extensions()[extension] != 0 || scriptExtensions.has(extension))
}

// scriptExtensions are those of files that interpreters run.
var scriptExtensions = wordSet{list: ".py .sh .bash .zsh .js .mjs .cjs .ts .tsx .rb .pl .php .ps1 .bat .cmd .lua .r .go .rs .java .swift .sql .awk .exe"}

// htmlPart is a tag, a run of text, or something that is not shown: a comment, a declaration or a
// processing instruction.
type htmlPart struct {
	name    string // of a tag, in lower case
	closing bool
	text    string // of text or a comment
	comment bool
	attrs   []html.Attribute // of a tag
}

// readHTML splits HTML into its parts as browsers do. It also splits the content of scripts and
// similar elements, and ends a tag that the next block would end, so it never finds less than a browser.
func readHTML(text string, yield func(htmlPart)) {
	z := html.NewTokenizer(io.MultiReader(strings.NewReader(text), strings.NewReader(">")))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			yield(htmlPart{text: string(z.Raw())})
		case html.CommentToken, html.DoctypeToken:
			yield(htmlPart{comment: true, text: string(z.Text())})
		default:
			t := z.Token()
			z.NextIsNotRawText()
			yield(htmlPart{name: t.Data, closing: kind == html.EndTagToken, attrs: t.Attr})
		}
	}
}

// targetAttrs are the attributes whose value is a URL.
var targetAttrs = map[string]bool{"href": true, "src": true, "poster": true, "data": true, "action": true, "formaction": true,
	"background": true, "cite": true, "longdesc": true, "xlink:href": true, "manifest": true, "codebase": true, "classid": true,
	"lowsrc": true, "dynsrc": true}

var lineBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// targets returns the URLs in the attributes of a tag.
func (p *htmlPart) targets() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range p.attrs {
			switch {
			case targetAttrs[a.Key]:
				if !yield(strings.TrimSpace(lineBreaks.Replace(a.Val))) { // as browsers do
					return
				}
			case a.Key == "ping":
				for target := range strings.FieldsSeq(a.Val) {
					if !yield(target) {
						return
					}
				}
			case a.Key == "srcset", a.Key == "imagesrcset":
				for choice := range strings.SplitSeq(a.Val, ",") {
					if words := strings.Fields(choice); len(words) > 0 && !yield(words[0]) {
						return
					}
				}
			case a.Key == "content" && p.name == "meta":
				_, target, ok := strings.Cut(a.Val, "=")
				if ok && !yield(strings.Trim(target, " \"'")) {
					return
				}
			}
		}
	}
}

// preElement follows the elements that show all of their text as code, whatever blocks Markdown
// makes of it.
type preElement struct{ open bool }

// read reads some HTML, and reports whether such an element begins in it.
func (e *preElement) read(text string) (begins bool) {
	readHTML(text, func(p htmlPart) {
		switch p.name {
		case "pre", "listing", "xmp", "textarea", "script", "plaintext":
			e.open = !p.closing
			begins = begins || e.open
		}
	})
	return begins
}

// hasCode reports whether HTML has an element whose content is shown as code, or runs.
func hasCode(text string) (found bool) {
	readHTML(text, func(p htmlPart) {
		switch p.name {
		case "pre", "code", "samp", "kbd", "script", "textarea", "listing", "xmp", "plaintext":
			found = true
		}
	})
	return found
}
