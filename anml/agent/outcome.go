package agent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/fetch"
)

// submit sends what was settled and reads what the service makes of it.
func (s *Session) submit(ctx context.Context, e *effect, plan, contentType string, body []byte, budget *fetch.Budget) (*CallResult, error) {
	u, err := endpointRules.Parse(e.Send.URL)
	if err != nil {
		return nil, fail(e.Send.URL, err, "the action's URL is refused")
	}
	if hasBody(e.Send.Method) && body == nil {
		body = []byte{} // a request that acts says that it has no content
	}
	m := &submission{
		session: s, effect: e, budget: budget, notify: s.noticesOf(ctx),
		method: e.Send.Method, url: u, contentType: contentType, body: body,
	}
	resp, err := m.run(ctx)
	if err != nil {
		return nil, m.doubtful(err)
	}
	return m.result(ctx, plan, resp)
}

// doubtful marks an error after which nobody knows whether the action was done.
func (m *submission) doubtful(err error) error {
	if err != nil && m.sent && !safeMethod(m.effect.Send.Method) {
		return inDoubt(err)
	}
	return err
}

// noticesOf tells the notices of one call, each kind once.
func (s *Session) noticesOf(ctx context.Context) func(Notice) {
	var said []NoticeKind
	return func(n Notice) {
		if !slices.Contains(said, n.Kind) {
			said = append(said, n.Kind)
			s.notices.tell(ctx, n)
		}
	}
}

// result judges an answer (section 11.3). Where the service did not do what was
// asked, the error says so and the result holds what it answered.
func (m *submission) result(ctx context.Context, plan string, resp *fetch.Response) (*CallResult, error) {
	r := &CallResult{Plan: plan, Status: resp.Status, Type: resp.MediaType}
	_, isDocument := anml.FormatOf(resp.MediaType)
	if err := m.session.context.hearBody(ctx, resp.URL, resp.MediaType, resp.Body); err != nil && !isDocument {
		return r, m.doubtful(err) // nothing of it is given to anybody
	}
	var document *anml.Document
	var unread error
	switch {
	case len(resp.Body) == 0 || !carries(resp.Status):
	case isDocument && advances(resp.Status):
		r.Page, unread = m.session.newPage(ctx, resp, arrival{requested: m.effect.Send.URL, action: true})
		if unread == nil {
			document = r.Page.doc
		}
	case isDocument:
		document = m.statusDocument(resp)
		r.Problem = problemOf(resp.Status, document)
	case resp.Status >= 400 && problemType(resp.MediaType):
		if p, err := anml.ParseProblem(resp.Header.Get("Content-Type"), resp.Body); err == nil {
			r.Problem = p
		} else {
			r.Body = resp.Body
		}
	default:
		r.Body = resp.Body
	}
	if r.Outcome = anml.OutcomeUnknown; defined(resp.Status) {
		r.Outcome = anml.OutcomeOf(resp.Status, document)
	}
	m.waitAsTold(document, resp)
	if unread != nil && resp.Status < 300 {
		r.Outcome = anml.OutcomeUnknown
		return r, m.doubtful(unread)
	}
	return r, m.judge(resp, r, document)
}

// defined reports whether a status says what became of an action. 300 and 304 say
// nothing of it; 206 and 226 are a part of an answer, or how it differs from another
// one, which nobody asked for. An answer with 1xx never gets here.
func defined(status int) bool {
	return status >= 400 || carries(status) || status == http.StatusNoContent || status == http.StatusResetContent
}

// carries reports whether the content of an answer is what its status is about.
func carries(status int) bool {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNonAuthoritativeInfo: // over TLS the server answers for that too
		return true
	}
	return status >= 400
}

// advances reports whether the document of an answer becomes the current one.
func advances(status int) bool {
	return status < 400 && carries(status) || status == http.StatusConflict || status == http.StatusUnprocessableEntity
}

func problemType(mediaType string) bool {
	return mediaType == anml.MediaTypeProblemJSON || mediaType == anml.MediaTypeProblemXML
}

// statusDocument reads a document of which only the status is used; nil when it
// is none, or cannot be read.
func (m *submission) statusDocument(resp *fetch.Response) *anml.Document {
	if _, ok := anml.FormatOf(resp.MediaType); !ok {
		return nil
	}
	o := m.session.agent.options.Read
	o.Role = anml.RoleService
	d, err := anml.Parse(resp.Header.Get("Content-Type"), resp.Body, o)
	if err != nil {
		return nil
	}
	return d
}

// problemOf gives what a status element says as problem details.
func problemOf(status int, d *anml.Document) *anml.Problem {
	if d == nil || !d.Status().Exists() {
		return nil
	}
	return &anml.Problem{Type: "about:blank", Status: status, Title: d.Status().Code(), Detail: d.Status().Message()}
}

// heed gives how long the service wants to be left alone: the longer of what
// HTTP and its document say, for answers that are about that (sections 8.13 and
// 11.3).
func heed(resp *fetch.Response, d *anml.Document) (time.Duration, bool) {
	wait := resp.RetryAfter
	if d != nil {
		if said, ok := d.Status().RetryAfter(); ok {
			wait = max(wait, min(said, fetch.MaxRetryAfter))
		}
	}
	return wait, wait > 0
}

