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

// How long discoveries are kept (the draft says nothing): as long as HTTP or DNS
// says, within these bounds.
const (
	minCached = 5 * time.Minute
	maxCached = 24 * time.Hour
)

// After a failure the origin is asked again as soon as its Retry-After says, within
// these bounds. Until then, and for as long as the server fails, a good copy is used
// that expired maxStale ago at most, or as long ago as its stale-if-error says.
const (
	minWait  = time.Minute
	maxWait  = 5 * time.Minute
	maxStale = time.Hour
)

// Registry knows the authorities that are no DNS names. The draft names a root
// registry and no way to ask it, so none is built in.
type Registry interface {
	// AuthorityOrigin gives the https origin whose document speaks for a registry
	// name. An error means that the name is unknown or could not be found out.
	AuthorityOrigin(ctx context.Context, authority string) (origin string, err error)
}

// DiscovererOptions are the choices of [NewDiscoverer]. The zero value asks over
// HTTPS alone and believes nobody about somebody else.
type DiscovererOptions struct {
	DNS            bool     // ask the host's resolver for bootstrap records too
	Ports          []uint16 // that targets of SRV records may have; empty: 443
	FailOnConflict bool     // disagreeing advertisements are an error
	KeyOrigins     []string // https origins beside the document's own where keys may lie

	// Static maps authorities, in lower case, to the https origins whose documents
	// speak for them.
	Static   map[string]string
	Registry Registry // asked for registry names that Static does not have; nil: unknown

	// AllowThirdParty accepts an endpoint whose authority is a DNS name without a
	// document, on the word of the origin alone. Nil: refused.
	AllowThirdParty func(origin string, endpoint URI) bool
	// AcceptWeaker accepts a policy that demands less than the last one seen of the
	// same origin. Nil: refused.
	AcceptWeaker func(origin string, before, after EndpointPolicy) bool

	// Entries is the number of discoveries, documents and policies that are cached; 0:
	// 1024. A policy that was evicted is not compared with a weaker one.
	Entries int
	Memory  int // bytes of discoveries and documents that are cached; 0: DefaultDiscoveryMemory
}

// DefaultDiscoveryMemory is the number of bytes that a [Discoverer] caches.
const DefaultDiscoveryMemory = 32 << 20

// Discoverer finds endpoints. It may be used from several goroutines at once; a
// thousand callers with one question cause one exchange of each kind.
type Discoverer struct {
	host         *lookleap.Host
	options      DiscovererOptions
	wellKnown    *wellknown.Client
	documents    *flight.Memo[string, *cachedDocument] // by origin
	discoveries  *flight.Memo[string, *Discovery]      // by page
	lastPolicies *lru.Cache[string, EndpointPolicy]    // the last one seen of each origin, whatever the clock says
	registry     plugin
	callbacks    plugin
}

// NewDiscoverer builds a Discoverer on a host. Without a host every discovery is an error.
func NewDiscoverer(host *lookleap.Host, o DiscovererOptions) *Discoverer {
	if host == nil {
		return &Discoverer{}
	}
	if o.Entries <= 0 {
		o.Entries = 1024
	}
	if o.Memory <= 0 {
		o.Memory = DefaultDiscoveryMemory
	}
	policies, _ := lru.New[string, EndpointPolicy](o.Entries) // only a size below 1 is an error
	return &Discoverer{
		host: host, options: o,
		wellKnown:    wellknown.NewClient(host, wellknown.Options{Limits: wellknown.Limits{Body: MaxDescriptor, Redirects: 3, Entries: o.Entries, Memory: o.Memory / 4}}),
		documents:    flight.NewSizedMemo(o.Entries, o.Memory/4, func(origin string, c *cachedDocument) int { return len(origin) + c.memory() }, host.Time),
		discoveries:  flight.NewSizedMemo(o.Entries, o.Memory/2, func(page string, f *Discovery) int { return len(page) + f.memory() }, host.Time),
		lastPolicies: policies,
		registry:     plugin{"the registry", CodeUnknownAuthority, newCallLimit(0)},
		callbacks:    plugin{"a function of the options", CodeNotAuthorized, newCallLimit(0)},
	}
}

