package strictxml

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strings"
	"sync"
)

// Options says how to read a document. The zero value is usable.
type Options struct {
	Limits Limits
	// Charset is the encoding according to the transport, such as the charset parameter of a
	// Content-Type, or "". It takes precedence over the XML declaration.
	Charset string
}

// Limits bounds the size of a document. A zero field has its default; limits cannot be switched
// off. Lengths are in bytes of the document in UTF-8.
type Limits struct {
	Bytes  int // whole document, 1 MiB; set it for streams
	Depth  int // nested elements, 32; the root is level 1
	Attrs  int // attributes of one element, namespace declarations included, 64
	Value  int // one attribute value, 64 KiB
	Text   int // one run of text, 1 MiB
	Token  int // any other token: a tag, a section, a comment, a processing instruction, 1 MiB
	Tokens int // tokens of all kinds, 1,000,000
}

const (
	maxDoctype = 64 << 10 // bytes of a document type declaration
	maxName    = 256      // bytes of a name
)

// Scanner reads the tokens of one document. It must not be used by several goroutines at a time.
type Scanner struct {
	source
	limits  Limits
	charset string
	prolog  Prolog

	pos        int // next byte in the window
	tok        Token
	attrs      []Attr // buffer for tok.Attrs
	seen       map[Name]bool
	open       []frame             // open elements, innermost last
	namespaces map[string][]string // prefix to its URIs, the innermost last
	tokens     int
	state      state
	typed      bool  // a document type declaration was read
	err        error // sticky
}

type state uint8

const (
	atStart  state = iota // nothing was read
	inProlog              // before the root element
	inRoot
	selfClosed // after a self-closing tag, before its EndElement token
	inEpilog   // after the root element
)

// frame is an open element with its name as written, its expanded name and the prefixes that its
// start tag declares.
type frame struct {
	raw      string
	name     Name
	prefixes []string
}

// Kind is the kind of a [Token].
type Kind uint8

const (
	StartElement Kind = iota + 1 // Name, Attrs
	EndElement                   // Name; follows a self-closing start too
	Text                         // Text, references resolved, line ends normalised
	CData                        // Text of one CDATA section
	ProcInst                     // only Offset
	Doctype                      // only Offset
)

// Token is one token of a document. Comments are skipped. The token and its Attrs are valid until the
// next call of [Scanner.Next]; its strings remain valid.
type Token struct {
	Kind   Kind
	Name   Name
	Attrs  []Attr // in document order, without namespace declarations
	Text   string
	Quoted int // offset of the first attribute in single quotes, or 0
	Offset int // bytes of the document (in UTF-8, with byte order mark) before the token
}

// Name is an expanded name: namespace URI, or "", and local part.
type Name struct {
	Space, Local string
}

// Attr is one attribute. Its value is normalised as CDATA.
type Attr struct {
	Name  Name
	Value string

	at int // index of the name in the window
}

// Prolog is what a document says about itself before its first tag.
type Prolog struct {
	Declared  bool   // it has an XML declaration
	Encoding  string // as declared, or empty
	BOM       bool   // it has a byte order mark
	UTF16     bool   // the encoding is UTF-16
	Overruled bool   // the declared encoding differs from that of the transport, which counts
}

// NewBytes returns a scanner of a document in memory, whose window is the whole document.
func NewBytes(doc []byte, o Options) *Scanner {
	s := NewReader(bytes.NewReader(doc), o)
	s.step = len(doc) + 1
	return s
}

// NewReader returns a scanner of a stream. It does not close the stream.
func NewReader(r io.Reader, o Options) *Scanner {
	l := o.Limits
	s := &Scanner{charset: strings.ToLower(o.Charset), limits: Limits{
		Depth: cmp.Or(l.Depth, 32), Attrs: cmp.Or(l.Attrs, 64), Value: cmp.Or(l.Value, 64<<10),
		Text: cmp.Or(l.Text, 1<<20), Token: cmp.Or(l.Token, 1<<20), Tokens: cmp.Or(l.Tokens, 1_000_000),
	}}
	s.namespaces = map[string][]string{"xml": {XMLNamespace}}
	s.source = source{r: r, limit: cmp.Or(l.Bytes, 1<<20), step: firstWindow, more: true}
	return s
}

// Prolog returns what the document says about itself before its first tag. It is complete after
// the first call of Next.
func (s *Scanner) Prolog() Prolog { return s.prolog }

// Depth returns the number of open elements.
func (s *Scanner) Depth() int { return len(s.open) }

// Source returns the text in UTF-8 in which offsets count: a whole document in memory, or the
// window of a stream.
func (s *Scanner) Source() string { return s.src }

// Next returns the next token. It returns io.EOF at the end of a well-formed document, and an
// [*Error] otherwise. Later calls return the same error.
func (s *Scanner) Next() (*Token, error) {
	for s.err == nil {
		s.tok = Token{Offset: s.tok.Offset} // which the end of a self-closing tag keeps
		e := s.next()
		if s.tokens++; e == nil && s.err == nil && s.tokens > s.limits.Tokens {
			e = bad(s.pos, CodeLimit, "the document has more than %d tokens", s.limits.Tokens)
		}
		switch {
		case e != nil:
			s.err = s.place(e)
		case s.tok.Kind != 0:
			return &s.tok, nil
		}
	}
	return nil, s.err
}

