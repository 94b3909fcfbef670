package strictxml

import (
	"unicode/utf8"
)

// startTag scans the start tag at i.
func (s *Scanner) startTag(i int) error {
	src := s.src
	nameEnd, colon, err := s.qname(i+1, "an element name")
	if err != nil {
		return err
	}
	raw := src[i+1 : nameEnd]
	attrs, declares := s.attrs[:0], false
	selfClosing := false
	j := nameEnd
	for {
		k := skipSpace(src, j)
		if k == len(src) {
			return &short{"the start tag of " + raw}
		}
		if src[k] == '>' {
			j = k + 1
			break
		}
		if src[k] == '/' {
			if k+1 == len(src) {
				return &short{"the start tag of " + raw}
			}
			if src[k+1] != '>' {
				return bad(k, CodeSyntax, "\"/\" is not followed by \">\"")
			}
			selfClosing = true
			j = k + 2
			break
		}
		if len(attrs) == s.limits.Attrs {
			return bad(k, CodeLimit, "%s has more than %d attributes", raw, s.limits.Attrs)
		}
		if k == j {
			if _, _, err := s.qname(k, "an attribute name"); err != nil {
				return err
			}
			return bad(k, CodeSyntax, "white space is missing before an attribute")
		}
		attrs = append(attrs, Attr{})
		var isNS bool
		if j, isNS, err = s.attribute(k, &attrs[len(attrs)-1]); err != nil {
			return err
		}
		declares = declares || isNS
		if a := &attrs[len(attrs)-1]; a.Quote == '\'' && s.tok.Quoted == 0 {
			s.tok.Quoted = a.Offset
		}
	}
	if j-i > s.limits.Token {
		return bad(i, CodeLimit, "the start tag is longer than %d bytes", s.limits.Token)
	}
	if len(s.open) == s.limits.Depth {
		return bad(i, CodeLimit, "elements are nested more than %d deep", s.limits.Depth)
	}
	s.attrs = attrs

	bound := len(s.names.stack)
	if declares {
		if err := s.declare(attrs); err != nil {
			return err
		}
	}
	name := Name{s.names.dflt, raw}
	if colon >= 0 {
		if name, err = s.expand(i+1, colon, nameEnd); err != nil {
			return err
		}
	}
	if len(attrs) > 0 {
		if attrs, err = s.resolve(attrs, declares); err != nil {
			return err
		}
	}
	s.tok.Kind = StartElement
	s.tok.Name = name
	s.tok.Attrs = attrs
	s.open = append(s.open, frame{raw, name, bound})
	s.state = inRoot
	if selfClosing {
		s.state = selfClosed
	}
	s.pos = j
	return nil
}

// endTag scans "</name>" at i.
func (s *Scanner) endTag(i int) error {
	src := s.src
	if s.state != inRoot {
		return bad(i, CodeMismatch, "an end tag is outside the root element")
	}
	want := s.open[len(s.open)-1].raw
	j := i + 2 + len(want)
	if j >= len(src) || src[i+2:j] != want || src[j] != '>' {
		var err error
		if j, _, err = s.qname(i+2, "an element name"); err != nil {
			return err
		}
		if got := src[i+2 : j]; got != want {
			return bad(i, CodeMismatch, "</%s> closes <%s>", got, want).fix("close elements in the reverse order of their opening")
		}
		j = skipSpace(src, j)
		if j == len(src) {
			return &short{"an end tag"}
		}
		if src[j] != '>' {
			return bad(j, CodeSyntax, "an end tag contains more than its name")
		}
	}
	s.end(j + 1)
	return nil
}

// end closes the innermost element and continues at index next.
func (s *Scanner) end(next int) {
	top := len(s.open) - 1
	s.tok.Kind = EndElement
	s.tok.Name = s.open[top].name
	s.tok.Attrs = nil
	s.tok.Text = ""
	s.names.release(s.open[top].bound)
	s.open = s.open[:top]
	s.state = inRoot
	if top == 0 {
		s.state = inEpilog
	}
	s.pos = next
}

