package aiuri

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// MaxResult is the number of bytes that a signed result may have. Through a gateway, an
// embedded result is a third longer, and the same limit applies to it.
const MaxResult = 4 << 20

// SignedResult is a result before verification: a compact JWS, embedded or detached, and the
// body of the response.
type SignedResult struct {
	JWS  string // without spaces or line ends around it; a result without one is rejected
	Body []byte // the bytes that a detached JWS signs; for an embedded one nil or equal bytes

	MediaType string // of the body, from the transport; not signed
}

// Expectation is what a result must match. The zero value expects only a valid signature.
// Every claim of a result is checked: a claim without an expectation rejects the result.
type Expectation struct {
	Endpoint   URI      // must equal iss
	Audience   string   // must be in aud
	Scopes     []string // must contain every scope of the result
	Request    string   // RequestDigest of the call; must equal req
	Require    []string // claims that must be present: iss, aud, exp, iat, nbf, req, scope
	AllowRS256 bool     // accept RS256 besides ES256, ES384, PS256 and EdDSA

	// PlainRequest is the RequestDigest of the same call without its nonce, as endpoints
	// compute it that do not know nonces. It may equal req instead of Request, but not if
	// RequireBinding is set.
	PlainRequest string
	// RequireBinding rejects a result that does not prove which call it answers. The result
	// must name its issuer, this request with its nonce, and this caller if Audience is
	// set, and it must be recent. If it is false, the verdict notes what is missing.
	RequireBinding bool
	MaxAge         time.Duration // maximum age by iat; without iat, exp is at most this far ahead; 0: DefaultMaxAge
}

// Verified is a result with a valid signature and valid claims. Only verification returns one.
type Verified struct {
	Payload   []byte // exactly the signed bytes
	Claims    Claims
	KeyID     string
	Algorithm string
	JWS       string // as received, to verify the result again
	Verdict   *lookleap.Verdict
}

// receipt is what the plan ledger keeps of a result: its signature, so that it can be
// verified again, and the digest of what was signed. A long signature is left out.
func (v *Verified) receipt() ([]byte, error) {
	r := struct {
		Payload string `json:"payload"`
		JWS     string `json:"jws,omitempty"`
	}{lookleap.Digest(v.Payload), v.JWS}
	if len(r.JWS) > lookleap.MaxReceipt/2 {
		r.JWS = ""
	}
	return json.Marshal(r)
}

// VerifyResult verifies a result with the keys of a set (section 3.4), without I/O. A refusal
// is a [*lookleap.VerifyError] that contains nothing of the result. Its code is
// rejected-unsigned, rejected-bad-signature, rejected-unknown-key, rejected-alg, rejected-crit
// or rejected-policy. There is no mode that only warns.
//
// It does not prove that the keys belong to the endpoint: take them from the document of its
// authority, as [Client] does.
func VerifyResult(r SignedResult, keys *KeySet, now time.Time, x Expectation) (*Verified, error) {
	v := &lookleap.Verdict{Document: Draft, Subject: "a result", CheckedAt: now}
	if !x.Endpoint.IsZero() {
		v.Subject = "a result of " + x.Endpoint.Redacted()
	}
	verified, err := verifyResult(r, keys, &x, now, v)
	if err != nil {
		v.Code, v.Summary = err.Code, err.Message
		v.Checks = append(v.Checks, lookleap.Check{Requirement: requirementOf(err.Code), Code: err.Code,
			Status: lookleap.Failed, Message: err.Message})
		return nil, &lookleap.VerifyError{Verdict: v, Err: err}
	}
	v.OK, v.Code, v.Expires = true, lookleap.CodeOK, verified.Claims.Expires
	v.Summary = "a key of the endpoint signed the result, and its claims are valid" + unboundNote(v.Checks)
	verified.Verdict = v
	return verified, nil
}

// requirementOf returns the requirement that a rejected result breaks.
func requirementOf(code lookleap.Code) string {
	switch code {
	case CodeRejectedAlgorithm:
		return "AIU-3.4-04"
	case CodeRejectedKey:
		return "AIU-3.4-05"
	case CodeRejectedCritical:
		return "AIU-3.4-06"
	case CodeRejectedPolicy:
		return "AIU-3.4-03"
	}
	return "AIU-3.4-02"
}

