package aiuri

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// TestParseJWS refuses each malformed signature for its own reason, before any key is looked for.
func TestParseJWS(t *testing.T) {
	good := encoded(`{"alg":"ES256","kid":"1"}`)
	for _, c := range []struct {
		name, text string
		code       lookleap.Code
		message    string
	}{
		{"empty", "", CodeRejectedUnsigned, "has no signature"},
		{"json-form", `{"payload":"","signatures":[]}`, CodeRejectedSignature, "not in the compact form"},
		{"one-part", good, CodeRejectedSignature, "three parts"},
		{"two-parts", good + ".", CodeRejectedSignature, "three parts"},
		{"four-parts", good + "..c2ln.", CodeRejectedSignature, "three parts"},
		{"long-header", encoded(`{"alg":"ES256","x":"`+strings.Repeat("x", maxHeader)+`"}`) + "..c2ln", CodeRejectedSignature, "larger than its limit"},
		{"header-not-base64url", "a+b=..c2ln", CodeRejectedSignature, "not base64url"},
		{"signature-not-base64url", good + "..c2l+", CodeRejectedSignature, "not base64url"},
		{"line-break", good + "..c2\nln", CodeRejectedSignature, "not base64url"},
		{"spare-bits", good + "..c2lnZx", CodeRejectedSignature, "not base64url"},
		{"header-no-json", encoded("x") + "..c2ln", CodeRejectedSignature, "not a strict JSON object"},
		{"header-no-object", encoded("[]") + "..c2ln", CodeRejectedSignature, "not a strict JSON object"},
		{"header-name-twice", encoded(`{"alg":"ES256","alg":"ES256"}`) + "..c2ln", CodeRejectedSignature, "not a strict JSON object"},
		{"no-algorithm", encoded(`{}`) + "..c2ln", CodeRejectedAlgorithm, "has no alg"},
		{"empty-algorithm", encoded(`{"alg":""}`) + "..c2ln", CodeRejectedAlgorithm, "alg is not a string"},
		{"algorithm-no-string", encoded(`{"alg":5}`) + "..c2ln", CodeRejectedAlgorithm, "alg is not a string"},
		{"kid-no-string", encoded(`{"alg":"ES256","kid":5}`) + "..c2ln", CodeRejectedKey, "kid is not a string"},
		{"crit-no-list", encoded(`{"alg":"ES256","crit":"b64","b64":true}`) + "..c2ln", CodeRejectedCritical, "not a list of names"},
		{"crit-no-list-but-an-object", encoded(`{"alg":"ES256","crit":{"b64":true}}`) + "..c2ln", CodeRejectedCritical, "not a list of names"},
		{"crit-empty", encoded(`{"alg":"ES256","crit":[]}`) + "..c2ln", CodeRejectedCritical, "not a list of names"},
		{"crit-unknown", encoded(`{"alg":"ES256","crit":["x"],"x":1}`) + "..c2ln", CodeRejectedCritical, "not supported"},
		{"crit-no-string", encoded(`{"alg":"ES256","crit":[5]}`) + "..c2ln", CodeRejectedCritical, "not supported"},
		{"crit-twice", encoded(`{"alg":"ES256","b64":true,"crit":["b64","b64"]}`) + "..c2ln", CodeRejectedCritical, "not supported"},
		{"crit-without-b64", encoded(`{"alg":"ES256","crit":["b64"]}`) + "..c2ln", CodeRejectedCritical, "do not agree"},
		{"b64-without-crit", encoded(`{"alg":"ES256","b64":true}`) + "..c2ln", CodeRejectedCritical, "do not agree"},
		{"b64-no-boolean", encoded(`{"alg":"ES256","b64":"false","crit":["b64"]}`) + "..c2ln", CodeRejectedCritical, "true or false"},
	} {
		rows := []string{"AIU-3.4-02"}
		if strings.Contains(c.name, "crit") {
			rows = append(rows, "AIU-3.4-06")
		}
		if strings.Contains(c.name, "b64") {
			rows = append(rows, "AIU-3.4-07")
		}
		for _, row := range rows {
			t.Run(row+"/reject-"+c.name, func(t *testing.T) {
				j, err := parseJWS(c.text)
				if err == nil || err.Code != c.code || !strings.Contains(err.Message, c.message) || j != nil {
					t.Errorf("%v, %v; want %s, %q", j, err, c.code, c.message)
				}
			})
		}
	}
	for _, c := range []struct {
		name, header  string
		plain, nested bool
		kid           string
		foreign       int
	}{
		{"plain", `{"alg":"ES256"}`, false, false, "", 0},
		{"kid", `{"alg":"ES256","kid":"k"}`, false, false, "k", 0},
		{"b64-true", `{"alg":"ES256","b64":true,"crit":["b64"]}`, false, false, "", 0},
		{"b64-false", `{"alg":"ES256","b64":false,"crit":["b64"]}`, true, false, "", 0},
		{"nested", `{"alg":"ES256","cty":"jwt"}`, false, true, "", 0},
		{"not-nested", `{"alg":"ES256","cty":"json"}`, false, false, "", 0},
		{"foreign", `{"alg":"ES256","jku":"https://a.example","x5u":"https://b.example"}`, false, false, "", 2},
		{"longest-header", `{"alg":"ES256","x":"` + strings.Repeat("x", maxHeader*3/4-len(`{"alg":"ES256","x":""}`)) + `"}`, false, false, "", 0},
	} {
		t.Run("AIU-3.4-02/accept-"+c.name, func(t *testing.T) {
			j, err := parseJWS(encoded(c.header) + "." + encoded("p") + "." + encoded("signature"))
			if err != nil {
				t.Fatal(err)
			}
			h := &j.header
			if h.algorithm != "ES256" || h.plain != c.plain || h.nested != c.nested || h.keyID != c.kid || h.hasKeyID != (c.kid != "") || len(h.foreign) != c.foreign {
				t.Errorf("%+v", h)
			}
			if string(j.signature) != "signature" || j.payload != encoded("p") || j.protected != encoded(c.header) {
				t.Errorf("%+v", j)
			}
		})
	}
}

