package aiuri

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Limits of a key set (section 3.4 sets none).
const (
	MaxKeySet = 256 << 10 // octets
	MaxKeys   = 100

	leastRSA = 2048 // bits
	mostRSA  = 8192
)

// KeySet holds the usable public keys of a JWK Set (RFC 7517). It is immutable.
type KeySet struct {
	keys     []key
	findings []lookleap.Finding
}

// key is one that may verify.
type key struct {
	id        string
	hasID     bool
	algorithm string // as the key says; "" where it does not
	public    crypto.PublicKey
}

// ParseKeySet reads a JWK Set. A set that is malformed, over its limits, or has
// the same kid twice is an [*Error]. A key that must not verify is left out with
// a finding: another use, symmetric, private, of an unknown kind or too weak.
func ParseKeySet(data []byte) (*KeySet, error) {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: MaxKeySet, Depth: 16})
	if err != nil {
		return nil, jsonError(CodeBadKeySet, err)
	}
	list, err := v.Need("keys")
	if err == nil {
		err = list.Expect(strictjson.Array)
	}
	if err != nil {
		return nil, jsonError(CodeBadKeySet, err)
	}
	if list.Len() > MaxKeys {
		return nil, fail(CodeBadKeySet, fmt.Sprintf("the set has more than %d keys", MaxKeys), "")
	}
	set := &KeySet{}
	seen := make(map[string]bool)
	for member := range list.Elements() {
		if err := member.Expect(strictjson.Object); err != nil {
			return nil, jsonError(CodeBadKeySet, err)
		}
		k, reason := parseKey(member)
		if k.hasID && seen[k.id] {
			return nil, jsonError(CodeBadKeySet, member.Refuse(string(CodeBadKeySet), "a kid stands twice in the set", "name each key once"))
		}
		seen[k.id] = seen[k.id] || k.hasID
		if reason != "" {
			place := member.Place()
			set.findings = append(set.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeRejectedKey, Requirement: "AIU-3.4-05", Message: reason,
				Position: lookleap.Position{Line: place.Line, Column: place.Column, Offset: place.Offset, Path: place.Pointer}})
			continue
		}
		set.keys = append(set.keys, k)
	}
	return set, nil
}

// Len is the number of usable keys.
func (s *KeySet) Len() int {
	if s == nil {
		return 0
	}
	return len(s.keys)
}

// Findings tells which keys were left out, and why.
func (s *KeySet) Findings() []lookleap.Finding {
	if s == nil {
		return nil
	}
	return slices.Clone(s.findings)
}

// parseKey gives a key with its kid, and why it may not verify.
func parseKey(v strictjson.Value) (k key, reason string) {
	member := func(name string) string {
		if m, ok := v.Member(name); ok {
			text, _ := m.Text()
			return text
		}
		return ""
	}
	if id, ok := v.Member("kid"); ok {
		text, err := id.Text()
		if err != nil {
			return k, "a kid is no text"
		}
		k.id, k.hasID = strings.Clone(text), true
	}
	if alg, ok := v.Member("alg"); ok {
		text, err := alg.Text()
		if err != nil || !known(text, true) {
			return k, "a key is for an algorithm that is not used here"
		}
		k.algorithm = strings.Clone(text)
	}
	if reason := wrongUse(v); reason != "" {
		return k, reason
	}
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, ok := v.Member(private); ok {
			return k, "a key is symmetric or private"
		}
	}
	// Only the members of a public key are handed on, in a spelling of ours.
	plain := map[string]string{"kty": member("kty")}
	for _, name := range []string{"crv", "x", "y", "n", "e"} {
		if value := member(name); value != "" {
			if _, bad := decode(value); name != "crv" && bad != nil {
				return k, "a key is not written in base64url"
			}
			plain[name] = value
		}
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return k, "a key cannot be read"
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(text); err != nil || !parsed.Valid() {
		return k, "a key is malformed or of an unknown kind"
	}
	k.public = parsed.Key
	return k, k.weakness()
}

func wrongUse(v strictjson.Value) string {
	if use, ok := v.Member("use"); ok {
		if text, err := use.Text(); err != nil || text != "sig" {
			return "a key is not for signatures"
		}
	}
	if ops, ok := v.Member("key_ops"); ok {
		verifies := false
		for op := range ops.Elements() {
			text, err := op.Text()
			verifies = verifies || err == nil && text == "verify"
		}
		if !verifies {
			return "a key may not verify"
		}
	}
	return ""
}

// weakness holds a key to a size and kind that can be relied on.
func (k key) weakness() string {
	switch public := k.public.(type) {
	case *ecdsa.PublicKey:
		if k.fits(ES256) || k.fits(ES384) {
			return ""
		}
	case ed25519.PublicKey:
		if k.fits(EdDSA) {
			return ""
		}
	case *rsa.PublicKey:
		switch bits := public.N.BitLen(); {
		case bits < leastRSA || bits > mostRSA:
			return fmt.Sprintf("an RSA key has less than %d or more than %d bits", leastRSA, mostRSA)
		case public.E < 3 || public.E%2 == 0:
			return "an RSA key has a public exponent that is even or below 3"
		case public.N.Bit(0) == 0 || isROCA(public.N):
			return "an RSA key has a modulus that is known to be weak"
		case k.fits(PS256) || k.fits(RS256):
			return ""
		}
	}
	return "a key is of a kind that is not used here, or says another algorithm"
}

// fits binds algorithms to keys: the kind, the curve, and what the key says.
func (k key) fits(algorithm string) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch public := k.public.(type) {
	case *ecdsa.PublicKey:
		return public.Curve == elliptic.P256() && algorithm == ES256 || public.Curve == elliptic.P384() && algorithm == ES384
	case ed25519.PublicKey:
		return algorithm == EdDSA
	case *rsa.PublicKey:
		return algorithm == PS256 || algorithm == RS256
	}
	return false
}

// find chooses the key for a header: by kid, or the only one that fits.
func (s *KeySet) find(h *header) (key, bool) {
	var found []key
	for _, k := range s.keys {
		if k.fits(h.algorithm) && (!h.hasKeyID || k.hasID && k.id == h.keyID) {
			found = append(found, k)
		}
	}
	if len(found) != 1 {
		return key{}, false
	}
	return found[0], true
}

// jsonError brings a refusal of the JSON reader into our form.
func jsonError(code lookleap.Code, err error) *Error {
	e := &Error{Code: code, Reason: "the text is not of its form", Err: err}
	if bad, ok := err.(*strictjson.Error); ok {
		place := bad.Place()
		e.Reason, e.Fix = bad.Message, bad.Fix
		e.Place = lookleap.Position{Line: place.Line, Column: place.Column, Offset: place.Offset, Path: place.Pointer}
	}
	return e
}
