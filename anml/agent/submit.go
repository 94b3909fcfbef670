package agent

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

// sending is the request of a call, but for a response that is written only once
// it is known what may be told.
type sending struct {
	Method      string      `json:"method"`
	Endpoint    string      `json:"endpoint"` // as the document means it, resolved
	URL         string      `json:"url"`      // what is requested: the endpoint and the arguments of methods without a body
	Reach       reach       `json:"reach"`
	Plain       bool        `json:"plain,omitempty"` // http
	ContentType string      `json:"contentType,omitempty"`
	Body        []byte      `json:"body,omitempty"`
	Response    bool        `json:"response,omitempty"` // the body is the agent response that the disclosure makes
	Format      anml.Format `json:"format"`             // to send and to ask for
	Expects     string      `json:"expects,omitempty"`  // media type that the action says it answers in; "": it does not say
	Idempotent  bool        `json:"idempotent,omitempty"`
	Says        string      `json:"says,omitempty"` // description of the action: untrusted
}

// key names the action for the gate: arguments make no difference.
func (s *sending) key() string { return s.Method + " " + s.Endpoint }

// place is the endpoint for errors: without its query.
func (s *sending) place() string {
	url, _, _ := strings.Cut(s.Endpoint, "?")
	return url
}

// origin is that of the endpoint.
func (s *sending) origin() string {
	u, err := endpointRules.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Origin()
}

// accept is the Accept header field: what the action says that it answers in comes
// first (section 8.6.4), then documents, then problem details (section 11.3).
func (s *sending) accept() string {
	const problems = ", " + anml.MediaTypeProblemJSON + ";q=0.5, " + anml.MediaTypeProblemXML + ";q=0.4"
	if f, ok := anml.FormatOf(s.Expects); ok {
		return anml.Accept(f) + problems
	}
	documents := anml.Accept(s.Format)
	if s.Expects != "" {
		other := anml.XML
		if s.Format == anml.XML {
			other = anml.JSON
		}
		documents = s.Expects + ", " + s.Format.MediaType() + ";q=0.9, " + other.MediaType() + ";q=0.8"
	}
	return documents + problems
}

// expected is the media type that an action says it answers in, without parameters;
// "" where it says none, or nothing that is one.
func expected(r anml.Response) string {
	if !r.Exists() {
		return ""
	}
	mediaType, _, err := mime.ParseMediaType(r.Type())
	if err != nil || !strings.Contains(mediaType, "/") || strings.Contains(mediaType, "*") || len(mediaType) > maxMediaType {
		return ""
	}
	return mediaType
}

// maxMediaType bounds a media type, in octets (RFC 6838 section 4.2).
const maxMediaType = 255

// Waits between an answer and the one automatic retry of a call (section 11.3).
const serverErrorWait = 5 * time.Second

// maxActionTime bounds one request of an action. All of a call has Limits.Time.
const maxActionTime = 10 * time.Second

// RedirectError is a redirect of an action that leads to another origin. It is not
// followed: only a new call, which the user confirms, goes there (section 13.4).
type RedirectError struct {
	Status int
	Target string // canonical URL
}

func (e *RedirectError) Error() string {
	e = zero.Or(e)
	return "the redirect leads to " + quote(e.Target)
}

// ReasonCode returns [lookleap.CodeRedirectCrossOrigin].
func (e *RedirectError) ReasonCode() lookleap.Code { return lookleap.CodeRedirectCrossOrigin }

// submission is one call on its way: at most one automatic retry, and the
// redirects that an action may take.
type submission struct {
	session *Session
	effect  *effect
	budget  *fetch.Budget // of automatic requests; retries and redirects count (section 13.7)
	notify  func(Notice)  // each kind once in a call

	method      string
	url         domain.URL
	contentType string
	body        []byte

	sent    bool // a connection was made: the service may have got a request
	retried bool
	resent  bool // a body went out again, after 307 or 308
	repeats bool // what is sent next was sent before
	visited []string
	spent   time.Duration // in requests, waits not counted
}

