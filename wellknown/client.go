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
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Limits bound what a [Client] does. A zero field takes its default.
type Limits struct {
	Body      int           // bytes of a document after decompression; default 1 MiB
	Time      time.Duration // for one document, redirects included; default 10 s
	Redirects int           // redirects followed; default 5
	PerMinute int           // requests for documents to one host in a minute; default 30
	Entries   int           // results kept in memory; default 1024
	Memory    int           // bytes of results kept in memory; default 32 MiB
}

// withDefaults sets the defaults that are not those of package fetch.
func (l Limits) withDefaults() Limits {
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
	minAbsentFor   = 5 * time.Minute
	maxKeptFor     = 24 * time.Hour
	defaultKeptFor = time.Hour
	defaultOutage  = time.Minute // of an unavailable document without Retry-After
	maxOutage      = 5 * time.Minute
	staleFor       = time.Hour // how long an expired document replaces an unavailable one
)

// Options configure a [Client]. The zero value uses the built-in registry and the
// default limits.
type Options struct {
	Registry *Registry // nil: Builtin()
	Limits   Limits

	// AllowCrossOriginRedirect follows redirects to other https origins. The
	// result still speaks for the origin that was asked; its verdict reports the
	// redirect.
	AllowCrossOriginRedirect bool
	// StrictMedia treats a document with another media type than its registry
	// entry's as unavailable; otherwise the media type is only a finding.
	StrictMedia bool
}

// Client fetches the well-known documents of origins and caches the results,
// absences included. Concurrent calls for one document share one exchange. A Client
// sends no credentials and may be used from several goroutines at once.
type Client struct {
	host      *lookleap.Host
	options   Options
	limits    Limits
	documents *flight.Memo[string, *Resource] // by URL
}

// NewClient returns a client that fetches through a host. Without a host, Fetch returns
// an error with [lookleap.CodeUsage].
func NewClient(host *lookleap.Host, options Options) *Client {
	c := &Client{host: host, options: options, limits: options.Limits.withDefaults()}
	if c.options.Registry == nil {
		c.options.Registry = Builtin()
	}
	c.documents = flight.NewSizedMemo(c.limits.Entries, c.limits.Memory, sizeOf, host.Time)
	return c
}

// Fetch fetches the document of a name, followed by the segments of rest, from an
// origin. It returns absent, forbidden and unavailable documents as results. It
// returns an error if no request was sent: a [*lookleap.Error] for a bad name or
// origin, the error of ctx, or a [*lookleap.VerifyError] that wraps
// [lookleap.ErrDenied] if a guard or the rate limit refused the request.
//
// The path, query and fragment of origin are ignored. Its port may be any: naming it
// is the explicit statement that section 3 demands.
func (c *Client) Fetch(ctx context.Context, origin, name string, rest ...string) (*Resource, error) {
	uri, err := c.documentURL(origin, name, rest)
	if err != nil {
		return nil, err
	}
	return c.documents.Get(ctx, uri.String(), func(ctx context.Context) (flight.Loaded[*Resource], error) {
		return c.load(ctx, uri, c.options.Registry.Lookup(name))
	})
}

// Forget removes an origin's document from the cache.
func (c *Client) Forget(origin, name string, rest ...string) {
	if uri, err := c.documentURL(origin, name, rest); err == nil {
		c.documents.Invalidate(uri.String())
	}
}

func (c *Client) documentURL(origin, name string, rest []string) (domain.URL, error) {
	if c == nil || c.host == nil {
		return domain.URL{}, newError(lookleap.CodeUsage, origin, "the client has no host", "make it with NewClient")
	}
	base, err := parseOrigin(origin)
	if err != nil {
		return domain.URL{}, err
	}
	switch base.Scheme() {
	case "https":
	case "http":
		return domain.URL{}, newError(codeInsecureScheme, origin, "documents are fetched over https only", "use https")
	default:
		return domain.URL{}, newError(CodeSchemeNotFetchable, origin, "documents of this scheme are not fetched over HTTP", "")
	}
	text, err := c.options.Registry.URLOn(origin, name, rest...)
	if err != nil {
		return domain.URL{}, err
	}
	return domain.Parse(text)
}

