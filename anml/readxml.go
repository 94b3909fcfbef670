package anml

import (
	"errors"
	"io"
	"strings"

	"github.com/lookleap/lookleap/internal/strictxml"
)

// ParseXML reads the XML serialization (sections 5 and 6). What is not
// well-formed XML 1.0 with namespaces, in an encoding that is read, is refused
// as a whole; unknown or misplaced vocabulary becomes findings.
func ParseXML(data []byte, o ReadOptions) (*Document, error) {
	r := newReader(XML, o)
	x := &xmlReader{reader: r}
	x.scan = x.scanner(data)
	root, err := x.read()
	if err != nil {
		return nil, err
	}
	x.lexicalFindings()
	return r.finish(root)
}

type xmlReader struct {
	*reader
	scan *strictxml.Scanner

	open    []tail          // open elements, the innermost last
	run     string          // text since the last tag
	pieces  strings.Builder // the same, when comments or sections split it
	checked bool            // the document was scanned to its end before
}

func (x *xmlReader) scanner(data []byte) *strictxml.Scanner {
	return strictxml.NewBytes(data, strictxml.Options{
		Charset: x.o.Charset,
		Limits: strictxml.Limits{Bytes: x.limits.Bytes, Depth: x.limits.Depth, Attrs: x.limits.Attrs + 64,
			Value: x.limits.Value, Text: x.limits.Bytes, Token: x.limits.Bytes, Tokens: 2 * x.limits.Bytes},
	})
}

// inner is the innermost open element, or nil.
func (x *xmlReader) inner() *node {
	if len(x.open) == 0 {
		return nil
	}
	return x.open[len(x.open)-1].of
}

// heavy is how much memory a tree may take before the rest of its document is
// known to be well-formed, so that refusing it never takes much.
const heavy = 1950 << 10

func (x *xmlReader) read() (*node, error) {
	var root *node
	x.src = x.scan.Source()
	for {
		tok, err := x.scan.Next()
		if err == io.EOF {
			return root, nil
		}
		if err != nil {
			return nil, x.syntax(err)
		}
		switch tok.Kind {
		case strictxml.StartElement:
			if x.elements++; x.elements > x.limits.Elements {
				return nil, x.over(x.inner(), tok.Offset, "elements", x.limits.Elements)
			}
			if len(tok.Attrs) > x.limits.Attrs {
				return nil, x.over(x.inner(), tok.Offset, "attributes on one element", x.limits.Attrs)
			}
			if x.weight > heavy && !x.checked {
				if err := x.lookAhead(); err != nil {
					return nil, err
				}
			}
			x.flush(false)
			var n *node
			if len(x.open) == 0 {
				if n, err = x.root(tok); err != nil {
					if fault := x.lookAhead(); fault != nil {
						return nil, fault // being no XML at all comes first
					}
					return nil, err
				}
				root = n
			} else {
				n = x.place(x.inner(), Name(tok.Name), tok.Offset)
				x.open[len(x.open)-1].add(n)
			}
			if err := x.attributes(n, tok); err != nil {
				return nil, err
			}
			x.open = append(x.open, tail{of: n})
		case strictxml.EndElement:
			x.flush(true)
			x.open = x.open[:len(x.open)-1]
		case strictxml.Text, strictxml.CData:
			if err := x.chars(tok); err != nil {
				return nil, err
			}
		case strictxml.ProcInst:
			if err := x.lexical(tok.Offset, SeverityWarning, CodePI, "ANML-5.2.6-04", "processing instructions mean nothing in ANML", "remove it"); err != nil {
				return nil, err
			}
		case strictxml.Doctype:
			if x.o.RejectDoctype {
				return nil, x.refuse(ErrLexical, CodeDoctype, nil, tok.Offset, "the document has a document type declaration", "remove it")
			}
			x.once(tok.Offset, SeverityWarning, CodeDoctype, "ANML-5.3.5-01", "the document type declaration is skipped and nothing is taken from it", "remove it")
		}
	}
}

// lookAhead reads the rest without building anything.
func (x *xmlReader) lookAhead() error {
	x.checked = true
	s, n := x.scan.Ahead(), x.elements
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return x.syntax(err)
		}
		if tok.Kind == strictxml.StartElement {
			if n++; n > x.limits.Elements {
				return x.over(nil, tok.Offset, "elements", x.limits.Elements)
			}
		}
	}
}

