package strictxml

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Options says how to read a document. The zero value is usable.
type Options struct {
	Limits Limits
	// Charset is the encoding according to the transport, such as the charset parameter of a
	// Content-Type, or "". It takes precedence over the XML declaration.
	Charset string
}

// Scanner reads the tokens of one document. It must not be used by several goroutines at a time.
type Scanner struct {
	source
	limits Limits
	prolog Prolog

	pos    int     // next byte in the window
	tok    Token   // the current token
	attrs  []Attr  // buffer for tok.Attrs
	open   []frame // open elements, innermost last
	names  namespaces
	seen   map[Name]struct{} // names of an element with many attributes
	tokens int
	state  state
	typed  bool  // a document type declaration was read
	err    error // sticky

	first struct { // buffers for most documents, in the same allocation
		attrs [8]Attr
		open  [8]frame
	}
}

type state uint8

const (
	atStart  state = iota // nothing was read
	inProlog              // before the root element
	inRoot
	selfClosed // after a self-closing tag, before its EndElement token
	inEpilog   // after the root element
)

// frame is an open element with its name as written and its expanded name.
type frame struct {
	raw   string
	name  Name
	bound int // length of names.stack before its start tag
}

// NewBytes returns a scanner of a document in memory. The scanner makes a copy of it.
func NewBytes(doc []byte, o Options) *Scanner {
	s := newScanner(o)
	if len(doc) > s.limits.Bytes {
		s.err = s.explain(bad(0, CodeLimit, "the document is longer than %d bytes", s.limits.Bytes))
		return s
	}
	s.loadAll(doc)
	return s
}

// NewReader returns a scanner of a stream. It does not close the stream.
func NewReader(r io.Reader, o Options) *Scanner {
	s := newScanner(o)
	s.r = r
	s.more = true
	return s
}

func newScanner(o Options) *Scanner {
	s := &Scanner{limits: o.Limits.withDefaults()}
	s.attrs, s.open = s.first.attrs[:0], s.first.open[:0]
	s.charset = o.Charset
	s.step = firstWindow
	return s
}

// Prolog returns what the document says about itself before its first tag. It is complete after
// the first call of Next.
func (s *Scanner) Prolog() Prolog { return s.prolog }

// Depth returns the number of open elements.
func (s *Scanner) Depth() int { return len(s.open) }

// Place returns line and column, counted from 1 and in bytes, of an offset at or after the start
// of the current token. It takes time linear in the window.
func (s *Scanner) Place(offset int) (line, column int) {
	return s.place(offset - s.base)
}

// Source returns the text in UTF-8 in which offsets count: a whole document in memory, or the
// window of a stream.
func (s *Scanner) Source() string { return s.src }

// Next returns the next token. It returns io.EOF at the end of a well-formed document, and an
// [*Error] otherwise. Later calls return the same error.
func (s *Scanner) Next() (*Token, error) {
	if s.err != nil {
		return nil, s.err
	}
	err := s.next()
	if err == nil {
		s.tokens++
		if s.tokens > s.limits.Tokens {
			err = bad(s.pos, CodeLimit, "the document has more than %d tokens", s.limits.Tokens)
		}
	}
	if err != nil {
		s.err = s.explain(err)
		return nil, s.err
	}
	return &s.tok, nil
}

// next scans one token. It reads on while the window ends inside the token.
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
			return bad(s.pos, CodeLimit, "one token is longer than %d bytes", s.longest())
		}
		if err := s.fill(s.pos, s.limits.Bytes); err != nil {
			return err
		}
		s.pos = 0
	}
}

// longest returns the largest window for one token of a stream, in bytes.
func (s *Scanner) longest() int {
	return max(s.limits.Text, s.limits.Token, s.limits.Doctype)
}

// scan reads the token at s.pos. If the token is not completely in the window, it changes only
// s.tok and returns a *short.
func (s *Scanner) scan() error {
	if s.state == selfClosed {
		s.end(s.pos)
		return nil
	}
	i := s.pos
	if s.state != inRoot {
		i = skipSpace(s.src, i)
		if i == len(s.src) {
			s.pos = i // white space outside the root is not a token
			if s.state == inEpilog && !s.more && s.srcErr == nil {
				return io.EOF
			}
			return &short{"the prolog, without a root element"}
		}
		if s.src[i] != '<' {
			return s.stray(i)
		}
	}
	s.tok.Attrs, s.tok.Text, s.tok.Name = nil, "", Name{}
	s.tok.Quoted = 0
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
	return bad(i, CodeSyntax, "text precedes the root element")
}

