package agent

import (
	"net/http"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/weblink"
)

// candidate is a place where a document may be, and what pointed there.
type candidate struct {
	source Source
	url    domain.URL
}

// WebPage is a web page that the host has already: its Link header and the head of
// its HTML may advertise a document (sections 6.5.2 and 6.5.3). Nothing of it is
// looked at but that.
type WebPage struct {
	URL    string      // final, after redirects
	Header http.Header // of the answer
	HTML   []byte      // nil: only the header counts
}

// alternates are the documents that a web page advertises, which came as an answer.
func (a *Agent) alternates(r *fetch.Response) []candidate {
	var page []byte
	if r.MediaType == "text/html" || r.MediaType == "application/xhtml+xml" {
		page = r.Body
	}
	return a.advertised(r.URL, r.Header, page)
}

// advertised are the documents that a web page advertises: those of its header,
// then those of its head. They are alternates of the page itself, over a scheme
// that documents are read from.
func (a *Agent) advertised(page domain.URL, h http.Header, html []byte) []candidate {
	var found []candidate
	add := func(source Source, base domain.URL, links []weblink.Link) {
		for _, l := range links {
			if !isAlternate(l) || !l.About(page) {
				continue
			}
			if u, err := a.rules().Resolve(base, l.Target); err == nil && !known(found, u) {
				found = append(found, candidate{source, u})
			}
		}
	}
	add(SourceLinkHeader, page, weblink.ParseHeader(h.Values("Link")))
	head := weblink.ParseHead(html[:min(len(html), a.options.Limits.HTML)])
	base, err := page, error(nil)
	if head.Base != "" {
		base, err = a.rules().Resolve(page, head.Base)
	}
	if err == nil {
		add(SourceHTML, base, head.Links)
	}
	return found
}

func known(found []candidate, u domain.URL) bool {
	for _, c := range found {
		if c.url.String() == u.String() {
			return true
		}
	}
	return false
}

// isAlternate reports whether a link advertises a document, in either serialization
// (sections 6.5.2, 6.5.3 and 7.4).
func isAlternate(l weblink.Link) bool {
	return l.HasRel("alternate") && (l.HasType(anml.MediaTypeXML) || l.HasType(anml.MediaTypeJSON))
}
