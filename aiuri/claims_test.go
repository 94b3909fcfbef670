package aiuri_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// verifyClaims verifies a result with claims in its header or in its payload.
func verifyClaims(t *testing.T, header, payload string, x aiuri.Expectation) (*aiuri.Verified, error) {
	t.Helper()
	if header = strings.TrimSuffix(strings.TrimPrefix(header, "{"), "}"); header != "" {
		header = "," + header
	}
	return aiuri.VerifyResult(aiuri.SignedResult{JWS: es256(claims(header), payload, false)}, keySet(t, jwk("1", ecKey())), now, x)
}

// TestClaimTypes reads each claim in each form, and refuses each other form.
func TestClaimTypes(t *testing.T) {
	x := aiuri.Expectation{Endpoint: parseAny("ai://a.example/x"), Audience: "a", Request: "r", Scopes: []string{"a", "b", "c"}}
	year := fmt.Sprint(now.Add(time.Hour).Unix())
	for name, values := range map[string][]string{
		"iss": {`"ai://a.example/x"`}, "req": {`"r"`}, "exp": {year, year + ".5", "253402300799"}, "iat": {"0", "1.5"}, "nbf": {"0"},
		"aud": {`"a"`, `["a","b"]`}, "scope": {`" a  b "`, `["a","c"]`, `[]`},
	} {
		t.Run("AIU-3.4-03/accept-"+name, func(t *testing.T) {
			for i, value := range values {
				claim := `{"` + name + `":` + value + `}`
				for _, in := range [][2]string{{claim, "{}"}, {"{}", claim}, {claim, claim}} {
					v, err := verifyClaims(t, in[0], in[1], x)
					if err != nil || !v.Claims.Has(name) || v.Claims.Has("x") {
						t.Fatalf("%s: %v", in, err)
					}
				}
				if other := values[(i+1)%len(values)]; other != value {
					if _, err := verifyClaims(t, claim, `{"`+name+`":`+other+`}`, x); lookleap.CodeOf(err) != aiuri.CodeRejectedPolicy {
						t.Errorf("%s and %s: %v", value, other, err)
					}
				}
			}
		})
	}
	for i, claim := range []string{
		`{"iss":5}`, `{"iss":null}`, `{"req":["r"]}`, `{"exp":"1"}`, `{"exp":-1}`, `{"exp":253402300800}`, `{"iat":{}}`, `{"nbf":true}`,
		`{"aud":5}`, `{"aud":{"a":1}}`, `{"aud":["a",5]}`, `{"aud":[["a"]]}`, `{"scope":5}`, `{"scope":{"a":"b"}}`, `{"scope":["a",null]}`,
	} {
		name := strings.Split(claim, `"`)[1]
		t.Run(fmt.Sprint("AIU-3.4-03/reject-type-", i, "-of-", name), func(t *testing.T) {
			for _, in := range [][2]string{{claim, "{}"}, {"{}", claim}} {
				if _, err := verifyClaims(t, in[0], in[1], x); err == nil || err.(*lookleap.VerifyError).Verdict.Summary != "the claim "+name+" has the wrong type" {
					t.Errorf("%s: %v", in, err)
				}
			}
		})
	}
}

