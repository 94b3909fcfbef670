package aiuri

import (
	"context"
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/wellknown"
)

// After a failure the next request to the origin is made as its Retry-After says, within
// minWait and maxWait. While the server fails, an expired copy is used for maxStale, or for
// as long as its stale-if-error says.
const (
	minWait  = time.Minute
	maxWait  = 5 * time.Minute
	maxStale = time.Hour
)

// cachedDocument is the document of an origin, or its absence.
type cachedDocument struct {
	descriptor *Descriptor // nil: the origin has no document
	until      time.Time   // when it is fetched again
	usable     time.Time   // until when it is used if it cannot be fetched again
}

// memory returns about how many bytes the document takes.
func (c *cachedDocument) memory() int {
	if c.descriptor == nil {
		return 0
	}
	return c.descriptor.memory
}

// document returns the document of an origin, or its absence. It is cached by origin whatever the
// server says about storing, so that many calls cause one exchange.
func (d *Discoverer) document(ctx context.Context, origin string) (*cachedDocument, error) {
	return d.documents.Get(ctx, origin, func(ctx context.Context) (flight.Loaded[*cachedDocument], error) {
		before, _ := d.documents.Peek(origin)
		d.wellKnown.Forget(origin, "aiip") // how long a failure is cached is decided here
		r, err := d.wellKnown.Fetch(ctx, origin, "aiip")
		if err != nil {
			// A Memo does not keep that all callers left.
			return flight.Loaded[*cachedDocument]{Err: err, Until: d.host.Time().Add(minWait)}, nil
		}
		got, err := d.judgeDocument(ctx, r)
		now := d.host.Time()
		if err == nil {
			return flight.Loaded[*cachedDocument]{Value: got, Until: got.until}, nil
		}
		again := now.Add(max(minWait, min(r.RetryAfter, maxWait)))
		_, passes := lookleap.Retryable(&lookleap.Error{Code: r.Code}) // it says nothing about the document
		if good := before.Value; good != nil && passes && now.Before(good.usable) {
			return flight.Loaded[*cachedDocument]{Value: good.stale(again), Until: again}, nil
		}
		return flight.Loaded[*cachedDocument]{Err: err, Until: again}, nil
	})
}

// stale returns a copy with a finding that it has expired, to use until the next attempt.
func (c *cachedDocument) stale(again time.Time) *cachedDocument {
	expired := &cachedDocument{c.descriptor, again, c.usable}
	isStale := func(f lookleap.Finding) bool { return f.Code == lookleap.CodeStale }
	if c.descriptor != nil && !slices.ContainsFunc(c.descriptor.Findings, isStale) {
		descriptor := *c.descriptor
		descriptor.Findings = append(slices.Clone(descriptor.Findings), warning(lookleap.CodeStale, "AIU-3.1-23",
			"the document has expired and could not be fetched again, so the last good copy is used", ""))
		expired.descriptor = &descriptor
	}
	return expired
}

// judgeDocument returns the document that a response has, or the absence that it shows.
func (d *Discoverer) judgeDocument(ctx context.Context, r *wellknown.Resource) (*cachedDocument, error) {
	failed := func(code lookleap.Code, message string) (*cachedDocument, error) {
		return nil, failOn(code, r.URL, message, "", &lookleap.VerifyError{Verdict: r.Verdict})
	}
	until := cacheUntil(r.Fetched, r.Expires)
	switch {
	case r.State == wellknown.Absent && (r.Status == http.StatusNotFound || r.Status == http.StatusGone || r.Code == lookleap.CodeSoft404):
		return &cachedDocument{until: until}, nil
	case r.Code == lookleap.CodeTooLarge:
		return failed(CodeBadDocument, "the document is larger than its limit")
	case r.Code == lookleap.CodeRedirectCrossOrigin || r.Code == lookleap.CodeNotHTTPS:
		return failed(lookleap.CodeRedirectCrossOrigin, "the document redirects to another origin")
	case r.Code == lookleap.CodeDNSSECBogus || r.Code == lookleap.CodeTLS || r.Code == lookleap.CodeTLSTooOld:
		return failed(r.Code, "the origin could not be authenticated")
	case r.State != wellknown.Present:
		return failed(CodeDiscoveryFailed, "the document could not be fetched")
	case r.MediaType != "application/json" && !strings.HasSuffix(r.MediaType, "+json"):
		return failed(CodeDiscoveryFailed, "the document is not JSON")
	case len(r.Verdict.Checks) == 0 || !authenticated(r.Verdict.Checks[0].Evidence):
		return failed(CodeUnauthenticated, "the fetcher did not report a TLS 1.3 connection to the origin")
	}
	doc, err := ParseDescriptor(r.Body, r.Origin, d.options.KeyOrigins...)
	if bad, ok := err.(*lookleap.Error); ok {
		bad.Subject = r.URL
		return nil, bad
	}
	if err := d.compareWithLastPolicy(ctx, r.Origin, doc); err != nil {
		return nil, err
	}
	return &cachedDocument{doc, until, until.Add(r.StaleUse(maxStale, maxCached))}, nil
}

// authenticated reports whether the evidence shows a TLS 1.3 connection, which the draft
// requires. The development mode has none, and says so in each verdict.
func authenticated(e []lookleap.Evidence) bool {
	return len(e) > 0 && (e[0].Route == lookleap.RouteDevelopment || e[0].Address != "" && e[0].TLS == tls.VersionName(tls.VersionTLS13))
}

// compareWithLastPolicy returns an error if a policy is weaker than the last one of its
// origin (section 3.2) and AcceptWeaker does not accept it.
func (d *Discoverer) compareWithLastPolicy(ctx context.Context, origin string, doc *Descriptor) error {
	before, seen := d.lastPolicies.Get(origin)
	accept := d.options.AcceptWeaker
	if seen && doc.Policy.weakerThan(before) && (accept == nil ||
		!ask(ctx, d.functions, func() bool { return accept(origin, before, doc.Policy) })) {
		e := failOn(CodePolicyDowngrade, origin, "the policy requires less than before", "", nil)
		d.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: e.Code, Subject: origin,
			Finding: &lookleap.Finding{Severity: lookleap.SeverityError, Code: e.Code, Requirement: "AIU-3.1-23", Message: e.Message}})
		return e
	}
	d.lastPolicies.Add(origin, doc.Policy)
	return nil
}