// attribute scans name="value" at i and reports whether it declares a namespace. It sets
// Name.Space to the prefix, which resolve replaces.
func (s *Scanner) attribute(i int, a *Attr) (next int, isNS bool, err error) {
	src := s.src
	end, colon, err := s.qname(i, "an attribute name")
	if err != nil {
		return 0, false, err
	}
	a.Offset = s.base + i
	a.Name.Local = src[i:end]
	if colon >= 0 {
		a.Name = Name{src[i:colon], src[colon+1 : end]}
		isNS = a.Name.Space == "xmlns"
	} else {
		isNS = a.Name.Local == "xmlns"
	}
	if j := skipSpace(src, end); j == len(src) {
		return 0, false, &short{"an attribute"}
	} else if src[j] != '=' {
		return 0, false, bad(j, CodeSyntax, "the attribute %s has no value", src[i:end]).fix(`write name="value"`)
	} else {
		end = skipSpace(src, j+1)
	}
	if end == len(src) {
		return 0, false, &short{"an attribute"}
	}
	a.Quote = src[end]
	if a.Quote != '"' && a.Quote != '\'' {
		return 0, false, bad(end, CodeSyntax, "the value of %s is not quoted", a.Name.Local)
	}
	a.Value, next, err = s.value(end+1, a.Quote)
	return next, isNS, err
}

// qname scans a name with at most one colon. It returns the index of the colon, or -1.
func (s *Scanner) qname(i int, what string) (end, colon int, err error) {
	src := s.src
	colon = -1
	end = i
	if end < len(src) && class[src[end]]&isNameStart != 0 { // most names are ASCII without a prefix
		for end++; end < len(src) && class[src[end]]&isName != 0; end++ {
		}
		if end < len(src) && src[end] < utf8.RuneSelf && src[end] != ':' && end-i <= s.limits.Name {
			return end, -1, nil
		}
	}
	if end, err = s.ncname(i, what); err != nil {
		return 0, 0, err
	}
	if src[end] == ':' {
		colon = end
		if end, err = s.ncname(end+1, what); err != nil {
			return 0, 0, err
		}
		if src[end] == ':' {
			return 0, 0, bad(end, CodeBadName, "%s has two colons", what)
		}
	}
	if end-i > s.limits.Name {
		return 0, 0, bad(i, CodeLimit, "%s is longer than %d bytes", what, s.limits.Name)
	}
	return end, colon, nil
}

// ncname scans a name without a colon. The byte after it is in the window.
func (s *Scanner) ncname(i int, what string) (int, error) {
	src := s.src
	if i == len(src) {
		return 0, &short{what}
	}
	j := i
	if class[src[j]]&isNameStart != 0 {
		for j++; j < len(src) && class[src[j]]&isName != 0; j++ {
		}
	}
	for j < len(src) && src[j] >= utf8.RuneSelf {
		r, n := utf8.DecodeRuneInString(src[j:])
		if j == i && !isNameStartRune(r) || !isNameRune(r) {
			if !isChar(r) {
				return 0, badChar(src, j)
			}
			return 0, bad(j, CodeBadName, "%s contains the character U+%04X", what, r)
		}
		for j += n; j < len(src) && class[src[j]]&isName != 0; j++ {
		}
	}
	if j == i {
		if class[src[i]]&isBad != 0 {
			return 0, badChar(src, i)
		}
		return 0, bad(i, CodeBadName, "%s is missing or starts with %q", what, src[i])
	}
	if j == len(src) {
		return 0, &short{what}
	}
	return j, nil
}

