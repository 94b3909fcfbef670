package agent

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/fetch"
)

// submit sends a call and reads the response.
func (s *Session) submit(ctx context.Context, e *effect, plan *lookleap.Plan, budget *fetch.Budget) (r *CallResult, sent bool, err error) {
	u, err := endpointRules.Parse(e.Send.URL)
	if err != nil {
		return nil, false, fail(e.Send.URL, err, "the action's URL is refused")
	}
	m := &submission{
		session: s, effect: e, budget: budget,
		method: e.Send.Method, url: u, contentType: e.Send.ContentType, body: e.Send.Body, key: plan.IdempotencyKey(),
	}
	defer func() { s.context.recordError(m.url, err) }()
	resp, err := m.run(ctx)
	if err != nil {
		return nil, m.sent, m.doubtful(err)
	}
	r, err = m.result(ctx, plan.ID(), resp)
	return r, true, err
}

// doubtful marks an error as [lookleap.ErrInDoubt] if the action may have been done.
func (m *submission) doubtful(err error) error {
	if m.sent && !safeMethod(m.effect.Send.Method) {
		return inDoubt(err)
	}
	return err
}

// result reads a response (section 11.3). If the service did not do what was asked, it
// returns an error together with the result.
func (m *submission) result(ctx context.Context, plan string, resp *fetch.Response) (*CallResult, error) {
	r := &CallResult{Plan: plan, Status: resp.Status, Type: resp.MediaType}
	_, isDocument := anml.FormatOf(resp.MediaType)
	readable := len(resp.Body) > 0 && carries(resp.Status)
	var document *anml.Document
	var unread error
	// Such a document becomes the current one.
	current := resp.Status < 400 || resp.Status == http.StatusConflict || resp.Status == http.StatusUnprocessableEntity
	if isDocument && readable && current {
		r.Page, unread = m.session.newPage(ctx, resp, requestOrigin{requested: m.effect.Send.URL, action: true})
	}
	if r.Page == nil { // a page is recorded with its texts
		if err := m.session.context.recordBody(ctx, resp.URL, resp.MediaType, resp.Body); err != nil && !isDocument {
			return r, m.doubtful(err) // the body is withheld
		}
	}
	switch {
	case !readable, unread != nil:
	case r.Page != nil:
		document = r.Page.doc
	case isDocument:
		if document = m.statusDocument(resp); document != nil && document.Status().Exists() {
			said := document.Status()
			r.Problem = &anml.Problem{Type: "about:blank", Status: resp.Status, Title: said.Code(), Detail: said.Message()}
		}
	case resp.Status >= 400:
		if p, err := anml.ParseProblem(resp.Header.Get("Content-Type"), resp.Body); err == nil {
			r.Problem = p
		} else {
			r.Body = resp.Body
		}
	default:
		r.Body = resp.Body
	}
	if defined(resp.Status) {
		r.Outcome = anml.OutcomeOf(resp.Status, document)
	}
	if document != nil { // it blocks the action for the time that its status names (section 8.13)
		said, _ := document.Status().RetryAfter()
		m.session.hold(ctx, m.session.actionKey(m.effect.Send.key()), m.effect.Send.place(), min(said, fetch.MaxRetryAfter))
	}
	m.withdrawUnaccepted(ctx, r)
	if unread != nil && resp.Status < 300 {
		r.Outcome = anml.OutcomeUnknown
		return r, m.doubtful(unread)
	}
	return r, m.judge(ctx, resp, r, document)
}

// defined reports whether a status says whether an action was done. 300 and 304 do not;
// 206 and 226 are partial responses that were not requested. A 1xx never gets here.
func defined(status int) bool {
	return carries(status) || status == http.StatusNoContent || status == http.StatusResetContent
}

// carries reports whether a response with this status has content of its own.
func carries(status int) bool {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNonAuthoritativeInfo: // over TLS the server is responsible for it
		return true
	}
	return status >= 400
}

// statusDocument returns the document of a response, of which only the status is used.
// It returns nil if there is none that can be read.
func (m *submission) statusDocument(resp *fetch.Response) *anml.Document {
	if _, ok := anml.FormatOf(resp.MediaType); !ok {
		return nil
	}
	o := m.session.agent.options.Read
	o.Role = anml.RoleService
	d, _ := anml.Parse(resp.Header.Get("Content-Type"), resp.Body, o)
	return d
}

// heed returns how long the service asks to wait: the longer one of Retry-After and the
// time in its document (sections 8.13 and 11.3).
func heed(resp *fetch.Response, d *anml.Document) time.Duration {
	wait := resp.RetryAfter
	if d != nil {
		said, _ := d.Status().RetryAfter()
		wait = max(wait, min(said, fetch.MaxRetryAfter))
	}
	return wait
}

