package aiuri_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

const bankOrigin = "https://www.bank.example"

// bankDocument is the draft's own example.
const bankDocument = `{"endpoint":"ai://bank/service/payments","jwks":"https://www.bank.example/.well-known/aiip.jwks.json",
"scopes":["initiate-payment","check-balance"],"policy":{"auth":"oauth2","mtls":true,"requireSignedResults":true}}`

func TestParseDescriptor(t *testing.T) {
	doc := func(members string) string { return `{"endpoint":"ai://bank/x"` + members + `}` }
	for _, c := range []struct {
		id, text string
		check    func(*aiuri.Descriptor) bool
	}{
		{"AIU-3.1-06/accept", bankDocument, func(d *aiuri.Descriptor) bool { return d.Endpoint.String() == "ai://bank/service/payments" }},
		{"AIU-3.1-07/accept", bankDocument, func(d *aiuri.Descriptor) bool { return d.JWKS == bankOrigin+"/.well-known/aiip.jwks.json" }},
		{"AIU-3.1-07/accept-absent", doc(""), func(d *aiuri.Descriptor) bool { return d.JWKS == "" }},
		{"AIU-3.1-07/accept-allow-listed", doc(`,"jwks":"https://keys.example/k"`), func(d *aiuri.Descriptor) bool { return d.JWKS == "https://keys.example/k" }},
		{"AIU-3.1-08/accept", bankDocument, func(d *aiuri.Descriptor) bool {
			return strings.Join(d.Scopes, " ") == "initiate-payment check-balance"
		}},
		{"AIU-3.1-08/accept-absent", doc(""), func(d *aiuri.Descriptor) bool { return len(d.Scopes) == 0 }},
		{"AIU-3.1-09/accept", bankDocument, func(d *aiuri.Descriptor) bool {
			return d.Policy == aiuri.EndpointPolicy{Auth: "oauth2", MTLS: true, RequireSignedResults: true}
		}},
		{"AIU-3.1-09/accept-absent", doc(""), func(d *aiuri.Descriptor) bool { return d.Policy == aiuri.EndpointPolicy{RequireSignedResults: true} }},
		{"AIU-3.1-10/accept-with-finding", doc(`,"policy":{"requireSignedResults":false}`), func(d *aiuri.Descriptor) bool {
			return len(d.Findings) == 1 && d.Findings[0].Code == aiuri.CodePolicyWeaker
		}},
		{"AIU-3.1-11/accept-unknown-members", doc(`,"x":[1],"policy":{"y":1}`), func(d *aiuri.Descriptor) bool { return string(d.Extra["x"]) == "[1]" }},
		{"L10/accept-unknown-members", doc(`,"Policy":{"mtls":true}`), func(d *aiuri.Descriptor) bool { return !d.Policy.MTLS && len(d.Extra) == 1 }},
	} {
		t.Run(c.id, func(t *testing.T) {
			d, err := aiuri.ParseDescriptor([]byte(c.text), bankOrigin, "https://keys.example")
			if err != nil || !c.check(d) {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
	for _, c := range []struct {
		id, text string
		code     lookleap.Code
	}{
		{"AIU-3.1-06/reject-missing", `{}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-number", `{"endpoint":1}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-https", `{"endpoint":"https://bank.example/x"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-no-authority", `{"endpoint":"ai:/x"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-case", `{"Endpoint":"ai://bank/x"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-http", doc(`,"jwks":"http://www.bank.example/k"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-relative", doc(`,"jwks":"/k"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-userinfo", doc(`,"jwks":"https://u@www.bank.example/k"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-fragment", doc(`,"jwks":"https://www.bank.example/k#a"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-other-origin", doc(`,"jwks":"https://evil.example/k"`), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-07/reject-subdomain", doc(`,"jwks":"https://a.www.bank.example/k"`), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-07/reject-other-port", doc(`,"jwks":"https://www.bank.example:8443/k"`), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-08/reject-text", doc(`,"scopes":"pay"`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-empty", doc(`,"scopes":[""]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-blank", doc(`,"scopes":["a b"]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-quote", doc(`,"scopes":["a\""]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-number", doc(`,"scopes":[1]`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-unknown-auth", doc(`,"policy":{"auth":"basic"}`), aiuri.CodePolicyUnsupported},
		{"AIU-3.1-09/reject-auth-case", doc(`,"policy":{"auth":"OAuth2"}`), aiuri.CodePolicyUnsupported},
		{"AIU-3.1-09/reject-mtls-text", doc(`,"policy":{"mtls":"true"}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-signed-null", doc(`,"policy":{"requireSignedResults":null}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-policy-list", doc(`,"policy":[]`), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-duplicate", `{"endpoint":"ai://a/","endpoint":"ai://b/"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-duplicate-inside", doc(`,"policy":{"mtls":true,"mtls":false}`), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-trailing", doc("") + "x", aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-depth", doc(`,"x":` + strings.Repeat("[", 16) + strings.Repeat("]", 16)), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-size", doc(`,"x":"` + strings.Repeat("x", 64<<10) + `"`), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-utf8", doc(",\"x\":\"\xff\""), aiuri.CodeBadDocument},
		{"L10/reject-auth-none", doc(`,"policy":{"auth":"none","mtls":false,"requireSignedResults":false}`), aiuri.CodePolicyUnsupported},
		{"L10/reject-foreign-keys", doc(`,"jwks":"https://evil.example/k"`), aiuri.CodeJWKSOrigin},
	} {
		t.Run(c.id, func(t *testing.T) {
			d, err := aiuri.ParseDescriptor([]byte(c.text), bankOrigin)
			var e *aiuri.Error
			if d != nil || !errors.As(err, &e) || e.Code != c.code || e.Place.Line == 0 {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
}

func TestKeyOrigins(t *testing.T) {
	document := []byte(`{"endpoint":"ai://bank/x","jwks":"https://keys.example/set"}`)
	for origin, ok := range map[string]bool{
		"https://keys.example": true, "https://keys.example/": true, "HTTPS://Keys.Example:443": true,
		"https://keys.example/set": false, "https://keys.example:8443": false, "http://keys.example": false, "keys.example": false, "https://x.keys.example": false, "": false,
	} {
		side := map[bool]string{true: "accept", false: "reject"}[ok]
		t.Run("AIU-3.1-07/"+side+"-allowed-origin", func(t *testing.T) {
			d, err := aiuri.ParseDescriptor(document, "https://bank.example/", origin)
			if (d != nil) != ok || !ok && lookleap.CodeOf(err) != aiuri.CodeJWKSOrigin {
				t.Errorf("%q: %v, %v", origin, d, err)
			}
		})
	}
}

func TestPolicyWeakerThan(t *testing.T) {
	strict := aiuri.EndpointPolicy{Auth: "oauth2", MTLS: true, RequireSignedResults: true}
	for id, p := range map[string]aiuri.EndpointPolicy{
		"auth":   {MTLS: true, RequireSignedResults: true},
		"mtls":   {Auth: "oauth2", RequireSignedResults: true},
		"signed": {Auth: "oauth2", MTLS: true},
	} {
		t.Run("AIU-3.2-16/reject-"+id, func(t *testing.T) {
			if !p.WeakerThan(strict) || strict.WeakerThan(p) {
				t.Error("the order is wrong")
			}
		})
	}
	t.Run("AIU-3.2-16/accept-same", func(t *testing.T) {
		if strict.WeakerThan(strict) {
			t.Error("a policy is weaker than itself")
		}
	})
}

func FuzzParseDescriptor(f *testing.F) {
	f.Add([]byte(bankDocument))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := aiuri.ParseDescriptor(data, bankOrigin)
		if (d == nil) == (err == nil) || d != nil && !d.Endpoint.HasAuthority() {
			t.Fatalf("got %v, %v", d, err)
		}
	})
}