func verifyResult(r SignedResult, keys *KeySet, x *Expectation, now time.Time, v *lookleap.Verdict) (*Verified, *lookleap.Error) {
	pass := func(requirement, message string, evidence ...lookleap.Evidence) {
		v.Checks = append(v.Checks, lookleap.Check{Requirement: requirement, Code: lookleap.CodeOK,
			Status: lookleap.Passed, Message: message, Evidence: evidence})
	}
	if len(r.JWS) > MaxResult*4/3+maxHeader || len(r.Body) > MaxResult {
		return nil, fail(lookleap.CodeTooLarge, "the result is larger than its limit", "")
	}
	j, err := parseJWS(r.JWS)
	if err != nil {
		return nil, err
	}
	if !isAllowed(j.header.algorithm, x.AllowRS256) {
		return nil, fail(CodeRejectedAlgorithm, "the signature's algorithm is not allowed", "sign with ES256, ES384, PS256 or EdDSA")
	}
	for range j.header.foreign {
		v.Findings = append(v.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeForeignKeyReference,
			Requirement: "AIU-3.4-06",
			Message:     "the signature refers to keys elsewhere, which were not used"})
	}
	pass("AIU-3.4-04", "the algorithm is "+j.header.algorithm)
	if keys == nil {
		return nil, fail(CodeRejectedKey, "the key set is nil", "")
	}
	k, ok := keys.find(&j.header)
	if !ok {
		return nil, fail(CodeRejectedKey, "the set does not have exactly one key for the signature", "")
	}
	pass("AIU-3.4-05", "one key of the set fits", lookleap.Evidence{KeyID: k.id})
	payload := r.Body
	if j.payload != "" {
		if j.header.plain {
			return nil, fail(CodeRejectedSignature, "an unencoded payload is not detached", "")
		}
		if payload, err = decode(j.payload); err != nil {
			return nil, err
		}
		if r.Body != nil && !bytes.Equal(payload, r.Body) {
			return nil, fail(CodeRejectedSignature, "the signed payload differs from the body", "")
		}
	}
	if !verify(k.public, j, payload) {
		return nil, fail(CodeRejectedSignature, "the signature does not match the result", "")
	}
	pass("AIU-3.4-02", fmt.Sprintf("the signature covers %d bytes", len(payload)), lookleap.Evidence{KeyID: k.id})
	claims, err := readClaims(&j.header, payload)
	if err == nil {
		err = claims.check(x, now)
	}
	if err != nil {
		return nil, err
	}
	bindings, err := claims.bindings(x, now)
	if err != nil {
		return nil, err
	}
	v.Checks = append(v.Checks, bindings...)
	return &Verified{Payload: payload, Claims: *claims, KeyID: k.id, Algorithm: j.header.algorithm, JWS: r.JWS}, nil
}

// jws is a parsed compact JWS (RFC 7515 section 7.1), before verification.
type jws struct {
	protected string // encoded, as signed
	payload   string // encoded; "" if detached
	signature []byte
	header    header
}

// header is a parsed protected header. Keys in it are never used.
type header struct {
	algorithm string
	keyID     string
	hasKeyID  bool
	plain     bool     // b64=false (RFC 7797): the payload is signed without base64url
	nested    bool     // the payload is another JWS (RFC 7519 section 5.2)
	foreign   []string // jku and x5u, which refer to keys elsewhere
	members   strictjson.Value
}

const maxHeader = 16 << 10 // bytes of an encoded protected header

// parseJWS parses one signature in the compact form. Its base64url has no padding, no line
// breaks, and no unused bits that are set.
func parseJWS(text string) (*jws, *lookleap.Error) {
	switch {
	case text == "":
		return nil, fail(CodeRejectedUnsigned, "the result has no signature", "")
	case text[0] == '{':
		return nil, fail(CodeRejectedSignature, "the signature is not in the compact form", "")
	}
	protected, rest, _ := strings.Cut(text, ".")
	payload, signature, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(signature, ".") {
		return nil, fail(CodeRejectedSignature, "a compact signature does not have three parts", "")
	}
	if len(protected) > maxHeader {
		return nil, fail(CodeRejectedSignature, "the protected header is larger than its limit", "")
	}
	j := &jws{protected: protected, payload: payload}
	decoded, err := decode(protected)
	if err != nil {
		return nil, err
	}
	if err := j.header.parse(decoded); err != nil {
		return nil, err
	}
	if j.signature, err = decode(signature); err != nil {
		return nil, err
	}
	return j, nil
}

var base64url = base64.RawURLEncoding.Strict()

func decode(part string) ([]byte, *lookleap.Error) {
	out, err := base64url.DecodeString(part)
	if err != nil || strings.ContainsAny(part, "\r\n") { // which the decoder skips
		return nil, fail(CodeRejectedSignature, "a part is not base64url without padding", "")
	}
	return out, nil
}

