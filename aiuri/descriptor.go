package aiuri

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/wellknown"
)

// MaxDescriptor is the number of bytes that a well-known document may have.
const MaxDescriptor = 64 << 10

// AuthOAuth2 is the only value of [EndpointPolicy.Auth] in the draft.
const AuthOAuth2 = "oauth2"

// Descriptor is the document at /.well-known/aiip (section 3.1). Keys and policy are taken
// only from it. Do not change a Descriptor that was parsed: callers share it.
type Descriptor struct {
	Endpoint URI                        // with authority
	JWKS     string                     // canonical https URL of the keys; "": results cannot be verified
	Scopes   []string                   // the scopes that a call may request
	Policy   EndpointPolicy             // RequireSignedResults is true if the document does not set it
	Extra    map[string]json.RawMessage // members that the draft does not define
	Findings []lookleap.Finding         // deviations from the draft that are not errors

	memory int // about how many bytes it takes
}

// EndpointPolicy is what the endpoint requires. Results must always be signed (section 3.4),
// whatever the document says.
type EndpointPolicy struct {
	Auth string `json:"auth,omitempty"` // AuthOAuth2, or "" if the document does not set it
	MTLS bool   `json:"mtls"`           // a client certificate is required
	// RequireSignedResults is what the document says, and true by default.
	RequireSignedResults bool `json:"requireSignedResults"`
}

// WeakerThan reports whether p requires less than an earlier policy did.
func (p EndpointPolicy) WeakerThan(before EndpointPolicy) bool {
	return before.Auth != "" && p.Auth == "" || before.MTLS && !p.MTLS || before.RequireSignedResults && !p.RequireSignedResults
}

// ParseDescriptor parses the document of an origin. The URL of its keys must be at that
// origin or at one of allowedKeyOrigins. Errors are a [*lookleap.Error] with the code
// bad-document, jwks-origin or policy-unsupported.
func ParseDescriptor(data []byte, origin string, allowedKeyOrigins ...string) (*Descriptor, error) {
	v, marked, err := strictjson.ParsePublished(data, strictjson.Limits{Size: MaxDescriptor, Depth: 16})
	if err == nil {
		_, err = v.Need("endpoint")
	}
	if err != nil {
		return nil, jsonError(CodeBadDocument, err)
	}
	d := &Descriptor{Policy: EndpointPolicy{RequireSignedResults: true}, memory: parsedMemory(data)}
	if marked {
		d.Findings = append(d.Findings, markFinding("AIU-3.1-11"))
	}
	for name, member := range v.Members() {
		var bad *lookleap.Error
		switch name {
		case "endpoint":
			bad = d.endpoint(member)
		case "jwks":
			bad = d.jwks(member, append(slices.Clip(allowedKeyOrigins), origin))
		case "scopes":
			bad = d.scopes(member)
		case "policy":
			bad = d.policy(member)
		default:
			if d.Extra == nil {
				d.Extra = make(map[string]json.RawMessage)
			}
			d.Extra[name] = json.RawMessage(member.Source())
		}
		if bad != nil {
			return nil, bad
		}
	}
	return d, nil
}

// refuse returns an error about a member that breaks a rule of the draft.
func refuse(v strictjson.Value, code lookleap.Code, message, fix string) *lookleap.Error {
	return jsonError(code, v.Refuse(string(code), message, fix))
}

func (d *Descriptor) endpoint(v strictjson.Value) *lookleap.Error {
	s, _ := text(v) // what is not a text is not a URI either
	u, err := Parse(s)
	if err != nil || !u.HasAuthority() {
		return refuse(v, CodeBadDocument, "the endpoint is not an ai: URI with an authority", "write ai://authority/path")
	}
	d.Endpoint = u.Normalize()
	return nil
}

