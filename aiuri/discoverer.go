package aiuri

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/weblink"
	"github.com/lookleap/lookleap/wellknown"
)

// Discoveries are cached as long as HTTP or DNS says, within these bounds. The draft says
// nothing about it.
const (
	minCached = 5 * time.Minute
	maxCached = 24 * time.Hour
)

// After a failure the next request to the origin is made as its Retry-After says, within
// minWait and maxWait. While the server fails, an expired copy is used for maxStale, or for
// as long as its stale-if-error says.
const (
	minWait  = time.Minute
	maxWait  = 5 * time.Minute
	maxStale = time.Hour
)

// Registry resolves authorities that are not DNS names. The draft names a root registry but
// no protocol for it, so none is built in.
type Registry interface {
	// AuthorityOrigin returns the https origin whose document is authoritative for a
	// registry name. It returns an error if the name is unknown or the lookup fails.
	AuthorityOrigin(ctx context.Context, authority string) (origin string, err error)
}

// DiscovererOptions configure a [Discoverer]. The zero value uses only HTTPS, and accepts an
// endpoint only if its own authority confirms it.
type DiscovererOptions struct {
	DNS            bool     // also look up bootstrap records with the host's resolver
	Ports          []uint16 // ports that SRV records may name; empty: 443
	FailOnConflict bool     // return an error if advertisements disagree
	KeyOrigins     []string // https origins, besides the document's own, that may serve keys

	// Static maps authorities, in lower case, to the https origins whose documents are
	// authoritative for them.
	Static   map[string]string
	Registry Registry // resolves registry names that are not in Static; may be nil
	// Local resolves URIs without authority on this device or system. Nil: refused.
	Local LocalResolver

	// AllowThirdParty reports whether to accept an endpoint that only origin advertises,
	// because its authority is a DNS name without a document. Nil: refused.
	AllowThirdParty func(origin string, endpoint URI) bool
	// AcceptWeaker reports whether to accept a policy that requires less than the last
	// one of the same origin. Nil: refused.
	AcceptWeaker func(origin string, before, after EndpointPolicy) bool
}

// What a Discoverer caches: discoveries, documents and policies. A weaker policy is not noticed if
// the last one was evicted.
const (
	maxEntries      = 1024
	discoveryMemory = 32 << 20 // bytes
)

// Discoverer finds endpoints and caches what it found. It is safe for concurrent use.
// Concurrent callers with the same question share one exchange.
type Discoverer struct {
	host         *lookleap.Host
	options      DiscovererOptions
	wellKnown    *wellknown.Client
	documents    *flight.Memo[string, *cachedDocument] // by origin
	discoveries  *flight.Memo[string, *Discovery]      // by page
	lastPolicies *lru.Cache[string, EndpointPolicy]    // the last one of each origin; never expires
	registry     *part
	local        *part
	functions    *part // of the options
}

// NewDiscoverer returns a Discoverer that fetches through host. If host is nil, every
// discovery returns an error.
func NewDiscoverer(host *lookleap.Host, o DiscovererOptions) *Discoverer {
	if host == nil {
		return &Discoverer{}
	}
	policies, _ := lru.New[string, EndpointPolicy](maxEntries) // only a size below 1 is an error
	return &Discoverer{
		host: host, options: o,
		wellKnown: wellknown.NewClient(host, wellknown.Options{Limits: wellknown.Limits{Body: MaxDescriptor,
			Redirects: 3, Entries: maxEntries, Memory: discoveryMemory / 4}}),
		documents: flight.NewSizedMemo(maxEntries, discoveryMemory/4,
			func(origin string, c *cachedDocument) int { return len(origin) + c.memory() }, host.Time),
		discoveries: flight.NewSizedMemo(maxEntries, discoveryMemory/2,
			func(page string, f *Discovery) int { return len(page) + f.memory() }, host.Time),
		lastPolicies: policies,
		registry:     newPart("the registry", CodeUnknownAuthority, lookupWait),
		local:        newPart("the local resolver", CodeUnknownLocal, lookupWait),
		functions:    newPart("a function of the options", CodeNotAuthorized, lookupWait),
	}
}

