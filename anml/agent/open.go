package agent

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Open returns the ANML document at a URL, from the session's cache if HTTP and the
// document allow that (sections 6.3 and 8.1.1). Where a web page is there
// instead, the first document that it advertises is opened (section 15.1). Every
// error is a *lookleap.Error.
func (s *Session) Open(ctx context.Context, url string) (*Page, error) {
	u, err := s.parseURL(url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx, u)
	defer cancel()
	page, err := s.pages.get(ctx, u)
	if err == nil {
		return page, nil
	}
	links := unusedBehind(err).links
	if len(links) == 0 {
		s.memory.unavailable(u, err)
		return nil, err
	}
	d := &discovery{session: s, ctx: ctx, origin: u.Origin(), tried: make(map[string]bool)}
	d.note("url", u.WithoutQuery(), err)
	if page, err = d.first(links, err); err == nil {
		return d.found(page), nil
	}
	if over := ended(ctx, u.WithoutQuery()); over != nil {
		err = over
	}
	return nil, err
}

// parseURL returns the canonical form of a URL that a document may be read from.
func (s *Session) parseURL(raw string) (domain.URL, error) {
	if err := s.ready(); err != nil {
		return domain.URL{}, err
	}
	u, err := domain.Parse(raw)
	if err != nil {
		return domain.URL{}, fetch.URLError(raw, "the URL cannot be used", err)
	}
	return u, nil
}

// retrieve requests a document and reads the response. It sends nothing if an earlier
// response forbids the request.
func (s *Session) retrieve(ctx context.Context, u domain.URL) (page *Page, err error) {
	defer func() { s.context.recordError(u, err) }()
	ctx, cancel := s.limited(ctx, u)
	defer cancel()
	if err := s.memory.refuses(ctx, u); err != nil {
		return nil, err
	}
	a := requestOrigin{requested: u.String(), wellKnown: isWellKnown(u)}
	from, old := s.pages.begin(), s.pages.old(u)
	request := s.request(ctx, u)
	if old != nil {
		old.known.Ask(request.Header)
	}
	sent := s.now()
	r, err := fetch.Do(ctx, s.agent.host, request)
	switch {
	case err == nil && r.Status == http.StatusNotModified && old != nil:
		if r = old.confirmed(r, sent); r == nil { // it is about another representation
			s.pages.drop(u)
			return s.retrieve(ctx, u)
		}
		page, err = s.admit(ctx, r, a, old.page.doc, old.page.digest, old.page.opened.size)
	case err == nil && r.OK():
		s.notices.reached(u)
		s.context.recordLocation(u, u.String(), r.URL)
		page, err = s.newPage(ctx, r, a)
		if a.wellKnown && lookleap.CodeOf(err) == lookleap.CodeMediaType { // a web page there counts as a 404
			e := &lookleap.Error{Code: CodeNoANML, Subject: r.URL.WithoutQuery(), Err: withStatus(r, err)}
			s.memory.absent(u, &r.Freshness, e)
			err = e
		}
	default:
		err = s.refused(ctx, u, r, err)
	}
	if err != nil {
		s.pages.drop(u)
		return nil, err
	}
	s.pages.keep(u, page, r, from)
	return page, nil
}

// readDocument requests a document that is not cached. Follow restricts its redirects.
func (s *Session) readDocument(ctx context.Context, u domain.URL, a requestOrigin, follow func(to domain.URL) error) (*Page, error) {
	if err := s.memory.refuses(ctx, u); err != nil {
		return nil, err
	}
	request := s.request(ctx, u)
	remembered := request.Redirect
	request.Redirect = func(h fetch.Hop) error {
		if err := follow(h.To); err != nil {
			return err
		}
		return remembered(h)
	}
	if a.siteRef {
		request.Budget, request.Limits.Time = a.budget, fetch.DefaultTime
	}
	r, err := fetch.Do(ctx, s.agent.host, request)
	switch {
	case err == nil && r.OK():
		return s.newPage(ctx, r, a)
	case !a.siteRef:
		return nil, s.refused(ctx, u, r, err)
	}
	if over := ended(ctx, u.WithoutQuery()); over != nil {
		return nil, over
	}
	return nil, s.absence(ctx, u, r, err)
}

// refused returns the error of an exchange without a document, and notifies the user
// if necessary (sections 11.3 and 11.4).
func (s *Session) refused(ctx context.Context, u domain.URL, r *fetch.Response, err error) error {
	if over := ended(ctx, u.WithoutQuery()); over != nil {
		return over
	}
	e := s.absence(ctx, u, r, err)
	s.tellFailure(ctx, u, e)
	return e
}

