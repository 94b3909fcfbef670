package aiuri

import (
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// MaxLinks is the number of links of one answer that are looked at.
const MaxLinks = 100

// Relation is the link relation type of the draft.
const Relation = "aiip"

// LinkTargets gives the targets of the links with the relation aiip in the values
// of Link headers (RFC 8288 section 3), in order. Links with another context, and
// those that are malformed, are passed over; which page the headers came with is
// not known here, so every anchor that is not empty is another context.
func LinkTargets(values []string) []string { return linkTargets(values, domain.URL{}) }

// linkTargets knows the page, to which anchors are relative; zero: it does not.
func linkTargets(values []string, page domain.URL) []string {
	var targets []string
	links := 0
	for _, rest := range values {
		for links < MaxLinks {
			rest = strings.TrimLeft(rest, ", \t")
			if rest == "" {
				break
			}
			links++
			l, after, ok := parseLink(rest)
			rest = after
			if ok && hasRelation(l.rel) && l.isAbout(page) {
				targets = append(targets, l.target)
			}
		}
	}
	return targets
}

type link struct {
	target    string
	rel       string
	anchor    string
	hasRel    bool
	hasAnchor bool
}

// isAbout reports whether the link's context is the page (RFC 8288 section 3.2).
// A part of the page is another context.
func (l *link) isAbout(page domain.URL) bool {
	if l.anchor == "" {
		return true
	}
	if page.IsZero() {
		return false
	}
	context, err := page.Resolve(l.anchor)
	return err == nil && context.String() == page.String() && !context.FragmentDropped()
}

// hasRelation compares relation types without regard to case (section 3.3).
func hasRelation(rel string) bool {
	for name := range strings.FieldsSeq(rel) {
		if strings.EqualFold(name, Relation) {
			return true
		}
	}
	return false
}

// parseLink reads one link and gives what follows its comma. A malformed link
// gives what follows the next comma outside quotation marks.
func parseLink(s string) (l link, rest string, ok bool) {
	end := strings.IndexByte(s, '>')
	if s[0] != '<' || end < 0 {
		return link{}, skipLink(s), false
	}
	l.target = strings.Trim(s[1:end], " \t")
	rest = s[end+1:]
	for {
		rest = strings.TrimLeft(rest, " \t")
		switch {
		case rest == "":
			return l, "", true
		case rest[0] == ',':
			return l, rest[1:], true
		case rest[0] != ';':
			return link{}, skipLink(rest), false
		}
		rest = strings.TrimLeft(rest[1:], " \t")
		name, value, after, ok := parseParam(rest)
		if !ok {
			return link{}, skipLink(rest), false
		}
		rest = after
		switch strings.ToLower(name) {
		case "rel":
			if !l.hasRel { // only the first counts
				l.rel, l.hasRel = value, true
			}
		case "anchor":
			if !l.hasAnchor {
				l.anchor, l.hasAnchor = value, true
			}
		}
	}
}

// parseParam reads name, name=text or name="text". Text without quotation marks
// ends at a semicolon or comma, as in appendix B.3. An empty parameter is fine.
func parseParam(s string) (name, value, rest string, ok bool) {
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
		return quoted(name, rest)
	}
	if n = strings.IndexAny(rest, ";,"); n < 0 {
		n = len(rest)
	}
	return name, strings.TrimRight(rest[:n], " \t"), rest[n:], true
}

func quoted(name, s string) (_, value, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return name, b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return name, "", s, false
			}
		}
		b.WriteByte(s[i])
	}
	return name, "", "", false
}

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