// TestUnencodedPayload: a payload that is signed without base64url has to be detached, even if
// its signature matches (RFC 7797).
func TestUnencodedPayload(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const header, body = `{"alg":"ES256","b64":false,"crit":["b64"]}`, `{"paid":true}`
	sum := sha256.Sum256([]byte(encoded(header) + "." + body))
	r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := encoded(string(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)))
	set := &KeySet{keys: []key{{public: &private.PublicKey}}}
	verify := func(payload string, body []byte, x Expectation) (*Verified, error) {
		return VerifyResult(SignedResult{JWS: encoded(header) + "." + payload + "." + signature, Body: body}, set, claimsNow, x)
	}
	t.Run("AIU-3.4-07/accept-detached", func(t *testing.T) {
		u, _ := Parse("ai://pay.example/secret")
		for subject, x := range map[string]Expectation{"a result": {}, "a result of ai://pay.example/…": {Endpoint: u}} {
			if v, err := verify("", []byte(body), x); err != nil || v.Verdict.Subject != subject {
				t.Error(v, err)
			}
		}
	})
	t.Run("AIU-3.4-07/reject-embedded", func(t *testing.T) {
		// As a reader signs it that knows RFC 7797, and as one that does not.
		literal := encoded(header) + "." + encoded(body)
		sum := sha256.Sum256([]byte(literal))
		r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		signed := SignedResult{JWS: literal + "." + encoded(string(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)))}
		if v, err := VerifyResult(signed, set, claimsNow, Expectation{}); lookleap.CodeOf(err) != CodeRejectedSignature {
			t.Error(v, err)
		}
		for _, beside := range [][]byte{nil, []byte(body)} {
			if v, err := verify(encoded(body), beside, Expectation{}); lookleap.CodeOf(err) != CodeRejectedSignature {
				t.Error(v, err)
			}
		}
	})
	t.Run("AIU-3.4-05/reject-no-key-set", func(t *testing.T) {
		if _, err := VerifyResult(SignedResult{JWS: encoded(header) + ".." + signature, Body: []byte(body)}, nil, claimsNow, Expectation{}); lookleap.CodeOf(err) != CodeRejectedKey {
			t.Error(err)
		}
	})
}