// TestClaims compares claims with what is expected. The message says which rule refused.
func TestClaims(t *testing.T) {
	at := func(d time.Duration) string { return fmt.Sprint(now.Add(d).Unix()) }
	for _, c := range []struct {
		name, payload string
		change        func(x *aiuri.Expectation)
		want          string // part of the message; "": accepted
	}{
		{"accept-none", `{}`, nil, ""},
		{"accept-first-audience", `{"aud":["me","you"]}`, nil, ""},
		{"accept-plain-request", `{"req":"r2"}`, nil, ""},
		{"accept-only-plain-request", `{"req":"r2"}`, func(x *aiuri.Expectation) { x.Request = "" }, ""},
		{"accept-required", `{"exp":` + at(time.Second) + `}`, func(x *aiuri.Expectation) { x.Require = []string{"exp"} }, ""},
		{"reject-required-unknown", `{}`, func(x *aiuri.Expectation) { x.Require = []string{"\x1b[m"} }, "the claim that is expected is required but missing"},
		{"reject-second-required", `{"exp":` + at(time.Second) + `}`, func(x *aiuri.Expectation) { x.Require = []string{"exp", "iat"} }, "the claim iat is required but missing"},
		{"reject-issued-later", `{"iat":` + at(5*time.Minute+time.Second) + `}`, nil, "issued in the future"},
		{"reject-not-yet", `{"nbf":` + at(5*time.Minute+time.Second) + `}`, nil, "not valid yet"},
		{"reject-issuer", `{"iss":"ai://pay.example/y"}`, nil, "the issuer is another endpoint"},
		{"reject-issuer-malformed", `{"iss":"pay.example"}`, nil, "the issuer is another endpoint"},
		{"reject-issuer-unexpected", `{"iss":"ai://pay.example/x"}`, func(x *aiuri.Expectation) { x.Endpoint = aiuri.URI{} }, "no endpoint is expected"},
		{"reject-audience", `{"aud":["you"]}`, nil, "is for another caller"},
		{"reject-no-audience", `{"aud":[]}`, nil, "is for another caller"},
		{"reject-audience-unexpected", `{"aud":"me"}`, func(x *aiuri.Expectation) { x.Audience = "" }, "no caller is expected"},
		{"reject-empty-audience-unexpected", `{"aud":""}`, func(x *aiuri.Expectation) { x.Audience = "" }, "no caller is expected"},
		{"reject-request", `{"req":"r3"}`, nil, "answers another request"},
		{"reject-empty-request", `{"req":""}`, func(x *aiuri.Expectation) { x.PlainRequest = "" }, "answers another request"},
		{"reject-empty-plain-request", `{"req":""}`, func(x *aiuri.Expectation) { x.Request = "" }, "answers another request"},
		{"reject-request-unexpected", `{"req":"r1"}`, func(x *aiuri.Expectation) { x.Request, x.PlainRequest = "", "" }, "no request is expected"},
		{"reject-first-scope", `{"scope":"admin read"}`, nil, "names a scope that the document does not have"},
	} {
		for _, row := range []string{"AIU-3.4-03/", "AIU-3.4-09/"} {
			t.Run(row+c.name, func(t *testing.T) {
				x := aiuri.Expectation{Endpoint: parseAny("ai://pay.example/x"), Audience: "me", Scopes: []string{"read", "pay"}, Request: "r1", PlainRequest: "r2"}
				if c.change != nil {
					c.change(&x)
				}
				_, err := verifyClaims(t, "", c.payload, x)
				switch {
				case c.want == "" && err != nil, c.want != "" && (lookleap.CodeOf(err) != aiuri.CodeRejectedPolicy || !strings.Contains(err.(*lookleap.VerifyError).Verdict.Summary, c.want)):
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		}
	}
}

// TestPayloadClaims holds that no claim is passed over, wherever it stands, and
// that nothing else is taken for one.
func TestPayloadClaims(t *testing.T) {
	x := aiuri.Expectation{}
	year := `"exp":` + fmt.Sprint(now.Add(time.Hour).Unix())
	t.Run("AIU-3.4-09/accept-no-claims", func(t *testing.T) {
		for _, payload := range []string{
			` `, `[]`, `"iss"`, `{}`, ` { } `, `[{"exp":1}]`, `{"paid":true}`, `{"abc":1,"scopes":3,"iss ":4}`, `{"ISS":1}`, `{"x":"iss"}`, `{"x":{"exp":1}}`,
			`{"x":"\",\"exp\":1,\""}`, `{"a\n":1,"exp\u0000":2}`, "{\"\u0435xp\":1}", `{"x":{"y":[{"exp":1}]},"z":[{"exp":2}]}`, `{"x":1,"x":2}`, `x{"iss":1}`, `paid`,
		} {
			if v, err := verifyClaims(t, "", payload, x); err != nil || v.Claims.Has("exp") || v.Claims.Has("iss") || string(v.Payload) != payload {
				t.Errorf("%q: %v", payload, err)
			}
		}
	})
	t.Run("AIU-3.4-09/accept-claims", func(t *testing.T) {
		for _, payload := range []string{
			`{` + year + `}`, "\r\n\t{\r\n" + year + "\n}\n", `{"\u0065` + year[2:] + `}`, `{"a":[{}],"b":{"c":"}"},` + year + `}`, `{"a":"\\",` + year + `}`, `{"a":"\"",` + year + `}`,
			`{"x":{"exp":1},` + year + `}`, `{"x":["# ' /* \\"],` + year + `}`, `{"x":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `,` + year + `}`,
		} {
			if v, err := verifyClaims(t, "", payload, x); err != nil || !v.Claims.Has("exp") {
				t.Errorf("%.99q: %v", payload, err)
			}
		}
	})
	for name, payloads := range map[string][]string{
		"twice": {`{` + year + `,` + year + `}`, `{` + year + `,"x":{},"\u0065` + year[2:] + `}`},
		"doubt": {
			`{` + year, `{` + year + `}}`, `{` + year + `} x`, `{` + year + `}{}`, `{` + year + `,}`, `{"exp" 1}`, `{"x":1 ` + year + `}`, `{,` + year + `}`, `{"exp":}`, `{exp:1}`, `{'exp':1}`,
			`{"x":1,/**/` + year + `}`, `{"exp":01}`, "{" + year + ",\"a\":\"\n \"}", "{" + year + ",\"a\":\"\xe3\"}", "{" + year + "\v}", `{"x":[},` + year + `,"y":{]}`, "\ufeff{" + year + "}", `{not JSON}`,
			`{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `,` + year + `}`, `{"aud":"` + strings.Repeat("x", 65<<10) + `"}`,
		},
	} {
		t.Run("AIU-3.4-09/reject-"+name, func(t *testing.T) {
			for _, payload := range payloads {
				if _, err := verifyClaims(t, "", payload, x); lookleap.CodeOf(err) != aiuri.CodeRejectedPolicy {
					t.Errorf("%.99q: %v", payload, err)
				}
			}
		})
	}
	if (*aiuri.Claims)(nil).Has("iss") {
		t.Error("there is a claim without claims")
	}
}
