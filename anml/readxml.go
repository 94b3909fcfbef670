package anml

import (
	"errors"
	"io"
	"math"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// ParseXML reads the XML serialization (sections 5 and 6). What is not
// well-formed XML 1.0 with namespaces, in an encoding that is read, is refused
// as a whole; unknown or misplaced vocabulary becomes findings.
func ParseXML(data []byte, o ReadOptions) (*Document, error) {
	x := &xmlReader{reader: newReader(XML, o)}
	x.scan = x.scanner(data)
	if err := x.read(); err != nil {
		return nil, err
	}
	x.lexicalFindings()
	return x.finish()
}

// xmlReader builds a tree from what strictxml reads: from bursts of plain
// markup as far as they go, and token by token where there is anything else.
type xmlReader struct {
	*reader
	scan    *strictxml.Scanner
	open    []opened // elements whose end is still to come
	run     span     // text since the last tag, empty or not
	checked bool     // the document was scanned to its end before
}

// opened is an open element.
type opened struct {
	row, last int32 // its number, and that of its last child
	kind      kind
}

func (x *xmlReader) scanner(data []byte) *strictxml.Scanner {
	return strictxml.NewBytes(data, strictxml.Options{
		Charset: x.o.Charset,
		Limits: strictxml.Limits{Bytes: min(x.limits.Bytes, math.MaxInt32), Depth: x.limits.Depth, Attrs: x.limits.Attrs + 64,
			Value: x.limits.Value, Text: x.limits.Bytes, Token: x.limits.Bytes, Tokens: 2 * x.limits.Bytes},
	})
}

// inner is the innermost open element, or none.
func (x *xmlReader) inner() node {
	if len(x.open) == 0 {
		return node{}
	}
	return x.node(x.open[len(x.open)-1].row)
}

// Room that is made for a tree at first, at most: together with the text it stays
// below three times the limit of a document.
const (
	firstRows  = 20 << 10
	firstCells = 48 << 10
	firstNames = 8 << 10
	sideShare  = 8 // of the text, for texts that do not stand in it as they mean
)

func (x *xmlReader) read() error {
	x.t.src = x.scan.Source()
	x.t.rows = make([]row, root, root+min(firstRows, 8+strings.Count(x.t.src, "<")/2))
	x.t.cells = make([]cell, 0, min(firstCells, 8+strings.Count(x.t.src, "=")))
	x.open = make([]opened, 0, 16)
	var burst strictxml.Burst
	for {
		tok, err := x.scan.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return x.syntax(err)
		}
		if err := x.token(tok); err != nil {
			return err
		}
		for {
			x.scan.Burst(&burst)
			if len(burst.Marks()) == 0 {
				break
			}
			if err := x.marks(burst.Marks(), burst.Attrs()); err != nil {
				return err
			}
		}
	}
}

// token takes one token of any kind.
func (x *xmlReader) token(tok *strictxml.Token) (err error) {
	switch tok.Kind {
	case strictxml.StartElement:
		return x.start(tok)
	case strictxml.EndElement:
		x.end()
	case strictxml.Text:
		x.chars(tok.Text, tok.Offset)
	case strictxml.CData:
		x.chars(tok.Text, tok.Offset+len("<![CDATA["))
		return x.lexical(tok.Offset, lookleap.SeverityWarning, CodeCDATA, "ANML-5.2.5-01", "a CDATA section is read as plain text", "escape the text instead")
	case strictxml.ProcInst:
		return x.lexical(tok.Offset, lookleap.SeverityWarning, CodePI, "ANML-5.2.6-04", "processing instructions mean nothing in ANML", "remove it")
	case strictxml.Doctype:
		if x.o.RejectDoctype {
			return x.refuse(ErrLexical, CodeDoctype, node{}, tok.Offset, "the document has a document type declaration", "remove it")
		}
		x.once(tok.Offset, lookleap.SeverityWarning, CodeDoctype, "ANML-5.3.5-01", "the document type declaration is skipped and nothing is taken from it", "remove it")
	}
	return nil
}

