package aiuri

import (
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/weblink"
)

// MaxLinks is the number of links of one answer, or of one page, that are looked
// at: 100.
const MaxLinks = weblink.MaxLinks

// Relation is the link relation type of the draft.
const Relation = "aiip"

// maxHead is the number of octets of a page in which its head has to end.
const maxHead = 512 << 10

// LinkTargets gives the targets of the links with the relation aiip in the values
// of Link headers (RFC 8288 section 3), in order. Links with another context, and
// those that are malformed, are passed over; which page the headers came with is
// not known here, so every anchor that is not empty is another context.
func LinkTargets(values []string) []string {
	return targets(weblink.ParseHeader(values), domain.URL{})
}

// ElementTargets gives the targets of the link elements with the relation aiip
// in a page's head, in order. The page is read as a stream up to the first thing
// that cannot stand in a head, so that nothing a user wrote into the body counts;
// comments, scripts, templates and noscript are passed over. A base element has
// no effect, because targets are absolute. The head has to end within 512 KiB.
func ElementTargets(page []byte) []string {
	return targets(weblink.ParseHead(page[:min(len(page), maxHead)]).Links, domain.URL{})
}

// targets are those of the links with our relation that are about the page; zero:
// which page that is, is not known.
func targets(links []weblink.Link, page domain.URL) []string {
	var found []string
	for _, l := range links {
		if l.HasRel(Relation) && l.About(page) && !l.Open { // an open quote is malformed (row AIU-3.1-02)
			found = append(found, l.Target)
		}
	}
	return found
}
