package strictxml

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// Options says how to read a document. The zero value is usable.
type Options struct {
	Limits Limits
	// Charset is the transport's word about the encoding, such as the charset
	// parameter of a Content-Type; empty for none. It outranks the document's.
	Charset string
}

// Scanner reads the tokens of one document. It is for one goroutine.
type Scanner struct {
	source
	limits Limits
	prolog Prolog

	pos    int     // next octet in the window
	tok    Token   // the last token, and what is scanned now
	attrs  []Attr  // room for tok.Attrs
	open   []frame // elements whose end tag is still to come
	plain  []plainFrame
	names  namespaces
	seen   map[Name]struct{} // names of an element with many attributes
	slab   strings.Builder   // decoded texts, many to an allocation
	tokens int
	state  state
	typed  bool  // a document type declaration was seen
	err    error // sticky

	first struct { // room that is enough for most documents, in the same allocation
		attrs [8]Attr
		open  [8]frame
		plain [16]plainFrame
	}
}

type state uint8

const (
	atStart  state = iota // nothing read
	inProlog              // before the root element
	inRoot
	selfClosed // a self-closing tag was reported, its end is next
	inEpilog   // after the root element
)

// frame is an open element: its name as written for matching, and expanded.
type frame struct {
	raw   string
	name  Name
	bound int // length of names.stack before its start tag
}

// NewBytes reads a document that is in memory. The scanner takes a copy first.
func NewBytes(doc []byte, o Options) *Scanner {
	s := newScanner(o)
	if len(doc) > s.limits.Bytes {
		s.err = s.explain(bad(0, CodeLimit, "the document is longer than %d octets", s.limits.Bytes))
		return s
	}
	s.loadAll(doc)
	return s
}

// Ahead gives a second scanner of a document in memory, which goes on where this
// one stands and leaves it untouched.
func (s *Scanner) Ahead() *Scanner {
	ahead := &Scanner{source: s.source, limits: s.limits, prolog: s.prolog, pos: s.pos, tokens: s.tokens, state: s.state, typed: s.typed, err: s.err}
	ahead.open = slices.Clone(s.open)
	ahead.names = namespaces{s.names.dflt, s.names.dfltTop, slices.Clone(s.names.stack), maps.Clone(s.names.top)}
	return ahead
}

// NewReader reads a document from a stream, which it does not close.
func NewReader(r io.Reader, o Options) *Scanner {
	s := newScanner(o)
	s.r = r
	s.more = true
	return s
}

func newScanner(o Options) *Scanner {
	s := &Scanner{limits: o.Limits.withDefaults()}
	s.attrs, s.open, s.plain = s.first.attrs[:0], s.first.open[:0], s.first.plain[:0]
	s.charset = o.Charset
	s.step = firstWindow
	return s
}

// Prolog tells what came before the first tag. It is complete after Next.
func (s *Scanner) Prolog() Prolog { return s.prolog }

// Depth is the number of open elements.
func (s *Scanner) Depth() int { return len(s.open) }

// Place gives line and column, from 1 and in octets, of an offset at or behind
// the start of the last token. It takes time linear in the window.
func (s *Scanner) Place(offset int) (line, column int) {
	return s.place(offset - s.base)
}

// Source is the text that offsets count in: of a document in memory all of it,
// as UTF-8; of a stream the part in sight.
func (s *Scanner) Source() string { return s.src }

// Next gives the next token, io.EOF after a whole and faultless document, or
// an [*Error], which every later call repeats.
func (s *Scanner) Next() (*Token, error) {
	if s.err != nil {
		return nil, s.err
	}
	err := s.next()
	if err == nil {
		if s.tokens++; s.tokens > s.limits.Tokens {
			err = bad(s.pos, CodeLimit, "the document has more than %d tokens", s.limits.Tokens)
		}
	}
	if err != nil {
		s.err = s.explain(err)
		return nil, s.err
	}
	return &s.tok, nil
}

