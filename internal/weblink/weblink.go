// Package weblink parses the links of a web page: those of its Link header (RFC 8288) and the link
// elements in the head of its HTML. It does not resolve them.
package weblink

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/lookleap/lookleap/internal/domain"
)

// MaxLinks is the number of links of one page that are read.
const MaxLinks = 100

// Link is one link. Its texts are untrusted.
type Link struct {
	Target string // URI reference, as written
	Rel    string // relation types, separated by blanks
	Type   string // media type of the target, possibly with parameters, or ""
	Anchor string // URI reference of what the link is about, "" for the page
}

// About reports whether the link is about the page that contains it, and not about another resource
// or a part of the page (RFC 8288 section 3.2). If page is zero, every anchor is another resource.
func (l Link) About(page domain.URL) bool {
	if l.Anchor == "" || page.IsZero() {
		return l.Anchor == ""
	}
	context, err := page.Resolve(l.Anchor)
	return err == nil && context.String() == page.String() && !context.FragmentDropped()
}

// HasRel reports whether the link has a relation type. Case does not matter (RFC 8288 section 3.3).
func (l Link) HasRel(name string) bool {
	for rel := range strings.FieldsSeq(l.Rel) {
		if strings.EqualFold(rel, name) {
			return true
		}
	}
	return false
}

// HasType reports whether the link has a media type. Parameters do not matter.
func (l Link) HasType(mediaType string) bool {
	own, _, _ := strings.Cut(l.Type, ";")
	return strings.EqualFold(strings.Trim(own, " \t\r\n\f"), mediaType)
}

// ParseHeader parses the values of Link headers in order (RFC 8288 section 3). It skips malformed
// links and reads at most [MaxLinks].
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

// parseLink parses one link and returns the rest after its comma. For a malformed link, that is the
// next comma outside quotation marks.
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
		var name, value string
		name, value, rest = parseParam(strings.TrimLeft(rest[1:], " \t"))
		switch strings.ToLower(name) { // the first of repeated parameters counts
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

// parseParam parses name, name=text or name="text". Text without quotation marks ends at a
// semicolon or comma (appendix B.3). An empty parameter is valid. Before a value without a name, it
// stops: the rest is malformed.
func parseParam(s string) (name, value, rest string) {
	n := 0
	for n < len(s) && strings.IndexByte("=;, \t\"<>", s[n]) < 0 {
		n++
	}
	name, rest = s[:n], strings.TrimLeft(s[n:], " \t")
	if rest == "" || rest[0] != '=' {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if name == "" {
		return "", "", s
	}
	if rest != "" && rest[0] == '"' {
		value, rest = parseQuoted(rest)
		return name, value, rest
	}
	n = strings.IndexAny(rest, ";,")
	if n < 0 {
		n = len(rest)
	}
	return name, strings.TrimRight(rest[:n], " \t"), rest[n:]
}

// parseQuoted parses the quoted string at the start of s. If it does not end, its value is all of s
// (RFC 8288 appendix B.4).
func parseQuoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			i++
			if i == len(s) {
				return b.String(), ""
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// skipLink returns the rest after the next comma outside quotation marks.
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

// maxToken is the size limit of one tag or text of a head, in bytes.
const maxToken = 64 << 10

// Head is the links in the head of a page.
type Head struct {
	Base  string // href of the first base element as written, or ""
	Links []Link // in order, at most MaxLinks
}

// ParseHead parses the link elements in the head of an HTML page. It stops at the first content
// that is not allowed in a head, so that the body, which users may write, does not count. It skips
// comments, scripts, templates and noscript. The caller limits the size of the page.
func ParseHead(page []byte) Head {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(maxToken)
	var head Head
	hasBase := false
	within := atom.Atom(0) // the element whose content is skipped
	depth, looked := 0, 0
	for looked < MaxLinks {
		switch z.Next() {
		case html.ErrorToken:
			return head
		case html.TextToken:
			if within == 0 && strings.Trim(string(z.Raw()), " \t\r\n\f\ufeff") != "" {
				return head // text begins the body
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch a := atom.Lookup(name); {
			case within != 0 && a == within:
				depth--
				if depth == 0 {
					within = 0
				}
			case within == 0 && !isRaw(a):
				return head
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch {
			case within != 0:
				if a == within && a == atom.Template {
					depth++
				}
			case a == atom.Template || a == atom.Noscript || isRaw(a):
				within, depth = a, 1
			case a == atom.Link:
				looked++
				if l, ok := linkElement(z); ok {
					head.Links = append(head.Links, l)
				}
			case a == atom.Base:
				if href, ok := baseElement(z); ok && !hasBase {
					head.Base, hasBase = href, true
				}
			case a != atom.Html && a != atom.Head && a != atom.Meta:
				return head // any other element begins the body
			}
		}
	}
	return head
}

// isRaw reports whether an element of a head contains only text.
func isRaw(a atom.Atom) bool { return a == atom.Title || a == atom.Style || a == atom.Script }

// linkElement returns the link of a link element, and false without an href.
func linkElement(z *html.Tokenizer) (l Link, ok bool) {
	at := attributes(z)
	target, ok := at["href"]
	return Link{Target: trim(target), Rel: at["rel"], Type: at["type"]}, ok
}

func baseElement(z *html.Tokenizer) (href string, ok bool) {
	href, ok = attributes(z)["href"]
	return trim(href), ok
}

// attributes returns href, rel and type of the current tag. The first of repeated attributes
// counts.
func attributes(z *html.Tokenizer) map[string]string {
	at := make(map[string]string, 3)
	for {
		key, value, more := z.TagAttr()
		switch name := string(key); name {
		case "href", "rel", "type":
			if _, twice := at[name]; !twice {
				at[name] = string(value)
			}
		}
		if !more {
			return at
		}
	}
}

func trim(s string) string { return strings.Trim(s, " \t\r\n\f") }
