package agent

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

// actionRequest is the request of a call. If Response is set, its body is written later, when
// it is known what may be disclosed.
type actionRequest struct {
	Method      string        `json:"method"`
	Endpoint    string        `json:"endpoint"` // resolved
	URL         string        `json:"url"`      // the endpoint, with the arguments of methods without a body
	Reach       endpointReach `json:"reach"`
	Plain       bool          `json:"plain,omitempty"` // http
	ContentType string        `json:"contentType,omitempty"`
	Body        []byte        `json:"body,omitempty"`
	Response    bool          `json:"response,omitempty"` // the body is the agent response of the disclosure
	Format      anml.Format   `json:"format"`             // sent and requested
	Expects     string        `json:"expects,omitempty"`  // media type of the response, if the action states it
	Idempotent  bool          `json:"idempotent,omitempty"`
	Says        string        `json:"says,omitempty"` // description of the action: untrusted
}

// key identifies the action for the gate, without arguments.
func (s *actionRequest) key() string { return s.Method + " " + s.Endpoint }

// place returns the endpoint for errors, without its query.
func (s *actionRequest) place() string { return withoutQuery(s.Endpoint) }

func (s *actionRequest) origin() string {
	u, err := endpointRules.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Origin()
}

// accept returns the Accept header field: the media type that the action states (section
// 8.6.4), then documents, then problem details (section 11.3).
func (s *actionRequest) accept() string {
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

// namedType returns the media type that a document states, "" if it is malformed.
func namedType(said string) string {
	mediaType, _, err := mime.ParseMediaType(said)
	if err != nil || !strings.Contains(mediaType, "/") {
		return ""
	}
	return mediaType
}

// maxMediaType is the longest media type, in bytes (RFC 6838 section 4.2).
const maxMediaType = 255

// serverErrorWait is the shortest wait between a server error and the automatic retry
// (section 11.3).
const serverErrorWait = 5 * time.Second

// maxActionTime bounds one request of an action. Limits.Time bounds the whole call.
const maxActionTime = 10 * time.Second

// RedirectError reports a redirect of an action to another origin. It is not followed:
// the user must confirm a new call (section 13.4).
type RedirectError struct {
	Status int
	Target string // canonical URL, for a new call; Error leaves out its query, which may hold data of the user
}

func (e *RedirectError) Error() string {
	return "the redirect leads to " + quote(withoutQuery(zero.Or(e).Target))
}

// ReasonCode returns [lookleap.CodeRedirectCrossOrigin].
func (e *RedirectError) ReasonCode() lookleap.Code { return lookleap.CodeRedirectCrossOrigin }

// submission sends one call: at most one automatic retry, and the permitted redirects.
type submission struct {
	session *Session
	effect  *effect
	budget  *fetch.Budget // of automatic requests; retries and redirects count (section 13.7)

	method      string
	url         domain.URL
	contentType string
	body        []byte
	key         string // Idempotency-Key

	sent    bool // a connection was made: the service may have received a request
	retried bool
	resent  bool // a body was sent again, after 307 or 308
	repeats bool // the next request repeats an earlier one
	visited []string
	spent   time.Duration // in requests, without waits
}

// run sends the request, retries and follows redirects, and returns the final response.
func (m *submission) run(ctx context.Context) (*fetch.Response, error) {
	for {
		if err := m.renew(ctx); err != nil {
			return nil, err
		}
		resp, arrived, err := m.once(ctx)
		m.sent = m.sent || arrived
		if exchange, ok := errors.AsType[*fetch.Error](err); ok && exchange.Status >= 400 {
			// The service refused or failed, and only its body could not be read: status and Retry-After count.
			resp, err = &fetch.Response{Status: exchange.Status, Header: http.Header{}, URL: m.url}, nil
			resp.Received, resp.RetryAfter = m.session.now(), exchange.RetryAfter
		}
		switch {
		case err != nil:
			if gone := ended(ctx, m.url.WithoutQuery()); gone != nil {
				return nil, gone
			}
			// It is repeated once (section 11.4), and never if it may have arrived and must not be.
			if !fetch.Transient(err) || arrived && !m.idempotent() || !m.again() {
				m.tellFailure(ctx, err)
				return nil, fail(m.url.String(), err, "the action's endpoint gave no usable answer")
			}
			m.repeats = true
		case fetch.IsRedirect(resp.Status):
			if err := m.follow(resp); err != nil {
				return nil, err
			}
		default:
			wait, again := m.retriesIn(resp)
			if !again {
				return resp, nil
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return resp, nil // the caller left while waiting: return the response
			}
			m.repeats = true
		}
	}
}

// renew checks again, right before a request, that the user still permits it. For a
// repeated request it also verifies again who may act for the site (section 13.4).
func (m *submission) renew(ctx context.Context) error {
	e := m.effect
	if len(m.visited) > 0 || m.repeats { // for the first request this was just decided
		if err := m.session.context.refresh(ctx); err != nil {
			return err
		}
	}
	if code := m.session.revoked(e); code != "" {
		return &lookleap.Error{Code: code, Subject: m.url.WithoutQuery(),
			Message: "the user has forbidden the disclosure meanwhile, so nothing more is sent"}
	}
	if !m.repeats {
		return nil
	}
	err := m.session.confirmTrust(ctx, e)
	if errors.Is(err, errIdentityLost) { // do not ask again without the site: the first request may have arrived
		return &lookleap.Error{Code: CodeIdentityLost, Subject: m.url.WithoutQuery(),
			Message: "the site that the user was shown can no longer be verified, so nothing is sent again"}
	}
	return err
}

// once performs one exchange, and reports whether the request may have arrived.
func (m *submission) once(ctx context.Context) (*fetch.Response, bool, error) {
	limits := m.session.agent.options.Limits
	left := min(limits.Time-m.spent, maxActionTime)
	if left <= 0 {
		return nil, true, &lookleap.Error{Code: lookleap.CodeTimeout, Subject: m.url.WithoutQuery(), Message: "the call took too long"}
	}
	begin := m.session.now()
	resp, err := fetch.Do(ctx, m.session.agent.host, &fetch.Request{
		Method: m.method, URL: m.url, Header: m.header(), Body: m.body,
		ReadBody: func(status int) bool { return !fetch.IsRedirect(status) }, Plain: m.effect.Send.Plain,
		Limits: fetch.Limits{Body: limits.Document, Time: left},
	})
	m.spent += max(0, m.session.now().Sub(begin))
	return resp, fetch.MayHaveArrived(err), err
}

// header returns the header fields that this package sets. Credentials and cookies are
// the Fetcher's (section 9).
func (m *submission) header() http.Header {
	h := make(http.Header)
	h.Set("Accept", m.effect.Send.accept())
	if m.contentType != "" {
		h.Set("Content-Type", m.contentType)
	}
	if !safeMethod(m.method) { // so that the service can refuse to do a plan twice
		h.Set(lookleap.IdempotencyHeader, m.key)
	}
	return h
}

// idempotent reports whether the current request may be sent twice.
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

// retriesIn reports whether to retry after a response, and how long to wait before
// (section 11.3).
func (m *submission) retriesIn(resp *fetch.Response) (time.Duration, bool) {
	if !m.idempotent() || resp.Status < 500 && resp.Status != http.StatusTooManyRequests {
		return 0, false
	}
	wait := heed(resp, m.statusDocument(resp))
	if resp.Status != http.StatusTooManyRequests && resp.Status != http.StatusServiceUnavailable {
		wait = max(wait, serverErrorWait)
	}
	if wait <= 0 || wait > maxRetryWait { // it has to say how long
		return 0, false
	}
	return wait, m.again()
}

// follow follows a redirect of an action within its origin (section 13.4): 303 with GET,
// 307 and 308 with the same request once, 301 and 302 only for GET and HEAD. A body is
// never sent to another origin.
func (m *submission) follow(resp *fetch.Response) error {
	refuse := func(code lookleap.Code, reason string, err error) error {
		return &lookleap.Error{Code: code, Subject: m.url.WithoutQuery(), Message: reason,
			Err: &lookleap.ResponseError{Status: resp.Status, Err: err}}
	}
	to, err := fetch.Location(m.url, resp.Header, domain.Rules{})
	if err != nil {
		return refuse(lookleap.CodeOf(err), "the action's redirect is not followed", err)
	}
	if to.Origin() != m.url.Origin() {
		m.session.context.recordText(m.url, to.String())
		away := &RedirectError{Status: resp.Status, Target: to.String()}
		return refuse(lookleap.CodeRedirectCrossOrigin, "the action's redirect leaves its origin", away)
	}
	reads := m.method == http.MethodGet || m.method == http.MethodHead
	m.session.context.recordLocation(m.url, "", to)
	m.repeats = false
	switch {
	case resp.Status == http.StatusSeeOther:
		if m.method != http.MethodHead {
			m.method = http.MethodGet
		}
		m.body, m.contentType = nil, ""
	case reads:
	case resp.Status == http.StatusMovedPermanently || resp.Status == http.StatusFound:
		return refuse(lookleap.CodeRedirectForbidden, "the redirect does not say whether to send the action again", nil)
	case m.resent:
		return refuse(lookleap.CodeRedirectForbidden, "an action is sent again at most once", nil)
	default:
		m.resent, m.repeats = true, true
	}
	step := m.method + " " + to.String()
	if len(m.visited) == 0 {
		m.visited = append(m.visited, m.effect.Send.Method+" "+m.effect.Send.URL)
	}
	if slices.Contains(m.visited, step) || len(m.visited) > maxRedirects {
		return refuse(lookleap.CodeTooManyRedirects, "the action's redirects form a loop or are too many", nil)
	}
	if !m.budget.Take() {
		return refuse(lookleap.CodeBudget, "the document's budget of automatic requests is used up", nil)
	}
	m.visited = append(m.visited, step)
	m.url = to
	return nil
}

// tellFailure notifies the user that an action's endpoint could not be reached. It is
// silent if a guard refused the request.
func (m *submission) tellFailure(ctx context.Context, err error) {
	exchange, ok := errors.AsType[*fetch.Error](err)
	if errors.Is(err, lookleap.ErrDenied) || !ok || exchange.Status != 0 {
		return
	}
	n := Notice{Kind: NoticeUnreachable, Code: exchange.Code, Origin: m.url.Origin(),
		Text: "The service could not be reached, so it is not known whether the action was done."}
	if exchange.Code == lookleap.CodeTLS || exchange.Code == lookleap.CodeTLSTooOld {
		n.Kind, n.Text = NoticeInsecure, "The service's certificate or encryption failed, so nothing was sent to it."
	}
	m.session.notices.tell(ctx, n)
}
