package aiuri

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxHead is the number of octets of a page in which its head has to end.
const maxHead = 512 << 10

// ElementTargets gives the targets of the link elements with the relation aiip
// in a page's head, in order. The page is read as a stream up to the first thing
// that cannot stand in a head, so that nothing a user wrote into the body counts;
// comments, scripts, templates and noscript are passed over. A base element has
// no effect, because targets are absolute.
func ElementTargets(page []byte) []string {
	z := html.NewTokenizer(bytes.NewReader(page[:min(len(page), maxHead)]))
	z.SetMaxBuf(64 << 10)
	var targets []string
	within := atom.Atom(0) // the element whose content is passed over
	depth, links := 0, 0
	for links < MaxLinks {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return targets
		case html.TextToken:
			if within == 0 && strings.Trim(string(z.Raw()), " \t\r\n\f\ufeff") != "" {
				return targets // text begins the body
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch a := atom.Lookup(name); {
			case within != 0 && a == within:
				if depth--; depth == 0 {
					within = 0
				}
			case within == 0 && !isRaw(a):
				return targets // the head ends
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
				links++
				if target, ok := linkTarget(z); ok {
					targets = append(targets, target)
				}
			case a != atom.Html && a != atom.Head && a != atom.Meta && a != atom.Base:
				return targets // whatever else there is begins the body
			}
		}
	}
	return targets
}

// isRaw reports whether an element of a head has text alone.
func isRaw(a atom.Atom) bool { return a == atom.Title || a == atom.Style || a == atom.Script }

// linkTarget reads rel and href; of an attribute that stands twice the first counts.
func linkTarget(z *html.Tokenizer) (target string, ok bool) {
	var rel string
	var hasRel, hasHref bool
	for {
		key, value, more := z.TagAttr()
		switch {
		case string(key) == "rel" && !hasRel:
			rel, hasRel = string(value), true
		case string(key) == "href" && !hasHref:
			target, hasHref = strings.Trim(string(value), " \t\r\n\f"), true
		}
		if !more {
			return target, hasHref && hasRelation(rel)
		}
	}
}