func (x *xmlReader) start(tok *strictxml.Token) error {
	if err := x.room(tok.Offset, len(tok.Attrs)); err != nil {
		return err
	}
	if len(x.open) == 0 {
		if err := x.root(tok); err != nil {
			if fault := x.lookAhead(); fault != nil {
				return fault // being no XML at all comes first
			}
			return err
		}
		x.open = append(x.open, opened{root, 0, kAnml})
	} else {
		top := &x.open[len(x.open)-1]
		top.last = x.content(top.row, top.last, x.take(), false)
		top.last = x.place(top.row, top.last, Name(tok.Name), tok.Offset)
		x.open = append(x.open, opened{top.last, 0, x.t.rows[top.last].kind})
	}
	return x.attributes(tok)
}

func (x *xmlReader) end() {
	top := &x.open[len(x.open)-1]
	x.content(top.row, top.last, x.take(), top.last == 0)
	x.open = x.open[:len(x.open)-1]
}

// room holds the limits of one more element and its attributes. Before the tables
// grow beyond what refusing may take, it makes sure that the rest of the
// document is well-formed.
func (x *xmlReader) room(offset, attrs int) error {
	if x.elements++; x.elements > x.limits.Elements {
		return x.over(x.inner(), offset, "elements", x.limits.Elements)
	}
	if attrs > x.limits.Attrs {
		return x.over(x.inner(), offset, "attributes on one element", x.limits.Attrs)
	}
	if !x.checked && !x.fits(1, attrs) {
		return x.lookAhead()
	}
	return nil
}

// fits reports whether so many more elements and attributes fit into the tables
// as they are at first.
func (x *xmlReader) fits(elements, attrs int) bool {
	return len(x.t.rows)+2*elements <= firstRows && len(x.t.cells)+attrs <= firstCells &&
		len(x.t.names)+attrs+2*(len(x.t.extra)+elements) <= firstNames && x.t.side.Len() <= len(x.t.src)/sideShare
}

// lookAhead reads the rest without building anything.
func (x *xmlReader) lookAhead() error {
	x.checked = true
	s, n := x.scan.Ahead(), x.elements
	var burst strictxml.Burst
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return x.syntax(err)
		}
		if tok.Kind == strictxml.StartElement {
			n++
		}
		for s.Burst(&burst); len(burst.Marks()) > 0; s.Burst(&burst) {
			for _, m := range burst.Marks() {
				if m.Flags&strictxml.EndTag == 0 {
					n++
				}
			}
		}
		if n > x.limits.Elements {
			return x.over(node{}, tok.Offset, "elements", x.limits.Elements)
		}
	}
}

// root checks the root element (section 5.1) and makes its row.
func (x *xmlReader) root(tok *strictxml.Token) error {
	space := tok.Name.Space
	switch {
	case tok.Name.Local == "anml" && x.isANML(space):
	case tok.Name.Local == "anml" && strings.HasPrefix(space, "urn:ietf:params:xml:ns:anml"):
		return x.refuse(ErrUnsupportedVersion, CodeVersion, node{}, tok.Offset, "the namespace "+quoted(space)+" is not that of ANML 1.0", "use "+Namespace)
	case tok.Name.Local == "anml" && space == "":
		return x.refuse(ErrNotANML, CodeNotANML, node{}, tok.Offset, "the root element has no namespace", `write <anml xmlns="`+Namespace+`">`)
	default:
		return x.refuse(ErrNotANML, CodeNotANML, node{}, tok.Offset, "the root element is not anml", `write <anml xmlns="`+Namespace+`">`)
	}
	x.t.rows = append(x.t.rows, row{kind: kAnml, offset: int32(tok.Offset)})
	if space == "" {
		x.add(x.doc.root(), lookleap.SeverityError, CodeANMLNamespace, "ANML-5.1-02", "the root element has no namespace", `write xmlns="`+Namespace+`"`)
	}
	return nil
}

