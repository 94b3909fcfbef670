package aiuri

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/strictjson"
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
// [*Error]: bad-document, jwks-origin or policy-unsupported.
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
		var bad *Error
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
func refuse(v strictjson.Value, code lookleap.Code, reason, fix string) *Error {
	e := jsonError(code, v.Refuse(string(code), reason, fix))
	e.Err = nil // it would show the text
	return e
}

func (d *Descriptor) endpoint(v strictjson.Value) *Error {
	s, ok := text(v)
	u, err := Parse(s)
	if !ok || err != nil || !u.HasAuthority() {
		return refuse(v, CodeBadDocument, "the endpoint is no ai: URI with authority", "write ai://authority/path")
	}
	d.Endpoint = u.Normalize()
	return nil
}

func (d *Descriptor) jwks(v strictjson.Value, origins []string) *Error {
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

func (d *Descriptor) scopes(v strictjson.Value) *Error {
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

func (d *Descriptor) policy(v strictjson.Value) *Error {
	if v.Kind() != strictjson.Object {
		return refuse(v, CodeBadDocument, "policy is no object", "")
	}
	flag := func(m strictjson.Value, name string, to *bool) *Error {
		b, err := m.Bool()
		if err != nil {
			return refuse(m, CodeBadDocument, name+" is neither true nor false", "")
		}
		*to = b
		return nil
	}
	for name, m := range v.Members() {
		var bad *Error
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

// permits reports whether every scope is one of the document's.
func (d *Descriptor) permits(scopes []string) *Error {
	for _, s := range scopes {
		if !isScope(s) || !slices.Contains(d.Scopes, s) {
			return fail(CodeScope, "a scope is not among those of the document", "ask for "+strings.Join(d.Scopes, " "))
		}
	}
	return nil
}