func (h *header) parse(data []byte) *lookleap.Error {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: maxHeader, Depth: 8})
	if err == nil {
		err = v.Expect(strictjson.Object)
	}
	if err != nil {
		return fail(CodeRejectedSignature, "the protected header is not a strict JSON object", "")
	}
	h.members = v
	for name, member := range v.Members() {
		text, notText := member.Text()
		switch name {
		case "alg":
			h.algorithm = algorithmOf(text)
			if notText != nil || text == "" {
				return fail(CodeRejectedAlgorithm, "alg is not a string", "")
			}
		case "kid":
			h.keyID, h.hasKeyID = text, true
			if notText != nil {
				return fail(CodeRejectedKey, "kid is not a string", "")
			}
		case "cty":
			h.nested = strings.EqualFold(text, "JWT")
		case "jku", "x5u":
			h.foreign = append(h.foreign, name+" "+text)
		}
	}
	if h.algorithm == "" {
		return fail(CodeRejectedAlgorithm, "the protected header has no alg", "")
	}
	return h.critical()
}

// critical refuses critical extensions other than b64, the only one implemented.
func (h *header) critical() *lookleap.Error {
	refuse := func(message string) *lookleap.Error { return fail(CodeRejectedCritical, message, "") }
	var names []string
	if crit, ok := h.members.Member("crit"); ok {
		if crit.Kind() != strictjson.Array || crit.Len() == 0 {
			return refuse("crit is not a list of names")
		}
		for e := range crit.Elements() {
			name, err := e.Text()
			if err != nil || name != "b64" || slices.Contains(names, name) {
				return refuse("crit has an extension that is not supported, or one twice")
			}
			names = append(names, name)
		}
	}
	b64, ok := h.members.Member("b64")
	switch {
	case ok != slices.Contains(names, "b64"):
		return refuse("b64 and crit do not agree")
	case ok:
		encoded, err := b64.Bool()
		if err != nil {
			return refuse("b64 is not true or false")
		}
		h.plain = !encoded
	}
	return nil
}

// Algorithms of signatures (RFC 7518, RFC 8037). HS* would use a public key as a shared
// secret, and "none" has no signature.
const (
	ES256 = "ES256"
	ES384 = "ES384"
	PS256 = "PS256"
	EdDSA = "EdDSA" // with Ed25519; results and keys may also name it Ed25519 (RFC 9864)
	RS256 = "RS256" // only with Expectation.AllowRS256
)

// algorithmOf returns the constant for the name of an algorithm, or a copy of another name.
func algorithmOf(name string) string {
	if name == "Ed25519" { // its name since RFC 9864
		return EdDSA
	}
	return strings.Clone(name)
}

// isAllowed reports whether an algorithm may be used.
func isAllowed(algorithm string, allowRS256 bool) bool {
	switch algorithm {
	case ES256, ES384, PS256, EdDSA:
		return true
	case RS256:
		return allowRS256
	}
	return false
}

// verify reports whether a signature over header and payload is valid. [KeySet.find] has matched
// the algorithm to the key.
func verify(key crypto.PublicKey, j *jws, payload []byte) bool {
	message := j.message(payload)
	digest := sha256.Sum256(message)
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		size := (k.Curve.Params().BitSize + 7) / 8
		if len(j.signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(j.signature[:size]), new(big.Int).SetBytes(j.signature[size:])
		if j.header.algorithm == ES384 {
			digest := sha512.Sum384(message)
			return ecdsa.Verify(k, digest[:], r, s)
		}
		return ecdsa.Verify(k, digest[:], r, s)
	case *rsa.PublicKey:
		if len(j.signature) != k.Size() {
			return false
		}
		if j.header.algorithm == RS256 {
			return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest[:], j.signature) == nil
		}
		return rsa.VerifyPSS(k, crypto.SHA256, digest[:], j.signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	case ed25519.PublicKey:
		return len(k) == ed25519.PublicKeySize && ed25519.Verify(k, message, j.signature)
	}
	return false
}

// message returns the signing input (RFC 7515 section 5.1).
func (j *jws) message(payload []byte) []byte {
	m := make([]byte, 0, len(j.protected)+1+base64url.EncodedLen(len(payload)))
	m = append(append(m, j.protected...), '.')
	switch {
	case j.payload != "":
		return append(m, j.payload...)
	case j.header.plain:
		return append(m, payload...)
	}
	return base64url.AppendEncode(m, payload)
}
