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
		wellKnown: wellknown.NewClient(host, wellknown.Options{Limits: wellknown.Limits{Body: maxDescriptor,
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
		return nil, refusal(d.host, "a page", urlError(lookleap.CodeBadURL, "", "the page is not an https URL", err))
	}
	found, err := d.discoveries.Get(ctx, u.String(), func(ctx context.Context) (flight.Loaded[*Discovery], error) {
		found, err := d.discover(ctx, u)
		if err != nil {
			return flight.Loaded[*Discovery]{}, err
		}
		found.conclude(d.host.Time())
		return flight.Loaded[*Discovery]{Value: found, Until: found.Expires}, nil
	})
	if err != nil {
		return nil, refusal(d.host, u.Origin(), err)
	}
	return found, nil
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
		return nil, refusal(d.host, "a URI", fail(codeURIEmpty, "the URI is empty", ""))
	}
	resolve := d.resolveLocal
	if u.kind == Authority {
		resolve = d.resolve
	}
	found, err := resolve(ctx, u.sent())
	if err != nil {
		return nil, refusal(d.host, u.Redacted(), err)
	}
	return found.conclude(d.host.Time()), nil
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

// cacheUntil limits an expiry by HTTP or DNS to between minCached and maxCached from now.
func cacheUntil(now, until time.Time) time.Time {
	return now.Add(max(minCached, min(until.Sub(now), maxCached)))
}

// refusal returns an error with a verdict. Cancellation stays as it is.
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

func (d *Discoverer) discover(ctx context.Context, page domain.URL) (*Discovery, error) {
	own, err := d.document(ctx, page.Origin())
	if err != nil {
		return nil, err
	}
	e := evidence{document: own.descriptor, until: own.until}
	if err := d.readPage(ctx, page, &e); err != nil {
		return nil, err
	}
	if d.options.DNS {
		if e.dns, err = lookupBootstrap(ctx, d.host, page.Host(), d.options.Ports); err != nil {
			return nil, err
		}
		if e.dns.ttl != 0 {
			e.until = fetch.Earlier(e.until, d.host.Time().Add(e.dns.ttl))
		}
	}
	found, err := e.choose(page.Origin(), d.options.FailOnConflict)
	if err != nil {
		return nil, err
	}
	return found, d.confirm(ctx, found)
}

// readPage reads what the headers and the head of a page advertise. Only a final 200 of the same
// origin counts.
func (d *Discoverer) readPage(ctx context.Context, page domain.URL, e *evidence) error {
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
		return failOn(lookleap.CodeDNSSECBogus, page.Origin(), "the DNS answer failed validation", "", err)
	case err != nil && e.document == nil && lookleap.CodeOf(err) != lookleap.CodeRedirectForbidden:
		return failOn(CodeDiscoveryFailed, page.Origin(), "the page could not be fetched", "", err)
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
func (d *Discoverer) confirm(ctx context.Context, f *Discovery) error {
	origin, err := d.originOf(ctx, f.Endpoint)
	if err != nil || origin == "" { // an unresolvable registry name: the origin's document counts
		return err
	}
	if origin == f.DocumentOrigin {
		f.Confirmed = true
		return nil
	}
	held, err := d.document(ctx, origin)
	if err != nil {
		return err
	}
	f.Expires = fetch.Earlier(f.Expires, held.until)
	switch doc := held.descriptor; {
	case doc != nil && doc.covers(f.Endpoint):
		f.Document, f.DocumentOrigin, f.Confirmed, f.Targets = doc, origin, true, nil
		f.Findings = append(f.Findings, doc.Findings...)
		return nil
	case doc == nil && d.options.AllowThirdParty != nil && ask(ctx, d.functions,
		func() bool { return d.options.AllowThirdParty(f.Origin, f.Endpoint) }):
		return nil
	}
	return failOn(CodeAuthorityUnconfirmed, f.Endpoint.Redacted(), "the authority's own document does not name this endpoint",
		"publish it at "+origin+"/.well-known/aiip", nil)
}

// originOf returns the origin of an authority's document. It is empty for a registry name if no
// registry is configured.
func (d *Discoverer) originOf(ctx context.Context, u URI) (origin string, err error) {
	authority := u.Authority()
	origin, known := d.options.Static[authority]
	switch {
	case known:
	case strings.Contains(u.host, "."):
		origin = "https://" + u.host
	case d.options.Registry == nil:
		return "", nil
	default:
		origin, err = call(ctx, d.registry, authority, func(ctx context.Context) (string, error) {
			origin, err := d.options.Registry.AuthorityOrigin(ctx, authority)
			if err != nil {
				err = failOn(CodeUnknownAuthority, u.Redacted(), "the registry does not know the authority", "", err)
			}
			return origin, err
		})
		if err != nil {
			return "", err
		}
	}
	base, err := domain.Parse(origin)
	if err != nil {
		return "", urlError(CodeUnknownAuthority, u.Redacted(), "the authority's origin is not a public https origin", err)
	}
	return base.Origin(), nil
}

// resolve returns the discovery of a URI by the document of its authority's origin.
func (d *Discoverer) resolve(ctx context.Context, u URI) (*Discovery, error) {
	origin, err := d.originOf(ctx, u)
	if err != nil {
		return nil, err
	}
	if origin == "" {
		return nil, failOn(CodeUnknownAuthority, u.Redacted(), "the authority is a registry name, but no registry is configured", "", nil)
	}
	held, err := d.document(ctx, origin)
	if err != nil {
		return nil, err
	}
	if doc := held.descriptor; doc != nil && doc.covers(u) {
		return doc.discovery(SourceWellKnown, origin, held.until), nil
	}
	return nil, failOn(CodeAuthorityUnconfirmed, u.Redacted(), "the authority's document does not name this endpoint", "", nil)
}