// Discover finds the endpoint that an https page or origin advertises (section 3.1). It
// fetches the origin's document and the page, and the document of the endpoint's authority
// if that is another DNS name. With DiscovererOptions.DNS it also looks up DNS records. A
// refusal is a [*lookleap.VerifyError]. If the origin's document cannot be fetched, that is
// a refusal too: weaker advertisements are not used instead.
func (d *Discoverer) Discover(ctx context.Context, page string) (*Discovery, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	u, err := domain.Parse(page)
	if err != nil {
		return nil, d.refuse("a page", urlError(lookleap.CodeBadURL, "", "the page is not an https URL", err))
	}
	return d.cached(ctx, u.Origin(), u.String(), func(ctx context.Context) (*Discovery, time.Time, error) { return d.discover(ctx, u) })
}

// Resolve finds the document of an ai: URI's authority without a page: through
// DiscovererOptions.Static, at the authority itself if it is a DNS name, or through the
// Registry. An unknown registry name is an error with the code unknown-authority; it is
// never looked up in the DNS. A URI without authority is resolved by
// DiscovererOptions.Local.
func (d *Discoverer) Resolve(ctx context.Context, u URI) (*Discovery, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	if u.IsZero() {
		return nil, d.refuse("a URI", fail(CodeURIEmpty, "the URI is empty", ""))
	}
	u = u.Normalize().WithoutFragment()
	if !u.HasAuthority() {
		found, err := d.resolveLocal(ctx, u)
		if err != nil {
			return nil, d.refuse(u.Redacted(), err)
		}
		return found, nil
	}
	origin, err := d.originOf(ctx, u)
	if err != nil {
		return nil, d.refuse(u.Redacted(), err)
	}
	found, until, err := d.resolve(ctx, u, origin)
	if err != nil {
		return nil, d.refuse(u.Redacted(), err)
	}
	return found.conclude(d.host.Time(), until), nil
}

// ready returns an error if the Discoverer was not made with NewDiscoverer and a host.
func (d *Discoverer) ready() error {
	if d == nil || d.host == nil {
		return fail(lookleap.CodeUsage, "the Discoverer is nil, zero or without a host", "make it with NewDiscoverer and a host")
	}
	return nil
}

// Purge removes an https origin from the cache: its document, its last policy, and all
// discoveries. Any spelling of the origin is accepted.
func (d *Discoverer) Purge(origin string) {
	if d.ready() != nil {
		return
	}
	u, _ := domain.Parse(origin) // nothing is cached for a text that is not an https URL
	d.documents.Invalidate(u.Origin())
	d.lastPolicies.Remove(u.Origin())
	d.discoveries.Purge() // discoveries may rest on several origins
}

// cached returns a discovery from the cache, or the result of find.
func (d *Discoverer) cached(ctx context.Context, subject, key string, find func(context.Context) (*Discovery, time.Time, error)) (*Discovery, error) {
	found, err := d.discoveries.Get(ctx, key, func(ctx context.Context) (flight.Loaded[*Discovery], error) {
		found, until, err := find(ctx)
		if err != nil {
			return flight.Loaded[*Discovery]{}, err
		}
		found.conclude(d.host.Time(), until)
		return flight.Loaded[*Discovery]{Value: found, Until: found.Expires}, nil
	})
	if err != nil {
		return nil, d.refuse(subject, err)
	}
	return found, nil
}

// conclude sets the expiry and the verdict of a discovery.
func (f *Discovery) conclude(now, until time.Time) *Discovery {
	f.Expires = cacheUntil(now, until)
	f.Verdict = f.verdict(now)
	return f
}

// cacheUntil limits an expiry by HTTP or DNS to between minCached and maxCached from now.
func cacheUntil(now, until time.Time) time.Time {
	return now.Add(max(minCached, min(until.Sub(now), maxCached)))
}

