package markdown

import (
	"slices"
	"strings"
)

// Reader reads the prose of one text.
type Reader struct {
	prose proseReader
}

// NewReader collects the link definitions of a text, which links before and behind them refer to.
func NewReader(text string) *Reader {
	r := &Reader{proseReader{source: text, known: map[string]*Item{}}}
	if !strings.Contains(text, "]:") {
		return r
	}
	Blocks(text, func(b *Block) bool {
		if b.Kind == Prose && len(r.prose.known) < maxDefinitions {
			r.prose.load(b)
			r.prose.definitions(func(d Item, label string) {
				if r.prose.known[label] == nil {
					first := d
					r.prose.known[label] = &first
				}
			})
		}
		return true
	})
	return r
}

// maxDefinitions bounds the memory for a text. References to further definitions are not links.
const maxDefinitions = 10_000

// Items calls yield for each part of a block of prose, in order.
func (r *Reader) Items(b *Block, yield func(Item)) {
	p := &r.prose
	p.load(b)
	p.yield = yield
	at := p.definitions(func(d Item, label string) { yield(d) })
	p.scan(at)
}

// Definitions returns the link definitions that count, in order. Used is set for those that a
// link of the blocks given to Items refers to.
func (r *Reader) Definitions() []Item {
	all := make([]Item, 0, len(r.prose.known))
	for _, d := range r.prose.known {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b Item) int { return a.Start - b.Start })
	return all
}

// proseReader reads one block of prose at a time.
type proseReader struct {
	source string
	known  map[string]*Item // definitions by normalized label
	yield  func(Item)

	text   string // the block's runs, joined
	buffer []byte
	runs   []joinedRun
	last   int // the run that place found last

	run      int // where the text begins that was not yielded yet
	openers  []opener
	inactive int // openers before this one open no link

	ticks   map[int][]int // where runs of so many backticks begin; nil: not looked for
	missing [4]bool       // ends of HTML constructs that the text has no more of
}

// joinedRun is the position of a run in the joined text and in the source.
type joinedRun struct{ at, source int }

// opener is a bracket that may begin a link or image.
type opener struct {
	at     int // of what follows the bracket
	image  bool
	nested bool // another bracket follows
}

// load joins the runs of a block.
func (p *proseReader) load(b *Block) {
	p.runs, p.last = p.runs[:0], 0
	p.openers, p.inactive, p.ticks, p.missing = p.openers[:0], 0, nil, [4]bool{}
	if len(b.Runs) == 1 {
		p.runs = append(p.runs, joinedRun{0, b.Runs[0].Start})
		p.text = p.source[b.Runs[0].Start:b.Runs[0].End]
		return
	}
	p.buffer = p.buffer[:0]
	for i, r := range b.Runs {
		if i > 0 {
			p.buffer = append(p.buffer, '\n')
		}
		p.runs = append(p.runs, joinedRun{len(p.buffer), r.Start})
		p.buffer = append(p.buffer, p.source[r.Start:r.End]...)
	}
	p.text = string(p.buffer)
}

// place returns the offset in the source of one in the joined text. Offsets mostly grow.
func (p *proseReader) place(at int) int {
	for p.last > 0 && p.runs[p.last].at > at {
		p.last--
	}
	for p.last+1 < len(p.runs) && p.runs[p.last+1].at <= at {
		p.last++
	}
	r := p.runs[p.last]
	return r.source + at - r.at
}

// emit yields a part of the joined text, line by line.
func (p *proseReader) emit(kind ItemKind, from, to int) {
	for from < to {
		end := to
		if n := strings.IndexAny(p.text[from:to], "\r\n"); n >= 0 {
			end = from + n
		}
		if end > from {
			p.yield(Item{Kind: kind, Text: p.text[from:end], Start: p.place(from)})
		}
		from = end + 1
	}
}

