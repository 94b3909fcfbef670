package anml

import (
	"errors"
	"io"
	"math"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// ParseXML reads the XML serialization (sections 5 and 6). It returns an error if the document is
// not well-formed XML 1.0 with namespaces in a supported encoding, or is refused for one of the
// reasons that the Err variables list. Unknown or misplaced vocabulary becomes findings.
func ParseXML(data []byte, o ReadOptions) (*Document, error) {
	x := &xmlReader{reader: newReader(XML, o)}
	x.scan = strictxml.NewBytes(data, strictxml.Options{
		Charset: o.Charset,
		Limits: strictxml.Limits{Bytes: min(x.limits.Bytes, math.MaxInt32), Depth: x.limits.Depth, Attrs: x.limits.Attrs + 64,
			Value: x.limits.Value, Text: x.limits.Bytes, Token: x.limits.Bytes, Tokens: 2 * x.limits.Bytes},
	})
	if err := x.read(); err != nil {
		return nil, err
	}
	x.reportProlog()
	return x.examine()
}

// xmlReader builds a tree from the tokens of strictxml.
type xmlReader struct {
	*reader
	scan    *strictxml.Scanner
	open    []openElement // innermost last
	pending span          // text since the last tag
	checked bool          // lookAhead found the rest of the document well-formed
}

type openElement struct {
	row, last int32 // its row, and that of its last child
	kind      kind
}

// The initial capacity of a tree is at most this. Together with the text it is less than three
// times the size limit of a document.
const (
	firstRows    = 20 << 10
	firstCells   = 48 << 10
	firstNames   = 8 << 10
	decodedShare = 8 // the part of the text that is expected to need decoding
)

func (x *xmlReader) read() error {
	x.t.src = x.scan.Source()
	x.t.rows = make([]row, root, root+min(firstRows, 8+strings.Count(x.t.src, "<")/2))
	x.t.cells = make([]cell, 0, min(firstCells, 8+strings.Count(x.t.src, "=")))
	x.open = make([]openElement, 0, 16)
	for {
		tok, err := x.scan.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return xmlError(err)
		}
		switch tok.Kind {
		case strictxml.StartElement:
			err = x.start(tok)
		case strictxml.EndElement:
			top := x.open[len(x.open)-1]
			x.addText(top.row, top.last, x.takePending(), top.last == 0)
			x.open = x.open[:len(x.open)-1]
		case strictxml.Text:
			x.addPending(tok.Text, tok.Offset)
		case strictxml.CData:
			x.addPending(tok.Text, tok.Offset+len("<![CDATA["))
			err = x.lexical(tok.Offset, CodeCDATA, "ANML-5.2.5-01", "a CDATA section is read as plain text", "escape the text instead")
		case strictxml.ProcInst:
			err = x.lexical(tok.Offset, CodePI, "ANML-5.2.6-04", "processing instructions have no meaning in ANML", "remove it")
		case strictxml.Doctype:
			if x.options.RejectDoctype {
				return x.refuse(ErrLexical, CodeDoctype, node{}, tok.Offset, "the document has a document type declaration", "remove it")
			}
			x.addOnce(tok.Offset, lookleap.SeverityWarning, CodeDoctype, "ANML-5.3.5-01",
				"the document type declaration is skipped without using its content", "remove it")
		}
		if err != nil {
			return err
		}
	}
}

// start adds the element of a start tag with its attributes.
func (x *xmlReader) start(tok *strictxml.Token) error {
	if err := x.countElement(tok.Offset, len(tok.Attrs)); err != nil {
		return err
	}
	if len(x.open) == 0 {
		if err := x.startRoot(tok); err != nil {
			if syntax := x.lookAhead(); syntax != nil {
				return syntax // a syntax error is reported before any other
			}
			return err
		}
		x.open = append(x.open, openElement{root, 0, kAnml})
	} else {
		top := &x.open[len(x.open)-1]
		top.last = x.addText(top.row, top.last, x.takePending(), false)
		top.last = x.addElement(top.row, top.last, Name(tok.Name), tok.Offset)
		x.open = append(x.open, openElement{top.last, 0, x.t.rows[top.last].kind})
	}

	n := x.innermost()
	k, r := n.kind(), n.row()
	r.cells, r.count = int32(len(x.t.cells)), uint16(len(tok.Attrs))
	known := len(x.t.names)
	for i := range tok.Attrs {
		a := &tok.Attrs[i]
		c := cell{spec: -1, value: x.span(a.Value, a.Start)}
		if a.Name.Space == "" {
			c.spec = words().spec(k, a.Name.Local)
		}
		if c.spec < 0 {
			c.spec = ^int32(len(x.t.names))
			x.t.names = append(x.t.names, Name(a.Name))
		}
		x.t.cells = append(x.t.cells, c)
		if a.Quote == '\'' {
			if err := x.singleQuotes(a.Offset); err != nil {
				return err
			}
		}
	}
	if tok.Quoted > 0 {
		if err := x.singleQuotes(tok.Quoted); err != nil {
			return err
		}
	}
	if len(x.t.names) > known {
		x.foreignAttrs(n)
	}
	return nil
}

