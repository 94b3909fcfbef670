package aiuri

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// maxDescriptor is the number of bytes that a well-known document may have.
const maxDescriptor = 64 << 10

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

// weakerThan reports whether p requires less than an earlier policy did.
func (p EndpointPolicy) weakerThan(before EndpointPolicy) bool {
	return before.Auth != "" && p.Auth == "" || before.MTLS && !p.MTLS || before.RequireSignedResults && !p.RequireSignedResults
}

// ParseDescriptor parses the document of an origin. The URL of its keys must be at that
// origin or at one of allowedKeyOrigins. Errors are a [*lookleap.Error] with the code
// bad-document, jwks-origin or policy-unsupported.
func ParseDescriptor(data []byte, origin string, allowedKeyOrigins ...string) (*Descriptor, error) {
	v, marked, err := strictjson.ParsePublished(data, strictjson.Limits{Size: maxDescriptor, Depth: 16})
	if err == nil {
		_, err = v.Need("endpoint")
	}
	if err != nil {
		return nil, jsonError(CodeBadDocument, err)
	}
	d := &Descriptor{Extra: make(map[string]json.RawMessage), memory: parsedMemory(data)}
	d.Policy.RequireSignedResults = true
	if marked {
		d.Findings = append(d.Findings, markFinding("AIU-3.1-11"))
	}
	keyOrigins := append(slices.Clip(allowedKeyOrigins), origin)
	for name, member := range v.Members() {
		if err := d.readMember(name, member, keyOrigins); err != nil {
			return nil, err
		}
	}
	if !d.Policy.RequireSignedResults {
		d.Findings = append(d.Findings, warning(CodePolicyWeaker, "AIU-3.1-10",
			"the document does not require signed results; unsigned results are still refused", "set requireSignedResults to true"))
	}
	return d, nil
}

func (d *Descriptor) readMember(name string, v strictjson.Value, keyOrigins []string) *lookleap.Error {
	value, _ := text(v) // what is not a text is neither a URI nor a URL
	switch name {
	case "endpoint":
		u, err := Parse(value)
		if err != nil || u.kind != Authority {
			return refuse(v, CodeBadDocument, "the endpoint is not an ai: URI with an authority", "write ai://authority/path")
		}
		d.Endpoint = u.Normalize()
	case "jwks":
		u, err := domain.Rules{RefuseFragment: true}.Parse(value)
		if err != nil {
			return refuse(v, CodeBadDocument, "jwks is not an https URL without user information and fragment", "")
		}
		if !slices.ContainsFunc(keyOrigins, func(o string) bool { return isOrigin(o, u.Origin()) }) {
			return refuse(v, CodeJWKSOrigin, "the keys are at another origin than the document", "publish them at the document's origin")
		}
		d.JWKS = u.String()
	case "scopes":
		if v.Kind() != strictjson.Array {
			return refuse(v, CodeBadDocument, "scopes is not an array", "")
		}
		for e := range v.Elements() {
			scope, _ := text(e)
			if !isScope(scope) {
				return refuse(e, CodeBadDocument, "a scope is not a scope token of RFC 6749", "")
			}
			d.Scopes = append(d.Scopes, scope)
		}
	case "policy":
		return d.Policy.read(v)
	default:
		d.Extra[name] = json.RawMessage(v.Source())
	}
	return nil
}

// isOrigin reports whether text is a spelling of a canonical origin.
func isOrigin(text, canonical string) bool {
	u, err := domain.Parse(text)
	return err == nil && u.String() == canonical+"/"
}

// isScope reports whether s is a scope-token (RFC 6749 section 3.3).
func isScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' })
}

func (p *EndpointPolicy) read(v strictjson.Value) *lookleap.Error {
	if v.Kind() != strictjson.Object {
		return refuse(v, CodeBadDocument, "policy is not an object", "")
	}
	for name, m := range v.Members() {
		var err error
		switch name {
		case "auth":
			if p.Auth, err = m.Text(); err == nil && p.Auth != AuthOAuth2 {
				return refuse(m, CodePolicyUnsupported, "auth has a value that this package does not support", "")
			}
		case "mtls":
			p.MTLS, err = m.Bool()
		case "requireSignedResults":
			p.RequireSignedResults, err = m.Bool()
		}
		if err != nil {
			return refuse(m, CodeBadDocument, name+" has the wrong type", "")
		}
	}
	return nil
}

// permits returns an error if a scope is not in the document.
func (d *Descriptor) permits(scopes []string) error {
	for _, s := range scopes {
		if !isScope(s) || !slices.Contains(d.Scopes, s) {
			return fail(CodeScope, "the document does not have a requested scope", "request only "+strings.Join(d.Scopes, " "))
		}
	}
	return nil
}

// covers reports whether a document is about an endpoint: its own one, or a path below it
// that all servers read in the same way. The caller chooses the query.
func (d *Descriptor) covers(u URI) bool {
	own, asked := d.Endpoint.Normalize(), u.Normalize()
	if own.kind != asked.kind || own.Authority() != asked.Authority() {
		return false
	}
	if asked.path == own.path {
		return true
	}
	rest, below := strings.CutPrefix(asked.path, strings.TrimSuffix(own.path, "/")+"/")
	_, reason := ambiguous("/" + rest)
	return below && reason == ""
}

// MarshalJSON returns the document in the form of the draft.
func (d *Descriptor) MarshalJSON() ([]byte, error) {
	if d == nil {
		return nil, fail(CodeBadDocument, "the descriptor is nil", "")
	}
	members := make(map[string]any, len(d.Extra)+4)
	for name, value := range d.Extra {
		members[name] = value
	}
	members["endpoint"], members["policy"] = d.Endpoint.Normalize().String(), d.Policy
	if d.JWKS != "" {
		members["jwks"] = d.JWKS
	}
	if d.Scopes != nil {
		members["scopes"] = d.Scopes
	}
	return json.Marshal(members)
}
