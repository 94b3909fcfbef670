package agent

import (
	"context"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

func (s *Session) open(ctx context.Context, raw string) (*Page, error) {
	u, err := s.parseURL(raw)
	if err != nil {
		return nil, err
	}
	return s.retrieve(ctx, u, arrival{requested: u.String()})
}

// parseURL gives the canonical form of a URL that a document may be read from.
func (s *Session) parseURL(raw string) (domain.URL, error) {
	u, err := domain.Parse(raw)
	if err != nil {
		return domain.URL{}, fail("", err, "the URL cannot be used")
	}
	return u, nil
}

// retrieve asks for a document and reads the answer.
func (s *Session) retrieve(ctx context.Context, u domain.URL, a arrival) (*Page, error) {
	ctx, cancel := s.limited(ctx, u)
	defer cancel()
	r, err := fetch.Do(ctx, s.agent.host, s.request(u))
	if err != nil {
		if over := ended(ctx, shown(u)); over != nil {
			return nil, over
		}
		return nil, fail(u.String(), err, "the document could not be retrieved")
	}
	if !r.OK() {
		return nil, &Error{Code: lookleap.CodeBadStatus, URL: shown(r.URL), Status: r.Status, RetryAfter: r.RetryAfter,
			Reason: "the server gave no document"}
	}
	return s.newPage(ctx, r, a)
}

// limited bounds retrieving and reading a document, its automatic requests
// included (section 13.7).
func (s *Session) limited(ctx context.Context, u domain.URL) (context.Context, context.CancelFunc) {
	limit := s.agent.options.Limits.Time
	return context.WithTimeoutCause(ctx, limit, &Error{Code: lookleap.CodeTimeout, URL: shown(u),
		Reason: "the document was not retrieved and read within " + limit.String()})
}

// request is the request for a document at a URL (sections 6.3, 6.5.1 and 7.4).
// It follows redirects, and says nothing about the user or the agent's task.
func (s *Session) request(u domain.URL) *fetch.Request {
	o := s.agent.options
	return &fetch.Request{
		URL:      u,
		Header:   http.Header{"Accept": {s.agent.accept()}},
		Redirect: fetch.Anywhere,
		Limits:   fetch.Limits{Body: o.Limits.Document, Time: o.Limits.Time, Hops: o.Limits.Redirects},
	}
}

// accept is the Accept header field of every request for documents.
func (a *Agent) accept() string {
	preferred := anml.XML
	if a.options.Format != nil {
		preferred = *a.options.Format
	}
	return anml.Accept(preferred)
}

// arrival is what newPage has to know about an answer beside the answer itself.
type arrival struct {
	requested string // the URL asked for first
	wellKnown bool   // it was /.well-known/anml
	action    bool   // it answers an action: no generic media types, never stored
	siteRef   bool   // it was read through a site-ref: its own site-refs are not followed
}

// newPage reads an answer as a document, finds out who speaks in it, and lets
// the session's context receive what it tells. Its errors are *Error.
func (s *Session) newPage(ctx context.Context, r *fetch.Response, a arrival) (*Page, error) {
	doc, err := s.read(ctx, r, a)
	if err != nil {
		return nil, err
	}
	return s.admit(ctx, r, a, doc, lookleap.Digest(r.Body))
}

// read picks the codec by the media type alone, and infers the role: whatever an
// agent receives is a service document (sections 6.3, 7 and 8.1).
func (s *Session) read(ctx context.Context, r *fetch.Response, a arrival) (*anml.Document, error) {
	if r.MediaType == "" {
		return nil, &Error{Code: lookleap.CodeMediaType, URL: shown(r.URL), Status: r.Status,
			Reason: "the answer does not say what it is", Err: anml.ErrNotANML}
	}
	o := s.agent.options.Read
	o.Limits.Bytes = s.agent.options.Limits.Document
	o.Role = anml.RoleService
	o.WellKnown = a.wellKnown
	o.Self = nil
	if server, _ := anmltrust.ServerOf(r.URL.String()); server.Host != "" {
		o.Self = []string{server.Host, server.Domain}
	}
	o.AcceptGenericTypes = !a.action && (o.AcceptGenericTypes || a.wellKnown)
	if _, own := anml.FormatOf(r.MediaType); !own {
		o.AcceptMissingNamespace = false // the root has to prove what the type does not say
	}
	o.Charset, o.Version = "", ""
	doc, err := anml.Parse(r.Header.Get("Content-Type"), r.Body, o)
	if err == nil {
		return doc, nil
	}
	e := fail(shown(r.URL), err, "the answer is no ANML document that can be used")
	e.Status = r.Status
	if e.Code != anml.CodeMediaType {
		s.notices.tellOnce(ctx, "invalid "+r.URL.String()+" "+lookleap.Digest(r.Body), Notice{
			Kind: NoticeInvalid, Code: e.Code, Origin: r.URL.Origin(), Text: "The service returned an invalid document."})
	}
	return nil, e
}

// admit makes the page of a document: who speaks in it, and what it tells.
func (s *Session) admit(ctx context.Context, r *fetch.Response, a arrival, doc *anml.Document, digest string) (*Page, error) {
	p := &Page{
		session: s, doc: doc, url: r.URL, digest: digest,
		opened: s.agent.openedBy(r, a, doc),
		budget: fetch.NewBudget(s.agent.options.Limits.Requests),
	}
	p.server, _ = anmltrust.ServerOf(r.URL.String())
	if err := p.identify(ctx); err != nil {
		return nil, fail(shown(r.URL), err, "it could not be found out who speaks in the document")
	}
	if over := ended(ctx, shown(r.URL)); over != nil {
		return nil, over
	}
	if err := s.context.receive(ctx, p); err != nil {
		return nil, fail(shown(r.URL), err, "what the document tells could not be taken up")
	}
	return p, nil
}

// shown is a URL for messages: without its query, which may hold secrets.
func shown(u domain.URL) string {
	text, _, _ := strings.Cut(u.String(), "?")
	return text
}
