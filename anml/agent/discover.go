package agent

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/weblink"
)

// wellKnownPath is the path where discovery begins (section 16.2).
const wellKnownPath = "/.well-known/anml"

// maxAttempts bounds the attempts of one discovery.
const maxAttempts = 8

func isWellKnown(u domain.URL) bool { return u.Path() == wellKnownPath && !u.HasQuery() }

// Where the URL of a candidate comes from, as far as it matters.
const (
	sourceMoved     = "moved"      // a permanent redirect of the well-known URI, seen before
	sourceWellKnown = "well-known" // section 6.5.1
)

// Discover finds the ANML document of an origin, "https://shop.example", and
// opens it (section 6.5): at its well-known URI, or where that once moved to for
// good; then where the web pages say that the host has seen there; then, with
// [Options.DNS], where the DNS says. The page speaks for the domain that served it, not for the
// origin that pointed to it.
//
// The codes of its errors are no-anml if there is no document, which the session
// remembers; gone if the origin removed it for good, which the user's [Store]
// remembers; inconclusive if it could not be found out; or the code of the document or
// connection that cannot be used. They say where the document was looked for.
func (s *Session) Discover(ctx context.Context, origin string, seen ...WebPage) (*Page, error) {
	base, err := s.parseURL(origin)
	if err != nil {
		return nil, err
	}
	candidates, err := s.seen(base, seen)
	if err != nil {
		return nil, err
	}
	wellKnown, err := base.Resolve(wellKnownPath)
	if err != nil {
		return nil, fail(base.Origin(), err, "the origin has no well-known URI")
	}
	ctx, cancel := s.limited(ctx, wellKnown)
	defer cancel()
	d := &discovery{session: s, ctx: ctx, origin: base.Origin(), tried: make(map[string]bool)}
	page, err := d.wellKnown(wellKnown)
	if page != nil || d.over(err) {
		return d.end(page, err)
	}
	page, err = d.first(candidates, err)
	if page != nil || d.over(err) || !s.agent.options.DNS {
		return d.end(page, err)
	}
	candidates, failed := d.byDNS(base)
	return d.end(d.first(candidates, weightier(err, failed)))
}

// ForgetDiscovery deletes what is remembered about where an origin's document is or is
// not, also that it is gone for good, and the cached pages of the origin. Only this
// reverses a 410 before it expires (section 6.5.1).
func (s *Session) ForgetDiscovery(ctx context.Context, origin string) error {
	u, err := s.parseURL(origin)
	if err != nil {
		return err
	}
	s.pages.forget(func(url string, _ *Page) bool { return strings.HasPrefix(url, u.Origin()+"/") })
	if err := s.memory.forget(ctx, u.Origin()); err != nil {
		return &lookleap.Error{Code: lookleap.CodeIO, Subject: u.Origin(),
			Message: "the user's store could not delete what discovery remembered", Err: err}
	}
	return nil
}

// seen returns the documents that the host's web pages advertise. The pages must be of
// the origin: only it can say where its document is.
func (s *Session) seen(base domain.URL, pages []WebPage) (found []candidate, err error) {
	for _, p := range pages {
		u, err := s.parseURL(p.URL)
		if err != nil {
			return nil, err
		}
		if u.Origin() != base.Origin() {
			return nil, &lookleap.Error{Code: lookleap.CodeUsage, Subject: u.WithoutQuery(),
				Message: "the web page is not of the origin " + base.Origin()}
		}
		found = append(found, advertised(u, p.Header, p.HTML)...)
	}
	return found, nil
}

// discovery is one search for the document of an origin.
type discovery struct {
	session *Session
	ctx     context.Context
	origin  string
	trace   []string // where it was looked for, and how that ended
	tried   map[string]bool
}

// wellKnown tries the target of an earlier permanent redirect of the well-known URI,
// then the well-known URI itself.
func (d *discovery) wellKnown(u domain.URL) (*Page, error) {
	s := d.session
	if s.pages.freshAt(u, s.now()) == nil {
		moved, ok, err := s.memory.movedTo(d.ctx, d.origin)
		if err != nil {
			return nil, err
		}
		if ok && moved.String() != u.String() {
			page, err := d.try(candidate{sourceMoved, moved})
			if page != nil || d.ended(err) {
				return page, err
			}
			s.memory.forgetMove(d.ctx, d.origin)
			delete(d.tried, moved.String())
		}
	}
	return d.try(candidate{sourceWellKnown, u})
}

