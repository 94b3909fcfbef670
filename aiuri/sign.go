package aiuri

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// SigningKey is a private key of an endpoint with the name under which its
// public part is published.
type SigningKey struct {
	ID      string        // kid; not empty
	Private crypto.Signer // *ecdsa.PrivateKey (P-256, P-384), ed25519.PrivateKey or *rsa.PrivateKey (2048 bits or more)
}

// algorithm binds one algorithm to each kind of key.
func (k SigningKey) algorithm() (jose.SignatureAlgorithm, error) {
	switch private := k.Private.(type) {
	case *ecdsa.PrivateKey:
		if !isWhole(private) {
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
		if private != nil && private.N != nil && private.D != nil && private.N.BitLen() >= leastRSA {
			return jose.PS256, nil
		}
	}
	return "", fail(CodeBadConfiguration, "the key is of a kind or size that results may not be signed with", "use P-256, P-384, Ed25519 or RSA with 2048 bits")
}

// isWhole reports whether a key has all its parts, without which signing panics.
func isWhole(key *ecdsa.PrivateKey) (whole bool) {
	defer func() { _ = recover() }()
	_, err := key.Bytes()
	_, bad := key.PublicKey.Bytes()
	return err == nil && bad == nil
}

// SignResult signs the octets of a result (section 3.4), in the detached form if
// detached is set. Claims go into the protected header, so that the payload
// stays as it is; nil makes none.
func SignResult(payload []byte, key SigningKey, claims *Claims, detached bool) (SignedResult, error) {
	algorithm, err := key.algorithm()
	if err != nil {
		return SignedResult{}, err
	}
	if key.ID == "" {
		return SignedResult{}, fail(CodeBadConfiguration, "the key has no id", "")
	}
	options := &jose.SignerOptions{}
	for name, value := range claims.members() {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key.Private, KeyID: key.ID}}, options)
	if err != nil {
		return SignedResult{}, &Error{Code: CodeBadConfiguration, Reason: "the key cannot sign", Err: err}
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return SignedResult{}, unsigned(err)
	}
	if !detached {
		text, err := signed.CompactSerialize()
		return SignedResult{JWS: text}, unsigned(err)
	}
	text, err := signed.DetachedCompactSerialize()
	return SignedResult{JWS: text, Body: payload}, unsigned(err)
}

func unsigned(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: CodeBadConfiguration, Reason: "signing failed", Fix: "check the private key", Err: err}
}

// members gives the claims that were made, in the types of RFC 7519.
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
	put("exp", unix(c.Expires), !c.Expires.IsZero())
	put("iat", unix(c.Issued), !c.Issued.IsZero())
	put("nbf", unix(c.Begins), !c.Begins.IsZero())
	put("req", c.Request, c.Request != "")
	put("scope", c.Scopes, len(c.Scopes) > 0)
	return m
}

func unix(t time.Time) int64 { return t.Unix() }
