package aiuri

import (
	"bytes"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
)

// MaxResult is the number of octets that a signed result may have. On its way
// through a gateway an embedded one is a third longer, and held to the same limit.
const MaxResult = 4 << 20

// SignedResult is an answer as it came, not yet verified: a compact JWS, embedded or
// detached, and the octets of the answer beside it.
type SignedResult struct {
	JWS  string // nothing before or behind it, no line end either; "": there is none, and the result is rejected
	Body []byte // what the detached form covers; in the embedded form nil, or the same octets again

	MediaType string // of the body as its transport says, which no signature covers
}

// Expectation says what a result has to be. The zero value expects a signature
// and nothing else. Claims that a result makes are always checked, and a claim that
// cannot be confirmed rejects the result.
type Expectation struct {
	Endpoint   URI      // whom iss must name
	Audience   string   // whom aud must name
	Scopes     []string // of the document; a scope claim must stay among them
	Request    string   // RequestDigest of the call, which req must name
	Require    []string // claims that must be made: iss, aud, exp, iat, nbf, req, scope
	AllowRS256 bool     // accept RS256 beside ES256, ES384, PS256 and EdDSA

	// PlainRequest is the RequestDigest of the same call without its nonce, which
	// endpoints compute that do not know of nonces. A result that names this one is
	// accepted, but not if RequireBinding is set.
	PlainRequest string
	// RequireBinding refuses a result that does not prove what it answers: it must name
	// its issuer, this request with its nonce, this caller if an Audience is set, and it
	// must be recent. Without RequireBinding the verdict notes what is missing.
	RequireBinding bool
	MaxAge         time.Duration // how long ago iat may be; 0: DefaultMaxAge
}

// Verified is a result whose signature holds and which keeps to the policy.
// There is no other way to one.
type Verified struct {
	Payload   []byte // exactly the signed octets
	Claims    Claims
	KeyID     string
	Algorithm string
	JWS       string // as it came, for whoever wants to verify it again
	Verdict   *lookleap.Verdict
}

// VerifyResult verifies a result with the keys of a set (section 3.4). It is
// pure. A refusal is a [*lookleap.VerifyError] that holds nothing of the result:
// rejected-unsigned, rejected-bad-signature, rejected-unknown-key, rejected-alg,
// rejected-crit or rejected-policy. There is no mode that only warns.
func VerifyResult(r SignedResult, keys *KeySet, x Expectation, now time.Time) (*Verified, error) {
	v := &lookleap.Verdict{Document: Draft, Subject: "a result", CheckedAt: now}
	if !x.Endpoint.IsZero() {
		v.Subject = "a result of " + x.Endpoint.Redacted()
	}
	verified, err := verifyResult(r, keys, &x, now, v)
	if err != nil {
		v.Code, v.Summary = err.Code, err.Reason
		v.Checks = append(v.Checks, lookleap.Check{Requirement: requirementOf(err.Code), Code: err.Code, Status: lookleap.Failed, Message: err.Reason})
		return nil, &lookleap.VerifyError{Verdict: v, Err: err}
	}
	v.OK, v.Code, v.Expires = true, lookleap.CodeOK, verified.Claims.Expires
	v.Summary = "the result is signed by a key of the endpoint and keeps to the policy" + unboundNote(v.Checks)
	verified.Verdict = v
	return verified, nil
}

// requirementOf names the row that a rejected result breaks.
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

func verifyResult(r SignedResult, keys *KeySet, x *Expectation, now time.Time, v *lookleap.Verdict) (*Verified, *Error) {
	pass := func(requirement, message string, evidence ...lookleap.Evidence) {
		v.Checks = append(v.Checks, lookleap.Check{Requirement: requirement, Code: lookleap.CodeOK, Status: lookleap.Passed, Message: message, Evidence: evidence})
	}
	if len(r.JWS) > MaxResult*4/3+maxHeader || len(r.Body) > MaxResult {
		return nil, fail(lookleap.CodeTooLarge, "the result is larger than its limit", "")
	}
	j, err := parseJWS(r.JWS)
	if err != nil {
		return nil, err
	}
	if !known(j.header.algorithm, x.AllowRS256) {
		return nil, fail(CodeRejectedAlgorithm, "the signature's algorithm is not allowed", "sign with ES256, ES384, PS256 or EdDSA")
	}
	for range j.header.foreign {
		v.Findings = append(v.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeForeignKeyReference, Requirement: "AIU-3.4-06",
			Message: "the signature points to keys elsewhere, which were not used"})
	}
	pass("AIU-3.4-04", "the algorithm is "+j.header.algorithm)
	if keys == nil {
		return nil, fail(CodeRejectedKey, "there is no key set", "")
	}
	k, ok := keys.find(&j.header)
	if !ok {
		return nil, fail(CodeRejectedKey, "no single key of the set fits the signature", "")
	}
	pass("AIU-3.4-05", "one key of the set fits", lookleap.Evidence{KeyID: k.id})
	payload := r.Body
	if j.payload != "" {
		if j.header.plain {
			return nil, fail(CodeRejectedSignature, "an unencoded payload has to be detached", "")
		}
		if payload, err = decode(j.payload); err != nil {
			return nil, err
		}
		if r.Body != nil && !bytes.Equal(payload, r.Body) {
			return nil, fail(CodeRejectedSignature, "the signed payload and the answer beside it differ", "")
		}
	}
	if !verify(k.public, j, payload) {
		return nil, fail(CodeRejectedSignature, "the signature does not fit the result", "")
	}
	pass("AIU-3.4-02", fmt.Sprintf("the signature covers %d octets", len(payload)), lookleap.Evidence{KeyID: k.id})
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