// load fetches a document once. The result is cached until it expires.
func (c *Client) load(ctx context.Context, uri domain.URL, entry Entry) (flight.Loaded[*Resource], error) {
	var none flight.Loaded[*Resource]
	asked, err := c.host.Wait(ctx, retryKey(uri), lookleap.Rate{})
	if err == nil && asked > 0 { // another process was asked to come back later
		result := c.judge(uri, entry, nil, &fetch.Error{RetryAfter: asked, Err: &lookleap.Error{Code: lookleap.CodeUnavailable,
			Subject: uri.String(), Message: "the server asked to come back later"}})
		return flight.Loaded[*Resource]{Value: result, Until: result.Expires}, nil
	}
	wait := asked
	if err == nil {
		wait, err = c.host.Take(ctx, "wellknown probes "+uri.Host(), lookleap.Rate{Limit: c.limits.PerMinute, Window: time.Minute})
	}
	switch {
	case fetch.Cancelled(err):
		return none, err
	case err != nil:
		return none, c.denied(uri, lookleap.CodeOf(err), err)
	case wait > 0:
		return none, c.denied(uri, CodeProbeRate, lookleap.ErrDenied)
	}
	redirect := stayAtOrigin
	if c.options.AllowCrossOriginRedirect {
		redirect = fetch.Anywhere
	}
	accept := "*/*"
	if len(entry.MediaTypes) > 0 {
		accept = strings.Join(entry.MediaTypes, ", ")
	}
	resp, err := fetch.Do(ctx, c.host, &fetch.Request{
		URL:      uri,
		Header:   http.Header{"Accept": {accept}},
		Redirect: redirect,
		Limits:   fetch.Limits{Body: c.limits.Body, Time: c.limits.Time, Hops: max(c.limits.Redirects, 0)},
	})
	if fetch.Cancelled(err) {
		return none, err
	}
	if errors.Is(err, lookleap.ErrDenied) {
		return none, c.denied(uri, lookleap.CodeOf(err), err)
	}
	result := c.judge(uri, entry, resp, err)
	if result.RetryAfter > 0 {
		if err := c.host.Hold(ctx, retryKey(uri), min(result.RetryAfter, maxOutage)); err != nil {
			c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: uri.String(), Err: err})
		}
	}
	if err == nil && resp.Status >= 500 || fetch.Transient(err) {
		earlier, _ := c.documents.Peek(uri.String())
		if r := earlier.Value; r != nil && r.State == Present && result.Fetched.Before(r.staleUntil) {
			result = r.insteadOf(result)
		}
	}
	return flight.Loaded[*Resource]{Value: result, Until: result.Expires}, nil
}

// retryKey is the key of the time after which a document may be requested again.
func retryKey(uri domain.URL) string { return "wellknown retry " + uri.String() }

// stayAtOrigin refuses redirects to other origins, which cannot speak for this one.
func stayAtOrigin(h fetch.Hop) error {
	if h.SameOrigin() {
		return nil
	}
	return newError(lookleap.CodeRedirectCrossOrigin, h.To.Origin()+h.To.Path(), "the redirect leaves the origin", "")
}

// denied returns the error for a request that a guard or the rate limit refused.
func (c *Client) denied(uri domain.URL, code lookleap.Code, err error) error {
	return &lookleap.VerifyError{Err: err, Verdict: &lookleap.Verdict{
		Document: Spec, Subject: uri.String(), Code: code, Summary: code.Title(), CheckedAt: c.host.Time(),
		Checks: []lookleap.Check{{Requirement: "WK-4-01", Code: code, Status: lookleap.Failed, Message: code.Title()}},
	}}
}

