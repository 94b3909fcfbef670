package aiuri

import (
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// maxResult is the number of bytes that a signed result may have. Through a gateway, an
// embedded result is a third longer, and the same limit applies to it.
const maxResult = 4 << 20

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

	mediaType string // of the body, as the transport reports it; not signed
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
	v.Summary = "a key of the endpoint signed the result, and its claims are valid"
	if slices.ContainsFunc(v.Checks, func(c lookleap.Check) bool { return c.Code == codeUnbound }) {
		v.Summary += ", but they do not prove that it answers this request"
	}
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
	if len(r.JWS) > maxResult*4/3+maxHeader || len(r.Body) > maxResult {
		return nil, fail(lookleap.CodeTooLarge, "the result is larger than its limit", "")
	}
	j, err := parseJWS(r.JWS)
	switch {
	case err != nil:
		return nil, err
	case !isAllowed(j.algorithm, x.AllowRS256):
		return nil, fail(CodeRejectedAlgorithm, "the signature's algorithm is not allowed", "sign with ES256, ES384, PS256 or EdDSA")
	}
	for range j.foreign {
		v.Findings = append(v.Findings, warning(codeForeignKeyReference, "AIU-3.4-06",
			"the signature refers to keys elsewhere, which were not used", ""))
	}
	pass("AIU-3.4-04", "the algorithm is "+j.algorithm)
	k, ok := keys.find(j)
	if !ok {
		return nil, fail(CodeRejectedKey, "the set does not have exactly one key for the signature", "")
	}
	pass("AIU-3.4-05", "one key of the set fits", lookleap.Evidence{KeyID: k.id})
	payload, err := j.content(r.Body)
	switch {
	case err != nil:
		return nil, err
	case !j.verify(k.public, payload):
		return nil, fail(CodeRejectedSignature, "the signature does not match the result", "")
	}
	pass("AIU-3.4-02", fmt.Sprintf("the signature covers %d bytes", len(payload)), lookleap.Evidence{KeyID: k.id})
	claims, err := readClaims(j, payload)
	if err != nil {
		return nil, err
	}
	checks, err := claims.check(x, now)
	if err != nil {
		return nil, err
	}
	v.Checks = append(v.Checks, checks...)
	return &Verified{Payload: payload, Claims: *claims, KeyID: k.id, Algorithm: j.algorithm, JWS: r.JWS}, nil
}