// root checks the root element (section 5.1) and makes its node.
func (x *xmlReader) root(tok *strictxml.Token) (*node, error) {
	space := tok.Name.Space
	switch {
	case tok.Name.Local == "anml" && x.isANML(space):
	case tok.Name.Local == "anml" && strings.HasPrefix(space, "urn:ietf:params:xml:ns:anml"):
		return nil, x.refuse(ErrUnsupportedVersion, CodeVersion, nil, tok.Offset, "the namespace "+quoted(space)+" is not that of ANML 1.0", "use "+Namespace)
	case tok.Name.Local == "anml" && space == "":
		return nil, x.refuse(ErrNotANML, CodeNotANML, nil, tok.Offset, "the root element has no namespace", `write <anml xmlns="`+Namespace+`">`)
	default:
		return nil, x.refuse(ErrNotANML, CodeNotANML, nil, tok.Offset, "the root element is not anml", `write <anml xmlns="`+Namespace+`">`)
	}
	n := x.node()
	n.kind, n.offset = kAnml, int32(tok.Offset)
	if space == "" {
		x.add(n, SeverityError, CodeANMLNamespace, "ANML-5.1-02", "the root element has no namespace", `write xmlns="`+Namespace+`"`)
	}
	return n, nil
}

func (x *xmlReader) attributes(n *node, tok *strictxml.Token) error {
	if len(tok.Attrs) == 0 {
		return nil
	}
	s := &schema[n.kind]
	room := x.room(len(tok.Attrs))
	foreign := false
	for i := range tok.Attrs {
		from, to := &tok.Attrs[i], &room[i]
		to.value = from.Value
		if from.Name.Space == "" && n.kind != kUnknown {
			to.spec = s.attr(from.Name.Local)
		}
		if to.spec == nil {
			to.spec = foreignAttr(Name(from.Name))
			foreign = true
		}
		if from.Quote == '\'' {
			if err := x.lexical(from.Offset, SeverityWarning, CodeQuote, "ANML-5.2.2-01", "an attribute value is in single quotes", "use double quotes"); err != nil {
				return err
			}
		}
	}
	n.attrs = room
	if foreign {
		x.adopt(n)
		for i := range n.attrs {
			if !n.attrs[i].known() {
				x.noteAttr(n, n.attrs[i].name())
			}
		}
	}
	return nil
}

// chars collects text, which comments, sections and instructions may split.
func (x *xmlReader) chars(tok *strictxml.Token) error {
	if tok.Kind == strictxml.CData {
		if err := x.lexical(tok.Offset, SeverityWarning, CodeCDATA, "ANML-5.2.5-01", "a CDATA section is read as plain text", "escape the text instead"); err != nil {
			return err
		}
	}
	open := &x.open[len(x.open)-1]
	if c := schema[open.of.kind].content; c == elements || c == empty {
		if !tok.Blank {
			x.text(open, tok.Text, false)
		}
		return nil
	}
	switch {
	case x.run == "":
		x.run = tok.Text
	default:
		if x.pieces.Len() == 0 {
			x.pieces.WriteString(x.run)
		}
		x.pieces.WriteString(tok.Text)
	}
	return nil
}

// flush gives the collected text to the open element.
func (x *xmlReader) flush(last bool) {
	if x.run == "" {
		return
	}
	if x.pieces.Len() > 0 {
		x.run = x.pieces.String()
		x.pieces.Reset()
	}
	x.text(&x.open[len(x.open)-1], x.run, last)
	x.run = ""
}

// lexical reports a notation that XML allows and ANML forbids.
func (x *xmlReader) lexical(offset int, s Severity, code, requirement, message, fix string) error {
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
		x.add(nil, SeverityError, CodeNoDecl, "ANML-6.2.2-02", "a document in UTF-16 has no XML declaration", fix)
	case !p.Declared:
		x.add(nil, SeverityInfo, CodeNoDecl, "ANML-6.2.2-01", "the document has no XML declaration", fix)
	}
	if p.BOM && !p.UTF16 {
		x.add(nil, SeverityInfo, CodeBOM, "ANML-6.2.3-01", "the document begins with a byte order mark", "remove it")
	}
	if p.Overruled {
		x.add(nil, SeverityWarning, CodeEncodingClash, "ANML-6.2.1-02", "the declared encoding "+quoted(p.Encoding)+" differs from the charset of the exchange, which counts", "declare UTF-8 and send charset=utf-8")
	}
}

// syntax turns the tokenizer's error into one of this package.
func (x *xmlReader) syntax(err error) error {
	var s *strictxml.Error
	if !errors.As(err, &s) {
		return err
	}
	e := &Error{Code: s.Code, Message: s.Message, Fix: s.Fix, class: ErrNotWellFormed}
	e.Position = Position{s.Line, s.Column, s.Offset, s.Path}
	switch {
	case s.Code == strictxml.CodeUnsupported:
		e.class = ErrUnsupportedEncoding
	case errors.Is(err, strictxml.ErrEncoding):
		e.class = ErrEncoding
	case errors.Is(err, strictxml.ErrLimit):
		e.class = ErrLimit
	}
	return e
}
