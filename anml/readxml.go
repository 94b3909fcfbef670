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
	options := strictxml.Options{
		Charset: o.Charset,
		Limits: strictxml.Limits{Bytes: min(x.limits.Bytes, math.MaxInt32), Depth: x.limits.Depth, Attrs: x.limits.Attrs + 64,
			Value: x.limits.Value, Text: x.limits.Bytes, Token: x.limits.Bytes, Tokens: 2 * x.limits.Bytes},
	}
	x.scan = strictxml.NewBytes(data, options)
	if err := x.read(x.count); err != nil {
		return nil, err
	}
	x.scan, x.elements = strictxml.NewBytes(data, options), 0
	if err := x.read(x.token); err != nil {
		return nil, err
	}
	x.reportProlog()
	return x.examine()
}

// xmlReader builds a tree from the tokens of strictxml. It reads the document twice: a syntax
// error is reported before any other, and a document with one takes no memory for a tree.
type xmlReader struct {
	*reader
	scan *strictxml.Scanner
	open node            // innermost open element
	text strings.Builder // text since the last tag, which comments may split
}

// read passes each token to a function.
func (x *xmlReader) read(token func(*strictxml.Token) error) error {
	for {
		tok, err := x.scan.Next()
		if err == io.EOF {
			return nil
		}
		x.t.src = x.scan.Source()
		if err != nil {
			return xmlError(err)
		}
		if err := token(tok); err != nil {
			return err
		}
	}
}

// count counts elements against the limit.
func (x *xmlReader) count(tok *strictxml.Token) error {
	if tok.Kind == strictxml.StartElement {
		x.elements++
	}
	if x.elements > x.limits.Elements {
		return x.refuseTooMany(node{}, tok.Offset, "elements", x.limits.Elements)
	}
	return nil
}

// token adds one token to the tree.
func (x *xmlReader) token(tok *strictxml.Token) error {
	switch tok.Kind {
	case strictxml.StartElement:
		return x.start(tok)
	case strictxml.EndElement:
		x.takeText()
		x.open = x.open.parent()
	case strictxml.Text:
		x.text.WriteString(tok.Text)
	case strictxml.CData:
		x.text.WriteString(tok.Text)
		return x.lexical(tok.Offset, codeCDATA, "ANML-5.2.5-01", "a CDATA section is read as plain text", "escape the text instead")
	case strictxml.ProcInst:
		return x.lexical(tok.Offset, codePI, "ANML-5.2.6-04", "processing instructions have no meaning in ANML", "remove it")
	case strictxml.Doctype:
		if x.options.RejectDoctype {
			return x.refuse(ErrLexical, codeDoctype, node{}, tok.Offset, "the document has a document type declaration", "remove it")
		}
		x.addOnce(tok.Offset, lookleap.SeverityWarning, codeDoctype, "ANML-5.3.5-01",
			"the document type declaration is skipped without using its content", "remove it")
	}
	return nil
}

// takeText adds the text since the last tag to the innermost element.
func (x *xmlReader) takeText() {
	x.addText(x.open, x.text.String())
	x.text.Reset()
}

// start adds the element of a start tag with its attributes.
func (x *xmlReader) start(tok *strictxml.Token) error {
	if len(tok.Attrs) > x.limits.Attrs {
		return x.refuseTooMany(x.open, tok.Offset, "attributes on one element", x.limits.Attrs)
	}
	if !x.open.ok() {
		if err := x.startRoot(tok); err != nil {
			return err
		}
	} else {
		x.takeText()
		x.open = x.addElement(x.open, Name(tok.Name), tok.Offset)
	}
	for _, a := range tok.Attrs {
		setAttr(x.open.e, Name(a.Name), a.Value)
	}
	if tok.Quoted > 0 {
		if err := x.lexical(tok.Quoted, codeQuote, "ANML-5.2.2-01", "an attribute value is in single quotes", "use double quotes"); err != nil {
			return err
		}
	}
	x.foreignAttrs(x.open)
	return nil
}

// startRoot checks the root element (section 5.1) and adds it.
func (x *xmlReader) startRoot(tok *strictxml.Token) error {
	space := tok.Name.Space
	switch {
	case tok.Name.Local == "anml" && x.isANML(space):
	case tok.Name.Local == "anml" && strings.HasPrefix(space, "urn:ietf:params:xml:ns:anml"):
		return x.refuse(ErrUnsupportedVersion, CodeVersion, node{}, tok.Offset,
			"the namespace "+plaintext.Quote(space, maxQuoted)+" is not that of ANML 1.0", "use "+Namespace)
	case tok.Name.Local == "anml" && space == "":
		return x.refuse(ErrNotANML, codeNotANML, node{}, tok.Offset, "the root element has no namespace",
			`write <anml xmlns="`+Namespace+`">`)
	default:
		return x.refuse(ErrNotANML, codeNotANML, node{}, tok.Offset, "the root element is not anml", `write <anml xmlns="`+Namespace+`">`)
	}
	x.open = x.addRoot(tok.Offset)
	if space == "" {
		x.add(x.open, lookleap.SeverityError, codeANMLNamespace, "ANML-5.1-02", "the root element has no namespace",
			`write xmlns="`+Namespace+`"`)
	}
	return nil
}

// lexical reports a notation that XML allows and ANML forbids. With StrictLexical it returns an
// error.
func (x *xmlReader) lexical(offset int, code lookleap.Code, requirement, message, fix string) error {
	if x.options.StrictLexical {
		return x.refuse(ErrLexical, code, x.open, offset, message, fix)
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
		x.add(node{}, lookleap.SeverityError, codeNoDecl, "ANML-6.2.2-02", "a document in UTF-16 has no XML declaration", fix)
	case !p.Declared:
		x.add(node{}, lookleap.SeverityInfo, codeNoDecl, "ANML-6.2.2-01", "the document has no XML declaration", fix)
	}
	if p.BOM && !p.UTF16 {
		x.add(node{}, lookleap.SeverityInfo, codeBOM, "ANML-6.2.3-01", "the document begins with a byte order mark", "remove it")
	}
	if p.Overruled {
		x.add(node{}, lookleap.SeverityWarning, codeEncodingClash, "ANML-6.2.1-02",
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
