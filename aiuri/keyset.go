package aiuri

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Limits of a key set (section 3.4 sets none).
const (
	maxKeySet = 256 << 10 // bytes
	maxKeys   = 100

	minRSA = 2048 // bits
	maxRSA = 4096
)

// KeySet is the usable public keys of a JWK Set (RFC 7517). It is immutable.
type KeySet struct {
	keys     []key
	findings []lookleap.Finding
	memory   int // about how many bytes it takes
}

// key is a public key that may verify results.
type key struct {
	id         string
	hasID      bool
	algorithms []string // that it may be used with, by its kind, curve and alg
	public     crypto.PublicKey
}

// ParseKeySet parses a JWK Set. It returns a [*lookleap.Error] if the set is malformed, over
// its limits, or has a kid twice. It leaves out keys that must not verify, with a finding:
// keys for another use, and symmetric, private, unknown, malformed or weak keys.
func ParseKeySet(data []byte) (*KeySet, error) {
	v, marked, err := strictjson.ParsePublished(data, strictjson.Limits{Size: maxKeySet, Depth: 16})
	var list strictjson.Value
	if err == nil {
		list, err = v.Need("keys")
	}
	if err == nil {
		err = list.Expect(strictjson.Array)
	}
	switch {
	case err != nil:
		return nil, jsonError(CodeBadKeySet, err)
	case list.Len() > maxKeys:
		return nil, fail(CodeBadKeySet, fmt.Sprintf("the set has more than %d keys", maxKeys), "")
	}
	set := &KeySet{memory: parsedMemory(data)}
	if marked {
		set.findings = append(set.findings, markFinding("AIU-3.4-05"))
	}
	seen := make(map[string]bool)
	for member := range list.Elements() {
		k, reason := parseKey(member)
		if k.hasID && seen[k.id] {
			return nil, refuse(member, CodeBadKeySet, "the set has two keys with the same kid", "use a unique kid for each key")
		}
		seen[k.id] = seen[k.id] || k.hasID
		if reason != "" {
			f := warning(CodeRejectedKey, "AIU-3.4-05", reason, "")
			f.Position = lookleap.Position(member.Place())
			set.findings = append(set.findings, f)
			continue
		}
		set.keys = append(set.keys, k)
	}
	return set, nil
}

// Len returns the number of usable keys.
func (s *KeySet) Len() int {
	if s == nil {
		return 0
	}
	return len(s.keys)
}

// Findings returns a finding for each key that was left out, and for a byte order mark.
func (s *KeySet) Findings() []lookleap.Finding {
	if s == nil {
		return nil
	}
	return slices.Clone(s.findings)
}

// parseKey returns a key with its kid, and a reason if it must not verify.
func parseKey(v strictjson.Value) (k key, reason string) {
	algorithm := ""
	public := make(map[string]string) // the JWK parser gets nothing else
	for name, member := range v.Members() {
		value, isText := text(member)
		bad := ""
		switch name {
		case "kid":
			if k.id, k.hasID = value, isText; !isText {
				bad = "a kid is not a string"
			}
		case "alg":
			if algorithm = algorithmOf(value); !isAllowed(algorithm, true) {
				bad = "a key is for an algorithm that is not supported"
			}
		case "use":
			if value != "sig" {
				bad = "a key is not for signatures"
			}
		case "key_ops":
			if operations, _ := texts(member); isText || !slices.Contains(operations, "verify") {
				bad = "a key has no operation verify"
			}
		case "d", "p", "q", "dp", "dq", "qi", "oth", "k":
			bad = "a key is symmetric or private"
		case "kty", "crv", "x", "y", "n", "e":
			public[name] = value
		}
		reason = cmp.Or(reason, bad)
	}
	if reason != "" {
		return k, reason
	}
	plain, _ := json.Marshal(public) // strings have no errors
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(plain); err != nil {
		return k, "a key is malformed, too long or of an unknown kind"
	}
	k.public = parsed.Key
	k.algorithms, reason = algorithmsFor(parsed.Key)
	if algorithm != "" {
		k.algorithms = slices.DeleteFunc(k.algorithms, func(name string) bool { return name != algorithm })
	}
	if len(k.algorithms) == 0 {
		reason = cmp.Or(reason, "a key is of a kind that is not supported, or its alg does not match")
	}
	return k, reason
}

// algorithmsFor returns the algorithms that a key may be used with, or why it is too weak.
func algorithmsFor(public crypto.PublicKey) (algorithms []string, weakness string) {
	switch public := public.(type) {
	case *ecdsa.PublicKey:
		switch public.Curve {
		case elliptic.P256():
			return []string{es256}, ""
		case elliptic.P384():
			return []string{es384}, ""
		}
	case ed25519.PublicKey:
		return []string{edDSA}, ""
	case *rsa.PublicKey:
		switch bits := public.N.BitLen(); {
		case bits < minRSA || bits > maxRSA:
			return nil, fmt.Sprintf("an RSA key has fewer than %d or more than %d bits", minRSA, maxRSA)
		case public.E < 3 || public.E%2 == 0 || public.N.Bit(0) == 0 || isROCA(public.N):
			return nil, "an RSA key has an exponent or a modulus that is known to be weak"
		}
		return []string{ps256, rs256}, ""
	}
	return nil, ""
}

// isAllowed reports whether an algorithm may be used.
func isAllowed(algorithm string, allowRS256 bool) bool {
	return slices.Contains([]string{es256, es384, ps256, edDSA}, algorithm) || allowRS256 && algorithm == rs256
}

// find returns the key for a signature: the one with its kid, or the only one that fits.
func (s *KeySet) find(j *jws) (found key, ok bool) {
	if s == nil {
		return key{}, false
	}
	for _, k := range s.keys {
		if !slices.Contains(k.algorithms, j.algorithm) || j.keyID != nil && !(k.hasID && k.id == *j.keyID) {
			continue
		}
		if ok {
			return key{}, false
		}
		found, ok = k, true
	}
	return found, ok
}

// rocaPrimes are the small primes whose residues reveal a modulus of the weak generator of
// CVE-2017-15361.
var rocaPrimes = [...]int64{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
	101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167}

// isROCA reports whether the modulus is a power of 65537 modulo every small prime. The primes
// of that generator were built from such powers. Another modulus matches with a probability
// of about 1 in 2^27.
func isROCA(n *big.Int) bool {
	for _, p := range rocaPrimes {
		residue := new(big.Int).Mod(n, big.NewInt(p)).Int64()
		power, steps := int64(1), p
		for ; power != residue && steps > 0; steps-- {
			power = power * 65537 % p
		}
		if power != residue {
			return false
		}
	}
	return true
}
