package weblink

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxToken bounds one tag or text of a head.
const maxToken = 64 << 10

// Head is what the head of a page says about links.
type Head struct {
	Base  string // href of the first base element, as written; "": none
	Links []Link // in order, at most MaxLinks
}

// ParseHead reads the link elements in the head of an HTML page. The page is
// read as a stream up to the first thing that cannot stand in a head, so that
// nothing a user wrote into the body counts; comments, scripts, templates and
// noscript are passed over. The caller bounds the octets.
func ParseHead(page []byte) Head {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(maxToken)
	var head Head
	hasBase := false
	within := atom.Atom(0) // the element whose content is passed over
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
				if depth--; depth == 0 {
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
				return head // whatever else there is begins the body
			}
		}
	}
	return head
}

// isRaw reports whether an element of a head has text alone.
func isRaw(a atom.Atom) bool { return a == atom.Title || a == atom.Style || a == atom.Script }

// linkElement reads the attributes of a link element. Without an href it is none.
func linkElement(z *html.Tokenizer) (l Link, ok bool) {
	at := attributes(z)
	target, ok := at["href"]
	return Link{Target: trim(target), Rel: at["rel"], Type: at["type"]}, ok
}

func baseElement(z *html.Tokenizer) (href string, ok bool) {
	href, ok = attributes(z)["href"]
	return trim(href), ok
}

// attributes are those of the present tag that mean something here; of one that
// stands twice the first counts.
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