// verdict returns the checks and findings of a discovery.
func (f *Discovery) verdict(now time.Time) *lookleap.Verdict {
	v := &lookleap.Verdict{Document: Draft, Subject: f.Origin + " for " + f.Endpoint.Redacted(), OK: true,
		Code: lookleap.CodeOK, CheckedAt: now, Expires: f.Expires, Findings: f.Findings, Checks: make([]lookleap.Check, 0, 3)}
	check := func(requirement string, ok bool, yes, no string) {
		c := lookleap.Check{Requirement: requirement, Code: lookleap.CodeOK, Status: lookleap.Passed, Message: yes}
		if !ok {
			c.Status, c.Code, c.Message = lookleap.Noted, CodeNoTrustAnchor, no
		}
		v.Checks = append(v.Checks, c)
	}
	if f.System != "" {
		check("AIU-2-04", true, "the host's local resolver names the endpoint, at "+f.System, "")
	} else {
		check("AIU-3.1-17", true, "the endpoint is advertised by "+string(f.Source), "")
		check("AIU-3.1-21", f.Confirmed, "the authority's own document confirms it", "only the origin names it, not its own authority")
	}
	check("AIU-3.1-18", f.Verifiable(), "results can be verified with the keys of "+f.DocumentOrigin,
		"no document names keys to verify results with")
	v.Summary = "the endpoint was found"
	if !f.Verifiable() {
		v.Summary += ", but its results cannot be verified"
	}
	return v
}

// refuse returns an error with a verdict. Cancellation stays as it is.
func (d *Discoverer) refuse(subject string, err error) error { return refusal(d.host, subject, err) }

func refusal(host *lookleap.Host, subject string, err error) error {
	if _, ok := err.(*lookleap.VerifyError); ok || lookleap.CodeOf(err) == lookleap.CodeCancelled {
		return err
	}
	code := lookleap.CodeOf(err)
	summary := code.Title()
	var own *lookleap.Error
	if errors.As(err, &own) {
		summary = own.Message
	}
	return &lookleap.VerifyError{Err: err, Verdict: &lookleap.Verdict{
		Document: Draft, Subject: subject, Code: code, Summary: summary, CheckedAt: host.Time(),
		Checks: []lookleap.Check{{Code: code, Status: lookleap.Failed, Message: code.Title()}},
	}}
}

func (d *Discoverer) discover(ctx context.Context, page domain.URL) (*Discovery, time.Time, error) {
	origin := page.Origin()
	e := &evidence{}
	document, until, err := d.document(ctx, origin)
	if err != nil {
		return nil, until, err
	}
	e.document = document
	if err := d.page(ctx, page, e); err != nil {
		return nil, until, err
	}
	if d.options.DNS {
		if e.dns, err = lookupBootstrap(ctx, d.host, page.Host(), d.options.Ports); err != nil {
			return nil, until, err
		}
		if e.dns.failed {
			until = earlier(until, d.host.Time()) // cached for minCached
		}
		if e.dns.ttl != 0 {
			until = earlier(until, d.host.Time().Add(e.dns.ttl))
		}
	}
	found, err := chooseEndpoint(origin, e, d.options.FailOnConflict)
	if err != nil {
		return nil, until, err
	}
	confirmedUntil, err := d.confirm(ctx, found)
	return found, earlier(until, confirmedUntil), err
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// page reads what the headers and the head of a page advertise. Only a final 200 of the same
// origin counts.
func (d *Discoverer) page(ctx context.Context, page domain.URL, e *evidence) error {
	var head []byte // the rest of the page is not read
	resp, err := fetch.Do(ctx, d.host, &fetch.Request{
		URL: page, Header: http.Header{"Accept": {"text/html, */*;q=0.1"}}, Redirect: fetch.SameOrigin,
		Limits: fetch.Limits{Body: 1 << 30, Hops: 3},
		Stream: func(_ *fetch.Response, body io.Reader) (err error) {
			head, err = io.ReadAll(io.LimitReader(body, maxHead))
			return err
		},
	})
	switch {
	case fetch.Cancelled(err):
		return err
	case errors.Is(err, lookleap.ErrBogus):
		return &lookleap.Error{Code: lookleap.CodeDNSSECBogus, Subject: page.Origin(),
			Message: "the DNS answer failed validation", Err: err}
	case err != nil && e.document == nil && lookleap.CodeOf(err) != lookleap.CodeRedirectForbidden:
		return &lookleap.Error{Code: CodeDiscoveryFailed, Subject: page.Origin(), Message: "the page could not be fetched", Err: err}
	case err != nil || !resp.OK():
		return nil // the document is enough, or the page advertises nothing
	}
	e.links = targets(weblink.ParseHeader(resp.Header.Values("Link")), resp.URL)
	if resp.MediaType == "text/html" || resp.MediaType == "application/xhtml+xml" {
		e.elements = ElementTargets(head)
	}
	return nil
}

// confirm fetches the document of the endpoint's own authority, if its origin is known, and
// takes keys and policy from there: any page can advertise any endpoint.
func (d *Discoverer) confirm(ctx context.Context, f *Discovery) (time.Time, error) {
	if !d.hasKnownOrigin(f.Endpoint) {
		return time.Time{}, nil // an unresolvable registry name: the origin's document counts
	}
	origin, err := d.originOf(ctx, f.Endpoint)
	if err != nil {
		return time.Time{}, err
	}
	base, err := domain.Parse(origin)
	if err != nil {
		return time.Time{}, urlError(CodeUnknownAuthority, f.Endpoint.Redacted(),
			"the authority's origin is not a public https origin", err)
	}
	origin = base.Origin()
	if origin == f.DocumentOrigin {
		f.Confirmed = true
		return time.Time{}, nil
	}
	doc, until, err := d.document(ctx, origin)
	switch {
	case err != nil:
		return until, err
	case doc != nil && doc.covers(f.Endpoint):
		f.Document = doc
		f.DocumentOrigin = origin
		f.Confirmed = true
		f.Targets = nil
		f.Findings = append(f.Findings, doc.Findings...)
		return until, nil
	case doc == nil && d.options.AllowThirdParty != nil && ask(ctx, d.functions,
		func() bool { return d.options.AllowThirdParty(f.Origin, f.Endpoint) }):
		return until, nil
	}
	return until, &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: f.Endpoint.Redacted(),
		Message: "the authority's own document does not name this endpoint", Fix: "publish it at " + origin + "/.well-known/aiip"}
}

