package strictxml

import (
	"strings"
)

const (
	doctypeStart = "<!DOCTYPE"
	xmlDecl      = "<?xml"
	declRoom     = 4 << 10 // more than any XML declaration needs
)

// start reads the byte order mark and the XML declaration, and chooses the encoding.
func (s *Scanner) start() error {
	for s.more && declarationCut(s.src) {
		if err := s.fill(0, s.limits.Bytes); err != nil {
			return err
		}
	}
	s.prolog.BOM, s.prolog.UTF16 = s.bom, s.utf16 != nil
	if s.bom && !s.prolog.UTF16 {
		s.pos = len("\uFEFF")
	}
	if err := s.xmlDeclaration(s.pos); err != nil {
		return err
	}
	if err := s.chooseEncoding(&s.prolog); err != nil {
		return err
	}
	if s.r == nil && s.srcErr != nil {
		return s.srcErr // encoding errors come before syntax errors
	}
	s.state = inProlog
	return nil
}

// declarationCut reports whether the window may end inside the XML declaration.
func declarationCut(src string) bool {
	src = strings.TrimPrefix(src, "\uFEFF")
	return strings.HasPrefix(xmlDecl, src) || len(src) < declRoom && strings.HasPrefix(src, xmlDecl) && !strings.Contains(src, "?>")
}

// xmlDeclaration reads the XML declaration at i, if there is one.
func (s *Scanner) xmlDeclaration(i int) error {
	room := s.src[i:min(len(s.src), i+declRoom)] // the same for documents in memory and streams
	rest, found := strings.CutPrefix(room, xmlDecl)
	if !found || rest == "" || class[rest[0]]&isSpace == 0 {
		return nil // not an XML declaration
	}
	end := strings.Index(rest, "?>")
	if end < 0 {
		return bad(i, CodeDeclaration, "the XML declaration does not end")
	}
	version, rest, _ := pseudoAttribute(rest[:end], "version")
	if version == "" {
		return bad(i, CodeDeclaration, "the XML declaration has no version").fix(`start with <?xml version="1.0"?>`)
	}
	if version != "1.0" {
		return bad(i, CodeDeclaration, "the document is not XML 1.0").fix(`write version="1.0"`)
	}
	if enc, after, ok := pseudoAttribute(rest, "encoding"); ok {
		if !isEncodingName(enc) {
			return bad(i, CodeDeclaration, "the XML declaration has an invalid encoding")
		}
		s.prolog.Encoding, rest = enc, after
	}
	if alone, after, ok := pseudoAttribute(rest, "standalone"); ok {
		if alone != "yes" && alone != "no" {
			return bad(i, CodeDeclaration, "standalone is neither yes nor no")
		}
		s.prolog.Standalone, rest = alone, after
	}
	if skipSpace(rest, 0) != len(rest) {
		return bad(i, CodeDeclaration, "the XML declaration is malformed").fix(`start with <?xml version="1.0" encoding="UTF-8"?>`)
	}
	s.prolog.Declared = true
	s.pos = i + len(xmlDecl) + end + len("?>")
	return nil
}

// pseudoAttribute reads a part of an XML declaration, as in: version="1.0". If the text does not
// begin with white space and this part, all of it is after the part.
func pseudoAttribute(text, name string) (value, after string, ok bool) {
	i := skipSpace(text, 0)
	rest, found := strings.CutPrefix(text[i:], name)
	if !found || i == 0 {
		return "", text, false
	}
	rest, found = strings.CutPrefix(rest[skipSpace(rest, 0):], "=")
	rest = rest[skipSpace(rest, 0):]
	if !found || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", text, false
	}
	value, after, found = strings.Cut(rest[1:], rest[:1])
	if !found {
		return "", text, false
	}
	return value, after, true
}

func isEncodingName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || class[c]&isName == 0) {
			return false
		}
	}
	return s != ""
}

// comment scans a comment at i.
func (s *Scanner) comment(i int) error {
	to, err := commentEnd(s.src, i)
	if err != nil {
		return err
	}
	if to-i > s.limits.Token {
		return bad(i, CodeLimit, "a comment is longer than %d bytes", s.limits.Token)
	}
	s.tok.Kind, s.tok.Text = Comment, normalizeLines(s.src[i+len("<!--"):to-len("-->")])
	s.pos = to
	return nil
}