// run sends the request until there is an answer to keep.
func (m *submission) run(ctx context.Context) (*fetch.Response, error) {
	for {
		if err := m.renew(ctx); err != nil {
			return nil, err
		}
		resp, connected, err := m.once(ctx)
		m.sent = m.sent || connected
		if refusal := m.withoutBody(err); refusal != nil {
			resp, err = refusal, nil
		}
		switch {
		case err != nil:
			if gone := ended(ctx, shown(m.url)); gone != nil {
				return nil, gone
			}
			if !m.retriesAfter(err, connected) {
				m.tellFailure(err)
				return nil, fail(m.url.String(), err, "the action's endpoint gave no usable answer")
			}
			m.repeats = true
		case isRedirect(resp.Status):
			if err := m.follow(resp); err != nil {
				return nil, err
			}
		default:
			wait, again := m.retriesIn(resp)
			if !again {
				return resp, nil
			}
			if err := sleep(ctx, wait); err != nil {
				return resp, nil // the caller left while waiting: the answer stands
			}
			m.repeats = true
		}
	}
}

// renew looks again, right before anything is sent, at what it rests on: what the
// user wants and, where the same is sent once more, who may act for the site
// (section 13.4).
func (m *submission) renew(ctx context.Context) error {
	e := m.effect
	if len(m.visited) > 0 || m.repeats { // else it was settled, and since then only written down
		if err := m.session.context.refresh(ctx); err != nil {
			return err
		}
	}
	if code := m.session.revoked(e.Exchange, e.Disclosure); code != "" {
		return &lookleap.Error{Code: code, Subject: shown(m.url), Message: "the user forbade meanwhile what the call tells, so nothing more is sent"}
	}
	if !m.repeats {
		return nil
	}
	err := m.session.confirmTrust(ctx, e)
	if errors.Is(err, errIdentityLost) { // nobody is asked about it without the site: it may have arrived
		return &lookleap.Error{Code: CodeIdentityLost, Subject: shown(m.url), Message: "the site that the user was shown can no longer be verified, so nothing is sent again"}
	}
	return err
}

// withoutBody is the answer of a service that refuses or fails, where its body
// cannot be read: the status and the time to wait count all the same. Nil: err is
// about something else.
func (m *submission) withoutBody(err error) *fetch.Response {
	var exchange *fetch.Error
	if !errors.As(err, &exchange) || exchange.Status < 400 {
		return nil
	}
	answer := &fetch.Response{Status: exchange.Status, Header: http.Header{}, URL: m.url}
	answer.Received, answer.RetryAfter = m.session.now(), exchange.RetryAfter
	return answer
}

// once performs one exchange, and tells whether a connection was made.
func (m *submission) once(ctx context.Context) (*fetch.Response, bool, error) {
	limits := m.session.agent.options.Limits
	left := min(limits.Time-m.spent, maxActionTime)
	if left <= 0 {
		return nil, true, &lookleap.Error{Code: lookleap.CodeTimeout, Subject: shown(m.url), Message: "the call took too long"}
	}
	// A Fetcher that says nothing of its connections may have sent anything.
	var asked, got atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})
	begin := m.session.now()
	resp, err := fetch.Do(ctx, m.session.agent.host, &fetch.Request{
		Method: m.method, URL: m.url, Header: m.header(), Body: m.body,
		ReadBody: func(status int) bool { return !isRedirect(status) }, Plain: m.effect.Send.Plain,
		Limits: fetch.Limits{Body: limits.Document, Time: left},
	})
	m.spent += max(0, m.session.now().Sub(begin))
	return resp, got.Load() || !asked.Load(), err
}

// header is all that is set by this package: what is sent and what is wanted.
// Credentials and cookies are the Fetcher's (section 9).
func (m *submission) header() http.Header {
	h := make(http.Header)
	h.Set("Accept", m.effect.Send.accept())
	if m.contentType != "" {
		h.Set("Content-Type", m.contentType)
	}
	return h
}

// idempotent reports whether the request on its way may be sent twice.
func (m *submission) idempotent() bool {
	return safeMethod(m.method) || m.effect.Send.Idempotent
}

