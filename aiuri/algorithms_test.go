package aiuri_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"slices"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// signed is one algorithm with two keys of its type, and how such a key signs a text.
type signed struct {
	algorithm  string
	key, other crypto.Signer
	sign       func(key crypto.Signer, text []byte) []byte
}

func algorithms() []signed {
	joined := func(size int, digest func([]byte) []byte) func(crypto.Signer, []byte) []byte {
		return func(key crypto.Signer, text []byte) []byte {
			r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), digest(text))
			if err != nil {
				panic(err)
			}
			return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
		}
	}
	sum256 := func(text []byte) []byte { s := sha256.Sum256(text); return s[:] }
	sum384 := func(text []byte) []byte { s := sha512.Sum384(text); return s[:] }
	other384 := must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	otherRSA := must(rsa.GenerateKey(rand.Reader, 2048))
	_, otherEd, _ := ed25519.GenerateKey(rand.Reader)
	return []signed{
		{"ES256", ecKey(), otherKey(), joined(32, sum256)},
		{"ES384", p384Key(), other384, joined(48, sum384)},
		{"PS256", rsaKey(), otherRSA, func(key crypto.Signer, text []byte) []byte {
			return must(rsa.SignPSS(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, sum256(text), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}))
		}},
		{"RS256", rsaKey(), otherRSA, func(key crypto.Signer, text []byte) []byte {
			return must(rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, sum256(text)))
		}},
		{"EdDSA", edKey(), otherEd, func(key crypto.Signer, text []byte) []byte {
			return ed25519.Sign(key.(ed25519.PrivateKey), text)
		}},
	}
}

// TestAlgorithms verifies one signature of each algorithm, and refuses each change of it.
// It needs no suite of others.
func TestAlgorithms(t *testing.T) {
	for _, a := range algorithms() {
		body := []byte(`{"paid":true}`)
		header := encode(fmt.Appendf(nil, `{"alg":%q,"kid":"k"}`, a.algorithm))
		signature := a.sign(a.key, []byte(header+"."+encode(body)))
		set := keySet(t, jwk("k", a.key))
		x := aiuri.Expectation{AllowRS256: true}
		flipped := func(at int) []byte {
			changed := bytes.Clone(signature)
			changed[at] ^= 1
			return changed
		}
		for name, c := range map[string]struct {
			header    string
			signature []byte
			body      []byte
		}{
			"reject-first-bit":     {header, flipped(0), body},
			"reject-middle-bit":    {header, flipped(len(signature) / 2), body},
			"reject-last-bit":      {header, flipped(len(signature) - 1), body},
			"reject-truncated":     {header, signature[:len(signature)-1], body},
			"reject-half":          {header, signature[:len(signature)/2], body},
			"reject-longer":        {header, append(bytes.Clone(signature), 0), body},
			"reject-padded":        {header, append([]byte{0}, signature...), body},
			"reject-zero-within":   {header, slices.Insert(bytes.Clone(signature), len(signature)/2, 0), body},
			"reject-zeros":         {header, make([]byte, len(signature)), body},
			"reject-other-key":     {header, a.sign(a.other, []byte(header+"."+encode(body))), body},
			"reject-other-message": {header, signature, []byte(`{"paid":false}`)},
			"reject-other-header":  {encode(fmt.Appendf(nil, `{"alg":%q,"kid":"k","x":1}`, a.algorithm)), signature, body},
			"reject-body-alone":    {header, a.sign(a.key, body), body},
		} {
			t.Run("AIU-3.4-02/"+name+"-"+a.algorithm, func(t *testing.T) {
				refused(t, aiuri.SignedResult{JWS: c.header + ".." + encode(c.signature), Body: c.body}, set, x, aiuri.CodeRejectedSignature)
				refused(t, aiuri.SignedResult{JWS: c.header + "." + encode(c.body) + "." + encode(c.signature)}, set, x, aiuri.CodeRejectedSignature)
			})
		}
		t.Run("AIU-3.4-02/reject-empty-signature-"+a.algorithm, func(t *testing.T) {
			v, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: header + "..", Body: body}, set, now, x)
			if code := lookleap.CodeOf(err); v != nil || code != aiuri.CodeRejectedSignature && code != aiuri.CodeRejectedUnsigned {
				t.Errorf("got %v, %v", v, err)
			}
		})
		t.Run("AIU-3.4-04/accept-"+a.algorithm, func(t *testing.T) {
			for _, r := range []aiuri.SignedResult{{JWS: header + ".." + encode(signature), Body: body}, {JWS: header + "." + encode(body) + "." + encode(signature)}} {
				if v, err := aiuri.VerifyResult(r, set, now, x); err != nil || string(v.Payload) != string(body) {
					t.Errorf("got %v, %v", v, err)
				}
			}
		})
		// A key of one type never verifies a signature of another algorithm.
		for _, b := range algorithms() {
			if b.algorithm == a.algorithm {
				continue
			}
			t.Run("AIU-3.4-05/reject-"+a.algorithm+"-with-header-"+b.algorithm, func(t *testing.T) {
				header := encode(fmt.Appendf(nil, `{"alg":%q,"kid":"k"}`, b.algorithm))
				r := aiuri.SignedResult{JWS: header + ".." + encode(a.sign(a.key, []byte(header+"."+encode(body)))), Body: body}
				v, err := aiuri.VerifyResult(r, set, now, x)
				if code := lookleap.CodeOf(err); v != nil || code != aiuri.CodeRejectedKey && code != aiuri.CodeRejectedSignature {
					t.Errorf("got %v, %v", v, err)
				}
			})
		}
	}
}

// TestEd25519: RFC 9864 gave EdDSA with this curve a name of its own, which current libraries write.
func TestEd25519(t *testing.T) {
	sign := func(header string) aiuri.SignedResult {
		body := []byte("paid")
		signature := must(edKey().Sign(nil, []byte(encode([]byte(header))+"."+encode(body)), crypto.Hash(0)))
		return aiuri.SignedResult{JWS: encode([]byte(header)) + ".." + encode(signature), Body: body}
	}
	for name, alg := range map[string][]func(map[string]any){"no-alg": nil, "EdDSA": {with("alg", "EdDSA")}, "Ed25519": {with("alg", "Ed25519")}} {
		for _, header := range []string{"EdDSA", "Ed25519"} {
			t.Run("AIU-3.4-04/accept-"+header+"-with-key-"+name, func(t *testing.T) {
				v, err := aiuri.VerifyResult(sign(`{"alg":"`+header+`","kid":"1"}`), keySet(t, jwk("1", edKey(), alg...)), now, aiuri.Expectation{})
				if err != nil || v.Algorithm != "EdDSA" {
					t.Error(v, err)
				}
			})
		}
	}
	t.Run("AIU-3.4-04/reject-Ed25519-with-other-key", func(t *testing.T) {
		refused(t, sign(`{"alg":"Ed25519","kid":"1"}`), keySet(t, jwk("1", ecKey())), aiuri.Expectation{}, aiuri.CodeRejectedKey)
	})
}
