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
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/wellknown"
)

// MaxDescriptor is the number of octets that a well-known document may have.
const MaxDescriptor = 64 << 10

// AuthOAuth2 is the one value of [EndpointPolicy.Auth] that the draft shows.
const AuthOAuth2 = "oauth2"

// Descriptor is the document at /.well-known/aiip (section 3.1): the only place
// that keys and policy are taken from. It is not changed after parsing.
type Descriptor struct {
	Endpoint URI                        // with authority
	JWKS     string                     // canonical https URL of the keys; "": results cannot be verified
	Scopes   []string                   // that may be asked for
	Policy   EndpointPolicy             // RequireSignedResults true where the document says nothing
	Extra    map[string]json.RawMessage // members that the draft does not define, as they are written
	Findings []lookleap.Finding         // what is not as the draft wants it and is no reason to refuse
}

// EndpointPolicy is what the endpoint demands. Signed results are demanded always
// (section 3.4): a document cannot lift that.
type EndpointPolicy struct {
	Auth string `json:"auth,omitempty"` // AuthOAuth2, or "": not said
	MTLS bool   `json:"mtls"`           // a client certificate has to be shown
	// RequireSignedResults is what the document says, true where it says nothing.
	RequireSignedResults bool `json:"requireSignedResults"`
}

// WeakerThan reports whether p demands less than an earlier policy did.
func (p EndpointPolicy) WeakerThan(before EndpointPolicy) bool {
	return before.Auth != "" && p.Auth == "" || before.MTLS && !p.MTLS || before.RequireSignedResults && !p.RequireSignedResults
}

// ParseDescriptor reads the document of an origin. Its keys must lie at that
// origin or at one of those allowed. Wrong types and unknown demands are an
// [*lookleap.Error]: bad-document, jwks-origin or policy-unsupported.
func ParseDescriptor(data []byte, origin string, allowedKeyOrigins ...string) (*Descriptor, error) {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: MaxDescriptor, Depth: 16})
	if err == nil {
		err = v.Expect(strictjson.Object)
	}
	if err == nil {
		_, err = v.Need("endpoint")
	}
	if err != nil {
		return nil, jsonError(CodeBadDocument, err)
	}
	d := &Descriptor{Policy: EndpointPolicy{RequireSignedResults: true}}
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

// refuse is a rule of the draft that a member breaks.
func refuse(v strictjson.Value, code lookleap.Code, reason, fix string) *lookleap.Error {
	return jsonError(code, v.Refuse(string(code), reason, fix))
}

func (d *Descriptor) endpoint(v strictjson.Value) *lookleap.Error {
	s, ok := text(v)
	u, err := Parse(s)
	if !ok || err != nil || !u.HasAuthority() {
		return refuse(v, CodeBadDocument, "the endpoint is no ai: URI with authority", "write ai://authority/path")
	}
	d.Endpoint = u.Normalize()
	return nil
}

func (d *Descriptor) jwks(v strictjson.Value, origins []string) *lookleap.Error {
	s, ok := text(v)
	u, err := domain.Rules{RefuseFragment: true}.Parse(s)
	if !ok || err != nil {
		return refuse(v, CodeBadDocument, "jwks is no https URL without user information and fragment", "")
	}
	if !slices.ContainsFunc(origins, func(o string) bool { return isOrigin(o, u.Origin()) }) {
		return refuse(v, CodeJWKSOrigin, "the keys lie at another origin than the document", "publish them at the document's origin")
	}
	d.JWKS = u.String()
	return nil
}

// isOrigin compares an origin, however it is spelled, with a canonical one.
func isOrigin(text, canonical string) bool {
	u, err := domain.Parse(text)
	return err == nil && u.String() == canonical+"/"
}

func (d *Descriptor) scopes(v strictjson.Value) *lookleap.Error {
	if v.Kind() != strictjson.Array {
		return refuse(v, CodeBadDocument, "scopes is no list", "")
	}
	for e := range v.Elements() {
		s, ok := text(e)
		if !ok || !isScope(s) {
			return refuse(e, CodeBadDocument, "a scope is no scope token", "")
		}
		d.Scopes = append(d.Scopes, s)
	}
	return nil
}

// isScope holds a scope to the scope-token of RFC 6749 section 3.3.
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
		return refuse(v, CodeBadDocument, "policy is no object", "")
	}
	flag := func(m strictjson.Value, name string, to *bool) *lookleap.Error {
		b, err := m.Bool()
		if err != nil {
			return refuse(m, CodeBadDocument, name+" is neither true nor false", "")
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
				bad = refuse(m, CodeBadDocument, "auth is no text", "")
			case s != AuthOAuth2:
				bad = refuse(m, CodePolicyUnsupported, "auth demands what nobody here knows", "")
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
		d.Findings = append(d.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodePolicyWeaker, Requirement: "AIU-3.1-10",
			Message: "the document does not demand signed results; they are demanded all the same", Fix: "set requireSignedResults to true"})
	}
	return nil
}

// memory returns about how many bytes the descriptor takes.
func (d *Descriptor) memory() int {
	if d == nil {
		return 0
	}
	total := 1<<10 + len(d.Endpoint.text) + len(d.JWKS) + findingsMemory(d.Findings)
	for _, scope := range d.Scopes {
		total += 32 + len(scope)
	}
	for name, value := range d.Extra {
		total += 128 + len(name) + len(value)
	}
	return total
}

// permits reports whether every scope is one of the document's.
func (d *Descriptor) permits(scopes []string) *lookleap.Error {
	for _, s := range scopes {
		if !isScope(s) || !slices.Contains(d.Scopes, s) {
			return fail(CodeScope, "a scope is not among those of the document", "ask for "+strings.Join(d.Scopes, " "))
		}
	}
	return nil
}

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
		err := &lookleap.Error{Code: code, Subject: r.URL, Message: reason, Err: &lookleap.VerifyError{Verdict: r.Verdict}}
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
		var bad *lookleap.Error
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
		e := &lookleap.Error{Code: CodePolicyDowngrade, Subject: origin, Message: "the policy demands less than it did before"}
		d.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: e.Code, Subject: origin,
			Finding: &lookleap.Finding{Severity: lookleap.SeverityError, Code: e.Code, Requirement: "AIU-3.1-23", Message: e.Message}})
		return e
	}
	d.policies.Add(origin, doc.Policy)
	return nil
}