// withdrawUnaccepted withdraws the consents on which answers rested that the service did not
// accept: it returned a document that asks for the same fields again, and whose status is not
// success. So the user is asked again, and the old consent is not sent a second time (section
// 8.7.3). A failure is only reported, because the call is over.
func (m *submission) withdrawUnaccepted(ctx context.Context, r *CallResult) {
	if r.Page == nil || r.Outcome >= anml.OutcomeAccepted {
		return
	}
	asked := r.Page.askedFields()
	var stale []string
	for _, t := range m.effect.Disclosures {
		if !t.refused() && slices.Contains(asked, t.Field) {
			stale = append(stale, t.Reference)
		}
	}
	if stale == nil {
		return
	}
	_, err := m.session.consents.withdraw(ctx, func(held Consent) bool { return slices.Contains(stale, held.ID) })
	m.session.report(ctx, r.Plan, lookleap.CodeIO, err)
}

// judge blocks actions as the response demands, notifies the user, and returns an error
// if the action was not done. It changes nothing about trust or constraints: a failing
// server is not a sign of an attack.
func (m *submission) judge(ctx context.Context, resp *fetch.Response, r *CallResult, d *anml.Document) error {
	send, origin, status, wait := &m.effect.Send, m.effect.Send.origin(), resp.Status, heed(resp, d)
	if f, ok := wants(resp.Header); ok {
		m.session.gate.prefer(origin, f)
	}
	var means meaning
	switch {
	case !defined(status):
		means = meaning{code: lookleap.CodeBadStatus, reason: "the status does not say whether the action was done", doubt: true}
	case status < 300 && r.Outcome == anml.OutcomeError:
		means = meaning{code: CodeActionFailed}
	case status < 300:
		return nil
	case status >= 500 && status != http.StatusServiceUnavailable:
		means = meaning{code: CodeServerError, waits: true, doubt: true,
			kind: NoticeServerError, text: "The service failed, so it is not known whether the action was done."}
	default:
		means = meanings[status]
		if means.code == "" {
			means = meaning{code: lookleap.CodeBadStatus, reason: "the service did not execute the action"}
		}
	}
	if means.kind != "" {
		n := Notice{Kind: means.kind, Code: means.code, Origin: origin, Text: means.text}
		label, said := "message", []string{}
		if p := r.Problem; p != nil && p.Detail+p.Title != "" {
			said = []string{cmp.Or(p.Detail, p.Title)}
		}
		if status == http.StatusUnauthorized {
			label, said = "authentication scheme", schemes(resp.Header)
		}
		for _, text := range said {
			m.session.context.recordText(resp.URL, text)
			n.Remote = append(n.Remote, lookleap.RemoteText{Source: m.effect.Exchange.Endpoint, Label: label, Text: text})
		}
		m.session.notices.tell(ctx, n)
	}
	if means.waits && wait > 0 {
		m.session.hold(ctx, limitHold+origin, send.place(), wait)
	} else if means.ends {
		m.session.gate.end(send.key(), means.code, status)
	}
	err := &lookleap.Error{Code: means.code, Subject: send.place(), Message: means.reason,
		Err: &lookleap.ResponseError{Status: status, RetryAfter: wait}}
	if means.doubt {
		return m.doubtful(err)
	}
	return err
}

// meaning is what a status says about an action that was not done.
type meaning struct {
	code   lookleap.Code
	reason string
	waits  bool       // nothing is sent to the origin for the time that the service names
	ends   bool       // the action ends for the session, if there is no time to wait
	doubt  bool       // it may have been done
	kind   NoticeKind // that the user is told, or ""
	text   string
}

// meanings are those of the statuses with which a service did not execute an action.
var meanings = map[int]meaning{
	http.StatusBadRequest: {code: CodeBadRequest},
	http.StatusUnauthorized: {code: CodeAuthRequired, kind: NoticeAuthRequired,
		text: "The service requires that you sign in. Stored credentials are not used to try again."},
	http.StatusForbidden:            {code: lookleap.CodeForbidden, reason: "the service forbids the action", ends: true},
	http.StatusGone:                 {code: CodeGone, reason: "the action is gone for good", ends: true},
	http.StatusConflict:             {code: lookleap.CodeConflict, reason: "the action conflicts with the service's present state"},
	http.StatusUnsupportedMediaType: {code: lookleap.CodeBadStatus, reason: "the service does not accept this serialization"},
	http.StatusUnprocessableEntity:  {code: CodeUnprocessable},
	http.StatusTooManyRequests:      {code: lookleap.CodeRateLimited, reason: "the service wants fewer requests", waits: true, ends: true},
	http.StatusServiceUnavailable: {code: lookleap.CodeUnavailable, reason: "the service is unavailable", waits: true, ends: true,
		kind: NoticeUnavailable, text: "The service is unavailable at present."},
}

// schemes returns the authentication schemes that a response names.
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

// wants returns the serialization that the service wants to receive, by the Accept header
// field of a response (section 11.1). It returns false if the field names neither
// serialization; "*/*" does not count.
func wants(h http.Header) (anml.Format, bool) {
	accept := strings.Join(h.Values("Accept"), ", ")
	named := strings.ToLower(accept)
	if !strings.Contains(named, anml.MediaTypeXML) && !strings.Contains(named, anml.MediaTypeJSON) {
		return anml.XML, false
	}
	return anml.Negotiate(accept)
}
