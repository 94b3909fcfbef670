package aiuri

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/wellknown"
)

// heldDocument is what an origin's document was found to be.
type heldDocument struct {
	descriptor *Descriptor // nil: the origin has none
	until      time.Time   // when it is read again
	usable     time.Time   // until when it counts if it cannot be read again
}

// failedDocument is an origin that could not be asked.
type failedDocument struct {
	error
	wait      time.Duration // until it is worth asking again; 0: not known
	transient bool          // the failure says nothing about the document
}

func (f *failedDocument) Unwrap() error { return f.error }

// document returns an origin's document, nil where it has none, and when it is read
// again. It is read once for all callers, and kept by origin whatever the server says
// about storing, so that a thousand calls cause one exchange.
func (d *Discoverer) document(ctx context.Context, origin string) (*Descriptor, time.Time, error) {
	held, err := d.held.Get(ctx, origin, func(ctx context.Context) (flight.Loaded[*heldDocument], error) {
		before, _ := d.held.Peek(origin)
		got, err := d.read(ctx, origin)
		now := d.host.Time()
		switch {
		case err == nil:
			return flight.Loaded[*heldDocument]{Value: got, Until: got.until}, nil
		case ctx.Err() != nil || fetch.Cancelled(err):
			return flight.Loaded[*heldDocument]{}, err
		}
		var failed *failedDocument
		if !errors.As(err, &failed) {
			failed = &failedDocument{error: err}
		}
		again := now.Add(max(leastWait, min(failed.wait, mostWait)))
		if good := before.Value; good != nil && failed.transient && now.Before(good.usable) {
			return flight.Loaded[*heldDocument]{Value: good.stale(again), Until: again}, nil
		}
		return flight.Loaded[*heldDocument]{Err: failed.error, Until: again}, nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return held.descriptor, held.until, nil
}

// stale returns a copy that is used until the origin is asked again.
func (h *heldDocument) stale(again time.Time) *heldDocument {
	own := *h
	own.until = again
	if own.descriptor != nil && !slices.ContainsFunc(own.descriptor.Findings, isStale) {
		descriptor := *own.descriptor
		descriptor.Findings = append(slices.Clone(descriptor.Findings), lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeStale, Requirement: "AIU-3.1-23",
			Message: "the document has expired and could not be read again, so the last good copy is used"})
		own.descriptor = &descriptor
	}
	return &own
}

func isStale(f lookleap.Finding) bool { return f.Code == lookleap.CodeStale }

// read asks an origin for its document.
func (d *Discoverer) read(ctx context.Context, origin string) (*heldDocument, error) {
	d.documents.Forget(origin, "aiip") // how long a failure is remembered is decided here
	r, err := d.documents.Fetch(ctx, origin, "aiip")
	if err != nil {
		return nil, err
	}
	failed := func(code lookleap.Code, reason string) (*heldDocument, error) {
		err := &Error{Code: code, Subject: r.URL, Reason: reason, Err: &lookleap.VerifyError{Verdict: r.Verdict}}
		return nil, &failedDocument{error: err, wait: r.RetryAfter, transient: r.State == wellknown.Unavailable && mayPass(r.Code)}
	}
	switch {
	case r.State == wellknown.Absent && (r.Status == http.StatusNotFound || r.Status == http.StatusGone || r.Code == lookleap.CodeSoft404):
		return &heldDocument{until: keptUntil(r.Fetched, r.Expires)}, nil
	case r.Code == lookleap.CodeTooLarge:
		return failed(CodeBadDocument, "the document is larger than its limit")
	case r.Code == lookleap.CodeRedirectCrossOrigin || r.Code == lookleap.CodeNotHTTPS:
		return failed(lookleap.CodeRedirectCrossOrigin, "the document redirects to another origin")
	case r.Code == lookleap.CodeDNSSECBogus || r.Code == lookleap.CodeTLS || r.Code == lookleap.CodeTLSTooOld:
		return failed(r.Code, "the origin could not be authenticated")
	case r.State != wellknown.Present:
		return failed(CodeDiscoveryFailed, "the document could not be had, which is no absence")
	case r.MediaType != "application/json" && !strings.HasSuffix(r.MediaType, "+json"):
		return failed(CodeDiscoveryFailed, "the document is no JSON")
	case len(r.Verdict.Checks) == 0 || !authenticated(r.Verdict.Checks[0].Evidence):
		return failed(CodeUnauthenticated, "the fetcher did not report a TLS 1.3 connection to the origin")
	}
	doc, err := ParseDescriptor(r.Body, r.Origin, d.options.KeyOrigins...)
	if err != nil {
		var bad *Error
		if errors.As(err, &bad) {
			bad.Subject = r.URL
		}
		return nil, err
	}
	if err := d.holdPolicy(ctx, r.Origin, doc); err != nil {
		return nil, err
	}
	until := keptUntil(r.Fetched, r.Expires)
	return &heldDocument{doc, until, until.Add(fetch.ParseCacheControl(r.Header).StaleUse(staleUse, mostKept))}, nil
}

// mayPass reports whether a failure is one of the moment: the server or the way to it,
// and neither a refusal nor what the document says.
func mayPass(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeUnavailable, lookleap.CodeRateLimited, lookleap.CodeTimeout, lookleap.CodeTooSlow, lookleap.CodeUnreachable,
		lookleap.CodeConnRefused, lookleap.CodeConnReset, lookleap.CodeTruncated, lookleap.CodeDNSError:
		return true
	}
	return false
}

// authenticated reports whether an exchange's connection was reported, with the
// TLS version that everything of this draft needs.
func authenticated(e []lookleap.Evidence) bool {
	return len(e) > 0 && e[0].Address != "" && e[0].TLS == tls.VersionName(tls.VersionTLS13)
}

// holdPolicy compares a policy with the last one of its origin (section 3.2).
func (d *Discoverer) holdPolicy(ctx context.Context, origin string, doc *Descriptor) error {
	before, seen := d.policies.Get(origin)
	accept := d.options.AcceptWeaker
	if seen && doc.Policy.WeakerThan(before) && (accept == nil || !d.accepts(ctx, func() bool { return accept(origin, before, doc.Policy) })) {
		e := &Error{Code: CodePolicyDowngrade, Subject: origin, Reason: "the policy demands less than it did before"}
		d.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: e.Code, Subject: origin,
			Finding: &lookleap.Finding{Severity: lookleap.SeverityError, Code: e.Code, Requirement: "AIU-3.1-23", Message: e.Reason}})
		return e
	}
	d.policies.Add(origin, doc.Policy)
	return nil
}
