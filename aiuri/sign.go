package aiuri

import (
	"cmp"
	"crypto"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// SigningKey is a private key of an endpoint with the id of its public part.
type SigningKey struct {
	ID      string        // kid; not empty
	Private crypto.Signer // *ecdsa.PrivateKey (P-256, P-384), ed25519.PrivateKey or *rsa.PrivateKey (2048 bits or more)
}

// SignOptions are options of [SignResult]. The zero value signs the payload alone, embedded.
type SignOptions struct {
	Claims   *Claims // go into the protected header, so that the payload stays unchanged
	Detached bool    // the payload travels as the body of the response, not inside the JWS
}

// SignResult signs the bytes of a result (section 3.4). It refuses keys that no verifier would use.
func SignResult(payload []byte, key SigningKey, o SignOptions) (r SignedResult, err error) {
	defer func() {
		if recover() != nil { // a key has not all its parts
			r, err = SignedResult{}, fail(CodeBadConfiguration, "the key is incomplete", "check the private key")
		}
	}()
	if key.ID == "" {
		return r, fail(CodeBadConfiguration, "the key has no id", "")
	}
	algorithms, weakness := algorithmsFor(key.Private.Public())
	if len(algorithms) == 0 {
		return r, fail(CodeBadConfiguration, cmp.Or(weakness, "the key is of a kind that is not supported"),
			"use P-256, P-384, Ed25519 or RSA with 2048 bits")
	}
	options := &jose.SignerOptions{}
	for name, value := range o.Claims.members() {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	var signed *jose.JSONWebSignature
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithms[0]),
		Key: jose.JSONWebKey{Key: key.Private, KeyID: key.ID}}, options)
	if err == nil {
		signed, err = signer.Sign(payload)
	}
	switch {
	case err != nil:
	case o.Detached:
		r.Body = payload
		r.JWS, err = signed.DetachedCompactSerialize()
	default:
		r.JWS, err = signed.CompactSerialize()
	}
	if err != nil {
		return SignedResult{}, failOn(CodeBadConfiguration, "", "signing failed", "check the private key", err)
	}
	return r, nil
}

// members returns the claims that are set, in the types of RFC 7519.
func (c *Claims) members() map[string]any {
	if c == nil {
		return nil
	}
	m := make(map[string]any)
	for name, value := range map[string]string{"iss": c.Issuer, "req": c.Request} {
		if value != "" {
			m[name] = value
		}
	}
	for name, value := range map[string]time.Time{"exp": c.Expires, "iat": c.Issued, "nbf": c.Begins} {
		if !value.IsZero() {
			m[name] = value.Unix()
		}
	}
	for name, value := range map[string][]string{"aud": c.Audience, "scope": c.Scopes} {
		if len(value) > 0 {
			m[name] = value
		}
	}
	return m
}
