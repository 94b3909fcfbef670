package wellknown

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// Limits bound what a [Client] does. A zero field takes its default.
type Limits struct {
	Body      int           // octets of a document after decompression; 1 MiB
	Time      time.Duration // for one document, redirects included; 10 s
	Redirects int           // followed; 5
	PerMinute int           // documents asked of one host in a minute; 30
	Entries   int           // results kept in memory; 1024
	Memory    int           // bytes of results kept in memory; 32 MiB
}

func (l Limits) withDefaults() Limits {
	if l.Body <= 0 {
		l.Body = MaxDocument
	}
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	if l.Redirects <= 0 {
		l.Redirects = 5
	}
	if l.PerMinute <= 0 {
		l.PerMinute = 30
	}
	if l.Entries <= 0 {
		l.Entries = 1024
	}
	if l.Memory <= 0 {
		l.Memory = 32 << 20
	}
	return l
}

// How long results are kept (section 4.3 asks that probing not flood servers).
const (
	leastAbsent   = 5 * time.Minute
	mostKept      = 24 * time.Hour
	defaultKept   = time.Hour
	defaultOutage = time.Minute // an unavailable document without Retry-After
	mostOutage    = 5 * time.Minute
	staleFor      = time.Hour // after its end a document stands in for one that is unavailable
)

// Options are the choices of [NewClient].
type Options struct {
	Registry *Registry // nil: Builtin()
	Limits   Limits

	// AllowCrossOriginRedirect follows redirects to other https origins. The
	// result still speaks for the origin that was asked, and says so.
	AllowCrossOriginRedirect bool
	// StrictMedia refuses a document whose media type is not one of its entry's;
	// otherwise that is a finding.
	StrictMedia bool
}

// Client asks origins for their documents, one exchange a question however many
// callers ask, and remembers the answers for a while, absences included. It
// carries no credentials and stores nothing for an origin beyond its answers.
type Client struct {
	host     *lookleap.Host
	options  Options
	registry *Registry
	limits   Limits
	memo     *flight.Memo[string, *Resource]
	rate     *rate
}

// NewClient builds a client on a host.
func NewClient(host *lookleap.Host, o Options) *Client {
	c := &Client{host: host, options: o, registry: o.Registry, limits: o.Limits.withDefaults()}
	if c.registry == nil {
		c.registry = Builtin()
	}
	c.memo = flight.NewSizedMemo(c.limits.Entries, c.limits.Memory, sizeOf, host.Time)
	c.rate = newRate(c.limits.PerMinute, c.limits.Entries)
	return c
}

// Fetch asks an origin for the document of a name. Absent, forbidden and
// unavailable documents are results, not errors; an error means that nothing
// was asked (an [*Error]: bad-name, insecure-scheme, scheme-not-fetchable …), that
// the caller left, or that a guard forbade it (a [*lookleap.VerifyError] that
// wraps [lookleap.ErrDenied]).
//
// The path, query and fragment of origin are ignored, and its port is the
// explicit one that section 3 demands.
func (c *Client) Fetch(ctx context.Context, origin, name string, rest ...string) (*Resource, error) {
	uri, err := c.uri(origin, name, rest)
	if err != nil {
		return nil, err
	}
	return c.memo.Get(ctx, uri.String(), func(ctx context.Context) (flight.Loaded[*Resource], error) {
		return c.load(ctx, uri, c.registry.Lookup(name))
	})
}

// Forget drops what is remembered of an origin's document.
func (c *Client) Forget(origin, name string, rest ...string) {
	if uri, err := c.uri(origin, name, rest); err == nil {
		c.memo.Invalidate(uri.String())
	}
}

func (c *Client) uri(origin, name string, rest []string) (domain.URL, error) {
	if c == nil || c.host == nil || c.memo == nil {
		return domain.URL{}, &Error{Code: lookleap.CodeUsage, Input: origin, Reason: "the client has no host", Fix: "make it with NewClient"}
	}
	base, err := parseOrigin(origin)
	if err != nil {
		return domain.URL{}, err
	}
	switch base.Scheme() {
	case "https":
	case "http":
		return domain.URL{}, &Error{Code: CodeInsecureScheme, Input: origin, Reason: "documents are fetched over https only", Fix: "use https"}
	default:
		return domain.URL{}, &Error{Code: CodeSchemeNotFetchable, Input: origin, Reason: "documents of this scheme are for clients of its own protocol"}
	}
	text, err := c.registry.URLOn(origin, name, rest...)
	if err != nil {
		return domain.URL{}, err
	}
	return domain.Parse(text)
}

// load asks once. What it gives is kept until the result expires.
func (c *Client) load(ctx context.Context, uri domain.URL, entry Entry) (flight.Loaded[*Resource], error) {
	none := flight.Loaded[*Resource]{}
	if !c.rate.take(uri.Host(), c.host.Time()) {
		return none, c.refuse(uri, CodeProbeRate, lookleap.ErrDenied)
	}
	redirect := stayAtOrigin
	if c.options.AllowCrossOriginRedirect {
		redirect = fetch.Anywhere
	}
	resp, err := fetch.Do(ctx, c.host, &fetch.Request{
		URL:      uri,
		Header:   http.Header{"Accept": {accept(entry)}},
		Redirect: redirect,
		Limits:   fetch.Limits{Body: c.limits.Body, Time: c.limits.Time, Hops: c.limits.Redirects},
	})
	if fetch.Cancelled(err) {
		return none, err
	}
	if errors.Is(err, lookleap.ErrDenied) {
		return none, c.refuse(uri, lookleap.CodeOf(err), err)
	}
	result := c.judge(uri, entry, resp, err)
	if result.State == Unavailable && (err == nil && resp.Status >= 500 || fetch.Transient(err)) {
		if held, _ := c.memo.Peek(uri.String()); held.Value != nil && held.Value.State == Present && result.Fetched.Before(held.Value.staleUntil) {
			result = held.Value.standIn(result)
		}
	}
	return flight.Loaded[*Resource]{Value: result, Until: result.Expires}, nil
}

