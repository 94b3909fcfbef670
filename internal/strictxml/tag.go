package strictxml

import "strings"

// The two namespaces that need no declaration.
const (
	XMLNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// startTag reads a start tag, which is at an index of the window.
func (s *Scanner) startTag(at int, piece string) *Error {
	body, selfClosing := strings.CutSuffix(piece[:len(piece)-1], "/")
	end := nameEnd(body, 1)
	raw := body[1:end]
	prefix, local, e := qname(at+1, raw, "an element name")
	if e != nil {
		return e
	}
	attrs := s.attrs[:0]
	for i := end; ; {
		start := i
		if i = skipSpace(body, i); i == len(body) {
			break
		}
		if len(attrs) == s.limits.Attrs {
			return bad(at+i, CodeLimit, "%s has more than %d attributes", raw, s.limits.Attrs)
		}
		if i == start {
			return bad(at+i, CodeSyntax, "white space is missing before an attribute")
		}
		attrs = append(attrs, Attr{})
		if i, e = s.attribute(at, i, body, &attrs[len(attrs)-1]); e != nil {
			return e
		}
	}
	if len(s.open) == s.limits.Depth {
		return bad(at, CodeLimit, "elements are nested more than %d deep", s.limits.Depth)
	}
	s.attrs = attrs
	s.open = append(s.open, frame{raw: raw})
	top := &s.open[len(s.open)-1]
	declared, e := s.declare(attrs)
	if top.prefixes = declared; e == nil {
		s.tok.Name, e = s.expand(at+1, prefix, local)
	}
	if e == nil {
		s.tok.Attrs, e = s.resolve(attrs)
	}
	if e != nil {
		s.open = s.open[:len(s.open)-1] // the error is in its parent
		return e
	}
	s.tok.Kind, top.name = StartElement, s.tok.Name
	if s.state = inRoot; selfClosing {
		s.state = selfClosed
	}
	return nil
}

// attribute reads name="value" at body[i:], where body is at an index of the window. Its name has
// the prefix in place of the namespace.
func (s *Scanner) attribute(at, i int, body string, a *Attr) (next int, e *Error) {
	end := nameEnd(body, i)
	a.at = at + i
	if a.Name.Space, a.Name.Local, e = qname(a.at, body[i:end], "an attribute name"); e != nil {
		return 0, e
	}
	equals := skipSpace(body, end)
	if equals == len(body) || body[equals] != '=' {
		return 0, bad(at+equals, CodeSyntax, "the attribute %s has no value", body[i:end]).fix(`write name="value"`)
	}
	open := skipSpace(body, equals+1)
	if open == len(body) || body[open] != '"' && body[open] != '\'' {
		return 0, bad(at+open, CodeSyntax, "the value of %s is not quoted", a.Name.Local)
	}
	if body[open] == '\'' && s.tok.Quoted == 0 {
		s.tok.Quoted = s.base + a.at
	}
	open++
	length := strings.IndexByte(body[open:], body[open-1]) // it exists: the end of the tag was found behind it
	if length > s.limits.Value {
		return 0, bad(at+open, CodeLimit, "an attribute value is longer than %d bytes", s.limits.Value)
	}
	value := body[open : open+length]
	if less := strings.IndexByte(value, '<'); less >= 0 {
		return 0, bad(at+open+less, CodeSyntax, "an attribute value contains \"<\"").fix("write &lt;")
	}
	a.Value, e = unescape(at+open, value, normalizeValue)
	return open + length + 1, e
}

// endTag reads an end tag, which is at an index of the window.
func (s *Scanner) endTag(at int, piece string) *Error {
	if s.state != inRoot {
		return bad(at, CodeMismatch, "an end tag is outside the root element")
	}
	end := nameEnd(piece, len("</"))
	got, want := piece[len("</"):end], s.open[len(s.open)-1].raw
	if got != want {
		if _, _, e := qname(at+len("</"), got, "an element name"); e != nil {
			return e
		}
		return bad(at, CodeMismatch, "</%s> closes <%s>", got, want).fix("close elements in the reverse order of their opening")
	}
	if end = skipSpace(piece, end); piece[end] != '>' {
		return bad(at+end, CodeSyntax, "an end tag contains more than its name")
	}
	s.closeElement()
	return nil
}

// closeElement closes the innermost element.
func (s *Scanner) closeElement() {
	top := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	for _, prefix := range top.prefixes {
		s.namespaces[prefix] = s.namespaces[prefix][:len(s.namespaces[prefix])-1]
	}
	s.tok.Kind, s.tok.Name = EndElement, top.name
	if s.state = inRoot; len(s.open) == 0 {
		s.state = inEpilog
	}
}

// declare adds the namespace declarations among the attributes of a tag. It returns their prefixes.
func (s *Scanner) declare(attrs []Attr) (prefixes []string, e *Error) {
	for _, a := range attrs {
		if !a.declares() {
			continue
		}
		prefix := a.Name.Local
		if a.Name.Space == "" {
			prefix = ""
		}
		switch {
		case prefix == "" && (a.Value == XMLNamespace || a.Value == xmlnsNamespace):
			return prefixes, bad(a.at, CodeNamespace, "a reserved namespace cannot be the default one")
		case prefix == "xmlns":
			return prefixes, bad(a.at, CodeNamespace, "the prefix xmlns cannot be declared")
		case prefix != "" && a.Value == "":
			return prefixes, bad(a.at, CodeNamespace, "the prefix %s is bound to nothing", prefix)
		case a.Value == xmlnsNamespace, (prefix == "xml") != (a.Value == XMLNamespace):
			return prefixes, bad(a.at, CodeNamespace, "the prefix %s cannot be bound to this namespace", prefix)
		}
		s.namespaces[prefix] = append(s.namespaces[prefix], a.Value)
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// declares reports whether the attribute declares a namespace.
func (a *Attr) declares() bool {
	return a.Name.Space == "xmlns" || a.Name == Name{"", "xmlns"}
}

// expand returns the expanded name of an element, or of an attribute with a prefix.
func (s *Scanner) expand(at int, prefix, local string) (Name, *Error) {
	bound := s.namespaces[prefix]
	switch {
	case len(bound) > 0:
		return Name{bound[len(bound)-1], local}, nil
	case prefix == "":
		return Name{"", local}, nil
	}
	return Name{}, bad(at, CodeNamespace, "the prefix %s is not declared", prefix).fix("declare it with xmlns:" + prefix)
}

// resolve expands the attribute names in place, refuses duplicates and removes the namespace
// declarations.
func (s *Scanner) resolve(attrs []Attr) ([]Attr, *Error) {
	if len(attrs) > 1 {
		if s.seen == nil {
			s.seen = map[Name]bool{}
		}
		clear(s.seen)
	}
	kept := attrs[:0]
	for _, a := range attrs {
		declares := a.declares()
		if a.Name.Space != "" && !declares {
			var e *Error
			if a.Name, e = s.expand(a.at, a.Name.Space, a.Name.Local); e != nil {
				return nil, e
			}
		}
		if len(attrs) > 1 {
			if s.seen[a.Name] {
				return nil, bad(a.at, CodeDuplicateAttribute, "the attribute %s appears twice in one tag", a.Name.Local).fix("keep one of them")
			}
			s.seen[a.Name] = true
		}
		if !declares {
			kept = append(kept, a)
		}
	}
	return kept, nil
}