// Discover finds the endpoint that an https page or origin advertises (section
// 3.1). It asks for the origin's document and the page, for the document of the
// endpoint's authority where that is another DNS name, and for DNS records if the
// options say so. Every refusal is a [*lookleap.VerifyError]; a document that
// could not be had is one too, and no reason to believe weaker advertisements.
func (d *Discoverer) Discover(ctx context.Context, page string) (*Discovery, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	u, err := domain.Parse(page)
	if err != nil {
		return nil, d.refuse("a page", urlError(lookleap.CodeBadURL, "", "the page is not an https URL", err))
	}
	return d.remember(ctx, u.Origin(), u.String(), func(ctx context.Context) (*Discovery, time.Time, error) { return d.discover(ctx, u) })
}

// Resolve finds the document of an ai: URI's authority without any page: by the
// static map, at the authority itself where it is a DNS name, or by the registry.
// A registry name that nobody knows is unknown-authority; the DNS is never asked
// for it.
func (d *Discoverer) Resolve(ctx context.Context, u URI) (*Discovery, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	if !u.HasAuthority() {
		return nil, d.refuse(u.Redacted(), &lookleap.Error{Code: CodeNoAuthority, Message: "the URI has no authority"})
	}
	u = u.Normalize().WithoutFragment()
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

// ready reports whether NewDiscoverer made the Discoverer, on a host.
func (d *Discoverer) ready() error {
	if d == nil || d.host == nil {
		return fail(lookleap.CodeUsage, "the Discoverer is nil, zero or without a host", "make it with NewDiscoverer and a host")
	}
	return nil
}

// Purge drops everything that is kept about an https origin, however it is
// spelled: its document, the policy that it must not fall below, and discoveries.
func (d *Discoverer) Purge(origin string) {
	if d.ready() != nil {
		return
	}
	if u, err := domain.Parse(origin); err == nil {
		origin = u.Origin()
	}
	d.documents.Invalidate(origin)
	d.lastPolicies.Remove(origin)
	d.discoveries.Purge() // discoveries may rest on several origins
}

func (d *Discoverer) remember(ctx context.Context, subject, key string, find func(context.Context) (*Discovery, time.Time, error)) (*Discovery, error) {
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

// conclude says how long a discovery is kept, and what it rests on.
func (f *Discovery) conclude(now, until time.Time) *Discovery {
	f.Expires = cacheUntil(now, until)
	f.Verdict = f.verdict(now)
	return f
}

// cacheUntil brings the end of what HTTP or DNS allows within its bounds.
func cacheUntil(now, until time.Time) time.Time {
	return now.Add(max(minCached, min(until.Sub(now), maxCached)))
}

// verdict tells the story of a discovery.
func (f *Discovery) verdict(now time.Time) *lookleap.Verdict {
	v := &lookleap.Verdict{Document: Draft, Subject: f.Origin + " for " + f.Endpoint.Redacted(), OK: true, Code: lookleap.CodeOK, CheckedAt: now, Expires: f.Expires, Findings: f.Findings}
	check := func(requirement string, ok bool, yes, no string) {
		c := lookleap.Check{Requirement: requirement, Code: lookleap.CodeOK, Status: lookleap.Passed, Message: yes}
		if !ok {
			c.Status, c.Code, c.Message = lookleap.Noted, CodeNoTrustAnchor, no
		}
		v.Checks = append(v.Checks, c)
	}
	check("AIU-3.1-17", true, "the endpoint is advertised by "+string(f.Source), "")
	check("AIU-3.1-21", f.Confirmed, "the authority's own document confirms it", "it is believed on the word of the origin alone")
	check("AIU-3.1-18", f.Verifiable(), "results can be verified by the keys of "+f.DocumentOrigin, "nobody says by which keys results can be verified")
	v.Summary = "the endpoint was found"
	if !f.Verifiable() {
		v.Summary += ", but its results cannot be verified"
	}
	return v
}

// refuse states an error as a verdict. The caller's own end stays what it is.
func (d *Discoverer) refuse(subject string, err error) error { return refusal(d.host, subject, err) }

func refusal(host *lookleap.Host, subject string, err error) error {
	if _, told := err.(*lookleap.VerifyError); told || lookleap.CodeOf(err) == lookleap.CodeCancelled {
		return err
	}
	code, reason := lookleap.CodeOf(err), "it could not be found out"
	var own *lookleap.Error
	if errors.As(err, &own) {
		reason = own.Message
	}
	return &lookleap.VerifyError{Err: err, Verdict: &lookleap.Verdict{
		Document: Draft, Subject: subject, Code: code, Summary: reason, CheckedAt: host.Time(),
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
			until = earlier(until, d.host.Time()) // kept for the least time only
		}
		if e.dns.ttl > 0 {
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

// page reads what a page's header and head advertise. Only a final 200 of the
// origin asked counts.
func (d *Discoverer) page(ctx context.Context, page domain.URL, e *evidence) error {
	var head []byte // however large the page is, and if it has no end
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
		return &lookleap.Error{Code: lookleap.CodeDNSSECBogus, Subject: page.Origin(), Message: "the DNS answer failed validation", Err: err}
	case err != nil && e.document == nil && lookleap.CodeOf(err) != lookleap.CodeRedirectForbidden:
		return &lookleap.Error{Code: CodeDiscoveryFailed, Subject: page.Origin(), Message: "the page could not be had", Err: err}
	case err != nil || !resp.OK():
		return nil // the document says enough, or the page advertises nothing
	}
	e.links = targets(weblink.ParseHeader(resp.Header.Values("Link")), resp.URL)
	if resp.MediaType == "text/html" || resp.MediaType == "application/xhtml+xml" {
		e.elements = ElementTargets(head)
	}
	return nil
}

// confirm asks the endpoint's authority, where it is a DNS name or one that the
// host knows, for its own document, and takes keys and policy from there. Anyone can advertise anything.
func (d *Discoverer) confirm(ctx context.Context, f *Discovery) (time.Time, error) {
	if !d.hasKnownOrigin(f.Endpoint) {
		return time.Time{}, nil // a registry name that nobody resolves: its keys count via this origin
	}
	origin, err := d.originOf(ctx, f.Endpoint)
	if err != nil {
		return time.Time{}, err
	}
	base, err := domain.Parse(origin)
	if err != nil {
		return time.Time{}, urlError(CodeUnknownAuthority, f.Endpoint.Redacted(), "the authority's origin is not a public https origin", err)
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
		f.Document, f.DocumentOrigin, f.Confirmed, f.Targets = doc, origin, true, nil
		f.Findings = append(f.Findings, doc.Findings...)
		return until, nil
	case doc == nil && d.options.AllowThirdParty != nil && d.accepts(ctx, func() bool { return d.options.AllowThirdParty(f.Origin, f.Endpoint) }):
		return until, nil
	}
	return until, &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: f.Endpoint.Redacted(), Message: "the authority's own document does not name this endpoint", Fix: "publish it at " + origin + "/.well-known/aiip"}
}

// hasKnownOrigin reports whether there is a way to find out whose document speaks for
// an authority.
func (d *Discoverer) hasKnownOrigin(u URI) bool {
	_, static := d.options.Static[u.Authority()]
	return static || d.options.Registry != nil || strings.Contains(u.Host(), ".")
}

// originOf tells whose document speaks for an authority.
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
			if err != nil && ctx.Err() == nil {
				err = &lookleap.Error{Code: CodeUnknownAuthority, Subject: u.Redacted(), Message: "the registry does not know the authority", Err: err}
			}
			return origin, err
		})
	}
	return "", &lookleap.Error{Code: CodeUnknownAuthority, Subject: u.Redacted(), Message: "the authority is a registry name and no registry is configured"}
}

// accepts asks a function of the options, which says no by a panic or by not returning.
func (d *Discoverer) accepts(ctx context.Context, f func() bool) bool {
	ok, err := call(ctx, d.callbacks, "", func(context.Context) (bool, error) { return f(), nil })
	return ok && err == nil
}

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
		return nil, until, &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: u.Redacted(), Message: "the authority's document does not name this endpoint"}
	}
	return &Discovery{
		Origin: base.Origin(), Endpoint: doc.Endpoint, Source: SourceWellKnown, Candidates: []Candidate{{SourceWellKnown, doc.Endpoint}},
		Document: doc, DocumentOrigin: base.Origin(), Confirmed: true, Findings: doc.Findings,
	}, until, nil
}
