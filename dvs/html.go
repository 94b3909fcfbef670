package dvs

import (
	"html"
	"iter"
	"strings"
)

// htmlPart is a tag, a run of text or something that is not shown: a comment, a declaration or a
// processing instruction.
type htmlPart struct {
	name    string // of a tag, in lower case
	closing bool
	text    string // of text or a comment, as written
	comment bool
	attrs   []htmlAttr // of a tag; valid until the next part
}

// htmlAttr is an attribute: its name in lower case, its value without character references.
type htmlAttr struct{ name, value string }

// readHTML splits HTML into its parts, as browsers do. It builds no tree, and reads inside of
// scripts and the like as elsewhere, so that it finds more than a browser and never less. It takes
// one pass.
func readHTML(text string, yield func(htmlPart)) {
	var attrs []htmlAttr
	for start, at := 0, 0; at < len(text); {
		open := strings.IndexByte(text[at:], '<')
		if open < 0 {
			open = len(text) - at
		}
		at += open
		var part htmlPart
		end := at
		if at < len(text) {
			part, end = readTag(text, at, attrs[:0])
			if end == 0 {
				at++
				continue
			}
		}
		if start < at {
			yield(htmlPart{text: text[start:at]})
		}
		if end > at {
			yield(part)
		}
		attrs, start, at = part.attrs, end, end
		if end == len(text) {
			return
		}
	}
}

// readTag reads the tag or comment that begins at an offset, and returns where it ends, or 0.
func readTag(text string, at int, attrs []htmlAttr) (p htmlPart, end int) {
	rest := text[at:]
	switch {
	case strings.HasPrefix(rest, "<!-->"), strings.HasPrefix(rest, "<!--->"):
		return htmlPart{comment: true}, at + strings.IndexByte(rest, '>') + 1
	case strings.HasPrefix(rest, "<!--"):
		return commentUntil(text, at, len("<!--"), "-->")
	case strings.HasPrefix(rest, "<![CDATA["):
		return commentUntil(text, at, len("<![CDATA["), "]]>")
	case strings.HasPrefix(rest, "<?"), strings.HasPrefix(rest, "<!"):
		return commentUntil(text, at, len("<?"), ">")
	}
	at++
	if at < len(text) && text[at] == '/' {
		p.closing = true
		at++
	}
	size := htmlWord(text[at:], "")
	if size == 0 || text[at]|0x20 < 'a' || text[at]|0x20 > 'z' {
		return htmlPart{}, 0
	}
	p.name, p.attrs = strings.ToLower(text[at:at+size]), attrs
	at += size
	for at < len(text) {
		switch c := text[at]; {
		case c == '>':
			return p, at + 1
		case c == '/' || isHTMLSpace(c):
			at++
		default:
			var a htmlAttr
			if a, at = readAttr(text, at); len(p.attrs) < maxHTMLAttrs {
				p.attrs = append(p.attrs, a)
			}
		}
	}
	return p, at
}

// maxHTMLAttrs is how many attributes of a tag are looked at.
const maxHTMLAttrs = 100

// commentUntil reads what is not shown. Without its end, all the rest is not.
func commentUntil(text string, at, begin int, end string) (htmlPart, int) {
	inner := text[at+begin:]
	if n := strings.Index(inner, end); n >= 0 {
		return htmlPart{comment: true, text: inner[:n]}, at + begin + n + len(end)
	}
	return htmlPart{comment: true, text: inner}, len(text)
}

func readAttr(text string, at int) (a htmlAttr, end int) {
	size := max(1, htmlWord(text[at:], "="))
	a.name = strings.ToLower(text[at : at+size])
	at += size
	value := at
	for value < len(text) && isHTMLSpace(text[value]) {
		value++
	}
	if value >= len(text) || text[value] != '=' {
		return a, at
	}
	for value++; value < len(text) && isHTMLSpace(text[value]); value++ {
	}
	if value >= len(text) {
		return a, value
	}
	if quote := text[value]; quote == '"' || quote == '\'' {
		inner := text[value+1:]
		n := strings.IndexByte(inner, quote)
		if n < 0 {
			return a, len(text)
		}
		a.value = html.UnescapeString(inner[:n])
		return a, value + 1 + n + 1
	}
	end = value
	for end < len(text) && text[end] != '>' && !isHTMLSpace(text[end]) {
		end++
	}
	a.value = html.UnescapeString(text[value:end])
	return a, end
}

// htmlWord returns the length of a name: up to a blank, a slash, the end of the tag or another end.
func htmlWord(text, ends string) int {
	n := 0
	for n < len(text) && text[n] != '/' && text[n] != '>' && !isHTMLSpace(text[n]) && !strings.Contains(ends, text[n:n+1]) {
		n++
	}
	return n
}

func isHTMLSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' && c != '\v' }

// targetAttrs are the attributes whose value is a URL.
var targetAttrs = map[string]bool{"href": true, "src": true, "poster": true, "data": true, "action": true, "formaction": true,
	"background": true, "cite": true, "longdesc": true, "xlink:href": true}

// targets gives the URLs in the attributes of a tag.
func (p *htmlPart) targets() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range p.attrs {
			switch {
			case targetAttrs[a.name]:
				if !yield(strings.TrimSpace(a.value)) {
					return
				}
			case a.name == "srcset":
				for choice := range strings.SplitSeq(a.value, ",") {
					if words := strings.Fields(choice); len(words) > 0 && !yield(words[0]) {
						return
					}
				}
			case a.name == "content" && p.name == "meta":
				_, target, ok := strings.Cut(a.value, "=")
				if ok && !yield(strings.Trim(target, " \"'")) {
					return
				}
			}
		}
	}
}

// hasCode reports whether HTML has an element whose content is shown as code, or runs.
func hasCode(text string) (found bool) {
	readHTML(text, func(p htmlPart) {
		switch p.name {
		case "pre", "code", "samp", "kbd", "script", "textarea", "listing", "xmp", "plaintext":
			found = true
		}
	})
	return found
}