// next scans one token, reading on while the window ends inside it.
func (s *Scanner) next() error {
	if s.state == atStart {
		if err := s.start(); err != nil {
			return err
		}
	}
	for {
		err := s.scan()
		cut, ok := err.(*short)
		if !ok {
			return err
		}
		if !s.more {
			if s.srcErr != nil {
				return s.srcErr
			}
			return bad(len(s.src), CodeUnclosed, "%s", cut.Error())
		}
		if len(s.src)-s.pos > s.longest() {
			return bad(s.pos, CodeLimit, "one token is longer than %d octets", s.longest())
		}
		if err := s.fill(s.pos, s.limits.Bytes); err != nil {
			return err
		}
		s.pos = 0
	}
}

// longest is how much of a stream may be held for one token.
func (s *Scanner) longest() int {
	return max(s.limits.Text, s.limits.Token, s.limits.Doctype)
}

// scan reads the token at s.pos. It changes nothing but s.tok unless the token
// lies wholly inside the window.
func (s *Scanner) scan() error {
	if s.state == selfClosed {
		s.end(s.pos)
		return nil
	}
	i := s.pos
	if s.state != inRoot {
		i = skipSpace(s.src, i)
		if i == len(s.src) {
			if s.state == inEpilog && !s.more && s.srcErr == nil {
				s.pos = i
				return io.EOF
			}
			s.pos = i // white space outside the root is no token
			return &short{"the prolog, without a root element"}
		}
		if s.src[i] != '<' {
			return s.stray(i)
		}
	}
	s.tok.Attrs, s.tok.Text, s.tok.Name = nil, "", Name{}
	s.tok.Blank, s.tok.SelfClosing = false, false
	s.tok.Offset = s.base + i

	if i == len(s.src) {
		return &short{"the element " + s.open[len(s.open)-1].raw}
	}
	if s.src[i] != '<' {
		return s.text(i)
	}
	if i+1 == len(s.src) {
		return &short{"a tag"}
	}
	switch s.src[i+1] {
	case '/':
		return s.endTag(i)
	case '!':
		return s.declaration(i)
	case '?':
		return s.procInst(i)
	}
	if s.state == inEpilog {
		return bad(i, CodeTrailing, "a second element follows the root element")
	}
	return s.startTag(i)
}

func (s *Scanner) stray(i int) error {
	if s.state == inEpilog {
		return bad(i, CodeTrailing, "text follows the root element")
	}
	if c := s.src[i]; class[c]&isBad != 0 || isNonCharacter(s.src, i) {
		return badChar(s.src, i)
	}
	return bad(i, CodeSyntax, "text stands before the root element")
}

// declaration dispatches on what "<!" starts.
func (s *Scanner) declaration(i int) error {
	rest := s.src[i:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return s.comment(i)
	case strings.HasPrefix(rest, cdataStart):
		if s.state != inRoot {
			return bad(i, CodeSyntax, "a CDATA section stands outside the root element")
		}
		return s.cdata(i)
	case strings.HasPrefix(rest, doctypeStart):
		return s.doctype(i)
	}
	for _, start := range []string{"<!--", cdataStart, doctypeStart} {
		if strings.HasPrefix(start, rest) {
			return &short{"a declaration"}
		}
	}
	return bad(i, CodeSyntax, "\"<!\" starts neither a comment nor a CDATA section nor a document type declaration")
}

// explain turns what scanning reports into what the caller sees.
func (s *Scanner) explain(err error) error {
	if err == io.EOF {
		return err
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	f := err.(*fault)
	e := &Error{Code: f.code, Message: f.msg, Fix: f.hint, Path: s.path(), cause: s.readErr}
	e.Line, e.Column = s.place(f.at)
	e.Offset = s.base + f.at
	return e
}

func (s *Scanner) path() string {
	var b strings.Builder
	for _, f := range s.open {
		b.WriteByte('/')
		b.WriteString(f.raw)
	}
	return b.String()
}