func (d *Descriptor) jwks(v strictjson.Value, origins []string) *lookleap.Error {
	s, _ := text(v) // what is not a text is not a URL either
	u, err := domain.Rules{RefuseFragment: true}.Parse(s)
	if err != nil {
		return refuse(v, CodeBadDocument, "jwks is not an https URL without user information and fragment", "")
	}
	if !slices.ContainsFunc(origins, func(o string) bool { return isOrigin(o, u.Origin()) }) {
		return refuse(v, CodeJWKSOrigin, "the keys are at another origin than the document", "publish them at the document's origin")
	}
	d.JWKS = u.String()
	return nil
}

// isOrigin reports whether text is a spelling of a canonical origin.
func isOrigin(text, canonical string) bool {
	u, err := domain.Parse(text)
	return err == nil && u.String() == canonical+"/"
}

func (d *Descriptor) scopes(v strictjson.Value) *lookleap.Error {
	if v.Kind() != strictjson.Array {
		return refuse(v, CodeBadDocument, "scopes is not an array", "")
	}
	for e := range v.Elements() {
		s, ok := text(e)
		if !ok || !isScope(s) {
			return refuse(e, CodeBadDocument, "a scope is not a scope token of RFC 6749", "")
		}
		d.Scopes = append(d.Scopes, s)
	}
	return nil
}

// isScope reports whether s is a scope-token (RFC 6749 section 3.3).
func isScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}

func (d *Descriptor) policy(v strictjson.Value) *lookleap.Error {
	if v.Kind() != strictjson.Object {
		return refuse(v, CodeBadDocument, "policy is not an object", "")
	}
	flag := func(m strictjson.Value, name string, to *bool) *lookleap.Error {
		b, err := m.Bool()
		if err != nil {
			return refuse(m, CodeBadDocument, name+" is not true or false", "")
		}
		*to = b
		return nil
	}
	for name, m := range v.Members() {
		var bad *lookleap.Error
		switch name {
		case "auth":
			s, ok := text(m)
			switch {
			case !ok:
				bad = refuse(m, CodeBadDocument, "auth is not a string", "")
			case s != AuthOAuth2:
				bad = refuse(m, CodePolicyUnsupported, "auth has a value that this package does not support", "")
			}
			d.Policy.Auth = s
		case "mtls":
			bad = flag(m, name, &d.Policy.MTLS)
		case "requireSignedResults":
			bad = flag(m, name, &d.Policy.RequireSignedResults)
		}
		if bad != nil {
			return bad
		}
	}
	if !d.Policy.RequireSignedResults {
		d.Findings = append(d.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodePolicyWeaker,
			Requirement: "AIU-3.1-10",
			Message:     "the document does not require signed results; unsigned results are still refused",
			Fix:         "set requireSignedResults to true"})
	}
	return nil
}

// memory returns about how many bytes the document takes; a failure is cached as nil.
func (c *cachedDocument) memory() int {
	if c == nil || c.descriptor == nil {
		return 0
	}
	return c.descriptor.memory
}

// permits returns an error if a scope is not in the document.
func (d *Descriptor) permits(scopes []string) *lookleap.Error {
	for _, s := range scopes {
		if !isScope(s) || !slices.Contains(d.Scopes, s) {
			return fail(CodeScope, "the document does not have a requested scope", "request only "+strings.Join(d.Scopes, " "))
		}
	}
	return nil
}

// cachedDocument is the document of an origin, or its absence.
type cachedDocument struct {
	descriptor *Descriptor // nil: the origin has no document
	until      time.Time   // when it is fetched again
	usable     time.Time   // until when it is used if it cannot be fetched again
}

// failedDocument is the error of a document that could not be fetched or used.
type failedDocument struct {
	error
	wait      time.Duration // before the next attempt, as the server says; 0: unknown
	transient bool          // the failure says nothing about the document
}