// attributes gives the innermost element its attributes.
func (x *xmlReader) attributes(tok *strictxml.Token) error {
	n := x.inner()
	k, r := n.kind(), n.row()
	r.cells, r.count = int32(len(x.t.cells)), uint16(len(tok.Attrs))
	known := len(x.t.names)
	for i := range tok.Attrs {
		from := &tok.Attrs[i]
		c := cell{spec: -1, value: x.span(from.Value, from.Start)}
		if from.Name.Space == "" && k != kUnknown {
			c.spec = words.spec(k, from.Name.Local)
		}
		if c.spec < 0 {
			c.spec = ^int32(len(x.t.names))
			x.t.names = append(x.t.names, Name(from.Name))
		}
		x.t.cells = append(x.t.cells, c)
		if from.Quote == '\'' {
			if err := x.lexical(from.Offset, lookleap.SeverityWarning, CodeQuote, "ANML-5.2.2-01", "an attribute value is in single quotes", "use double quotes"); err != nil {
				return err
			}
		}
	}
	if len(x.t.names) > known {
		x.foreignAttrs(n)
	}
	return nil
}

// foreignAttrs reports the attributes of an element that the draft does not know.
func (r *reader) foreignAttrs(n node) {
	r.adopt(n)
	for _, c := range n.cells() {
		if c.spec < 0 {
			r.noteAttr(n, r.t.names[^c.spec])
		}
	}
}

// span gives a text that may stand in the source at an offset as it means.
func (x *xmlReader) span(text string, at int) span {
	if end := at + len(text); end <= len(x.t.src) && x.t.src[at:end] == text {
		return span{int32(at), int32(end)}
	}
	return x.t.keep(text)
}

// chars collects text, which comments, sections and instructions may split.
func (x *xmlReader) chars(text string, at int) {
	if x.run.empty() {
		x.run = x.span(text, at)
		return
	}
	if x.run.from >= 0 || int(x.run.to) != x.t.side.Len() {
		x.run = x.t.keep(x.t.string(x.run))
	}
	x.run.to = x.t.keep(text).to
}

// take gives the collected text and begins anew.
func (x *xmlReader) take() span {
	run := x.run
	x.run = span{}
	return run
}

// lexical reports a notation that XML allows and ANML forbids.
func (x *xmlReader) lexical(offset int, s lookleap.Severity, code lookleap.Code, requirement, message, fix string) error {
	if x.o.StrictLexical {
		return x.refuse(ErrLexical, code, x.inner(), offset, message, fix)
	}
	x.once(offset, s, code, requirement, message, fix)
	return nil
}

// lexicalFindings reports what the document says about itself in its prolog.
func (x *xmlReader) lexicalFindings() {
	p := x.scan.Prolog()
	const fix = `begin with <?xml version="1.0" encoding="UTF-8"?>`
	switch {
	case p.UTF16 && !p.Declared:
		x.add(node{}, lookleap.SeverityError, CodeNoDecl, "ANML-6.2.2-02", "a document in UTF-16 has no XML declaration", fix)
	case !p.Declared:
		x.add(node{}, lookleap.SeverityInfo, CodeNoDecl, "ANML-6.2.2-01", "the document has no XML declaration", fix)
	}
	if p.BOM && !p.UTF16 {
		x.add(node{}, lookleap.SeverityInfo, CodeBOM, "ANML-6.2.3-01", "the document begins with a byte order mark", "remove it")
	}
	if p.Overruled {
		x.add(node{}, lookleap.SeverityWarning, CodeEncodingClash, "ANML-6.2.1-02", "the declared encoding "+quoted(p.Encoding)+" differs from the charset of the exchange, which counts", "declare UTF-8 and send charset=utf-8")
	}
}

// syntax turns the tokenizer's error into one of this package.
func (x *xmlReader) syntax(err error) error {
	var s *strictxml.Error
	if !errors.As(err, &s) {
		return err
	}
	class := ErrNotWellFormed
	switch {
	case s.Code == strictxml.CodeUnsupported:
		class = coded.Classify(ErrUnsupportedEncoding, ErrEncoding)
	case errors.Is(err, strictxml.ErrEncoding):
		class = ErrEncoding
	case errors.Is(err, strictxml.ErrLimit):
		class = ErrLimit
	}
	return &lookleap.Error{
		Code: lookleap.Code(s.Code), Position: lookleap.Position{Line: s.Line, Column: s.Column, Offset: s.Offset, Path: s.Path},
		Message: s.Message, Fix: s.Fix, Err: class,
	}
}