func commentEnd(src string, i int) (int, error) {
	from := i + len("<!--")
	length := strings.Index(src[from:], "--")
	if length < 0 || from+length+2 == len(src) {
		return 0, &short{"a comment"}
	}
	to := from + length
	if src[to+2] != '>' {
		return 0, bad(to, CodeSyntax, "a comment contains \"--\"")
	}
	return to + len("-->"), checkChars(src, from, to)
}

// procInst scans a processing instruction at i.
func (s *Scanner) procInst(i int) error {
	to, target, err := s.procInstEnd(i)
	if err != nil {
		return err
	}
	if to-i > s.limits.Token {
		return bad(i, CodeLimit, "a processing instruction is longer than %d bytes", s.limits.Token)
	}
	data := s.src[i+len("<?")+len(target) : to-len("?>")]
	s.tok.Kind, s.tok.Name.Local = ProcInst, target
	s.tok.Text = normalizeLines(data[skipSpace(data, 0):])
	s.pos = to
	return nil
}

func (s *Scanner) procInstEnd(i int) (end int, target string, err error) {
	src := s.src
	j, err := s.ncname(i+2, "the target of a processing instruction")
	if err != nil {
		return 0, "", err
	}
	target = src[i+2 : j]
	if strings.EqualFold(target, "xml") {
		return 0, "", bad(i, CodeDeclaration, "an XML declaration is not at the start of the document, or not in lower case")
	}
	if src[j] != '?' && class[src[j]]&isSpace == 0 {
		return 0, "", bad(j, CodeBadName, "the target of a processing instruction contains %q", src[j])
	}
	length := strings.Index(src[j:], "?>")
	if length < 0 {
		return 0, "", &short{"a processing instruction"}
	}
	if src[j] == '?' && length != 0 {
		return 0, "", bad(j, CodeSyntax, "white space is missing after the target of a processing instruction")
	}
	return j + length + len("?>"), target, checkChars(src, j, j+length)
}

// doctype skips the document type declaration at i. It finds the same end as a validating parser,
// and uses nothing of the content.
func (s *Scanner) doctype(i int) error {
	if s.state != inProlog {
		return bad(i, CodeSyntax, "a document type declaration follows the start of the root element")
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
		return bad(i, CodeLimit, "the document type declaration is longer than %d bytes", s.limits.Doctype).fix("remove it")
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
	k, err := externalID(src, skipSpace(src, j))
	if err != nil {
		return 0, err
	}
	if k == len(src) {
		return 0, &short{what}
	}
	if src[k] == '[' {
		if k, err = s.internalSubset(k + 1); err != nil {
			return 0, err
		}
		k = skipSpace(src, k)
		if k == len(src) {
			return 0, &short{what}
		}
	}
	if src[k] != '>' {
		return 0, bad(k, CodeSyntax, "the document type declaration is malformed")
	}
	return k + 1, nil
}

// externalID skips SYSTEM "…" or PUBLIC "…" "…" at i, if there is one, and the white space after
// it.
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

// literalEnd returns the index after the quoted literal at i.
func literalEnd(src string, i int) (int, error) {
	length := strings.IndexByte(src[i+1:], src[i])
	if length < 0 {
		return 0, &short{"a literal of the document type declaration"}
	}
	end := i + 1 + length
	return end + 1, checkChars(src, i+1, end)
}

// internalSubset returns the index after the "]" that closes the subset. Brackets in literals,
// comments and processing instructions do not count.
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
		case strings.HasPrefix("<!--", src[i:]):
			i = len(src) // the window ends inside it
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
		if strings.HasPrefix(keyword, rest) {
			return 0, &short{"a declaration of the document type"}
		}
		known = known || strings.HasPrefix(rest, keyword) && class[rest[len(keyword)]]&isSpace != 0
	}
	if !known {
		return 0, bad(i, CodeSyntax, "the internal subset contains an unknown declaration")
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
			if class[c]&isBad != 0 || isNonCharacter(src, j) {
				return 0, badChar(src, j)
			}
			j++
		}
	}
	return 0, &short{"a declaration of the document type"}
}
