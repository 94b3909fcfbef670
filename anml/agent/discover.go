package agent

import (
	"context"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
)

// wellKnownPath is where discovery begins (section 16.2).
const wellKnownPath = "/.well-known/anml"

// maxAttempts bounds the places where one discovery looks.
const maxAttempts = 8

func isWellKnown(u domain.URL) bool { return u.Path() == wellKnownPath && !u.HasQuery() }

// Attempt is one place where a document was looked for (section 6.5).
type Attempt struct {
	Time   time.Time     `json:"time"`
	Source Source        `json:"source"`
	URL    string        `json:"url"`              // or the name asked of the DNS
	Code   lookleap.Code `json:"code"`             // how it ended; ok: a document was found
	Status int           `json:"status,omitempty"` // HTTP status, also of a remembered answer; 0: none
}

// Source is what pointed to a place where a document may be.
type Source string

// The sources, in the order in which they are tried.
const (
	SourceMoved      Source = "moved"      // a permanent redirect of the well-known URI, seen before
	SourceWellKnown  Source = "well-known" // section 6.5.1
	SourceLinkHeader Source = "link"       // section 6.5.2
	SourceHTML       Source = "html"       // section 6.5.3
	SourceDNS        Source = "dns"        // section 6.5.4
	SourceURL        Source = "url"        // the host, where a web page was at the URL that it opened
)

func (s *Session) discover(ctx context.Context, raw string, seen []WebPage) (*Page, error) {
	base, err := s.parseURL(raw)
	if err != nil {
		return nil, err
	}
	candidates, err := s.seen(base, seen)
	if err != nil {
		return nil, err
	}
	wellKnown, err := s.agent.rules().Resolve(base, wellKnownPath)
	if err != nil {
		return nil, fail(base.Origin(), err, "the origin has no well-known URI")
	}
	ctx, cancel := s.limited(ctx, wellKnown)
	defer cancel()
	d := s.discovery(ctx, base.Origin())
	page, err := d.wellKnown(wellKnown)
	if page != nil || d.over(err) {
		return d.end(page, err)
	}
	page, err = d.first(candidates, err)
	if page != nil || d.over(err) || !s.agent.options.DNS || base.Scheme() != "https" {
		return d.end(page, err)
	}
	candidates, failed := d.byDNS(base)
	return d.end(d.first(candidates, weightier(err, failed)))
}

// seen reads the web pages that the host has. They have to be of the origin, which
// alone can say where its document is.
func (s *Session) seen(base domain.URL, pages []WebPage) (found []candidate, err error) {
	for _, p := range pages {
		u, err := s.parseURL(p.URL)
		if err != nil {
			return nil, err
		}
		if u.Origin() != base.Origin() {
			return nil, &lookleap.Error{Code: lookleap.CodeUsage, Subject: shown(u), Message: "the web page is not of the origin " + base.Origin()}
		}
		found = append(found, s.agent.advertised(u, p.Header, p.HTML)...)
	}
	return found, nil
}

// discovery is one search for the document of an origin.
type discovery struct {
	session *Session
	ctx     context.Context
	origin  string
	trace   []Attempt
	tried   map[string]bool
}

func (s *Session) discovery(ctx context.Context, origin string) *discovery {
	return &discovery{session: s, ctx: ctx, origin: origin, tried: make(map[string]bool)}
}

// wellKnown looks where the well-known URI once led for good, and if nothing is
// there, at the well-known URI itself.
func (d *discovery) wellKnown(u domain.URL) (*Page, error) {
	s := d.session
	if s.pages.freshAt(u, s.now()) == nil {
		moved, ok, err := s.memory.movedTo(d.ctx, d.origin)
		if err != nil {
			return nil, err
		}
		if ok && moved.String() != u.String() {
			page, err := d.try(candidate{SourceMoved, moved})
			if page != nil || d.ended(err) {
				return page, err
			}
			s.memory.unmove(d.ctx, d.origin)
			delete(d.tried, moved.String())
		}
	}
	return d.try(candidate{SourceWellKnown, u})
}

