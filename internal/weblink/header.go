package weblink

import "strings"

// ParseHeader reads the values of Link headers (RFC 8288 section 3), in order.
// Malformed links are passed over, and what follows the first [MaxLinks].
func ParseHeader(values []string) []Link {
	var links []Link
	looked := 0
	for _, rest := range values {
		for looked < MaxLinks {
			rest = strings.TrimLeft(rest, ", \t")
			if rest == "" {
				break
			}
			looked++
			l, after, ok := parseLink(rest)
			rest = after
			if ok {
				links = append(links, l)
			}
		}
	}
	return links
}

// parseLink reads one link and gives what follows its comma. A malformed link
// gives what follows the next comma outside quotation marks.
func parseLink(s string) (l Link, rest string, ok bool) {
	end := strings.IndexByte(s, '>')
	if s[0] != '<' || end < 0 {
		return Link{}, skipLink(s), false
	}
	l.Target = strings.Trim(s[1:end], " \t")
	rest = s[end+1:]
	var hasRel, hasType, hasAnchor bool
	for {
		rest = strings.TrimLeft(rest, " \t")
		switch {
		case rest == "":
			return l, "", true
		case rest[0] == ',':
			return l, rest[1:], true
		case rest[0] != ';':
			return Link{}, skipLink(rest), false
		}
		rest = strings.TrimLeft(rest[1:], " \t")
		name, value, after, ok := l.parseParam(rest)
		if !ok {
			return Link{}, skipLink(rest), false
		}
		rest = after
		switch strings.ToLower(name) { // of a parameter that stands twice the first counts
		case "rel":
			if !hasRel {
				l.Rel, hasRel = value, true
			}
		case "type":
			if !hasType {
				l.Type, hasType = value, true
			}
		case "anchor":
			if !hasAnchor {
				l.Anchor, hasAnchor = value, true
			}
		}
	}
}

// parseParam reads name, name=text or name="text". Text without quotation marks
// ends at a semicolon or comma, as in appendix B.3. An empty parameter is fine.
func (l *Link) parseParam(s string) (name, value, rest string, ok bool) {
	n := 0
	for n < len(s) && strings.IndexByte("=;, \t\"<>", s[n]) < 0 {
		n++
	}
	name, rest = s[:n], strings.TrimLeft(s[n:], " \t")
	if rest == "" || rest[0] != '=' {
		return name, "", rest, true
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if name == "" {
		return "", "", s, false
	}
	if rest != "" && rest[0] == '"' {
		var ended bool
		value, rest, ended = parseQuoted(rest)
		l.Open = !ended
		return name, value, rest, true
	}
	if n = strings.IndexAny(rest, ";,"); n < 0 {
		n = len(rest)
	}
	return name, strings.TrimRight(rest[:n], " \t"), rest[n:], true
}

// parseQuoted reads a quoted string, which s begins with. One that does not end
// has everything that follows as its value (RFC 8288 appendix B.4).
func parseQuoted(s string) (value, rest string, ended bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return b.String(), "", false
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), "", false
}

// skipLink gives what follows the next comma outside quotation marks.
func skipLink(s string) string {
	inQuotes := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && inQuotes:
			i++
		case c == '"':
			inQuotes = !inQuotes
		case c == ',' && !inQuotes:
			return s[i+1:]
		}
	}
	return ""
}
