package strictxml

import "unicode/utf8"

// startTag scans the tag at i, which the first character says is one.
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
	}
	if j-i > s.limits.Token {
		return bad(i, CodeLimit, "the start tag is longer than %d octets", s.limits.Token)
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
	s.tok.Kind, s.tok.Name, s.tok.Attrs, s.tok.SelfClosing = StartElement, name, attrs, selfClosing
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
		return bad(i, CodeMismatch, "an end tag stands outside the root element")
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
		if j = skipSpace(src, j); j == len(src) {
			return &short{"an end tag"}
		}
		if src[j] != '>' {
			return bad(j, CodeSyntax, "an end tag holds more than its name")
		}
	}
	s.end(j + 1)
	return nil
}

// end closes the innermost element and goes on at index next.
func (s *Scanner) end(next int) {
	top := len(s.open) - 1
	s.tok.Kind, s.tok.Name, s.tok.Attrs, s.tok.Text = EndElement, s.open[top].name, nil, ""
	s.tok.SelfClosing = s.state == selfClosed
	s.names.release(s.open[top].bound)
	s.open = s.open[:top]
	s.state = inRoot
	if top == 0 {
		s.state = inEpilog
	}
	s.pos = next
}

// attribute scans name="value" at i and reports whether it declares a namespace.
// Its Name.Local still holds the name as written, its Space the prefix.
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
	a.Start = s.base + end + 1
	a.Value, next, err = s.value(end+1, a.Quote)
	return next, isNS, err
}

// qname scans a name with at most one colon, whose index it gives, or -1.
func (s *Scanner) qname(i int, what string) (end, colon int, err error) {
	src := s.src
	colon = -1
	if end = i; end < len(src) && class[src[end]]&isNameStart != 0 { // most names are ASCII without a prefix
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
		return 0, 0, bad(i, CodeLimit, "%s is longer than %d octets", what, s.limits.Name)
	}
	return end, colon, nil
}

// ncname scans a name without a colon. The octet after it is in the window.
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
			return 0, bad(j, CodeBadName, "%s holds the character U+%04X", what, r)
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
