package aiuri_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

var (
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	otherKey = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	p384Key  = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	edKey    = sync.OnceValue(func() ed25519.PrivateKey { _, k, err := ed25519.GenerateKey(rand.Reader); return must(k, err) })
)

var now = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// jwk returns a public key as a member map, to be changed by a test.
func jwk(id string, key crypto.Signer, change ...func(map[string]any)) map[string]any {
	m := map[string]any{}
	text := must(jose.JSONWebKey{Key: key.Public(), KeyID: id}.MarshalJSON())
	if err := json.Unmarshal(text, &m); err != nil {
		panic(err)
	}
	for _, f := range change {
		f(m)
	}
	return m
}

func with(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

func setText(keys ...map[string]any) []byte { return must(json.Marshal(map[string]any{"keys": keys})) }

func keySet(t testing.TB, keys ...map[string]any) *aiuri.KeySet {
	t.Helper()
	set, err := aiuri.ParseKeySet(setText(keys...))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// es256 signs a header that a test wrote itself.
func es256(header, payload string, detached bool) string {
	input := encode([]byte(header)) + "." + encode([]byte(payload))
	sum := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, ecKey(), sum[:])
	if err != nil {
		panic(err)
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	if detached {
		input = encode([]byte(header)) + "."
	}
	return input + "." + encode(signature[:])
}

func claims(members string) string { return `{"alg":"ES256","kid":"1"` + members + `}` }

func TestVerifyResult(t *testing.T) {
	endpoint := parseAny("ai://bank/service/payments")
	set := keySet(t, jwk("1", ecKey()), jwk("2", p384Key()), jwk("3", rsaKey()), jwk("4", edKey()))
	expect := aiuri.Expectation{Endpoint: endpoint, Audience: "agent", Scopes: []string{"pay"}, Request: lookleap.Digest([]byte("r"))}
	const body = `{"paid":true}`
	detach := func(header string) aiuri.SignedResult {
		return aiuri.SignedResult{JWS: es256(header, body, true), Body: []byte(body)}
	}
	embed := func(header, payload string) aiuri.SignedResult {
		return aiuri.SignedResult{JWS: es256(header, payload, false)}
	}
	plain := func(header string) aiuri.SignedResult {
		sum := sha256.Sum256([]byte(encode([]byte(header)) + "." + body))
		r, s, _ := ecdsa.Sign(rand.Reader, ecKey(), sum[:])
		return aiuri.SignedResult{JWS: encode([]byte(header)) + ".." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)), Body: []byte(body)}
	}
	exp := func(d time.Duration) string { return fmt.Sprintf(`,"exp":%d`, now.Add(d).Unix()) }
	iat := func(d time.Duration) string { return fmt.Sprintf(`,"iat":%d`, now.Add(d).Unix()) }
	for _, c := range []struct {
		id string
		r  aiuri.SignedResult
	}{
		{"AIU-3.4-02/accept-detached", detach(claims(""))},
		{"AIU-3.4-02/accept-embedded", embed(claims(""), body)},
		{"AIU-3.4-07/accept-exact-octets", detach(claims(""))},
		{"AIU-3.4-07/accept-detached", plain(`{"alg":"ES256","kid":"1","b64":false,"crit":["b64"]}`)},
		{"AIU-3.4-07/accept-b64-false", plain(`{"alg":"ES256","kid":"1","b64":false,"crit":["b64"]}`)},
		{"AIU-3.4-07/accept-b64-true", detach(`{"alg":"ES256","kid":"1","b64":true,"crit":["b64"]}`)},
		{"AIU-3.4-08/accept-same-beside", aiuri.SignedResult{JWS: es256(claims(""), body, false), Body: []byte(body)}},
		{"AIU-3.4-05/accept-no-kid-one-fits", detach(`{"alg":"ES256"}`)},
		{"AIU-3.4-06/accept-jwk-ignored", detach(`{"alg":"ES256","kid":"1","jwk":{"kty":"oct","k":"AA"},"x5c":["x"]}`)},
		{"AIU-3.4-09/accept-all", detach(claims(exp(time.Minute) + iat(-time.Minute) + `,"iss":"AI://bank/service/payments","aud":["x","agent"],"req":"` + expect.Request + `","scope":"pay"`))},
		{"AIU-3.4-09/accept-iat-five-minutes", detach(claims(iat(5 * time.Minute)))},
		{"AIU-3.4-09/accept-nbf-five-minutes", detach(claims(fmt.Sprintf(`,"nbf":%d`, now.Add(5*time.Minute).Unix())))},
		{"AIU-3.4-09/accept-exp-one-second", detach(claims(exp(time.Second)))},
		{"AIU-3.4-09/accept-in-payload", embed(claims(""), `{"iss":"ai://bank/service/payments","aud":"agent"`+exp(time.Second)+`}`)},
		{"AIU-3.4-03/accept-scope", detach(claims(`,"scope":["pay"]`))},
		{"L19/accept-three-parts", detach(claims(""))},
		{"L16/accept-b64", plain(`{"alg":"ES256","kid":"1","b64":false,"crit":["b64"]}`)},
	} {
		t.Run(c.id, func(t *testing.T) {
			v, err := aiuri.VerifyResult(c.r, set, now, expect)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Verdict.OK || v.JWS != c.r.JWS || v.Algorithm != "ES256" || !strings.HasPrefix(string(v.Payload), "{") {
				t.Errorf("got %+v", v)
			}
		})
	}
	unencoded := plain(`{"alg":"ES256","kid":"1","b64":false,"crit":["b64"]}`) // and embedded: its signature is right
	unencoded.JWS, unencoded.Body = strings.Replace(unencoded.JWS, "..", "."+encode([]byte(body))+".", 1), nil
	good := es256(claims(""), body, true)
	parts := strings.Split(good, ".")
	other := es256(claims(""), `{"paid":false}`, false)
	for _, c := range []struct {
		id   string
		r    aiuri.SignedResult
		code lookleap.Code
	}{
		{"AIU-3.4-02/reject-unsigned", aiuri.SignedResult{Body: []byte(body)}, aiuri.CodeRejectedUnsigned},
		{"AIU-3.4-02/reject-changed-payload", aiuri.SignedResult{JWS: good, Body: []byte(`{"paid":true }`)}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-other-signature", aiuri.SignedResult{JWS: parts[0] + ".." + strings.Split(other, ".")[2], Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-unknown-key", detach(`{"alg":"ES256","kid":"9"}`), aiuri.CodeRejectedKey},
		{"AIU-3.4-03/reject-scope", detach(claims(`,"scope":"pay admin"`)), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-03/reject-issuer", detach(claims(`,"iss":"ai://bank/other"`)), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-03/reject-expired", detach(claims(exp(0))), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-04/reject-none", aiuri.SignedResult{JWS: encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(body)) + "."}, aiuri.CodeRejectedAlgorithm},
		{"AIU-3.4-04/reject-hs256", detach(`{"alg":"HS256","kid":"1"}`), aiuri.CodeRejectedAlgorithm},
		{"AIU-3.4-04/reject-rs256-without-option", detach(`{"alg":"RS256","kid":"3"}`), aiuri.CodeRejectedAlgorithm},
		{"AIU-3.4-04/reject-unknown", detach(`{"alg":"ES257","kid":"1"}`), aiuri.CodeRejectedAlgorithm},
		{"AIU-3.4-04/reject-missing", detach(`{"kid":"1"}`), aiuri.CodeRejectedAlgorithm},
		{"AIU-3.4-06/reject-crit", detach(`{"alg":"ES256","kid":"1","x":1,"crit":["x"]}`), aiuri.CodeRejectedCritical},
		{"AIU-3.4-07/reject-b64-without-crit", plain(`{"alg":"ES256","kid":"1","b64":false}`), aiuri.CodeRejectedCritical},
		{"AIU-3.4-07/reject-reformatted", aiuri.SignedResult{JWS: good, Body: []byte("{\"paid\": true}")}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-08/reject-different-of-one-length", aiuri.SignedResult{JWS: es256(claims(""), body, false), Body: []byte(strings.Repeat("x", len(body)))}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-08/reject-empty-beside", aiuri.SignedResult{JWS: es256(claims(""), body, false), Body: []byte{}}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-08/reject-different-beside", aiuri.SignedResult{JWS: es256(claims(""), body, false), Body: []byte(`{}`)}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-09/reject-exp", detach(claims(exp(-time.Second))), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-nbf", detach(claims(`,"nbf":` + strconv.FormatInt(now.Add(6*time.Minute).Unix(), 10))), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-nbf-one-second-more", detach(claims(fmt.Sprintf(`,"nbf":%d`, now.Add(5*time.Minute+time.Second).Unix()))), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-exp-now", detach(claims(exp(0))), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-iat", detach(claims(iat(5*time.Minute + time.Second))), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-iss", detach(claims(`,"iss":"https://bank.example"`)), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-aud", detach(claims(`,"aud":"someone"`)), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-req", detach(claims(`,"req":"sha256:00"`)), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-in-payload", embed(claims(""), `{"exp":1}`), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-contradiction", embed(claims(exp(time.Minute)), `{"x":1`+exp(time.Hour)+`}`), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-no-end", embed(claims(""), `{"x":"exp"`), aiuri.CodeRejectedPolicy},
		{"AIU-3.4-09/reject-doubled-claim", embed(claims(""), `{"aud":"agent","aud":"x"}`), aiuri.CodeRejectedPolicy},
		{"L11/reject-none", aiuri.SignedResult{JWS: encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(body)) + "."}, aiuri.CodeRejectedAlgorithm},
		{"L11/reject-None", aiuri.SignedResult{JWS: encode([]byte(`{"alg":"None"}`)) + "." + encode([]byte(body)) + "."}, aiuri.CodeRejectedAlgorithm},
		{"L11/reject-nOnE", aiuri.SignedResult{JWS: encode([]byte(`{"alg":"nOnE"}`)) + "." + encode([]byte(body)) + "."}, aiuri.CodeRejectedAlgorithm},
		{"L11/reject-empty-signature", aiuri.SignedResult{JWS: parts[0] + "..", Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L16/reject-unknown-crit", detach(`{"alg":"ES256","kid":"1","crit":["x"],"x":1}`), aiuri.CodeRejectedCritical},
		{"L16/reject-empty-crit", detach(`{"alg":"ES256","kid":"1","crit":[]}`), aiuri.CodeRejectedCritical},
		{"L16/reject-crit-no-list", detach(`{"alg":"ES256","kid":"1","crit":"b64"}`), aiuri.CodeRejectedCritical},
		{"L16/reject-crit-without-b64", detach(`{"alg":"ES256","kid":"1","crit":["b64"]}`), aiuri.CodeRejectedCritical},
		{"L16/reject-b64-without-crit", plain(`{"alg":"ES256","kid":"1","b64":false}`), aiuri.CodeRejectedCritical},
		{"L16/reject-b64-beside-unknown-crit", plain(`{"alg":"ES256","kid":"1","b64":false,"x":1,"crit":["b64","x"]}`), aiuri.CodeRejectedCritical},
		{"L16/reject-detached-swap", aiuri.SignedResult{JWS: good, Body: []byte("other")}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-07/reject-embedded", unencoded, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-four-parts", aiuri.SignedResult{JWS: good + ".", Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-json-form", aiuri.SignedResult{JWS: `{"payload":"","signatures":[]}`}, aiuri.CodeRejectedSignature},
		{"L16/reject-unprotected-header", aiuri.SignedResult{JWS: `{"protected":"` + parts[0] + `","header":{"crit":["b64"]},"payload":"","signature":"` + parts[2] + `"}`, Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L17/reject-path", detach(`{"alg":"ES256","kid":"../../x"}`), aiuri.CodeRejectedKey},
		{"L17/reject-injection", detach(`{"alg":"ES256","kid":"' OR 1=1"}`), aiuri.CodeRejectedKey},
		{"L17/reject-megabyte", detach(`{"alg":"ES256","kid":"` + strings.Repeat("x", 1<<20) + `"}`), aiuri.CodeRejectedSignature},
		{"L17/reject-empty", detach(`{"alg":"ES256","kid":""}`), aiuri.CodeRejectedKey},
		{"L19/reject-two-parts", aiuri.SignedResult{JWS: parts[0] + "." + parts[2], Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L19/reject-one-part", aiuri.SignedResult{JWS: parts[0], Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L19/reject-four-parts", aiuri.SignedResult{JWS: good + ".", Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L19/reject-four-parts-before", aiuri.SignedResult{JWS: "." + good, Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L19/reject-five-parts", aiuri.SignedResult{JWS: good + "..", Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"L19/reject-a-million-dots", aiuri.SignedResult{JWS: strings.Repeat(".", 1e6)}, aiuri.CodeRejectedSignature},
		{"L19/reject-json-form", aiuri.SignedResult{JWS: `{"payload":"","signatures":[` + strings.Repeat(`{},`, 1e4) + `{}]}`}, aiuri.CodeRejectedSignature},
		{"L19/reject-duplicate-header-name", detach(`{"alg":"ES256","alg":"none","kid":"1"}`), aiuri.CodeRejectedSignature},
		{"L22/reject-reencoded", aiuri.SignedResult{JWS: good, Body: []byte(`{"paid":true}` + "\n")}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-too-large", aiuri.SignedResult{JWS: good, Body: make([]byte, 4<<20+1)}, lookleap.CodeTooLarge},
		{"AIU-3.4-02/reject-padding", aiuri.SignedResult{JWS: good + "==", Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-spare-bits", aiuri.SignedResult{JWS: spareBits(good), Body: []byte(body)}, aiuri.CodeRejectedSignature},
		{"AIU-3.4-02/reject-line-break", aiuri.SignedResult{JWS: good + "\n", Body: []byte(body)}, aiuri.CodeRejectedSignature},
	} {
		t.Run(c.id, func(t *testing.T) { refused(t, c.r, set, expect, c.code) })
	}
	t.Run("AIU-3.4-03/reject-scope-of-a-document-without-scopes", func(t *testing.T) {
		x := expect
		x.Scopes = nil
		refused(t, detach(claims(`,"scope":"pay"`)), set, x, aiuri.CodeRejectedPolicy)
	})
	t.Run("AIU-3.4-09/reject-empty-request", func(t *testing.T) { // no plain request is expected, and that is no request either
		refused(t, detach(claims(`,"req":""`)), set, expect, aiuri.CodeRejectedPolicy)
	})
	t.Run("AIU-3.4-09/reject-required", func(t *testing.T) {
		x := expect
		x.Require = []string{"exp", "req"}
		refused(t, detach(claims("")), set, x, aiuri.CodeRejectedPolicy)
	})
	for _, name := range []string{"jku", "x5u"} {
		t.Run("AIU-3.4-06/accept-finding-for-"+name, func(t *testing.T) {
			v, err := aiuri.VerifyResult(detach(claims(`,"`+name+`":"https://evil.example/keys"`)), set, now, expect)
			if err != nil || len(v.Verdict.Findings) != 1 || v.Verdict.Findings[0].Code != "foreign-key-reference" {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
	t.Run("L22/accept-the-signed-octets-come-back", func(t *testing.T) {
		v, err := aiuri.VerifyResult(embed(claims(""), "{ \"paid\" : true }"), set, now, expect)
		if err != nil || string(v.Payload) != "{ \"paid\" : true }" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("L22/accept-the-detached-octets-come-back", func(t *testing.T) {
		v, err := aiuri.VerifyResult(detach(claims("")), set, now, expect)
		if err != nil || string(v.Payload) != body {
			t.Errorf("got %v", err)
		}
	})
	t.Run("L17/accept-missing-kid-one-key", func(t *testing.T) {
		if _, err := aiuri.VerifyResult(detach(`{"alg":"ES256"}`), set, now, expect); err != nil {
			t.Error(err)
		}
	})
	for _, id := range []string{"AIU-3.4-05/reject-missing-kid-two-fit", "L17/reject-missing-kid-two-keys"} {
		t.Run(id, func(t *testing.T) {
			refused(t, detach(`{"alg":"ES256"}`), keySet(t, jwk("1", ecKey()), jwk("2", otherKey())), expect, aiuri.CodeRejectedKey)
		})
	}
	t.Run("L17/reject-kid-case", func(t *testing.T) {
		refused(t, detach(`{"alg":"ES256","kid":"A"}`), keySet(t, jwk("a", ecKey())), expect, aiuri.CodeRejectedKey)
	})
	t.Run("AIU-3.4-06/reject-foreign-key-in-header", func(t *testing.T) {
		refused(t, detach(`{"alg":"ES256","kid":"x","jwk":`+string(must(json.Marshal(jwk("x", ecKey()))))+`}`), keySet(t, jwk("1", otherKey())), expect, aiuri.CodeRejectedKey)
	})
}

// spareBits writes the same bytes in another way: the last character of 64
// bytes has four bits that mean nothing.
func spareBits(jws string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, jws[len(jws)-1])
	return jws[:len(jws)-1] + alphabet[last+1:last+2]
}

// refused holds that nothing of the result is in the refusal.
func refused(t *testing.T, r aiuri.SignedResult, set *aiuri.KeySet, x aiuri.Expectation, code lookleap.Code) {
	t.Helper()
	v, err := aiuri.VerifyResult(r, set, now, x)
	var no *lookleap.VerifyError
	if v != nil || !errors.As(err, &no) || no.Verdict.OK || lookleap.CodeOf(err) != code || !code.Known() {
		t.Fatalf("got %v, %v; want %s", v, err, code)
	}
	shown := err.Error() + no.Verdict.String() + string(must(json.Marshal(no.Verdict)))
	if strings.Contains(shown, "paid") {
		t.Errorf("the refusal shows the result: %s", shown)
	}
}

func TestSignResult(t *testing.T) {
	for name, key := range map[string]crypto.Signer{"es256": ecKey(), "es384": p384Key(), "ps256": rsaKey(), "eddsa": edKey()} {
		set := keySet(t, jwk("k", key))
		for _, form := range []string{"embedded", "detached"} {
			for _, id := range []string{"AIU-3.4-01/accept-", "AIU-3.4-04/accept-"} {
				t.Run(id+name+"-"+form, func(t *testing.T) {
					endpoint := parseAny("ai://bank/x")
					made := &aiuri.Claims{Issuer: endpoint.String(), Audience: []string{"a"}, Expires: now.Add(time.Hour), Issued: now, Request: "sha256:1", Scopes: []string{"s"}}
					r, err := aiuri.SignResult([]byte("payload"), aiuri.SigningKey{ID: "k", Private: key}, aiuri.SignOptions{Claims: made, Detached: form == "detached"})
					if err != nil {
						t.Fatal(err)
					}
					x := aiuri.Expectation{Endpoint: endpoint, Audience: "a", Scopes: []string{"s"}, Request: "sha256:1", Require: []string{"iss", "aud", "exp", "iat", "req", "scope"}}
					v, err := aiuri.VerifyResult(r, set, now, x)
					if err != nil || string(v.Payload) != "payload" || strings.ToLower(v.Algorithm) != name || v.KeyID != "k" {
						t.Errorf("got %+v, %v", v, err)
					}
				})
			}
		}
	}
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("AIU-3.4-01/reject-weak-key", func(t *testing.T) {
		if r, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "k", Private: weak}, aiuri.SignOptions{}); r.JWS != "" || lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
			t.Errorf("got %v, %v", r, err)
		}
	})
	for name, key := range map[string]crypto.Signer{"2047-bit": must(rsa.GenerateKey(rand.Reader, 2047)), "p-224": must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader)), "p-521": must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))} {
		t.Run("AIU-3.4-01/reject-key-"+name, func(t *testing.T) {
			if r, err := aiuri.SignResult(nil, aiuri.SigningKey{ID: "k", Private: key}, aiuri.SignOptions{}); r.JWS != "" || lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("got %v, %v", r, err)
			}
		})
	}
	t.Run("L13/reject-1024-bit", func(t *testing.T) {
		if set := keySet(t, jwk("k", weak)); set.Len() != 0 {
			t.Error("the key is usable")
		}
	})
}

// TestPSSSalt signs with salts of other lengths than the hash's.
func TestPSSSalt(t *testing.T) {
	set := keySet(t, jwk("k", rsaKey()))
	input := encode([]byte(`{"alg":"PS256","kid":"k"}`)) + "." + encode([]byte("x"))
	sum := sha256.Sum256([]byte(input))
	for salt, ok := range map[int]bool{32: true, 0: false, 20: false, 31: false, 64: false, 222: false} {
		if salt == 0 {
			salt = rsa.PSSSaltLengthAuto
		}
		signature := must(rsa.SignPSS(rand.Reader, rsaKey(), crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: salt}))
		r := aiuri.SignedResult{JWS: input + "." + encode(signature)}
		for _, id := range []string{"L14", "AIU-3.4-04"} {
			if ok {
				t.Run(id+"/accept-salt-32", func(t *testing.T) {
					if _, err := aiuri.VerifyResult(r, set, now, aiuri.Expectation{}); err != nil {
						t.Error(err)
					}
				})
				continue
			}
			t.Run(fmt.Sprintf("%s/reject-salt-%d", id, salt), func(t *testing.T) { refused(t, r, set, aiuri.Expectation{}, aiuri.CodeRejectedSignature) })
		}
	}
	t.Run("AIU-3.4-04/accept-rs256-by-option", func(t *testing.T) {
		input := encode([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + encode([]byte("x"))
		sum := sha256.Sum256([]byte(input))
		r := aiuri.SignedResult{JWS: input + "." + encode(must(rsa.SignPKCS1v15(rand.Reader, rsaKey(), crypto.SHA256, sum[:])))}
		if _, err := aiuri.VerifyResult(r, set, now, aiuri.Expectation{AllowRS256: true}); err != nil {
			t.Error(err)
		}
	})
	t.Run("L14/reject-der", func(t *testing.T) {
		input := encode([]byte(`{"alg":"ES256","kid":"1"}`)) + "." + encode([]byte("x"))
		sum := sha256.Sum256([]byte(input))
		r := aiuri.SignedResult{JWS: input + "." + encode(must(ecdsa.SignASN1(rand.Reader, ecKey(), sum[:])))}
		refused(t, r, keySet(t, jwk("1", ecKey())), aiuri.Expectation{}, aiuri.CodeRejectedSignature)
	})
}

func FuzzVerifyResult(f *testing.F) {
	set := keySet(f, jwk("1", ecKey()))
	f.Add(es256(claims(""), "x", false), []byte(nil))
	f.Add(es256(claims(""), "x", true), []byte("x"))
	f.Add(encode([]byte(`{"alg":"none"}`))+"..", []byte("x"))
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		v, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: text, Body: body}, set, now, aiuri.Expectation{})
		if (v == nil) == (err == nil) || err != nil && !lookleap.CodeOf(err).Known() {
			t.Fatalf("got %v, %v", v, err)
		}
		if v == nil {
			return
		}
		// Whatever we accept, the library accepts for the same bytes.
		algorithms := []jose.SignatureAlgorithm{jose.ES256}
		if strings.Contains(text, "..") {
			signed := must(jose.ParseDetached(text, body, algorithms))
			if err := signed.DetachedVerify(body, ecKey().Public()); err != nil {
				t.Fatal(err)
			}
			return
		}
		if payload, err := must(jose.ParseSignedCompact(text, algorithms)).Verify(ecKey().Public()); err != nil || string(payload) != string(v.Payload) {
			t.Fatal(err)
		}
	})
}