// hasKnownOrigin reports whether the origin of an authority's document can be found.
func (d *Discoverer) hasKnownOrigin(u URI) bool {
	_, static := d.options.Static[u.Authority()]
	return static || d.options.Registry != nil || strings.Contains(u.Host(), ".")
}

// originOf returns the origin of an authority's document.
func (d *Discoverer) originOf(ctx context.Context, u URI) (string, error) {
	if origin, ok := d.options.Static[u.Authority()]; ok {
		return origin, nil
	}
	if strings.Contains(u.Host(), ".") {
		return "https://" + u.Host(), nil
	}
	if d.options.Registry != nil {
		return call(ctx, d.registry, u.Authority(), func(ctx context.Context) (string, error) {
			origin, err := d.options.Registry.AuthorityOrigin(ctx, u.Authority())
			if err != nil {
				err = &lookleap.Error{Code: CodeUnknownAuthority, Subject: u.Redacted(),
					Message: "the registry does not know the authority", Err: err}
			}
			return origin, err
		})
	}
	return "", &lookleap.Error{Code: CodeUnknownAuthority, Subject: u.Redacted(),
		Message: "the authority is a registry name, but no registry is configured"}
}

// resolve returns the discovery of a URI by the document of its authority's origin.
func (d *Discoverer) resolve(ctx context.Context, u URI, origin string) (*Discovery, time.Time, error) {
	base, err := domain.Parse(origin)
	if err != nil {
		return nil, time.Time{}, urlError(CodeUnknownAuthority, u.Redacted(), "the authority's origin is not a public https origin", err)
	}
	doc, until, err := d.document(ctx, base.Origin())
	switch {
	case err != nil:
		return nil, until, err
	case doc == nil || !doc.covers(u):
		return nil, until, &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: u.Redacted(),
			Message: "the authority's document does not name this endpoint"}
	}
	return &Discovery{
		Origin: base.Origin(), Endpoint: doc.Endpoint, Source: SourceWellKnown, Candidates: []Candidate{{SourceWellKnown, doc.Endpoint}},
		Document: doc, DocumentOrigin: base.Origin(), Confirmed: true, Findings: doc.Findings,
	}, until, nil
}