// try opens one candidate, and remembers what the response says about its URL.
func (d *discovery) try(c candidate) (*Page, error) {
	s := d.session
	d.tried[c.url.String()] = true
	page, err := s.pages.get(d.ctx, c.url)
	d.note(c.source, c.url.WithoutQuery(), err)
	if err == nil {
		if c.source == sourceMoved || c.source == sourceWellKnown {
			s.memory.move(d.ctx, d.origin, page.opened.hops, page.opened.received)
		}
		return page, nil
	}
	if r := unusedBehind(err).response; r != nil && !isWellKnown(c.url) {
		switch {
		case r.Status == 404 && c.source != sourceMoved:
			s.memory.absent(c.url, &r.Freshness, err)
		case r.Status == 410:
			s.report(d.ctx, r.URL.WithoutQuery(), lookleap.CodeIO, s.memory.gone(d.ctx, r.URL))
		case c.source != sourceMoved: // that one counts as the well-known URI itself
			s.memory.unavailable(c.url, err)
		}
	}
	return nil, err
}

func (d *discovery) note(source, place string, err error) {
	d.trace = append(d.trace, source+" "+place+": "+string(lookleap.CodeOf(err)))
}

// first returns the first document among the candidates. If there is none, it returns
// the error that says most, of the one before and theirs.
func (d *discovery) first(candidates []candidate, before error) (*Page, error) {
	err := before
	for _, c := range candidates {
		if len(d.trace) >= maxAttempts || ended(d.ctx, d.origin) != nil {
			break
		}
		if d.tried[c.url.String()] {
			continue
		}
		if from, unknown := domain.Parse(d.origin); unknown == nil {
			d.session.context.recordLocation(from, from.String(), c.url)
		}
		page, failed := d.try(c)
		if page != nil {
			return page, nil
		}
		err = weightier(err, failed)
	}
	return nil, err
}

// over reports whether an error ends the search: the document is gone for good, the
// store failed, or the search itself ended.
func (d *discovery) over(err error) bool {
	return lookleap.CodeOf(err) == CodeGone || lookleap.CodeOf(err) == lookleap.CodeIO || d.ended(err)
}

// ended reports whether an error is about the search and not about a place: its time
// ran out, or the session was closed.
func (d *discovery) ended(err error) bool {
	return ended(d.ctx, d.origin) != nil || lookleap.CodeOf(err) == lookleap.CodeClosed
}

// attempt is what an error of a place says about its document. Of several, the greatest says most.
type attempt int

const (
	foundNothing attempt = iota
	foundAbsent          // no document is there
	foundUnsure          // it may be there at another time, or for another caller
	foundUnusable
)

func attemptOf(err error) attempt {
	status := responseBehind(err).Status
	switch code := lookleap.CodeOf(err); {
	case code == lookleap.CodeOK:
		return foundNothing
	case code == CodeNoANML, code == CodeGone, code == lookleap.CodeMediaType, status == http.StatusNotFound, status == http.StatusGone:
		return foundAbsent
	case unreachable(code), code == lookleap.CodeBadStatus, code == lookleap.CodeDNSSECBogus, code == CodeInconclusive:
		return foundUnsure
	}
	return foundUnusable
}

// weightier returns the error that says more, the first of equals.
func weightier(a, b error) error {
	if attemptOf(b) > attemptOf(a) {
		return b
	}
	return a
}

func (d *discovery) end(page *Page, err error) (*Page, error) {
	if page != nil {
		return d.found(page), nil
	}
	if over := ended(d.ctx, d.origin); over != nil {
		err = over
	}
	e := &lookleap.Error{Code: lookleap.CodeOf(err), Subject: d.origin, Message: strings.Join(d.trace, "; "), Err: err}
	switch found := attemptOf(err); {
	case e.Code == CodeGone:
	case found == foundAbsent:
		e.Code = CodeNoANML
	case found == foundUnsure:
		e.Code = CodeInconclusive
	default:
		e.Message = "no usable document was found: " + e.Message
	}
	return nil, e
}

// found notifies the user if another domain serves the page.
func (d *discovery) found(page *Page) *Page {
	if own, err := d.session.parseURL(d.origin); err == nil && registrable(own.Host()) != registrable(page.url.Host()) {
		d.session.notify(d.ctx, d.origin+" "+registrable(page.url.Host()), NoticeMoved, lookleap.CodeRedirectCrossOrigin, d.origin,
			"The document found for "+d.origin+" is served by "+page.url.Origin()+", and speaks for that domain only.")
	}
	return page
}

// candidate is the URL of a possible document, and where it comes from.
type candidate struct {
	source string
	url    domain.URL
}

// WebPage is a web page that the host already has. Its Link header and the head of its
// HTML may advertise a document (sections 6.5.2 and 6.5.3); the rest is not read.
type WebPage struct {
	URL    string      // final, after redirects
	Header http.Header // of the response
	HTML   []byte      // nil if only the header is known
}