// marks takes a burst of plain markup: elements of the default namespace whose
// attributes have no prefix.
func (x *xmlReader) marks(marks []strictxml.Mark, attrs []strictxml.MarkAttr) error {
	t, space := x.t, x.scan.DefaultSpace()
	anml := x.isANML(space)
	roomy, open := x.roomy(len(marks), len(attrs)), x.open
	for i := range marks {
		m := &marks[i]
		top := &open[len(open)-1]
		if m.Flags&strictxml.Blank == 0 || holds[top.kind].textual() || !x.run.empty() {
			x.markText(top, m)
		}
		if m.Flags&strictxml.EndTag != 0 {
			open = open[:len(open)-1]
			continue
		}
		if roomy {
			x.elements++
		} else if err := x.room(int(m.At), int(m.Attrs)); err != nil {
			return err
		}
		k := kUnknown
		if anml {
			k = words.child[top.kind][words.at(t.src, m.At+1, m.Name)]
		}
		if k == kUnknown {
			top.last = x.place(top.row, top.last, Name{space, t.src[m.At+1 : m.Name]}, int(m.At))
		} else {
			top.last = t.add(k, top.row, top.last, m.At)
		}
		if m.Attrs > 0 {
			x.markAttrs(top.last, k, attrs[:m.Attrs])
			attrs = attrs[m.Attrs:]
		}
		if m.Flags&strictxml.SelfClosing == 0 {
			open = append(open, opened{top.last, 0, k})
		}
	}
	x.open = open
	return nil
}

// roomy reports whether a burst of so many tags and attributes is within what room
// asks of each element.
func (x *xmlReader) roomy(tags, attrs int) bool {
	return x.elements+tags <= x.limits.Elements && x.limits.Attrs >= strictxml.BurstAttrs && (x.checked || x.fits(tags, attrs))
}

// holds is the content of each kind of element.
var holds = func() (t [kindCount]content) {
	for k := range t {
		t[k] = schema[k].content
	}
	return t
}()

// textual reports whether text, even white space, has a meaning there.
func (c content) textual() bool { return c == textOnly || c == mixed }

// markText takes the text before a tag.
func (x *xmlReader) markText(top *opened, m *strictxml.Mark) {
	text := span{m.From, m.At}
	if m.Flags == strictxml.EndTag && top.last == 0 && holds[top.kind] == textOnly && x.run.empty() {
		x.t.rows[top.row].text = text
		return
	}
	if m.Flags&strictxml.Escaped != 0 {
		if x.t.side.Len() == 0 {
			x.t.side.Grow(len(x.t.src) / sideShare)
		}
		from := x.t.side.Len()
		strictxml.Unescape(&x.t.side, x.t.src[m.From:m.At], false)
		text = span{^int32(from), int32(x.t.side.Len())}
	}
	if !x.run.empty() {
		x.chars(x.t.string(text), int(m.From))
		text = x.take()
	}
	top.last = x.content(top.row, top.last, text, m.Flags&strictxml.EndTag != 0 && top.last == 0)
}

func (x *xmlReader) markAttrs(i int32, k kind, attrs []strictxml.MarkAttr) {
	t := x.t
	r := &t.rows[i]
	r.cells, r.count = int32(len(t.cells)), uint16(len(attrs))
	specs := &words.attr[k]
	known := len(t.names)
	for j := range attrs {
		a := &attrs[j]
		c := cell{int32(specs[words.at(t.src, a.At, a.At+int32(a.Size))]), span{a.From, a.To}}
		if c.spec < 0 {
			c.spec = ^int32(len(t.names))
			t.names = append(t.names, Name{"", t.src[a.At : a.At+int32(a.Size)]})
		}
		if a.Escaped {
			from := t.side.Len()
			strictxml.Unescape(&t.side, t.src[a.From:a.To], true)
			c.value = span{^int32(from), int32(t.side.Len())}
		}
		t.cells = append(t.cells, c)
	}
	if len(t.names) > known {
		x.foreignAttrs(x.node(i))
	}
}