// judge returns the result of an exchange.
func (c *Client) judge(uri domain.URL, entry Entry, resp *fetch.Response, err error) *Resource {
	r := &Resource{Code: lookleap.CodeUnavailable, Origin: uri.Origin(), URL: uri.String(), Fetched: c.host.Time()}
	if entry.Status == Unregistered {
		r.finding(lookleap.SeverityInfo, codeUnregisteredName, "WK-3-07",
			"the name "+plaintext.Quote(entry.Name, 100)+" is not in the registry", "")
	}
	if uri.Path() != Prefix+entry.Name && entry.Status != Unregistered && !entry.HasPath {
		r.finding(lookleap.SeverityWarning, CodeExtraPath, "WK-3-15", noPathBelow(entry.Name), "fetch the name itself")
	}
	if err != nil { // no usable response
		r.Code = lookleap.CodeOf(err)
		if failed := new(fetch.Error); errors.As(err, &failed) {
			r.Status, r.MediaType, r.RetryAfter = failed.Status, failed.MediaType, failed.RetryAfter
		}
		r.Expires = r.expiry(nil)
		return r.conclude(lookleap.Evidence{URL: r.URL, Status: r.Status, MediaType: r.MediaType, Text: err.Error()})
	}
	r.FinalURL = resp.URL.String()
	r.Status = resp.Status
	r.MediaType = resp.MediaType
	r.Header = resp.Header
	r.CrossOrigin = resp.URL.Origin() != uri.Origin()
	switch status := resp.Status; {
	case status == http.StatusOK:
		c.judgeMedia(r, entry, resp)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		r.State, r.Code = Forbidden, lookleap.CodeForbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		r.State, r.Code = Absent, CodeAbsent
	case status == http.StatusTooManyRequests, status < 400, status >= 500:
		r.Code, r.RetryAfter = lookleap.CodeUnavailable, resp.RetryAfter
	default:
		r.State, r.Code = Absent, CodeAbsent
		r.finding(lookleap.SeverityWarning, lookleap.CodeBadStatus, "WK-3-19",
			fmt.Sprintf("the server answered %d, so the document counts as absent", status), "answer 404 for documents that do not exist")
	}
	r.Expires = r.expiry(&resp.Freshness)
	r.control = resp.Freshness.CacheControl
	r.staleUntil = r.Expires.Add(r.StaleUse(staleFor, staleFor))
	return r.conclude(resp.Evidence())
}

// judgeMedia judges a complete response with status 200 by its media type.
func (c *Client) judgeMedia(r *Resource, entry Entry, resp *fetch.Response) {
	r.State, r.Code = Present, lookleap.CodeOK
	switch {
	case len(entry.MediaTypes) == 0, slices.Contains(entry.MediaTypes, resp.MediaType):
	case resp.MediaType == "text/html", resp.MediaType == "application/xhtml+xml":
		r.State, r.Code = Absent, lookleap.CodeSoft404
		r.finding(lookleap.SeverityWarning, lookleap.CodeSoft404, "WK-3-20",
			"the server answered with a web page instead of the document", "answer 404 for documents that do not exist")
	case c.options.StrictMedia:
		r.State, r.Code = Unavailable, lookleap.CodeMediaType
	default:
		r.finding(lookleap.SeverityWarning, lookleap.CodeMediaType, "WK-4.2-03",
			"the media type is "+plaintext.Quote(resp.MediaType, 100), "serve it as "+entry.MediaTypes[0])
	}
	if r.State == Present {
		r.Body = resp.Body
	}
}

// expiry returns until when the result is cached.
func (r *Resource) expiry(fresh *fetch.Freshness) time.Time {
	switch {
	case r.RetryAfter > 0:
		return r.Fetched.Add(min(r.RetryAfter, maxOutage))
	case r.State == Unavailable:
		return r.Fetched.Add(defaultOutage)
	case r.State != Present:
		return fresh.Until(minAbsentFor, maxKeptFor, defaultKeptFor)
	case fresh.NoStore:
		return r.Fetched
	}
	return fresh.Until(0, maxKeptFor, defaultKeptFor)
}