// try looks at one place, and remembers what its answer says about the place.
func (d *discovery) try(c candidate) (*Page, error) {
	s := d.session
	d.tried[c.url.String()] = true
	page, err := s.pages.get(d.ctx, c.url)
	d.trace = append(d.trace, d.attempt(c.source, c.url, err))
	if err == nil {
		if c.source == SourceMoved || c.source == SourceWellKnown {
			s.memory.move(d.ctx, d.origin, page.opened.hops, page.opened.received)
		}
		return page, nil
	}
	if r := unusedBehind(err).response; r != nil && !isWellKnown(c.url) {
		switch {
		case r.Status == 404 && c.source != SourceMoved:
			s.memory.absent(c.url, &r.Freshness, err)
		case r.Status == 410 && r.URL.Scheme() == "https":
			s.memory.report(d.ctx, shown(r.URL), s.memory.gone(d.ctx, r.URL))
		case c.source != SourceMoved: // where the well-known URI leads, it is as if that had said so
			s.memory.unavailable(c.url, err)
		}
	}
	return nil, err
}

func (d *discovery) attempt(source Source, u domain.URL, err error) Attempt {
	return Attempt{Time: d.session.now(), Source: source, URL: shown(u), Code: lookleap.CodeOf(err), Status: responseBehind(err).Status}
}

// first gives the first document among the candidates. Without one the error is
// the weightiest of the one before and theirs.
func (d *discovery) first(candidates []candidate, before error) (*Page, error) {
	err := before
	for _, c := range candidates {
		if len(d.trace) >= maxAttempts || ended(d.ctx, d.origin) != nil {
			break
		}
		if d.tried[c.url.String()] {
			continue
		}
		page, failed := d.try(c)
		if page != nil {
			return page, nil
		}
		err = weightier(err, failed)
	}
	return nil, err
}

// over reports whether an error ends the search: the origin has given up ANML, or
// the search itself is at its end.
func (d *discovery) over(err error) bool {
	return lookleap.CodeOf(err) == CodeGone || lookleap.CodeOf(err) == lookleap.CodeIO || d.ended(err)
}

// ended reports whether an error is about the search and no place: its time is
// over, or the session.
func (d *discovery) ended(err error) bool {
	return ended(d.ctx, d.origin) != nil || lookleap.CodeOf(err) == lookleap.CodeClosed
}

// weightier gives the error that says more, the first of equals.
func weightier(a, b error) error {
	if weight(b) > weight(a) {
		return b
	}
	return a
}

// weight orders why nothing was found: that something is there and cannot be
// used says most, then that it could not be found out.
func weight(err error) int {
	switch code := lookleap.CodeOf(err); {
	case code == lookleap.CodeOK:
		return 0
	case absent(err):
		return 1
	case inconclusive(err):
		return 2
	default:
		return 3
	}
}

// absent reports whether an error says that no document is at a place.
func absent(err error) bool {
	switch lookleap.CodeOf(err) {
	case CodeNoANML, CodeGone, lookleap.CodeMediaType:
		return true
	}
	status := responseBehind(err).Status
	return status == http.StatusNotFound || status == http.StatusGone
}

// inconclusive reports whether an error leaves open whether a document is at a
// place: it may be there at another time, or for another caller.
func inconclusive(err error) bool {
	switch lookleap.CodeOf(err) {
	case lookleap.CodeBadStatus, lookleap.CodeTimeout, lookleap.CodeUnreachable, lookleap.CodeConnRefused, lookleap.CodeConnReset,
		lookleap.CodeTruncated, lookleap.CodeTooSlow, lookleap.CodeDNSError, lookleap.CodeDNSSECBogus, lookleap.CodeNoAddress,
		CodeInconclusive:
		return true
	}
	return false
}

// end makes the answer of a search.
func (d *discovery) end(page *Page, err error) (*Page, error) {
	if page != nil {
		return d.found(page), nil
	}
	if over := ended(d.ctx, d.origin); over != nil {
		err = over
	}
	e := &lookleap.Error{Code: lookleap.CodeOf(err), Subject: d.origin, Err: coded.Attach(&DiscoveryTrace{d.trace}, err)}
	switch {
	case e.Code == CodeGone:
	case absent(err):
		e.Code = CodeNoANML
	case inconclusive(err):
		e.Code = CodeInconclusive
	default:
		e.Message = "no document that can be used was found"
	}
	return nil, e
}

// found gives a page its trace, and tells the user when it is another domain's
// than the one that it was looked for at.
func (d *discovery) found(page *Page) *Page {
	p := *page
	p.opened.trace = d.trace
	if own, err := d.session.parseURL(d.origin); err == nil && registrable(own) != registrable(p.url) {
		d.session.notices.tellOnce(d.ctx, "moved "+d.origin+" "+registrable(p.url), Notice{
			Kind: NoticeMoved, Code: lookleap.CodeRedirectCrossOrigin, Origin: d.origin,
			Text: "The document found for " + d.origin + " is served by " + p.url.Origin() + ", and speaks for that domain only.",
		})
	}
	return &p
}