func (x *xmlReader) singleQuotes(offset int) error {
	return x.lexical(offset, CodeQuote, "ANML-5.2.2-01", "an attribute value is in single quotes", "use double quotes")
}

// startRoot checks the root element (section 5.1) and adds its row.
func (x *xmlReader) startRoot(tok *strictxml.Token) error {
	space := tok.Name.Space
	switch {
	case tok.Name.Local == "anml" && x.isANML(space):
	case tok.Name.Local == "anml" && strings.HasPrefix(space, "urn:ietf:params:xml:ns:anml"):
		return x.refuse(ErrUnsupportedVersion, CodeVersion, node{}, tok.Offset,
			"the namespace "+plaintext.Quote(space, maxQuoted)+" is not that of ANML 1.0", "use "+Namespace)
	case tok.Name.Local == "anml" && space == "":
		return x.refuse(ErrNotANML, CodeNotANML, node{}, tok.Offset, "the root element has no namespace",
			`write <anml xmlns="`+Namespace+`">`)
	default:
		return x.refuse(ErrNotANML, CodeNotANML, node{}, tok.Offset, "the root element is not anml", `write <anml xmlns="`+Namespace+`">`)
	}
	x.t.rows = append(x.t.rows, row{kind: kAnml, offset: int32(tok.Offset)})
	if space == "" {
		x.add(x.doc.root(), lookleap.SeverityError, CodeANMLNamespace, "ANML-5.1-02", "the root element has no namespace",
			`write xmlns="`+Namespace+`"`)
	}
	return nil
}

// innermost returns the innermost open element.
func (x *xmlReader) innermost() node {
	if len(x.open) == 0 {
		return node{}
	}
	return x.node(x.open[len(x.open)-1].row)
}

// countElement counts one more element against the limits. Before the tables grow beyond their
// first size, it makes sure that the rest of the document is well-formed: a document that is
// refused must not take much memory.
func (x *xmlReader) countElement(offset, attrs int) error {
	x.elements++
	if x.elements > x.limits.Elements {
		return x.refuseTooMany(x.innermost(), offset, "elements", x.limits.Elements)
	}
	if attrs > x.limits.Attrs {
		return x.refuseTooMany(x.innermost(), offset, "attributes on one element", x.limits.Attrs)
	}
	if !x.checked && !x.fits(attrs) {
		return x.lookAhead()
	}
	return nil
}

// fits reports whether one more element and its attributes fit into the tables at their first size.
func (x *xmlReader) fits(attrs int) bool {
	return len(x.t.rows)+2 <= firstRows && len(x.t.cells)+attrs <= firstCells &&
		len(x.t.names)+attrs+2*(len(x.t.rare)+1) <= firstNames && x.t.decoded.Len() <= len(x.t.src)/decodedShare
}

// lookAhead reads the rest of the document without building anything. It returns the first syntax
// error.
func (x *xmlReader) lookAhead() error {
	x.checked = true
	s, n := x.scan.Ahead(), x.elements
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return xmlError(err)
		}
		if tok.Kind == strictxml.StartElement {
			n++
		}
		if n > x.limits.Elements {
			return x.refuseTooMany(node{}, tok.Offset, "elements", x.limits.Elements)
		}
	}
}

// span returns the span of a decoded text. At is the offset of the text in the source, where the
// text may be the same.
func (x *xmlReader) span(text string, at int) span {
	if end := at + len(text); end <= len(x.t.src) && x.t.src[at:end] == text {
		return span{int32(at), int32(end)}
	}
	return x.t.store(text)
}

// addPending appends to the text since the last tag, which comments, CDATA sections and
// processing instructions may split.
func (x *xmlReader) addPending(text string, at int) {
	if x.pending.empty() {
		x.pending = x.span(text, at)
		return
	}
	if x.pending.from >= 0 || int(x.pending.to) != x.t.decoded.Len() {
		x.pending = x.t.store(x.t.string(x.pending))
	}
	x.pending.to = x.t.store(text).to
}

// takePending returns the text since the last tag and resets it.
func (x *xmlReader) takePending() span {
	text := x.pending
	x.pending = span{}
	return text
}

// lexical reports a notation that XML allows and ANML forbids. With StrictLexical it returns an
// error.
func (x *xmlReader) lexical(offset int, code lookleap.Code, requirement, message, fix string) error {
	if x.options.StrictLexical {
		return x.refuse(ErrLexical, code, x.innermost(), offset, message, fix)
	}
	x.addOnce(offset, lookleap.SeverityWarning, code, requirement, message, fix)
	return nil
}

// reportProlog reports findings about the XML declaration and the encoding.
func (x *xmlReader) reportProlog() {
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
		x.add(node{}, lookleap.SeverityWarning, CodeEncodingClash, "ANML-6.2.1-02",
			"the declared encoding "+plaintext.Quote(p.Encoding, maxQuoted)+" differs from the charset of the Content-Type, which counts", "declare UTF-8 and send charset=utf-8")
	}
}

// xmlError returns an error of strictxml as an error of this package.
func xmlError(err error) error {
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