// TestParseKey reads members of keys that must not verify, each for its own reason.
func TestParseKey(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	x, y := point[1:33], point[33:]
	jwk := func(changes ...any) string {
		members := map[string]any{"kty": "EC", "crv": "P-256", "x": encoded(string(x)), "y": encoded(string(y))}
		for i := 0; i < len(changes); i += 2 {
			members[changes[i].(string)] = changes[i+1]
		}
		text, err := json.Marshal(map[string]any{"keys": []any{members}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ name, set, reason string }{
		{"kid-no-string", jwk("kid", 5), "a kid is not a string"},
		{"algorithm-no-string", jwk("alg", 5), "an algorithm that is not supported"},
		{"algorithm-unknown", jwk("alg", "HS256"), "an algorithm that is not supported"},
		{"algorithm-of-encryption", jwk("alg", "ECDH-ES"), "not supported"},
		{"algorithm-of-another-kind", jwk("alg", "ES384"), "its alg does not match"},
		{"use", jwk("use", "enc"), "not for signatures"},
		{"operations", jwk("key_ops", []string{"sign"}), "no operation verify"},
		{"private", jwk("d", "AA"), "symmetric or private"},
		{"symmetric", jwk("k", "AA"), "symmetric or private"},
		{"private-p", jwk("p", "AA"), "symmetric or private"},
		{"private-q", jwk("q", "AA"), "symmetric or private"},
		{"private-dp", jwk("dp", "AA"), "symmetric or private"},
		{"private-dq", jwk("dq", "AA"), "symmetric or private"},
		{"private-qi", jwk("qi", "AA"), "symmetric or private"},
		{"private-oth", jwk("oth", []any{}), "symmetric or private"},
		{"coordinate-not-base64url", jwk("x", "+"), "not base64url"},
		{"coordinate-padded", jwk("x", encoded(string(x))+"="), "not base64url"},
		{"coordinate-missing", jwk("y", ""), "malformed, too long or of an unknown kind"},
		{"not-on-the-curve", jwk("y", encoded(string(new(big.Int).Add(new(big.Int).SetBytes(y), big.NewInt(1)).FillBytes(make([]byte, 32))))), "malformed, too long or of an unknown kind"},
		{"curve", jwk("crv", "P-999"), "malformed, too long or of an unknown kind"},
		{"kind", jwk("kty", "XX"), "malformed, too long or of an unknown kind"},
		{"no-object", `{"keys":[5]}`, ""},
	} {
		t.Run("AIU-3.4-05/reject-"+c.name, func(t *testing.T) {
			set, err := ParseKeySet([]byte(c.set))
			if err != nil {
				if c.reason != "" {
					t.Fatal(err)
				}
				return
			}
			if len(set.keys) != 0 || !slices.ContainsFunc(set.Findings(), func(f lookleap.Finding) bool { return strings.Contains(f.Message, c.reason) }) {
				t.Errorf("%d keys, %v; want %q", len(set.keys), set.Findings(), c.reason)
			}
		})
	}
	for name, set := range map[string]string{
		"plain": jwk(), "all": jwk("kid", "1", "alg", "ES256", "use", "sig", "key_ops", []string{"sign", "verify"}), "operations": jwk("key_ops", []string{"verify", "sign"}),
	} {
		t.Run("AIU-3.4-05/accept-"+name, func(t *testing.T) {
			parsed, err := ParseKeySet([]byte(set))
			if err != nil || len(parsed.keys) != 1 || len(parsed.Findings()) != 0 {
				t.Fatal(parsed, err)
			}
			k := parsed.keys[0]
			if !k.fits(ES256) || k.fits(ES384) || k.fits(EdDSA) || k.fits(PS256) || k.fits("") {
				t.Error("the key fits other algorithms")
			}
		})
	}
	if (key{}).fits(ES256) {
		t.Error("no key fits")
	}
}

// TestEncodedPayload: a payload that is no base64url is refused although its key signed it.
func TestEncodedPayload(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	set := &KeySet{keys: []key{{public: public}}}
	for payload, want := range map[string]lookleap.Code{encoded("paid"): lookleap.CodeOK, "cGFpZA==": CodeRejectedSignature, "cGF+ZA": CodeRejectedSignature, "cGFpZB": CodeRejectedSignature} {
		t.Run("AIU-3.4-02/"+map[bool]string{true: "accept", false: "reject"}[want == lookleap.CodeOK]+"-payload-"+payload, func(t *testing.T) {
			input := encoded(`{"alg":"EdDSA"}`) + "." + payload
			v, err := VerifyResult(SignedResult{JWS: input + "." + encoded(string(ed25519.Sign(private, []byte(input))))}, set, claimsNow, Expectation{})
			if code := lookleap.CodeOf(err); err != nil && code != want || err == nil && (want != lookleap.CodeOK || string(v.Payload) != "paid") {
				t.Errorf("%v, %v; want %s", v, err, want)
			}
		})
	}
	t.Run("AIU-3.4-05/reject-key-of-no-known-type", func(t *testing.T) {
		if verify(nil, &jws{}, nil) || verify("key", &jws{}, nil) {
			t.Error("a signature is valid without a key")
		}
	})
}

// TestReceipt: the ledger gets the digest of each result, and a signature that fits.
func TestReceipt(t *testing.T) {
	for size, kept := range map[int]bool{10: true, lookleap.MaxReceipt / 2: true, lookleap.MaxReceipt/2 + 1: false, 4 << 20: false} {
		receipt, err := (&Verified{Payload: []byte("paid"), JWS: strings.Repeat("x", size)}).receipt()
		if err != nil || len(receipt) > lookleap.MaxReceipt || !strings.Contains(string(receipt), lookleap.Digest([]byte("paid"))) || strings.Contains(string(receipt), "xxx") != kept {
			t.Errorf("%d: %d bytes, %v; the signature is kept: %v", size, len(receipt), err, kept)
		}
	}
}
