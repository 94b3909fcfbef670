package strictxml

import (
	"errors"
	"fmt"
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

// Limits bounds what a document may make the scanner do. A zero field takes
// the default beside it; there is no way to switch a limit off. Lengths are in
// octets of the document as UTF-8.
type Limits struct {
	Bytes   int // whole document, 1 MiB; set it for streams
	Depth   int // nested elements, 32; the root is level 1
	Attrs   int // attributes of one element, namespace declarations included, 64
	Name    int // one name, 256
	Value   int // one attribute value, 64 KiB
	Text    int // one run of text, one CDATA section, 1 MiB
	Token   int // any other token: a tag, a comment, a processing instruction, 1 MiB
	Doctype int // the document type declaration, 64 KiB
	Tokens  int // tokens of all kinds, 1,000,000
}

func (l Limits) withDefaults() Limits {
	set := func(field *int, def int) {
		if *field <= 0 {
			*field = def
		}
	}
	set(&l.Bytes, 1<<20)
	set(&l.Depth, 32)
	set(&l.Attrs, 64)
	set(&l.Name, 256)
	set(&l.Value, 64<<10)
	set(&l.Text, 1<<20)
	set(&l.Token, 1<<20)
	set(&l.Doctype, 64<<10)
	set(&l.Tokens, 1_000_000)
	return l
}

// Kind says what a [Token] is.
type Kind uint8

const (
	StartElement Kind = iota + 1 // Name, Attrs, SelfClosing
	EndElement                   // Name; follows a self-closing start too
	Text                         // Text, references resolved, line ends normalised
	CData                        // Text of one CDATA section
	Comment                      // Text between the delimiters
	ProcInst                     // Name.Local is the target, Text the rest
	Doctype                      // nothing but its place
)

var kindNames = [...]string{"nothing", "start tag", "end tag", "text", "CDATA section", "comment", "processing instruction", "document type declaration"}

// String names the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}

// Token is one piece of a document. The token and its Attrs are valid until the
// next call of [Scanner.Next]; its strings stay valid.
type Token struct {
	Kind        Kind
	Name        Name
	Attrs       []Attr // in document order, without namespace declarations
	Text        string
	Blank       bool // Text of nothing but literal white space
	SelfClosing bool // the start tag ended with "/>"
	Offset      int  // octets of the document (as UTF-8, byte order mark included) before the token
}

// Name is an expanded name: namespace URI, empty for none, and local part.
type Name struct {
	Space, Local string
}

// Attr is one attribute with its value normalised as XML says for CDATA.
type Attr struct {
	Name   Name
	Value  string
	Quote  byte // '"' or '\''
	Offset int  // octets of the document before the name
	Start  int  // octets of the document before the value
}

// Prolog is what the document said about itself before its first tag. It is
// complete once [Scanner.Next] was called.
type Prolog struct {
	Declared   bool   // an XML declaration is there
	Encoding   string // as declared, or empty
	Standalone string // "yes", "no" or empty
	BOM        bool   // a byte order mark is there
	UTF16      bool   // the octets are UTF-16
	Overruled  bool   // the transport's charset differs from the declared encoding and won
}

// The classes of failure, for errors.Is. Every [*Error] is of exactly one.
var (
	ErrSyntax   = errors.New("not well-formed XML")         // XML 1.0 or Namespaces in XML is violated
	ErrEncoding = errors.New("unusable encoding")           // the octets are no text that is read here
	ErrLimit    = errors.New("a limit is exceeded")         // the document is larger than it may be
	ErrRead     = errors.New("the document cannot be read") // the reader failed; its error is wrapped too
)

// Reason codes of an [Error].
const (
	CodeSyntax             = "not-well-formed"      // any fault without a code of its own
	CodeBadChar            = "bad-character"        // a character that XML cannot hold
	CodeBadName            = "bad-name"             // no name, or not one that Namespaces allow
	CodeUndefinedEntity    = "undefined-entity"     // an entity beyond the five predefined
	CodeDuplicateAttribute = "duplicate-attribute"  // twice by expanded name
	CodeNamespace          = "namespace"            // a prefix undeclared, reserved or badly bound
	CodeMismatch           = "mismatched-tag"       // an end tag without its start tag
	CodeUnclosed           = "unexpected-end"       // the document ends too early
	CodeTrailing           = "trailing-content"     // something after the root element
	CodeDeclaration        = "bad-xml-declaration"  // misplaced, malformed or not version 1.0
	CodeEncoding           = "encoding"             // octets and labels contradict each other, or invalid octets
	CodeUnsupported        = "unsupported-encoding" // not UTF-8, US-ASCII or UTF-16
	CodeLimit              = "limit"                // see Limits
	CodeRead               = "io"                   // the reader failed
)

// Error says why a document was refused, and where.
type Error struct {
	Code    string // one of the constants
	Line    int    // from 1
	Column  int    // in octets, from 1
	Offset  int    // octets of the document before the place
	Path    string // open elements as written, such as /anml/interact/action
	Message string // one sentence without its full stop
	Fix     string // what the author can do, or empty

	cause error // of the reader
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%d:%d: %s [%s]", e.Line, e.Column, e.Message, e.Code)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap gives the class of the failure and the reader's own error.
func (e *Error) Unwrap() []error {
	class := ErrSyntax
	switch e.Code {
	case CodeEncoding, CodeUnsupported:
		class = ErrEncoding
	case CodeLimit:
		class = ErrLimit
	case CodeRead:
		return []error{ErrRead, e.cause}
	}
	return []error{class}
}

// fault is an error inside the window whose place is not worked out yet: most
// tokens are fine, so the scanning functions stay free of positions.
type fault struct {
	at        int // index in the window
	code      string
	msg, hint string
}

func (f *fault) Error() string { return f.msg }

// short is returned by a scanning function that ran into the end of the window.
type short struct{ inside string }

func (s *short) Error() string { return "the document ends inside " + s.inside }

func bad(at int, code, format string, args ...any) *fault {
	return &fault{at: at, code: code, msg: fmt.Sprintf(format, args...)}
}

func (f *fault) fix(hint string) *fault {
	f.hint = hint
	return f
}