// next reads one construct. It sets the kind of the token, except for comments and outer white space.
func (s *Scanner) next() *Error {
	if s.state == atStart {
		if e := s.start(); e != nil {
			return e
		}
	}
	if s.state == selfClosed {
		s.closeElement()
		return nil
	}
	piece, e := s.construct()
	if e != nil || s.err != nil {
		return e
	}
	s.tok.Offset = s.base + s.pos
	at := s.pos
	s.pos += len(piece)
	switch {
	case piece[0] != '<':
		return s.text(at, piece)
	case strings.HasPrefix(piece, "<!--"):
		if content := piece[len("<!--") : len(piece)-len("->")]; strings.Contains(content, "--") {
			return bad(at+4+strings.Index(content, "--"), CodeSyntax, "a comment contains \"--\"")
		}
		return nil
	case strings.HasPrefix(piece, "<!["):
		if s.state != inRoot {
			return bad(at, CodeSyntax, "a CDATA section is outside the root element")
		}
		s.tok.Kind, s.tok.Text = CData, normalizeLines(piece[len(cdata):len(piece)-len("]]>")])
		return nil
	case strings.HasPrefix(piece, "<!"):
		return s.doctype(at)
	case strings.HasPrefix(piece, "<?"):
		return s.procInst(at, piece)
	case strings.HasPrefix(piece, "</"):
		return s.endTag(at, piece)
	case s.state == inEpilog:
		return bad(at, CodeTrailing, "a second element follows the root element")
	}
	return s.startTag(at, piece)
}

// construct returns the text or markup at s.pos, which is completely in the window. At the end of
// the document, it sets s.err.
func (s *Scanner) construct() (string, *Error) {
	for {
		if s.state != inRoot { // white space outside the root element has no limit but that of the document
			s.pos += skipSpace(s.src[s.pos:], 0)
		}
		rest := s.src[s.pos:]
		end, what, most := constructEnd(rest)
		switch {
		case what == "":
			return "", bad(s.pos, CodeSyntax, "\"<!\" starts neither a comment nor a CDATA section nor a document type declaration")
		case what == "text":
			most = s.limits.Text
			if end < 0 && !s.more && s.end == nil && s.state == inEpilog && strings.Trim(rest, space) == "" {
				s.err = io.EOF
				return "", nil
			}
		case most == 0:
			most = s.limits.Token
		}
		if end > most || end < 0 && len(rest) > most {
			return "", bad(s.pos, CodeLimit, "%s is longer than %d bytes", what, most)
		}
		if end >= 0 {
			return rest[:end], nil
		}
		if s.more {
			s.fill(s.pos)
			s.pos = 0
			continue
		}
		switch {
		case s.end != nil:
			return "", s.end
		case strings.HasPrefix(rest, doctype):
			return "", bad(s.pos, CodeSyntax, "the document type declaration is malformed").fix("remove it")
		case what != "text":
			return "", bad(len(s.src), CodeUnclosed, "the document ends inside %s", what)
		case s.state == inRoot:
			return "", bad(len(s.src), CodeUnclosed, "the document ends inside the element %s", s.open[len(s.open)-1].raw)
		case strings.Trim(rest, space) != "":
			return "", s.stray(s.pos, rest)
		}
		return "", bad(len(s.src), CodeUnclosed, "the document ends without a root element")
	}
}

const (
	space   = " \t\r\n"
	cdata   = "<![CDATA["
	doctype = "<!DOCTYPE"
)

// constructEnd returns the end of the text or markup at the start of rest, or -1 if rest does not
// contain all of it. It also returns what it is, or "", and its greatest length if that is a constant.
func constructEnd(rest string) (end int, what string, most int) {
	after := func(from int, delimiter string) int {
		if n := strings.Index(rest[from:], delimiter); n >= 0 {
			return from + n + len(delimiter)
		}
		return -1
	}
	switch {
	case rest == "":
		return -1, "text", 0
	case rest[0] != '<':
		return strings.IndexByte(rest, '<'), "text", 0
	case strings.HasPrefix(rest, "<!--"):
		return after(len("<!--"), "-->"), "a comment", 0
	case strings.HasPrefix(rest, cdata):
		return after(len(cdata), "]]>"), "a CDATA section", 0
	case strings.HasPrefix(rest, doctype):
		end := -1
		if at := doctypePattern().FindStringIndex(rest[:min(len(rest), maxDoctype+1)]); at != nil {
			end = at[1]
		}
		return end, "the document type declaration", maxDoctype
	case strings.HasPrefix(cdata, rest), strings.HasPrefix(doctype, rest), strings.HasPrefix("<!--", rest):
		return -1, "markup", 0
	case rest[1] == '!':
		return -1, "", 0
	case rest[1] == '?':
		return after(len("<?"), "?>"), "a processing instruction", 0
	case rest[1] == '/':
		return after(0, ">"), "an end tag", 0
	}
	var quote byte
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '>':
			return i + 1, "a start tag", 0
		case c == '"' || c == '\'':
			quote = c
		}
	}
	if quote != 0 {
		return -1, "an attribute value", 0
	}
	return -1, "a start tag", 0
}

// doctypePattern matches a document type declaration to the end that a validating parser finds.
// Brackets in literals, comments and processing instructions do not count.
var doctypePattern = sync.OnceValue(func() *regexp.Regexp {
	const literal, name = `(?:"[^"]*"|'[^']*')`, `[A-Za-z_\x{C0}-\x{EFFFF}][\w:.\-\x{B7}-\x{EFFFF}]*`
	return regexp.MustCompile(strings.NewReplacer("LITERAL", literal, "NAME", name).Replace(
		`^<!DOCTYPE\s+NAME(?:\s+(?:SYSTEM|PUBLIC\s+LITERAL)\s+LITERAL)?\s*(?:\[(?:` +
			`\s|%NAME;|<!--(?:[^\-]|-[^\-])*-->|<\?NAME(?:\?>|\s(?:[^?]|\?+[^?>])*\?+>)|` +
			`<!(?:ELEMENT|ATTLIST|ENTITY|NOTATION)\s(?:[^"'<>]|LITERAL)*>` +
			`)*\]\s*)?>`))
})