// The two namespaces that need no declaration.
const (
	XMLNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// namespaces is the namespace declarations in scope.
type namespaces struct {
	dflt    string
	dfltTop int            // innermost binding of the default namespace in stack, from 1
	stack   []binding      // all declarations of the open elements
	top     map[string]int // prefix to its innermost binding in stack, from 1
}

// binding is one declaration.
type binding struct {
	prefix string // empty: the default namespace
	uri    string
	hides  int // the outer binding of the same prefix: its place in stack, from 1; or 0
}

func (n *namespaces) bind(prefix, uri string) {
	n.stack = append(n.stack, binding{prefix, uri, n.lookup(prefix)})
	n.set(prefix, len(n.stack))
}

// lookup returns the place in stack, from 1, of the innermost binding of a prefix, or 0.
func (n *namespaces) lookup(prefix string) int {
	if prefix == "" {
		return n.dfltTop
	}
	return n.top[prefix]
}

func (n *namespaces) set(prefix string, top int) {
	switch {
	case prefix == "":
		n.dfltTop, n.dflt = top, ""
		if top > 0 {
			n.dflt = n.stack[top-1].uri
		}
	case top == 0:
		delete(n.top, prefix)
	default:
		if n.top == nil {
			n.top = make(map[string]int)
		}
		n.top[prefix] = top
	}
}

// release removes all declarations except the first bound ones.
func (n *namespaces) release(bound int) {
	for len(n.stack) > bound {
		b := n.stack[len(n.stack)-1]
		n.stack = n.stack[:len(n.stack)-1]
		n.set(b.prefix, b.hides)
	}
}

// declare adds the namespace declarations among the attributes of a tag.
func (s *Scanner) declare(attrs []Attr) error {
	for i := range attrs {
		a := &attrs[i]
		switch {
		case a.Name.Space == "xmlns":
			if err := s.declarePrefix(a); err != nil {
				return err
			}
			s.names.bind(a.Name.Local, a.Value)
		case a.Name == (Name{"", "xmlns"}):
			if a.Value == XMLNamespace || a.Value == xmlnsNamespace {
				return bad(a.Offset-s.base, CodeNamespace, "a reserved namespace cannot be the default one")
			}
			s.names.bind("", a.Value)
		}
	}
	return nil
}

func (s *Scanner) declarePrefix(a *Attr) error {
	at, prefix := a.Offset-s.base, a.Name.Local
	switch {
	case prefix == "xmlns":
		return bad(at, CodeNamespace, "the prefix xmlns cannot be declared")
	case a.Value == "":
		return bad(at, CodeNamespace, "the prefix %s is bound to nothing", prefix)
	case a.Value == xmlnsNamespace, (prefix == "xml") != (a.Value == XMLNamespace):
		return bad(at, CodeNamespace, "the prefix %s cannot be bound to this namespace", prefix)
	}
	return nil
}

// expand returns the expanded name of the prefixed name at src[from:end].
func (s *Scanner) expand(from, colon, end int) (Name, error) {
	prefix, local := s.src[from:colon], s.src[colon+1:end]
	uri, err := s.uri(prefix, from)
	return Name{uri, local}, err
}

func (s *Scanner) uri(prefix string, at int) (string, error) {
	if prefix == "xml" {
		return XMLNamespace, nil
	}
	if prefix == "xmlns" {
		return "", bad(at, CodeNamespace, "the prefix xmlns cannot be used for an element")
	}
	bound := s.names.lookup(prefix)
	if bound == 0 {
		return "", bad(at, CodeNamespace, "the prefix %s is not declared", prefix).fix("declare it with xmlns:" + prefix)
	}
	return s.names.stack[bound-1].uri, nil
}

// resolve expands the attribute names in place, refuses duplicates and removes the namespace
// declarations.
func (s *Scanner) resolve(attrs []Attr, declares bool) ([]Attr, error) {
	for i := range attrs {
		a := &attrs[i]
		switch {
		case a.Name.Space == "xmlns":
			a.Name.Space = xmlnsNamespace
		case a.Name.Space != "":
			uri, err := s.uri(a.Name.Space, a.Offset-s.base)
			if err != nil {
				return nil, err
			}
			a.Name.Space = uri
		}
	}
	if err := s.unique(attrs); err != nil {
		return nil, err
	}
	if !declares {
		return attrs, nil
	}
	kept := attrs[:0]
	for _, a := range attrs {
		if a.Name.Space != xmlnsNamespace && a.Name != (Name{"", "xmlns"}) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// few is the number of names above which a map is faster than comparing all of them.
const few = 12

// unique refuses two attributes with the same expanded name.
func (s *Scanner) unique(attrs []Attr) error {
	if len(attrs) <= few {
		for i := 1; i < len(attrs); i++ {
			for j := range i {
				if attrs[i].Name == attrs[j].Name {
					return s.duplicate(&attrs[i])
				}
			}
		}
		return nil
	}
	if s.seen == nil {
		s.seen = make(map[Name]struct{}, len(attrs))
	}
	clear(s.seen)
	for i := range attrs {
		if _, twice := s.seen[attrs[i].Name]; twice {
			return s.duplicate(&attrs[i])
		}
		s.seen[attrs[i].Name] = struct{}{}
	}
	return nil
}

func (s *Scanner) duplicate(a *Attr) error {
	return bad(a.Offset-s.base, CodeDuplicateAttribute, "the attribute %s appears twice in one tag", a.Name.Local).fix("keep one of them")
}