// document returns the document of an origin, nil if it has none, and when it expires. It is
// cached by origin whatever the server says about storing, so that many calls cause one
// exchange.
func (d *Discoverer) document(ctx context.Context, origin string) (*Descriptor, time.Time, error) {
	held, err := d.documents.Get(ctx, origin, func(ctx context.Context) (flight.Loaded[*cachedDocument], error) {
		before, _ := d.documents.Peek(origin)
		got, err := d.fetchDocument(ctx, origin)
		now := d.host.Time()
		if err == nil {
			return flight.Loaded[*cachedDocument]{Value: got, Until: got.until}, nil
		}
		var failed *failedDocument // a Memo does not keep that all callers left
		if !errors.As(err, &failed) {
			failed = &failedDocument{error: err}
		}
		again := now.Add(max(minWait, min(failed.wait, maxWait)))
		if good := before.Value; good != nil && failed.transient && now.Before(good.usable) {
			return flight.Loaded[*cachedDocument]{Value: good.stale(again), Until: again}, nil
		}
		return flight.Loaded[*cachedDocument]{Err: failed.error, Until: again}, nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return held.descriptor, held.until, nil
}

// stale returns a copy with a finding that it has expired, to use until the next attempt.
func (h *cachedDocument) stale(again time.Time) *cachedDocument {
	expired := *h
	expired.until = again
	if h.descriptor != nil && !slices.ContainsFunc(h.descriptor.Findings, isStale) {
		descriptor := *h.descriptor
		descriptor.Findings = append(slices.Clone(descriptor.Findings),
			lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeStale, Requirement: "AIU-3.1-23",
				Message: "the document has expired and could not be fetched again, so the last good copy is used"})
		expired.descriptor = &descriptor
	}
	return &expired
}

func isStale(f lookleap.Finding) bool { return f.Code == lookleap.CodeStale }

// fetchDocument fetches the document of an origin and checks it.
func (d *Discoverer) fetchDocument(ctx context.Context, origin string) (*cachedDocument, error) {
	d.wellKnown.Forget(origin, "aiip") // document decides how long a failure is cached
	r, err := d.wellKnown.Fetch(ctx, origin, "aiip")
	if err != nil {
		return nil, err
	}
	failed := func(code lookleap.Code, message string) (*cachedDocument, error) {
		err := &lookleap.Error{Code: code, Subject: r.URL, Message: message, Err: &lookleap.VerifyError{Verdict: r.Verdict}}
		return nil, &failedDocument{error: err, wait: r.RetryAfter, transient: isTemporary(r.Code)}
	}
	switch {
	case r.State == wellknown.Absent && (r.Status == http.StatusNotFound || r.Status == http.StatusGone || r.Code == lookleap.CodeSoft404):
		return &cachedDocument{until: cacheUntil(r.Fetched, r.Expires)}, nil
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
	if err != nil {
		var bad *lookleap.Error
		if errors.As(err, &bad) {
			bad.Subject = r.URL
		}
		return nil, err
	}
	if err := d.compareWithLastPolicy(ctx, r.Origin, doc); err != nil {
		return nil, err
	}
	until := cacheUntil(r.Fetched, r.Expires)
	return &cachedDocument{doc, until, until.Add(r.StaleUse(maxStale, maxCached))}, nil
}

// isTemporary reports whether a failure of the server or the network may pass, and says
// nothing about the document.
func isTemporary(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeUnavailable, lookleap.CodeRateLimited, lookleap.CodeTimeout, lookleap.CodeTooSlow, lookleap.CodeUnreachable,
		lookleap.CodeConnRefused, lookleap.CodeConnReset, lookleap.CodeTruncated, lookleap.CodeDNSError:
		return true
	}
	return false
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
	if seen && doc.Policy.WeakerThan(before) && (accept == nil ||
		!ask(ctx, d.functions, func() bool { return accept(origin, before, doc.Policy) })) {
		e := &lookleap.Error{Code: CodePolicyDowngrade, Subject: origin, Message: "the policy requires less than before"}
		d.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: e.Code, Subject: origin,
			Finding: &lookleap.Finding{Severity: lookleap.SeverityError, Code: e.Code, Requirement: "AIU-3.1-23", Message: e.Message}})
		return e
	}
	d.lastPolicies.Add(origin, doc.Policy)
	return nil
}