// again uses up the one automatic retry of a call (R61).
func (m *submission) again() bool {
	if m.retried || !m.budget.Take() {
		return false
	}
	m.retried = true
	return true
}

// retriesAfter decides about a network error (section 11.4): once at most, and
// never where the request may have arrived and must not be repeated.
func (m *submission) retriesAfter(err error, connected bool) bool {
	if !fetch.Transient(err) || connected && !m.idempotent() {
		return false
	}
	return m.again()
}

// retriesIn decides about an answer (section 11.3), and how long to wait first.
func (m *submission) retriesIn(resp *fetch.Response) (time.Duration, bool) {
	if !m.idempotent() || resp.Status < 500 && resp.Status != http.StatusTooManyRequests {
		return 0, false
	}
	limit := m.session.agent.options.Limits.RetryAfter
	wait, given := heed(resp, m.statusDocument(resp))
	switch {
	case resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable:
		if !given {
			return 0, false
		}
	default:
		wait = max(wait, serverErrorWait)
	}
	if wait > limit {
		return 0, false
	}
	return wait, m.again()
}

// follow takes a redirect of an action (section 13.4): at the same origin alone,
// a 303 with GET, 307 and 308 with the same request once, 301 and 302 for what
// only reads. A body never goes to another origin.
func (m *submission) follow(resp *fetch.Response) error {
	refuse := func(code lookleap.Code, reason string, err error) error {
		return &lookleap.Error{Code: code, Subject: shown(m.url), Message: reason, Err: &lookleap.ResponseError{Status: resp.Status, Err: err}}
	}
	to, err := fetch.Location(m.url, resp.Header, domain.Rules{})
	if err != nil {
		return refuse(lookleap.CodeOf(err), "the action's redirect is not followed", err)
	}
	if to.Origin() != m.url.Origin() {
		m.session.context.hearRemark(m.url, to.String())
		away := &RedirectError{Status: resp.Status, Target: to.String()}
		return refuse(lookleap.CodeRedirectCrossOrigin, "the action's redirect leaves its origin", away)
	}
	reads := m.method == http.MethodGet || m.method == http.MethodHead
	m.repeats = false
	switch {
	case resp.Status == http.StatusSeeOther:
		if m.method != http.MethodHead {
			m.method = http.MethodGet
		}
		m.body, m.contentType = nil, ""
	case reads:
	case resp.Status == http.StatusMovedPermanently || resp.Status == http.StatusFound:
		return refuse(lookleap.CodeRedirectForbidden, "it is left open whether the action is sent again", nil)
	case m.resent:
		return refuse(lookleap.CodeRedirectForbidden, "an action is sent again once at most", nil)
	default:
		m.resent, m.repeats = true, true
	}
	step := m.method + " " + to.String()
	if len(m.visited) == 0 {
		m.visited = append(m.visited, m.effect.Send.Method+" "+m.effect.Send.URL)
	}
	if slices.Contains(m.visited, step) || len(m.visited) > m.session.agent.options.Limits.Redirects {
		return refuse(lookleap.CodeTooManyRedirects, "the action's redirects form a loop or are too many", nil)
	}
	if !m.budget.Take() {
		return refuse(lookleap.CodeBudget, "the document's budget of automatic requests is used up", nil)
	}
	m.visited = append(m.visited, step)
	m.url = to
	return nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tellFailure tells the user that an action's endpoint could not be reached. What
// a guard refused, or whose caller left, is no failure of the service.
func (m *submission) tellFailure(err error) {
	var exchange *fetch.Error
	if fetch.Cancelled(err) || errors.Is(err, lookleap.ErrDenied) || !errors.As(err, &exchange) || exchange.Status != 0 {
		return
	}
	n := Notice{Kind: NoticeUnreachable, Code: exchange.Code, Origin: m.url.Origin(), Text: "The service could not be reached, so it is not known whether the action was done."}
	if exchange.Code == lookleap.CodeTLS || exchange.Code == lookleap.CodeTLSTooOld {
		n.Kind, n.Text = NoticeInsecure, "The service's certificate or encryption failed, so nothing was sent to it."
	}
	m.notify(n)
}