// absence returns why an exchange had no document, and remembers what that means for
// later requests (section 6.5.1).
func (s *Session) absence(ctx context.Context, u domain.URL, r *fetch.Response, err error) *lookleap.Error {
	place := isWellKnown(u)
	if err != nil {
		e := fail(u.String(), err, "the document could not be retrieved")
		if place && e.Code == CodeGone {
			if gone := innermost(err, CodeGone); gone == nil || !strings.HasPrefix(gone.Subject, u.Origin()+"/") {
				e.Code = CodeNoANML // another origin speaks only of itself
			}
		}
		return e
	}
	e := &lookleap.Error{Code: lookleap.CodeBadStatus, Subject: r.URL.WithoutQuery(), Message: "the server returned no document",
		Err: &lookleap.ResponseError{Status: r.Status, RetryAfter: r.RetryAfter, Err: coded.Attach(&unusedResponse{response: r}, nil)}}
	switch {
	case place && r.Status == http.StatusNotFound:
		e.Code, e.Message = CodeNoANML, ""
		s.memory.absent(u, &r.Freshness, e)
	case place && r.Status == http.StatusGone:
		return s.gone(ctx, u, r)
	case r.RetryAfter > 0:
		s.memory.close(u, e, r.Received.Add(r.RetryAfter))
		s.hold(ctx, digestKey(limitDocument, u.String()), u.WithoutQuery(), r.RetryAfter)
	}
	return e
}

// gone returns the error of a 410 at a place of discovery, and remembers it for the URL
// that returned it. It also counts for the requested URL if both have one origin:
// another origin cannot say that this one no longer has ANML.
func (s *Session) gone(ctx context.Context, u domain.URL, r *fetch.Response) *lookleap.Error {
	err := s.memory.gone(ctx, r.URL)
	if r.URL.Origin() != u.Origin() {
		e := &lookleap.Error{Code: CodeNoANML, Subject: u.WithoutQuery(), Err: withStatus(r, err)}
		s.memory.absent(u, &r.Freshness, e)
		return e
	}
	if u.String() != r.URL.String() {
		err = errors.Join(err, s.memory.gone(ctx, u))
	}
	e := goneError(u)
	e.Err = withStatus(r, err)
	return e
}

// limited bounds the time for retrieving and reading a document, including its
// automatic requests (section 13.7).
func (s *Session) limited(ctx context.Context, u domain.URL) (context.Context, context.CancelFunc) {
	limit := s.agent.options.Limits.Time
	return context.WithTimeoutCause(ctx, limit, &lookleap.Error{Code: lookleap.CodeTimeout, Subject: u.WithoutQuery(),
		Message: "the document was not retrieved and read within " + limit.String()})
}

// request returns the request for a document at a URL (sections 6.3, 6.5.1 and 7.4).
// It follows redirects, except to documents that are gone, and contains nothing about
// the user or the agent's task.
func (s *Session) request(ctx context.Context, u domain.URL) *fetch.Request {
	o := s.agent.options
	return &fetch.Request{
		URL:      u,
		Header:   http.Header{"Accept": {anml.Accept(*cmp.Or(o.Format, new(anml.XML)))}},
		Redirect: func(h fetch.Hop) error { return s.memory.refuses(ctx, h.To) },
		Verified: true,
		Limits:   fetch.Limits{Body: o.Limits.Document, Time: o.Limits.Time, Hops: maxRedirects},
	}
}

// requestOrigin describes the request of a response that newPage reads.
type requestOrigin struct {
	requested string // the URL asked for first
	wellKnown bool   // it was /.well-known/anml
	action    bool   // it is the response of an action: no generic media types, never cached
	siteRef   bool   // it was read through a site-ref: its own site-refs are not followed

	budget *fetch.Budget // that it shares with the document that caused it; nil: one of its own
}

// newPage reads a response as a document, verifies who speaks in it, and adds what it
// tells to the session's context. Every error is a *lookleap.Error.
func (s *Session) newPage(ctx context.Context, r *fetch.Response, a requestOrigin) (*Page, error) {
	doc, err := s.read(ctx, r, a)
	if err != nil {
		return nil, err
	}
	return s.admit(ctx, r, a, doc, lookleap.Digest(r.Body), len(r.Body))
}