// declaration scans a comment, CDATA section or document type declaration.
func (s *Scanner) declaration(i int) error {
	rest := s.src[i:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return s.comment(i)
	case strings.HasPrefix(rest, cdataStart):
		if s.state != inRoot {
			return bad(i, CodeSyntax, "a CDATA section is outside the root element")
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

// explain returns an internal error as an [*Error] with its position.
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

// Limits bounds the size of a document. A zero field has its default; limits cannot be switched
// off. Lengths are in bytes of the document in UTF-8.
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

// Kind is the kind of a [Token].
type Kind uint8

const (
	StartElement Kind = iota + 1 // Name, Attrs
	EndElement                   // Name; follows a self-closing start too
	Text                         // Text, references resolved, line ends normalised
	CData                        // Text of one CDATA section
	Comment                      // Text between the delimiters
	ProcInst                     // Name.Local is the target, Text the rest
	Doctype                      // only Offset
)

// Token is one token of a document. The token and its Attrs are valid until the next call of
// [Scanner.Next]; its strings remain valid.
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
	Name   Name
	Value  string
	Quote  byte // '"' or '\''
	Offset int  // bytes of the document before the name
}

// Prolog is what a document says about itself before its first tag.
type Prolog struct {
	Declared   bool   // it has an XML declaration
	Encoding   string // as declared, or empty
	Standalone string // "yes", "no" or empty
	BOM        bool   // it has a byte order mark
	UTF16      bool   // the encoding is UTF-16
	Overruled  bool   // the declared encoding differs from that of the transport, which counts
}

// The classes of errors, for errors.Is. Every [*Error] belongs to exactly one.
var (
	ErrSyntax   = errors.New("not well-formed XML")         // XML 1.0 or Namespaces in XML is violated
	ErrEncoding = errors.New("unusable encoding")           // the bytes are invalid in the encoding, or the encoding is not supported
	ErrLimit    = errors.New("a limit is exceeded")         // the document is larger than it may be
	ErrRead     = errors.New("the document cannot be read") // the reader failed; the error wraps the reader's error
)

// Reason codes of an [Error].
const (
	CodeSyntax             = "not-well-formed"      // any syntax error without a code of its own
	CodeBadChar            = "bad-character"        // a character that XML does not allow
	CodeBadName            = "bad-name"             // not a name, or not one that Namespaces in XML allow
	CodeUndefinedEntity    = "undefined-entity"     // an entity beyond the five predefined
	CodeDuplicateAttribute = "duplicate-attribute"  // twice by expanded name
	CodeNamespace          = "namespace"            // a prefix undeclared, reserved or badly bound
	CodeMismatch           = "mismatched-tag"       // an end tag without its start tag
	CodeUnclosed           = "unexpected-end"       // the document ends too early
	CodeTrailing           = "trailing-content"     // something after the root element
	CodeDeclaration        = "bad-xml-declaration"  // misplaced, malformed or not version 1.0
	CodeEncoding           = "encoding"             // bytes and labels contradict each other, or invalid bytes
	CodeUnsupported        = "unsupported-encoding" // not UTF-8, US-ASCII or UTF-16
	CodeLimit              = "limit"                // see Limits
	CodeRead               = "io"                   // the reader failed
)

// Error says why and where a document is refused.
type Error struct {
	Code    string // one of the constants
	Line    int    // from 1
	Column  int    // in bytes, from 1
	Offset  int    // bytes of the document before the position
	Path    string // open elements as written, such as /anml/interact/action
	Message string // one sentence without a final stop
	Fix     string // what the author can do, or ""

	cause error // the reader's error
}

// Error returns position, message, code and fix in one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%d:%d: %s (%s)", e.Line, e.Column, e.Message, e.Code)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap returns the class of the error and the reader's error.
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

// fault is an error in the window whose line and column are not computed yet.
type fault struct {
	at        int // index in the window
	code      string
	msg, hint string
}

func (f *fault) Error() string { return f.msg }

// short says that the window ends inside a token.
type short struct{ inside string }

func (s *short) Error() string { return "the document ends inside " + s.inside }

func bad(at int, code, format string, args ...any) *fault {
	return &fault{at: at, code: code, msg: fmt.Sprintf(format, args...)}
}

func (f *fault) fix(hint string) *fault {
	f.hint = hint
	return f
}
