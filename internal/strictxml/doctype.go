package strictxml

import "strings"

// doctype skips the document type declaration at i: it finds the end as a
// validating reader would, and takes nothing from it.
func (s *Scanner) doctype(i int) error {
	if s.state != inProlog {
		return bad(i, CodeSyntax, "a document type declaration stands behind the start of the root element")
	}
	if s.typed {
		return bad(i, CodeSyntax, "there are two document type declarations")
	}
	to, err := s.doctypeEnd(i)
	if _, cut := err.(*short); cut && len(s.src)-i > s.limits.Doctype {
		to, err = len(s.src), nil
	}
	if err != nil {
		return err
	}
	if to-i > s.limits.Doctype {
		return bad(i, CodeLimit, "the document type declaration is longer than %d octets", s.limits.Doctype).fix("remove it")
	}
	s.typed = true
	s.tok.Kind = Doctype
	s.pos = to
	return nil
}

func (s *Scanner) doctypeEnd(i int) (int, error) {
	const what = "the document type declaration"
	src := s.src
	j := i + len(doctypeStart)
	name := skipSpace(src, j)
	if name == len(src) {
		return 0, &short{what}
	}
	if name == j {
		return 0, bad(j, CodeSyntax, "the document type declaration names no element")
	}
	j, _, err := s.qname(name, "the name of the document type")
	if err != nil {
		return 0, err
	}
	k := skipSpace(src, j)
	if k > j {
		if k, err = externalID(src, k); err != nil {
			return 0, err
		}
	}
	if k == len(src) {
		return 0, &short{what}
	}
	if src[k] == '[' {
		if k, err = s.internalSubset(k + 1); err != nil {
			return 0, err
		}
		if k = skipSpace(src, k); k == len(src) {
			return 0, &short{what}
		}
	}
	if src[k] != '>' {
		return 0, bad(k, CodeSyntax, "the document type declaration is malformed")
	}
	return k + 1, nil
}

// externalID skips SYSTEM "…" or PUBLIC "…" "…" at i, if one is there, and the
// white space behind it.
func externalID(src string, i int) (int, error) {
	rest, literals := src[i:], 0
	switch {
	case strings.HasPrefix(rest, "SYSTEM"):
		literals = 1
	case strings.HasPrefix(rest, "PUBLIC"):
		literals = 2
	case strings.HasPrefix("SYSTEM", rest), strings.HasPrefix("PUBLIC", rest):
		return 0, &short{"the document type declaration"}
	}
	if literals > 0 {
		i += len("SYSTEM")
	}
	for range literals {
		j := skipSpace(src, i)
		if j == len(src) {
			return 0, &short{"the document type declaration"}
		}
		if j == i || src[j] != '"' && src[j] != '\'' {
			return 0, bad(j, CodeSyntax, "the identifier of the document type is malformed")
		}
		end, err := literalEnd(src, j)
		if err != nil {
			return 0, err
		}
		i = end
	}
	return skipSpace(src, i), nil
}

// literalEnd gives the index behind the quoted literal at i.
func literalEnd(src string, i int) (int, error) {
	length := strings.IndexByte(src[i+1:], src[i])
	if length < 0 {
		return 0, &short{"a literal of the document type declaration"}
	}
	end := i + 1 + length
	return end + 1, checkChars(src, i+1, end)
}

// internalSubset skips to behind the "]" that closes the subset: brackets and
// angle brackets in literals, comments and processing instructions do not count.
func (s *Scanner) internalSubset(i int) (int, error) {
	src := s.src
	for i < len(src) {
		c := src[i]
		var err error
		switch {
		case class[c]&isSpace != 0:
			i++
		case c == ']':
			return i + 1, nil
		case c == '%':
			i, err = s.peReference(i)
		case len(src)-i < len("<!--") && strings.HasPrefix("<!--", src[i:]):
			i = len(src) // what it starts is out of sight
		case strings.HasPrefix(src[i:], "<!--"):
			i, err = commentEnd(src, i)
		case strings.HasPrefix(src[i:], "<?"):
			i, _, err = s.procInstEnd(i)
		case strings.HasPrefix(src[i:], "<!"):
			i, err = markupDecl(src, i)
		default:
			err = bad(i, CodeSyntax, "the internal subset of the document type declaration is malformed")
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, &short{"the internal subset of the document type declaration"}
}

func (s *Scanner) peReference(i int) (int, error) {
	j, err := s.ncname(i+1, "a parameter entity")
	if err == nil && s.src[j] != ';' {
		err = bad(j, CodeSyntax, "a parameter entity reference does not end with \";\"")
	}
	return j + 1, err
}

// markupDecl skips <!ELEMENT …>, <!ATTLIST …>, <!ENTITY …> or <!NOTATION …>.
func markupDecl(src string, i int) (int, error) {
	known := false
	for _, keyword := range []string{"ELEMENT", "ATTLIST", "ENTITY", "NOTATION"} {
		rest := src[i+2:]
		if len(rest) <= len(keyword) && strings.HasPrefix(keyword, rest) {
			return 0, &short{"a declaration of the document type"}
		}
		known = known || strings.HasPrefix(rest, keyword) && class[rest[len(keyword)]]&isSpace != 0
	}
	if !known {
		return 0, bad(i, CodeSyntax, "the internal subset holds an unknown declaration")
	}
	for j := i + 2; j < len(src); {
		switch c := src[j]; c {
		case '>':
			return j + 1, nil
		case '"', '\'':
			end, err := literalEnd(src, j)
			if err != nil {
				return 0, err
			}
			j = end
		case '<':
			return 0, bad(j, CodeSyntax, "a declaration of the document type does not end")
		default:
			if class[c]&isBad != 0 || c == 0xEF && isNonCharacter(src, j) {
				return 0, badChar(src, j)
			}
			j++
		}
	}
	return 0, &short{"a declaration of the document type"}
}
