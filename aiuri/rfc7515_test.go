package aiuri_test

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// The values of RFC 7515 appendix A.
const (
	joePayload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
	joeHS256   = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + joePayload + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	joeRS256   = "eyJhbGciOiJSUzI1NiJ9." + joePayload + "." + joeRSA
	joeRSA     = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU" +
		"Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j" +
		"zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
	joeES256 = "eyJhbGciOiJFUzI1NiJ9." + joePayload + "." + joeEC
	joeEC    = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
	es512    = "eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO" +
		"0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn"
	unsecured = "eyJhbGciOiJub25lIn0." + joePayload + "."
	undefined = "eyJhbGciOiJub25lIiwNCiAiY3JpdCI6WyJodHRwOi8vZXhhbXBsZS5jb20vVU5ERUZJTkVEIl0sDQogImh0dHA6Ly9leGFtcGxlLmNvbS9VTkRF" +
		"RklORUQiOnRydWUNCn0.RkFJTA."
)

// joeKeys are the public keys of A.2 and A.3.
func joeKeys(t *testing.T) *aiuri.KeySet {
	return keySet(t,
		map[string]any{"kty": "RSA", "kid": "rsa", "e": "AQAB", "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Ql" +
			"L-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Ca" +
			"pHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"},
		map[string]any{"kty": "EC", "kid": "ec", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})
}

// TestRFC7515 runs the examples of appendices A, E and F. The payload of most
// claims an issuer that is not an endpoint and a time that has passed: where the
// signature holds it is for its claims that the result is rejected.
func TestRFC7515(t *testing.T) {
	rs256 := aiuri.Expectation{AllowRS256: true}
	body := must(base64.RawURLEncoding.DecodeString(joePayload))
	general := `{"payload":"` + joePayload + `","signatures":[{"protected":"eyJhbGciOiJSUzI1NiJ9","header":{"kid":"rsa"},"signature":"` + joeRSA +
		`"},{"protected":"eyJhbGciOiJFUzI1NiJ9","header":{"kid":"ec"},"signature":"` + joeEC + `"}]}`
	flattened := `{"payload":"` + joePayload + `","protected":"eyJhbGciOiJFUzI1NiJ9","header":{"kid":"ec"},"signature":"` + joeEC + `"}`
	for _, c := range []struct {
		name   string
		r      aiuri.SignedResult
		x      aiuri.Expectation
		code   lookleap.Code
		signed bool // whether the signature was found to hold
	}{
		{"A.1-HS256", aiuri.SignedResult{JWS: joeHS256}, rs256, aiuri.CodeRejectedAlgorithm, false},
		{"A.2-RS256", aiuri.SignedResult{JWS: joeRS256}, rs256, aiuri.CodeRejectedPolicy, true},
		{"A.2-RS256-not-allowed", aiuri.SignedResult{JWS: joeRS256}, aiuri.Expectation{}, aiuri.CodeRejectedAlgorithm, false},
		{"A.3-ES256", aiuri.SignedResult{JWS: joeES256}, aiuri.Expectation{}, aiuri.CodeRejectedPolicy, true},
		{"A.3-ES256-other-signature", aiuri.SignedResult{JWS: "eyJhbGciOiJFUzI1NiJ9." + joePayload + "." + joeRSA}, rs256, aiuri.CodeRejectedSignature, false},
		{"A.3-ES256-other-payload", aiuri.SignedResult{JWS: "eyJhbGciOiJFUzI1NiJ9.UGF5bG9hZA." + joeEC}, rs256, aiuri.CodeRejectedSignature, false},
		{"A.4-ES512", aiuri.SignedResult{JWS: es512}, rs256, aiuri.CodeRejectedAlgorithm, false},
		{"A.5-unsecured", aiuri.SignedResult{JWS: unsecured}, rs256, aiuri.CodeRejectedAlgorithm, false},
		{"A.6-general-JSON", aiuri.SignedResult{JWS: general}, rs256, aiuri.CodeRejectedSignature, false},
		{"A.7-flattened-JSON", aiuri.SignedResult{JWS: flattened}, rs256, aiuri.CodeRejectedSignature, false},
		{"E-crit", aiuri.SignedResult{JWS: undefined}, rs256, aiuri.CodeRejectedCritical, false},
		{"F-detached", aiuri.SignedResult{JWS: "eyJhbGciOiJFUzI1NiJ9.." + joeEC, Body: body}, rs256, aiuri.CodeRejectedPolicy, true},
		{"F-detached-without-payload", aiuri.SignedResult{JWS: "eyJhbGciOiJFUzI1NiJ9.." + joeEC}, rs256, aiuri.CodeRejectedSignature, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused(t, c.r, joeKeys(t), c.x, c.code)
			_, err := aiuri.VerifyResult(c.r, joeKeys(t), time.Unix(1300819379, 0), c.x)
			var no *lookleap.VerifyError
			if !errors.As(err, &no) {
				t.Fatal(err)
			}
			const held = 3 // checks that pass: algorithm, key, signature
			if passed := len(no.Verdict.Checks) == held+1; passed != c.signed {
				t.Errorf("the signature held: %v", passed)
			}
		})
	}
}