// advertised returns the documents that a web page advertises: those of its Link
// header, then those of its HTML head. They are alternates of the page itself, in either
// serialization (sections 6.5.2, 6.5.3 and 7.4).
func advertised(page domain.URL, h http.Header, html []byte) []candidate {
	var found []candidate
	add := func(source string, base domain.URL, links []weblink.Link) {
		for _, l := range links {
			if !l.HasRel("alternate") || !l.HasType(anml.MediaTypeXML) && !l.HasType(anml.MediaTypeJSON) || !l.About(page) {
				continue
			}
			if u, err := base.Resolve(l.Target); err == nil && !known(found, u) {
				found = append(found, candidate{source, u})
			}
		}
	}
	add("link", page, weblink.ParseHeader(h.Values("Link")))
	head := weblink.ParseHead(html[:min(len(html), maxHTML)])
	base, err := page, error(nil)
	if head.Base != "" {
		base, err = page.Resolve(head.Base)
	}
	if err == nil {
		add("html", base, head.Links)
	}
	return found
}

func known(found []candidate, u domain.URL) bool {
	return slices.ContainsFunc(found, func(c candidate) bool { return c.url.String() == u.String() })
}

// dnsName is the prefix of the DNS name that locates a domain's document (section
// 6.5.4). The trust record has another name, _anml.<domain> (section 12.2).
const dnsName = "_anml._tcp."

// maxTargets bounds the targets that one DNS name can add.
const maxTargets = 4

// byDNS returns the candidates that the DNS names for an origin. Signed or not, the DNS
// only locates a document: the server that serves it decides who speaks.
func (d *discovery) byDNS(origin domain.URL) ([]candidate, error) {
	name := dnsName + origin.Host()
	var answers [2][]lookleap.Record
	for i, t := range [...]lookleap.RRType{lookleap.TypeSRV, lookleap.TypeTXT} {
		answer, err := d.session.agent.host.Lookup(d.ctx, name, t)
		if err != nil {
			e := &lookleap.Error{Code: lookleap.CodeDNSError, Subject: name, Err: err}
			if errors.Is(err, lookleap.ErrBogus) {
				e.Code = lookleap.CodeDNSSECBogus
			}
			d.note("dns", name, e)
			return nil, e
		}
		answers[i] = answer.Records
	}
	return places(origin.Host(), answers[0], answers[1]), nil
}

// places returns the candidates of the records at a name, in the order of priority, then
// of weight, so that all agents try the same URLs. Without SRV records the path of the TXT
// record is at the domain itself. Without exactly one such record and a usable path in it,
// the path is the well-known one.
func places(host string, services, texts []lookleap.Record) []candidate {
	var paths []string
	for _, r := range texts {
		if p, ours := parseDNSText(r.Text); ours {
			paths = append(paths, p)
		}
	}
	path := wellKnownPath
	if len(paths) == 1 {
		path = cmp.Or(paths[0], path)
	}
	targets := make([]lookleap.SRV, 0, len(services))
	for _, r := range services {
		if r.SRV != nil { // the resolver may be the host's
			targets = append(targets, *r.SRV)
		}
	}
	if len(services) == 0 && len(paths) == 1 {
		targets = []lookleap.SRV{{Port: 443, Target: host}}
	}
	slices.SortStableFunc(targets, func(a, b lookleap.SRV) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Target, b.Target))
	})
	var found []candidate
	for _, t := range targets[:min(len(targets), maxTargets)] {
		name, err := domain.ParseHost(strings.TrimSuffix(t.Target, "."))
		if err != nil { // "." among them: there is no such service
			continue
		}
		u, err := domain.Parse("https://" + name + ":" + strconv.Itoa(int(t.Port)) + path)
		if err == nil && !known(found, u) {
			found = append(found, candidate{"dns", u})
		}
	}
	return found
}

// parseDNSText parses a TXT record of discovery: "v=anml1", then tags that are separated
// by semicolons or blanks. After the version the separator may be missing, since a
// record may consist of several strings. A record with a repeated tag is ignored; a
// path that is not one absolute path is returned as "".
func parseDNSText(text string) (path string, ours bool) {
	rest, ok := strings.CutPrefix(text, "v=anml1")
	if !ok || len(text) > maxDNSText {
		return "", false
	}
	if rest != "" && !strings.ContainsRune("; \t", rune(rest[0])) && !strings.HasPrefix(rest, "path=") {
		return "", false
	}
	seen := map[string]bool{"v": true}
	for tag := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ';' || c == ' ' || c == '\t' }) {
		name, value, _ := strings.Cut(tag, "=")
		if seen[name] {
			return "", false
		}
		seen[name] = true
		if name == "path" && strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//") && !strings.ContainsAny(value, "?#") {
			if _, err := domain.Parse("https://example.com" + value); err == nil { // without dot segments
				path = value
			}
		}
	}
	return path, true
}

// maxDNSText is the largest TXT record that is read.
const maxDNSText = 4096