// read chooses the serialization by the media type alone. An agent only receives
// service documents (sections 6.3, 7 and 8.1).
func (s *Session) read(ctx context.Context, r *fetch.Response, a requestOrigin) (*anml.Document, error) {
	if r.MediaType == "" {
		return nil, &lookleap.Error{Code: lookleap.CodeMediaType, Subject: r.URL.WithoutQuery(), Message: "the response has no media type",
			Err: withStatus(r, anml.ErrNotANML)}
	}
	o := s.agent.options.Read
	if o.Limits.Bytes <= 0 { // a body above the session's limit is not received
		o.Limits.Bytes = s.agent.options.Limits.Document
	}
	o.Role = anml.RoleService
	o.WellKnown = a.wellKnown
	o.Self = nil
	if server, _ := anmltrust.ServerOf(r.URL.String()); server.Host != "" {
		o.Self = []string{server.Host, server.Domain}
	}
	o.AcceptGenericTypes = !a.action && (o.AcceptGenericTypes || a.wellKnown)
	_, own := anml.FormatOf(r.MediaType)
	if !own {
		o.AcceptMissingNamespace = false // a generic media type needs the namespace as proof
	}
	o.Charset, o.Version = "", ""
	doc, err := anml.Parse(r.Header.Get("Content-Type"), r.Body, o)
	if err == nil {
		return doc, nil
	}
	e := fail(r.URL.WithoutQuery(), err, "the response is not a usable ANML document")
	unused := &unusedResponse{}
	e.Err = withStatus(r, coded.Attach(unused, err))
	if !own && (errors.Is(err, anml.ErrNotANML) || errors.Is(err, anml.ErrNotWellFormed)) {
		e.Code = lookleap.CodeMediaType
	}
	switch {
	case e.Code == lookleap.CodeMediaType:
		e.Message = "the response is not an ANML document"
		if !a.action && !a.wellKnown {
			var page []byte
			if r.MediaType == "text/html" || r.MediaType == "application/xhtml+xml" {
				page = r.Body
			}
			unused.links = advertised(r.URL, r.Header, page)
		}
	case e.Code == anml.CodeVersion:
		s.notify(ctx, r.URL.String()+" "+lookleap.Digest(r.Body), NoticeUnsupported, e.Code, r.URL.Origin(),
			"The service's document is of a version of ANML that is not supported; "+anml.Version+" is.")
	default:
		s.notify(ctx, r.URL.String()+" "+lookleap.Digest(r.Body), NoticeInvalid, e.Code, r.URL.Origin(), "The service returned an invalid document.")
	}
	return nil, e
}

// admit returns the page of a document: it verifies who speaks in it, and adds what it
// tells to the context.
func (s *Session) admit(ctx context.Context, r *fetch.Response, a requestOrigin, doc *anml.Document, digest string, size int) (*Page, error) {
	p := &Page{
		session: s, doc: doc, url: r.URL, digest: digest,
		opened: s.agent.openedBy(r, a, doc),
		budget: a.budget,
	}
	p.opened.size = size
	p.offered = sync.OnceValues(p.offers)
	if p.budget == nil {
		p.budget = fetch.NewBudget(s.agent.options.Limits.Requests)
	}
	p.server, _ = anmltrust.ServerOf(r.URL.String())
	if p.opened.insecure {
		p.server = anmltrust.Server{}
	}
	if newer(doc.Version()) { // the user is told once for each document (section 8.1)
		s.notify(ctx, p.url.String()+" "+digest, NoticeNewerVersion, anml.CodeNewVersion, p.url.Origin(),
			"The service's document is of version "+plaintext.Quote(doc.Version(), maxVersion)+
				" of ANML, which is newer than "+anml.Version+"; unknown parts of it are ignored.")
	}
	if err := p.unsupported(); err != nil {
		s.notify(ctx, p.url.String()+" "+digest, NoticeUnsupported, err.Code, p.url.Origin(), "The"+strings.TrimPrefix(err.Message, "the")+".")
	}
	if err := p.identify(ctx); err != nil {
		return nil, fail(r.URL.WithoutQuery(), err, "who speaks in the document could not be verified")
	}
	if !a.siteRef {
		p.refs = p.followRefs(ctx)
	}
	if over := ended(ctx, r.URL.WithoutQuery()); over != nil {
		return nil, over
	}
	p.examine(ctx)
	if err := s.context.receive(ctx, p); err != nil {
		if over := ended(ctx, r.URL.WithoutQuery()); over != nil {
			return nil, over
		}
		return nil, fail(r.URL.WithoutQuery(), err, "what the document tells could not be recorded")
	}
	return p, nil
}