// consumed yields the text before a construct, and goes on behind it.
func (p *proseReader) consumed(from, to int) int {
	p.emit(Text, p.run, from)
	p.run = to
	return to
}

// scan reads the inline content from an offset on.
func (p *proseReader) scan(at int) {
	p.run = at
	for at < len(p.text) {
		switch p.text[at] {
		case '\\':
			at++
			if at < len(p.text) && isPunct(p.text[at]) {
				at++
			}
		case '`':
			at = p.codeSpan(at)
		case '<':
			at = p.angle(at)
		case '!':
			at++
			if at < len(p.text) && p.text[at] == '[' {
				at++
				p.push(opener{at: at, image: true})
			}
		case '[':
			at++
			p.push(opener{at: at})
		case ']':
			at = p.closeBracket(at)
		default:
			at++
		}
	}
	p.emit(Text, p.run, len(p.text))
}

// codeSpan reads the code between runs of backticks of one length.
func (p *proseReader) codeSpan(at int) int {
	if p.ticks == nil {
		p.ticks = map[int][]int{}
		for i := 0; i < len(p.text); i++ {
			if p.text[i] == '`' {
				size := ticks(p.text[i:])
				p.ticks[size] = append(p.ticks[size], i)
				i += size
			}
		}
	}
	size := ticks(p.text[at:])
	same := p.ticks[size]
	for len(same) > 0 && same[0] < at+size {
		same = same[1:]
	}
	p.ticks[size] = same
	if len(same) == 0 {
		return at + size
	}
	p.consumed(at, same[0]+size)
	p.emit(CodeSpan, at+size, same[0])
	return p.run
}

func ticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// angle reads an automatic link or a tag.
func (p *proseReader) angle(at int) int {
	if target, end := autolink(p.text, at); end > 0 {
		p.consumed(at, end)
		p.yield(Item{Kind: Link, Text: target, Start: p.place(at + 1)})
		return end
	}
	if end := p.tag(at); end > 0 {
		p.consumed(at, end)
		p.yield(Item{Kind: Tag, Text: p.text[at:end], Start: p.place(at)})
		return end
	}
	return at + 1
}

// autolinkPattern is a URI or an address between angle brackets, as the specification has them.
var autolinkPattern = pattern(`^<(?:([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20\x7f<>]*)|` +
	"([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@" + domainLabel + `(?:\.` + domainLabel + `)*))>`)

const domainLabel = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`

// autolink reads the URI or address between angle brackets.
func autolink(text string, at int) (target string, end int) {
	m := autolinkPattern().FindStringSubmatch(text[at:])
	switch {
	case m == nil:
		return "", 0
	case m[2] != "":
		return "mailto:" + m[2], at + len(m[0])
	}
	return m[1], at + len(m[0])
}

// tag returns where the HTML construct ends that begins at an offset, or 0.
func (p *proseReader) tag(at int) int {
	rest := p.text[at:]
	switch {
	case strings.HasPrefix(rest, "<!-->"):
		return at + len("<!-->")
	case strings.HasPrefix(rest, "<!--->"):
		return at + len("<!--->")
	case strings.HasPrefix(rest, "<!--"):
		return p.until(0, at+len("<!--"), "-->")
	case strings.HasPrefix(rest, "<?"):
		return p.until(1, at+len("<?"), "?>")
	case strings.HasPrefix(rest, "<![CDATA["):
		return p.until(2, at+len("<![CDATA["), "]]>")
	case len(rest) > 2 && rest[1] == '!' && isLetter(rest[2]):
		return p.until(3, at+2, ">")
	}
	if n := tagEnd(rest); n > 0 {
		return at + n
	}
	return 0
}

// until finds an end, and remembers that the text has none any more.
func (p *proseReader) until(which, at int, end string) int {
	if p.missing[which] {
		return 0
	}
	n := strings.Index(p.text[at:], end)
	if n < 0 {
		p.missing[which] = true
		return 0
	}
	return at + n + len(end)
}
