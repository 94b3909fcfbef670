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
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
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
		v.Code, v.Summary = err.Code, err.Message
		v.Checks = append(v.Checks, lookleap.Check{Requirement: requirementOf(err.Code), Code: err.Code, Status: lookleap.Failed, Message: err.Message})
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

func verifyResult(r SignedResult, keys *KeySet, x *Expectation, now time.Time, v *lookleap.Verdict) (*Verified, *lookleap.Error) {
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
	if !isAllowed(j.header.algorithm, x.AllowRS256) {
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

// jws is a compact JWS (RFC 7515 section 7.1), taken apart and not yet verified.
type jws struct {
	protected string // encoded, as it was signed
	payload   string // encoded, "" in the detached form
	signature []byte
	header    header
}

// header is what a protected header says. Keys in it are never used.
type header struct {
	algorithm string
	keyID     string
	hasKeyID  bool
	plain     bool     // b64=false (RFC 7797): the payload is signed as it is
	nested    bool     // the payload is a signature again (RFC 7519 section 5.2)
	foreign   []string // jku and x5u, which point to keys elsewhere
	members   strictjson.Value
}

const maxHeader = 16 << 10 // octets of an encoded protected header

// parseJWS reads exactly one signature in the compact form. The alphabet is
// base64url without padding, without line breaks, and without spare bits.
func parseJWS(text string) (*jws, *lookleap.Error) {
	switch {
	case text == "":
		return nil, fail(CodeRejectedUnsigned, "the result carries no signature", "")
	case text[0] == '{':
		return nil, fail(CodeRejectedSignature, "the signature is not in the compact form", "")
	}
	protected, rest, ok := strings.Cut(text, ".")
	payload, signature, ok2 := strings.Cut(rest, ".")
	if !ok || !ok2 || strings.IndexByte(signature, '.') >= 0 {
		return nil, fail(CodeRejectedSignature, "a compact signature has three parts", "")
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

// decode decodes piece by piece, since a part may be large and the decoder wants
// a copy of what it reads.
func decode(part string) ([]byte, *lookleap.Error) {
	out := make([]byte, 0, base64url.DecodedLen(len(part)))
	var piece [1024]byte // whole groups of four, but for the last
	for rest := part; rest != ""; {
		n := copy(piece[:], rest)
		rest = rest[n:]
		var err error
		if out, err = base64url.AppendDecode(out, piece[:n]); err != nil || bytes.ContainsAny(piece[:n], "\r\n") { // which the decoder skips
			return nil, fail(CodeRejectedSignature, "a part is not base64url without padding", "")
		}
	}
	return out, nil
}

func (h *header) parse(data []byte) *lookleap.Error {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: maxHeader, Depth: 8})
	if err == nil {
		err = v.Expect(strictjson.Object)
	}
	if err != nil {
		return fail(CodeRejectedSignature, "the protected header is no strict JSON object", "")
	}
	h.members = v
	for name, member := range v.Members() {
		text, notText := member.Text()
		switch name {
		case "alg":
			if h.algorithm = text; notText != nil || text == "" {
				return fail(CodeRejectedAlgorithm, "alg is no text", "")
			}
		case "kid":
			if h.keyID, h.hasKeyID = text, true; notText != nil {
				return fail(CodeRejectedKey, "kid is no text", "")
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

// critical knows the one extension that this package implements: b64.
func (h *header) critical() *lookleap.Error {
	refuse := func(reason string) *lookleap.Error { return fail(CodeRejectedCritical, reason, "") }
	var names []string
	if crit, ok := h.members.Member("crit"); ok {
		if crit.Kind() != strictjson.Array || crit.Len() == 0 {
			return refuse("crit is no list of names")
		}
		for e := range crit.Elements() {
			name, err := e.Text()
			if err != nil || name != "b64" || slices.Contains(names, name) {
				return refuse("crit names what nobody here knows, or a name twice")
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
			return refuse("b64 is neither true nor false")
		}
		h.plain = !encoded
	}
	return nil
}

// Algorithms of RFC 7518 and RFC 8037 that results may be signed with. HS* would
// turn a public key into a shared secret, and "none" is no signature.
const (
	ES256 = "ES256"
	ES384 = "ES384"
	PS256 = "PS256"
	EdDSA = "EdDSA" // Ed25519
	RS256 = "RS256" // only where an option allows it
)

// known reports whether the algorithm is one that may be used at all.
func isAllowed(algorithm string, allowRS256 bool) bool {
	switch algorithm {
	case ES256, ES384, PS256, EdDSA:
		return true
	case RS256:
		return allowRS256
	}
	return false
}

// verify checks a signature over header and payload, hashing the payload as it
// goes: no encoded copy of it is made. The algorithm is bound to the key by
// [KeySet.find] already.
func verify(key crypto.PublicKey, j *jws, payload []byte) bool {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		size := (k.Curve.Params().BitSize + 7) / 8
		if len(j.signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(j.signature[:size]), new(big.Int).SetBytes(j.signature[size:])
		if j.header.algorithm == ES384 {
			return ecdsa.Verify(k, j.sum(sha512.New384(), payload), r, s)
		}
		return ecdsa.Verify(k, j.sum(sha256.New(), payload), r, s)
	case *rsa.PublicKey:
		if len(j.signature) != k.Size() {
			return false
		}
		digest := j.sum(sha256.New(), payload)
		if j.header.algorithm == RS256 {
			return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest, j.signature) == nil
		}
		return rsa.VerifyPSS(k, crypto.SHA256, digest, j.signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	case ed25519.PublicKey:
		return len(k) == ed25519.PublicKeySize && ed25519.Verify(k, j.message(payload), j.signature)
	}
	return false
}

// sum hashes the signing input (RFC 7515 section 5.1).
func (j *jws) sum(h hash.Hash, payload []byte) []byte {
	j.write(h, payload)
	return h.Sum(nil)
}

func (j *jws) write(w io.Writer, payload []byte) {
	_, _ = io.WriteString(w, j.protected)
	_, _ = io.WriteString(w, ".")
	switch {
	case j.payload != "":
		writeText(w, j.payload)
	case j.header.plain:
		_, _ = w.Write(payload)
	default:
		writeEncoded(w, payload)
	}
}

// writeEncoded writes base64url piece by piece, whole groups of three but for the
// last.
func writeEncoded(w io.Writer, payload []byte) {
	const piece = 3 << 10
	text := make([]byte, 0, base64.RawURLEncoding.EncodedLen(min(len(payload), piece)))
	for len(payload) > 0 {
		n := min(len(payload), piece)
		text = appendEncoded(text[:0], payload[:n])
		_, _ = w.Write(text)
		payload = payload[n:]
	}
}

// digitPairs are the two digits of base64url for each twelve bits, as they lie in
// memory.
var digitPairs = func() (pairs [1 << 12]uint64) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range pairs {
		pairs[i] = uint64(digits[i>>6]) | uint64(digits[i&63])<<8
	}
	return pairs
}()

// appendEncoded encodes six octets to eight digits in one step: with hashes as fast
// as they are, encoding would take most of the time of a large result.
func appendEncoded(text, p []byte) []byte {
	for len(p) >= 8 { // of which six are used
		v := binary.BigEndian.Uint64(p)
		text = binary.LittleEndian.AppendUint64(text, digitPairs[v>>52]|digitPairs[v>>40&0xfff]<<16|digitPairs[v>>28&0xfff]<<32|digitPairs[v>>16&0xfff]<<48)
		p = p[6:]
	}
	return base64.RawURLEncoding.AppendEncode(text, p)
}

// writeText writes piece by piece, since hashes take no strings and a payload may
// be large.
func writeText(w io.Writer, text string) {
	for piece := make([]byte, min(len(text), 4<<10)); text != ""; {
		n := copy(piece, text)
		text = text[n:]
		_, _ = w.Write(piece[:n])
	}
}

// message is the signing input as one piece, which Ed25519 reads twice.
func (j *jws) message(payload []byte) []byte {
	size := len(j.payload)
	if size == 0 {
		size = base64.RawURLEncoding.EncodedLen(len(payload))
	}
	m := make(appender, 0, len(j.protected)+1+size)
	j.write(&m, payload)
	return m
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