// waitAsTold closes the action until the time that a status names (section 8.13).
func (m *submission) waitAsTold(d *anml.Document, resp *fetch.Response) {
	if d == nil {
		return
	}
	if said, ok := d.Status().RetryAfter(); ok && said > 0 {
		m.session.gate.delay(m.effect.Send.key(), resp.Received.Add(min(said, fetch.MaxRetryAfter)))
	}
}

// judge closes what the answer closes, tells the user what they must know, and
// says in an error what was not done. It makes nothing of it about trust or
// constraints: a failing server is only that.
func (m *submission) judge(resp *fetch.Response, r *CallResult, d *anml.Document) error {
	gate, key, origin := m.session.gate, m.effect.Send.key(), m.effect.Send.origin()
	wait, given := heed(resp, d)
	until := resp.Received.Add(wait)
	if f, ok := wants(resp.Header); ok {
		gate.prefer(origin, f, resp.Received)
	}
	refuse := func(code lookleap.Code, reason string) error {
		return &lookleap.Error{Code: code, Subject: m.effect.Send.place(), Message: reason, Err: &lookleap.ResponseError{Status: resp.Status, RetryAfter: wait}}
	}
	notice := func(kind NoticeKind, code lookleap.Code, text string) {
		n := Notice{Kind: kind, Code: code, Origin: origin, Text: text}
		if said := message(r); said != "" {
			n.Remote = []lookleap.RemoteText{{Source: m.effect.Exchange.Endpoint, Label: "message", Text: said}}
		}
		m.notify(n)
	}
	switch status := resp.Status; {
	case !defined(status):
		return m.doubtful(refuse(lookleap.CodeBadStatus, "its status says nothing of the action"))
	case status < 300:
		if r.Outcome == anml.OutcomeError {
			return refuse(CodeActionFailed, "")
		}
		return nil
	case status == http.StatusBadRequest:
		return refuse(CodeBadRequest, "")
	case status == http.StatusUnauthorized:
		n := Notice{Kind: NoticeAuthRequired, Code: CodeAuthRequired, Origin: origin, Text: "The service demands that you sign in. Nothing is tried again with credentials that are kept."}
		for _, scheme := range schemes(resp.Header) {
			m.session.context.hearRemark(resp.URL, scheme)
			n.Remote = append(n.Remote, lookleap.RemoteText{Source: m.effect.Exchange.Endpoint, Label: "authentication scheme", Text: scheme})
		}
		m.notify(n)
		return refuse(CodeAuthRequired, "")
	case status == http.StatusForbidden:
		gate.end(key, lookleap.CodeForbidden, status)
		return refuse(lookleap.CodeForbidden, "the service forbids the action")
	case status == http.StatusGone:
		gate.end(key, CodeGone, status)
		return refuse(CodeGone, "the action is gone for good")
	case status == http.StatusConflict:
		return refuse(lookleap.CodeConflict, "the action conflicts with the service's present state")
	case status == http.StatusUnsupportedMediaType:
		return refuse(lookleap.CodeBadStatus, "the service does not take this serialization")
	case status == http.StatusUnprocessableEntity:
		return refuse(CodeUnprocessable, "")
	case status == http.StatusTooManyRequests:
		if given {
			gate.wait(origin, until, resp.Received)
		} else {
			gate.end(key, lookleap.CodeRateLimited, status)
		}
		return refuse(lookleap.CodeRateLimited, "the service wants fewer requests")
	case status == http.StatusServiceUnavailable:
		if given {
			gate.wait(origin, until, resp.Received)
		} else {
			gate.end(key, lookleap.CodeUnavailable, status)
		}
		notice(NoticeUnavailable, lookleap.CodeUnavailable, "The service is unavailable at present.")
		return refuse(lookleap.CodeUnavailable, "the service is unavailable")
	case status >= 500:
		if given {
			gate.wait(origin, until, resp.Received)
		}
		notice(NoticeServerError, CodeServerError, "The service failed, so it is not known whether the action was done.")
		return m.doubtful(refuse(CodeServerError, ""))
	}
	return refuse(lookleap.CodeBadStatus, "the service did not do it")
}

// message is what the other side says about an answer, for people.
func message(r *CallResult) string {
	if r.Problem == nil {
		return ""
	}
	if r.Problem.Detail != "" {
		return r.Problem.Detail
	}
	return r.Problem.Title
}

// schemes lists the authentication schemes that an answer names.
func schemes(h http.Header) []string {
	var out []string
	for _, line := range h.Values("WWW-Authenticate") {
		scheme, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if scheme != "" && len(out) < 8 && !slices.Contains(out, scheme) {
			out = append(out, scheme)
		}
	}
	return out
}

// wants reads the Accept header of an answer: which serialization the service
// wants to receive (section 11.1). It says nothing when there is none, and when it
// names neither: "*/*" is no wish.
func wants(h http.Header) (anml.Format, bool) {
	accept := strings.Join(h.Values("Accept"), ", ")
	named := strings.ToLower(accept)
	if !strings.Contains(named, anml.MediaTypeXML) && !strings.Contains(named, anml.MediaTypeJSON) {
		return anml.XML, false
	}
	return anml.Negotiate(accept)
}
