package aiuri

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"

	"github.com/go-jose/go-jose/v4"
)

// SigningKey is a private key of an endpoint with the id of its public part.
type SigningKey struct {
	ID      string        // kid; not empty
	Private crypto.Signer // *ecdsa.PrivateKey (P-256, P-384), ed25519.PrivateKey or *rsa.PrivateKey (2048 bits or more)
}

// algorithm returns the algorithm for the kind of key.
func (k SigningKey) algorithm() (jose.SignatureAlgorithm, error) {
	switch private := k.Private.(type) {
	case *ecdsa.PrivateKey:
		if !isComplete(private) {
			break
		}
		switch private.Curve {
		case elliptic.P256():
			return jose.ES256, nil
		case elliptic.P384():
			return jose.ES384, nil
		}
	case ed25519.PrivateKey:
		if len(private) == ed25519.PrivateKeySize {
			return jose.EdDSA, nil
		}
	case *rsa.PrivateKey:
		if private != nil && private.N != nil && private.D != nil && private.N.BitLen() >= minRSA {
			return jose.PS256, nil
		}
	}
	return "", fail(CodeBadConfiguration, "the key is of a kind or size that is not supported",
		"use P-256, P-384, Ed25519 or RSA with 2048 bits")
}

// isComplete reports whether a key has all its parts. Signing panics without them.
func isComplete(key *ecdsa.PrivateKey) (whole bool) {
	defer func() { _ = recover() }()
	_, err := key.Bytes()
	_, bad := key.PublicKey.Bytes()
	return err == nil && bad == nil
}

// SignOptions are options of [SignResult]. The zero value signs the payload alone, embedded.
type SignOptions struct {
	Claims   *Claims // go into the protected header, so that the payload stays unchanged
	Detached bool    // the payload travels as the body of the response, not inside the JWS
}

// SignResult signs the bytes of a result (section 3.4).
func SignResult(payload []byte, key SigningKey, o SignOptions) (SignedResult, error) {
	algorithm, err := key.algorithm()
	if err != nil {
		return SignedResult{}, err
	}
	if key.ID == "" {
		return SignedResult{}, fail(CodeBadConfiguration, "the key has no id", "")
	}
	options := &jose.SignerOptions{}
	for name, value := range o.Claims.members() {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	var signed *jose.JSONWebSignature
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key.Private, KeyID: key.ID}}, options)
	if err == nil {
		signed, err = signer.Sign(payload)
	}
	var r SignedResult
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
	put := func(name string, value any, made bool) {
		if made {
			m[name] = value
		}
	}
	put("iss", c.Issuer, c.Issuer != "")
	put("aud", c.Audience, len(c.Audience) > 0)
	put("exp", c.Expires.Unix(), !c.Expires.IsZero())
	put("iat", c.Issued.Unix(), !c.Issued.IsZero())
	put("nbf", c.Begins.Unix(), !c.Begins.IsZero())
	put("req", c.Request, c.Request != "")
	put("scope", c.Scopes, len(c.Scopes) > 0)
	return m
}
