package aiuri

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"math/big"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Algorithms of signatures (RFC 7518, RFC 8037). HS* would use a public key as a shared
// secret, and "none" has no signature.
const (
	es256 = "ES256"
	es384 = "ES384"
	ps256 = "PS256"
	edDSA = "EdDSA" // with Ed25519
	rs256 = "RS256" // only with Expectation.AllowRS256
)

// algorithmOf returns the constant for the name of an algorithm, or a copy of another name.
func algorithmOf(name string) string {
	if name == "Ed25519" { // its name since RFC 9864
		return edDSA
	}
	return strings.Clone(name)
}

// jws is a compact JWS (RFC 7515 section 7.1), before verification. Keys in its header are never
// used. go-jose does not check it, because it accepts other encodings of a part and any salt of
// PS256, does not know the name Ed25519, and hides whether there is a kid.
type jws struct {
	protected string // encoded, as signed
	payload   string // encoded; "" if detached
	signature []byte

	header    strictjson.Value
	algorithm string
	keyID     *string
	plain     bool // b64=false (RFC 7797): the payload is signed without base64url
	foreign   int  // references to keys elsewhere: jku and x5u
}

const maxHeader = 16 << 10 // bytes of an encoded protected header

// parseJWS parses one signature in the compact form. Its base64url has no padding, no line
// breaks, and no unused bits that are set.
func parseJWS(text string) (*jws, *lookleap.Error) {
	bad := func(message string) (*jws, *lookleap.Error) { return nil, fail(CodeRejectedSignature, message, "") }
	protected, rest, _ := strings.Cut(text, ".")
	payload, signature, ok := strings.Cut(rest, ".")
	switch {
	case text == "":
		return nil, fail(CodeRejectedUnsigned, "the result has no signature", "")
	case text[0] == '{':
		return bad("the signature is not in the compact form")
	case !ok || strings.Contains(signature, "."):
		return bad("a compact signature does not have three parts")
	case len(protected) > maxHeader:
		return bad("the protected header is larger than its limit")
	}
	decoded, ok := decode(protected)
	signed, alsoOK := decode(signature)
	if !ok || !alsoOK {
		return bad("a part is not base64url without padding")
	}
	header, err := strictjson.Parse(decoded, strictjson.Limits{Size: maxHeader, Depth: 8})
	if err != nil || header.Kind() != strictjson.Object {
		return bad("the protected header is not a strict JSON object")
	}
	j := &jws{protected: protected, payload: payload, signature: signed, header: header}
	if err := j.readHeader(); err != nil {
		return nil, err
	}
	return j, nil
}

var base64url = base64.RawURLEncoding.Strict()

func decode(part string) ([]byte, bool) {
	out, err := base64url.DecodeString(part)
	if err != nil || strings.ContainsAny(part, "\r\n") { // which the decoder skips
		return nil, false
	}
	return out, true
}

func (j *jws) readHeader() *lookleap.Error {
	var critical bool
	var encoded *bool
	for name, member := range j.header.Members() {
		value, isText := text(member)
		switch name {
		case "alg":
			j.algorithm = algorithmOf(value)
		case "kid":
			if j.keyID = &value; !isText {
				return fail(CodeRejectedKey, "kid is not a string", "")
			}
		case "jku", "x5u":
			j.foreign++
		case "crit":
			critical = true
			if names, _ := texts(member); isText || !slices.Equal(names, []string{"b64"}) {
				return fail(CodeRejectedCritical, "crit is not a list of the only extension that is supported, b64", "")
			}
		case "b64":
			b, err := member.Bool()
			if encoded = &b; err != nil {
				return fail(CodeRejectedCritical, "b64 is not true or false", "")
			}
		}
	}
	switch {
	case j.algorithm == "":
		return fail(CodeRejectedAlgorithm, "the protected header has no alg that is a string", "")
	case critical != (encoded != nil):
		return fail(CodeRejectedCritical, "b64 and crit do not agree", "")
	}
	j.plain = critical && !*encoded
	return nil
}

// content returns the signed bytes of a result: the payload of the JWS, or else the body.
func (j *jws) content(body []byte) ([]byte, *lookleap.Error) {
	if j.payload == "" {
		return body, nil
	}
	payload, ok := decode(j.payload)
	switch {
	case j.plain:
		return nil, fail(CodeRejectedSignature, "an unencoded payload is not detached", "")
	case !ok:
		return nil, fail(CodeRejectedSignature, "a part is not base64url without padding", "")
	case body != nil && string(payload) != string(body):
		return nil, fail(CodeRejectedSignature, "the signed payload differs from the body", "")
	}
	return payload, nil
}

// verify reports whether a signature over header and payload is valid. [KeySet.find] has matched
// the algorithm to the key.
func (j *jws) verify(key crypto.PublicKey, payload []byte) bool {
	message := []byte(j.protected + ".") // RFC 7515 section 5.1
	if j.plain {
		message = append(message, payload...)
	} else {
		message = base64url.AppendEncode(message, payload)
	}
	digest := sha256.Sum256(message)
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		size := (k.Curve.Params().BitSize + 7) / 8
		if len(j.signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(j.signature[:size]), new(big.Int).SetBytes(j.signature[size:])
		if j.algorithm == es384 {
			digest := sha512.Sum384(message)
			return ecdsa.Verify(k, digest[:], r, s)
		}
		return ecdsa.Verify(k, digest[:], r, s)
	case *rsa.PublicKey:
		if j.algorithm == rs256 {
			return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest[:], j.signature) == nil
		}
		return rsa.VerifyPSS(k, crypto.SHA256, digest[:], j.signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(k, message, j.signature)
	}
	return false
}