// stayAtOrigin is the rule for redirects: metadata speaks for its origin, so
// another origin cannot give it.
func stayAtOrigin(h fetch.Hop) error {
	if h.SameOrigin() {
		return nil
	}
	return &Error{Code: lookleap.CodeRedirectCrossOrigin, Input: h.To.Origin() + h.To.Path(), Reason: "the redirect leaves the origin"}
}

func accept(entry Entry) string {
	if len(entry.MediaTypes) == 0 {
		return "*/*"
	}
	return strings.Join(entry.MediaTypes, ", ")
}

// refuse is a guard's no: nothing is known of the document.
func (c *Client) refuse(uri domain.URL, code lookleap.Code, err error) error {
	return &lookleap.VerifyError{Err: err, Verdict: &lookleap.Verdict{
		Document: Spec, Subject: uri.String(), Code: code, Summary: code.Title(), CheckedAt: c.host.Time(),
		Checks: []lookleap.Check{{Requirement: "WK-4-01", Code: code, Status: lookleap.Failed, Message: code.Title()}},
	}}
}

// judge decides what an exchange says of the document.
func (c *Client) judge(uri domain.URL, entry Entry, resp *fetch.Response, err error) *Resource {
	r := &Resource{Code: lookleap.CodeUnavailable, Origin: uri.Origin(), URL: uri.String(), Fetched: c.host.Time()}
	if entry.Status == Unregistered {
		r.finding(lookleap.SeverityInfo, CodeUnregisteredName, "WK-3-07", fmt.Sprintf("the name %q is not in the registry", entry.Name), "")
	}
	if uri.Path() != Prefix+entry.Name && entry.Status != Unregistered && !entry.HasPath {
		r.finding(lookleap.SeverityWarning, CodeExtraPath, "WK-3-15", noPathBelow(entry.Name), "ask for the name itself")
	}
	if err != nil {
		return c.failed(r, err)
	}
	r.FinalURL, r.Status, r.MediaType, r.Header = resp.URL.String(), resp.Status, resp.MediaType, resp.Header
	r.CrossOrigin = resp.URL.Origin() != uri.Origin()
	switch status := resp.Status; {
	case status == http.StatusOK:
		c.present(r, entry, resp)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		r.State, r.Code = Forbidden, lookleap.CodeForbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		r.State, r.Code = Absent, CodeAbsent
	case status == http.StatusTooManyRequests, status < 400, status >= 500:
		r.Code, r.RetryAfter = lookleap.CodeUnavailable, resp.RetryAfter
	default:
		r.State, r.Code = Absent, CodeAbsent
		r.finding(lookleap.SeverityWarning, lookleap.CodeBadStatus, "WK-3-19", fmt.Sprintf("the server answered %d, which is read as absent", status), "answer 404 for what does not exist")
	}
	r.Expires = c.until(r, &resp.Freshness)
	if r.State == Present && !resp.Freshness.NoStore && !resp.Freshness.NoCache {
		r.staleUntil = r.Expires.Add(staleFor)
	}
	return r.conclude(resp.Evidence())
}

// failed is an exchange without a usable answer.
func (c *Client) failed(r *Resource, err error) *Resource {
	r.Code = lookleap.CodeOf(err)
	var e *fetch.Error
	if errors.As(err, &e) {
		r.Status, r.MediaType, r.RetryAfter = e.Status, e.MediaType, e.RetryAfter
	}
	r.Expires = c.until(r, nil)
	return r.conclude(lookleap.Evidence{URL: r.URL, Status: r.Status, MediaType: r.MediaType, Text: err.Error()})
}

// present judges a complete answer with status 200 by its media type.
func (c *Client) present(r *Resource, entry Entry, resp *fetch.Response) {
	r.State, r.Code = Present, lookleap.CodeOK
	switch {
	case len(entry.MediaTypes) == 0, slices.Contains(entry.MediaTypes, resp.MediaType):
	case isHTML(resp.MediaType):
		r.State, r.Code = Absent, lookleap.CodeSoft404
		r.finding(lookleap.SeverityWarning, lookleap.CodeSoft404, "WK-3-20", "the server answers with a page where the document should be", "answer 404 for what does not exist")
	case c.options.StrictMedia:
		r.State, r.Code = Unavailable, lookleap.CodeMediaType
	default:
		r.finding(lookleap.SeverityWarning, lookleap.CodeMediaType, "WK-4.2-03", fmt.Sprintf("the media type is %q", resp.MediaType), "serve it as "+entry.MediaTypes[0])
	}
	if r.State == Present {
		r.Body = resp.Body
	}
}

func isHTML(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// until is how long the result is served from memory.
func (c *Client) until(r *Resource, fresh *fetch.Freshness) time.Time {
	switch {
	case r.State == Unavailable && r.RetryAfter > 0:
		return r.Fetched.Add(min(r.RetryAfter, mostOutage))
	case r.State == Unavailable:
		return r.Fetched.Add(defaultOutage)
	case r.State != Present:
		return fresh.Until(leastAbsent, mostKept, defaultKept)
	case fresh.NoStore:
		return r.Fetched
	}
	return fresh.Until(0, mostKept, defaultKept)
}
