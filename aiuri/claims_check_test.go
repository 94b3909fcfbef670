package aiuri

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

var claimsNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// claimsOf reads the claims of a header and a payload.
func claimsOf(t *testing.T, header, payload string) (*Claims, *lookleap.Error) {
	t.Helper()
	h := newHeader(t, header)
	return readClaims(h, []byte(payload))
}

func newHeader(t *testing.T, members string) *header {
	t.Helper()
	v, err := strictjson.Parse([]byte(members), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return &header{members: v}
}

// TestClaimTypes reads each claim in each form.
func TestClaimTypes(t *testing.T) {
	for _, c := range []struct{ name, payload, want string }{
		{"iss", `{"iss":"ai://a.example/x"}`, "ai://a.example/x"},
		{"req", `{"req":"r"}`, "r"},
		{"exp", `{"exp":1.5}`, "1970-01-01 00:00:01.5 +0000 UTC"},
		{"iat", `{"iat":0}`, "1970-01-01 00:00:00 +0000 UTC"},
		{"nbf", `{"nbf":253402300799}`, "9999-12-31 23:59:59 +0000 UTC"},
		{"aud", `{"aud":"a"}`, "[a]"},
		{"aud", `{"aud":["a","b"]}`, "[a b]"},
		{"aud", `{"aud":[]}`, "[]"},
		{"scope", `{"scope":" a  b "}`, "[a b]"},
		{"scope", `{"scope":["a b","c"]}`, "[a b c]"},
	} {
		t.Run("AIU-3.4-03/accept-"+c.name, func(t *testing.T) {
			for place, read := range map[string]func() (*Claims, *lookleap.Error){
				"payload": func() (*Claims, *lookleap.Error) { return claimsOf(t, "{}", c.payload) },
				"header":  func() (*Claims, *lookleap.Error) { return claimsOf(t, c.payload, "{}") },
				"both":    func() (*Claims, *lookleap.Error) { return claimsOf(t, c.payload, c.payload) },
			} {
				claims, err := read()
				if err != nil {
					t.Fatal(place, err)
				}
				got := map[string]any{"iss": claims.Issuer, "req": claims.Request, "exp": claims.Expires, "iat": claims.Issued, "nbf": claims.Begins, "aud": claims.Audience, "scope": claims.Scopes}
				if s := fmt.Sprint(got[c.name]); s != c.want || !claims.Has(c.name) {
					t.Errorf("%s: %s %s, want %s", place, c.payload, s, c.want)
				}
				for _, name := range claimNames {
					if name != c.name && claims.Has(name) {
						t.Errorf("%s: %s has %s", place, c.payload, name)
					}
				}
			}
		})
	}
	for i, payload := range []string{
		`{"iss":5}`, `{"iss":null}`, `{"req":["r"]}`, `{"exp":"1"}`, `{"exp":-1}`, `{"exp":253402300800}`, `{"iat":{}}`, `{"nbf":true}`,
		`{"aud":5}`, `{"aud":{"a":1}}`, `{"aud":["a",5]}`, `{"aud":[["a"]]}`, `{"scope":5}`, `{"scope":{"a":"b"}}`, `{"scope":["a",null]}`,
	} {
		name := strings.Split(payload, `"`)[1]
		t.Run(fmt.Sprint("AIU-3.4-03/reject-type-", i, "-of-", name), func(t *testing.T) {
			for place, read := range map[string]func() (*Claims, *lookleap.Error){
				"payload": func() (*Claims, *lookleap.Error) { return claimsOf(t, "{}", payload) },
				"header":  func() (*Claims, *lookleap.Error) { return claimsOf(t, payload, "{}") },
			} {
				if _, err := read(); err == nil || err.Code != CodeRejectedPolicy || err.Message != "the claim "+name+" has the wrong type" {
					t.Errorf("%s: %v", place, err)
				}
			}
		})
	}
}

// TestClaimsAgree compares each claim of the header with that of the payload.
func TestClaimsAgree(t *testing.T) {
	for name, values := range map[string][2]string{
		"iss": {`"ai://a.example/"`, `"ai://b.example/"`}, "req": {`"a"`, `"b"`}, "exp": {"1", "2"}, "iat": {"1", "2"}, "nbf": {"1", "2"},
		"aud": {`["a"]`, `["a","b"]`}, "scope": {`"a b"`, `"b a"`},
	} {
		member := func(value string) string { return `{"` + name + `":` + value + `}` }
		t.Run("AIU-3.4-09/accept-equal-"+name, func(t *testing.T) {
			for _, value := range values {
				if c, err := claimsOf(t, member(value), member(value)); err != nil || !slices.Equal(c.present, []string{name}) {
					t.Error(c, err)
				}
			}
		})
		t.Run("AIU-3.4-09/reject-different-"+name, func(t *testing.T) {
			if _, err := claimsOf(t, member(values[0]), member(values[1])); err == nil || err.Message != "a claim differs between header and payload" {
				t.Error(err)
			}
		})
	}
	t.Run("AIU-3.4-09/reject-nested", func(t *testing.T) {
		h := newHeader(t, "{}")
		h.nested = true
		if _, err := readClaims(h, []byte("{}")); err == nil || err.Code != CodeRejectedPolicy {
			t.Error(err)
		}
	})
}

// TestClaimsCheck compares claims with what is expected. The message says which rule refused.
func TestClaimsCheck(t *testing.T) {
	const endpoint = "ai://pay.example/x"
	at := func(d time.Duration) string { return fmt.Sprint(claimsNow.Add(d).Unix()) }
	expect := func(change func(x *Expectation)) Expectation {
		u, err := Parse(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		x := Expectation{Endpoint: u, Audience: "me", Scopes: []string{"read", "pay"}, Request: "r1", PlainRequest: "r2"}
		if change != nil {
			change(&x)
		}
		return x
	}
	for _, c := range []struct {
		name, payload string
		change        func(x *Expectation)
		want          string // part of the message; "": accepted
	}{
		{"accept-all", `{"iss":"ai://pay.example/x","aud":["you","me"],"req":"r1","scope":"pay","exp":` + at(time.Second) + `,"iat":` + at(5*time.Minute) + `,"nbf":` + at(5*time.Minute) + `}`, nil, ""},
		{"accept-none", `{}`, nil, ""},
		{"accept-plain-request", `{"req":"r2"}`, nil, ""},
		{"accept-only-plain-request", `{"req":"r2"}`, func(x *Expectation) { x.Request = "" }, ""},
		{"accept-only-request", `{"req":"r1"}`, func(x *Expectation) { x.PlainRequest = "" }, ""},
		{"accept-required", `{"exp":` + at(time.Second) + `}`, func(x *Expectation) { x.Require = []string{"exp"} }, ""},
		{"accept-nothing-expected", `{"exp":` + at(time.Second) + `}`, func(x *Expectation) { *x = Expectation{} }, ""},
		{"reject-required", `{}`, func(x *Expectation) { x.Require = []string{"exp"} }, "the claim exp is required but missing"},
		{"reject-second-required", `{"exp":` + at(time.Second) + `}`, func(x *Expectation) { x.Require = []string{"exp", "iat"} }, "the claim iat is required but missing"},
		{"accept-first-audience", `{"aud":["me","you"]}`, nil, ""},
		{"reject-required-unknown", `{}`, func(x *Expectation) { x.Require = []string{"\x1b[m"} }, "the claim that is expected is required but missing"},
		{"reject-expired", `{"exp":` + at(0) + `}`, nil, "has expired"},
		{"reject-issued-later", `{"iat":` + at(5*time.Minute+time.Second) + `}`, nil, "issued in the future"},
		{"reject-not-yet", `{"nbf":` + at(5*time.Minute+time.Second) + `}`, nil, "not valid yet"},
		{"reject-issuer", `{"iss":"ai://pay.example/y"}`, nil, "the issuer is another endpoint"},
		{"reject-issuer-malformed", `{"iss":"pay.example"}`, nil, "the issuer is another endpoint"},
		{"reject-issuer-unexpected", `{"iss":"ai://pay.example/x"}`, func(x *Expectation) { x.Endpoint = URI{} }, "names its issuer, but no endpoint is expected"},
		{"reject-audience", `{"aud":["you"]}`, nil, "is for another caller"},
		{"reject-no-audience", `{"aud":[]}`, nil, "is for another caller"},
		{"reject-audience-unexpected", `{"aud":"me"}`, func(x *Expectation) { x.Audience = "" }, "names its audience, but no caller is expected"},
		{"reject-empty-audience-unexpected", `{"aud":""}`, func(x *Expectation) { x.Audience = "" }, "names its audience, but no caller is expected"},
		{"reject-request", `{"req":"r3"}`, nil, "answers another request"},
		{"reject-empty-request", `{"req":""}`, func(x *Expectation) { x.PlainRequest = "" }, "answers another request"},
		{"reject-empty-plain-request", `{"req":""}`, func(x *Expectation) { x.Request = "" }, "answers another request"},
		{"reject-request-unexpected", `{"req":"r1"}`, func(x *Expectation) { x.Request, x.PlainRequest = "", "" }, "names its request, but none is expected"},
		{"reject-scope", `{"scope":"read admin"}`, nil, "names a scope that the document does not have"},
		{"reject-first-scope", `{"scope":"admin read"}`, nil, "names a scope that the document does not have"},
	} {
		for _, row := range []string{"AIU-3.4-03/", "AIU-3.4-09/"} {
			t.Run(row+c.name, func(t *testing.T) {
				claims, err := claimsOf(t, "{}", c.payload)
				if err != nil {
					t.Fatal(err)
				}
				x := expect(c.change)
				err = claims.check(&x, claimsNow)
				switch {
				case c.want == "" && err != nil, c.want != "" && (err == nil || err.Code != CodeRejectedPolicy || !strings.Contains(err.Message, c.want)):
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		}
	}
}

// TestBindings lists the checks that say what a result proves about its call.
func TestBindings(t *testing.T) {
	u, err := Parse("ai://pay.example/x")
	if err != nil {
		t.Fatal(err)
	}
	full := Expectation{Endpoint: u, Audience: "me", Request: "r1", PlainRequest: "r2"}
	plain := full
	plain.Request = ""
	at := func(d time.Duration) string { return fmt.Sprint(claimsNow.Add(d).Unix()) }
	for _, c := range []struct {
		name, payload string
		x             Expectation
		want          string // issuer, request, audience, age and scope: Passed, Noted or Skipped
		missing       string // the first binding that RequireBinding misses
	}{
		{"all", `{"iss":"ai://pay.example/x","aud":"me","req":"r1","exp":` + at(time.Minute) + `,"scope":"a"}`, full, "PPPPP", ""},
		{"none", `{}`, full, "NNNNS", "does not name its issuer"},
		{"plain-request", `{"iss":"ai://pay.example/x","aud":"me","req":"r2","exp":` + at(time.Minute) + `}`, full, "PNPPS", "it may be from an earlier call"},
		{"request-missing", `{"iss":"ai://pay.example/x","aud":"me","exp":` + at(time.Minute) + `}`, full, "PNPPS", "does not name its request"},
		{"request-missing-plain-expected", `{"iss":"ai://pay.example/x","aud":"me","exp":` + at(time.Minute) + `}`, plain, "PNPPS", "does not name its request"},
		{"request-missing-without-plain-one", `{"iss":"ai://pay.example/x","aud":"me","exp":` + at(time.Minute) + `}`, Expectation{Endpoint: u, Audience: "me", Request: "r1"}, "PNPPS", "does not name its request"},
		{"audience-missing", `{"iss":"ai://pay.example/x","req":"r1","exp":` + at(time.Minute) + `}`, full, "PPNPS", "does not name its caller"},
		{"nothing-expected", `{"exp":` + at(time.Minute) + `}`, Expectation{}, "SSSPS", "no endpoint is expected"},
		{"issued-recently", `{"iss":"ai://pay.example/x","aud":"me","req":"r1","iat":` + at(-DefaultMaxAge) + `}`, full, "PPPPS", ""},
		{"issued-long-ago", `{"iss":"ai://pay.example/x","aud":"me","req":"r1","iat":` + at(-DefaultMaxAge-time.Second) + `,"exp":` + at(time.Hour) + `}`, full, "PPPNS", "issued longer ago than allowed"},
		{"no-date", `{"iss":"ai://pay.example/x","aud":"me","req":"r1"}`, full, "PPPNS", "neither iat nor exp"},
	} {
		claims, bad := claimsOf(t, "{}", c.payload)
		if bad != nil {
			t.Fatal(bad)
		}
		t.Run("AIU-3.4-09/accept-"+c.name, func(t *testing.T) {
			x := c.x
			checks, err := claims.bindings(&x, claimsNow)
			var got string
			for _, k := range checks {
				code := map[lookleap.Status]lookleap.Code{lookleap.Passed: lookleap.CodeOK, lookleap.Noted: CodeUnbound, lookleap.Skipped: lookleap.CodeSkipped}[k.Status]
				if k.Code != code || k.Message == "" || k.Requirement != "AIU-3.4-09" && k.Requirement != "AIU-3.4-03" {
					t.Errorf("%+v", k)
				}
				got += map[lookleap.Status]string{lookleap.Passed: "P", lookleap.Noted: "N", lookleap.Skipped: "S"}[k.Status]
			}
			if got != c.want || err != nil {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
			if noted := unboundNote(checks) != ""; noted != strings.Contains(c.want, "N") {
				t.Errorf("the summary notes a missing binding: %v", noted)
			}
		})
		t.Run("AIU-3.4-09/reject-unbound-"+c.name, func(t *testing.T) {
			x := c.x
			x.RequireBinding = true
			_, err := claims.bindings(&x, claimsNow)
			switch {
			case c.missing == "" && err != nil, c.missing != "" && (err == nil || err.Code != CodeRejectedPolicy || !strings.Contains(err.Message, c.missing)):
				t.Errorf("%v, want %q", err, c.missing)
			}
		})
	}
	t.Run("AIU-3.4-09/reject-older-than-its-own-limit", func(t *testing.T) {
		claims, _ := claimsOf(t, "{}", `{"iss":"ai://pay.example/x","aud":"me","req":"r1","iat":`+at(-2*time.Second)+`}`)
		for age, refused := range map[time.Duration]bool{time.Second: true, 2 * time.Second: false, 0: false, -time.Second: false} {
			x := full
			x.MaxAge, x.RequireBinding = age, true
			if _, err := claims.bindings(&x, claimsNow); (err != nil) != refused {
				t.Errorf("%s: %v", age, err)
			}
		}
	})
}
