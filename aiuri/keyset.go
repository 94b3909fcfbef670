package aiuri

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Limits of a key set (section 3.4 sets none).
const (
	MaxKeySet = 256 << 10 // bytes
	MaxKeys   = 100

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
	id        string
	hasID     bool
	algorithm string // alg of the JWK; may be empty
	public    crypto.PublicKey
}

// ParseKeySet parses a JWK Set. It returns a [*lookleap.Error] if the set is malformed, over
// its limits, or has a kid twice. It leaves out keys that must not verify, with a finding:
// keys for another use, and symmetric, private, unknown, malformed or weak keys.
func ParseKeySet(data []byte) (*KeySet, error) {
	v, marked, err := strictjson.ParsePublished(data, strictjson.Limits{Size: MaxKeySet, Depth: 16})
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
	set := &KeySet{memory: parsedMemory(data)}
	if marked {
		set.findings = append(set.findings, markFinding("AIU-3.4-05"))
	}
	seen := make(map[string]bool)
	for member := range list.Elements() {
		k, reason := parseKey(member)
		if k.hasID {
			if seen[k.id] {
				return nil, jsonError(CodeBadKeySet, member.Refuse(string(CodeBadKeySet),
					"the set has two keys with the same kid", "use a unique kid for each key"))
			}
			seen[k.id] = true
		}
		if reason != "" {
			place := member.Place()
			set.findings = append(set.findings, lookleap.Finding{Severity: lookleap.SeverityWarning,
				Code: CodeRejectedKey, Requirement: "AIU-3.4-05", Message: reason,
				Position: lookleap.Position{Line: place.Line, Column: place.Column, Offset: place.Offset, Path: place.Pointer}})
			continue
		}
		set.keys = append(set.keys, k)
	}
	return set, nil
}

// markFinding is the finding for a document that begins with a byte order mark.
func markFinding(requirement string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityInfo, Code: strictjson.CodeBOM, Requirement: requirement,
		Message: "the document begins with a byte order mark", Fix: "save it as UTF-8 without a byte order mark"}
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
	if v.Kind() != strictjson.Object {
		return k, "a key is not an object"
	}
	member := func(name string) string {
		m, _ := v.Member(name)
		text, _ := m.Text()
		return text
	}
	if id, ok := v.Member("kid"); ok {
		text, err := id.Text()
		if err != nil {
			return k, "a kid is not a string"
		}
		k.id, k.hasID = strings.Clone(text), true
	}
	if alg, ok := v.Member("alg"); ok {
		text, err := alg.Text()
		k.algorithm = algorithmOf(text)
		if err != nil || !isAllowed(k.algorithm, true) {
			return k, "a key is for an algorithm that is not supported"
		}
	}
	if reason := wrongUse(v); reason != "" {
		return k, reason
	}
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, ok := v.Member(private); ok {
			return k, "a key is symmetric or private"
		}
	}
	// Pass only the members of a public key to the JWK parser.
	plain := map[string]string{"kty": member("kty")}
	for _, name := range []string{"crv", "x", "y", "n", "e"} {
		value := member(name)
		if _, bad := decode(value); name != "crv" && bad != nil {
			return k, "a key is not base64url"
		}
		plain[name] = value
	}
	text, _ := json.Marshal(plain) // strings have no errors
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(text); err != nil {
		return k, "a key is malformed, too long or of an unknown kind"
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
			return "a key has no operation verify"
		}
	}
	return ""
}

// weakness returns why a key is too weak or of the wrong kind, or "".
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
		case bits < minRSA || bits > maxRSA:
			return fmt.Sprintf("an RSA key has fewer than %d or more than %d bits", minRSA, maxRSA)
		case public.E < 3 || public.E%2 == 0:
			return "an RSA key has a public exponent that is even or below 3"
		case public.N.Bit(0) == 0 || isROCA(public.N):
			return "an RSA key has a modulus that is known to be weak"
		case k.fits(PS256) || k.fits(RS256):
			return ""
		}
	}
	return "a key is of a kind that is not supported, or its alg does not match"
}

// fits reports whether a key may be used with an algorithm, by its kind, curve and alg.
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

// find returns the key for a header: the one with its kid, or the only one that fits.
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

// jsonError returns an error of the JSON reader as a [*lookleap.Error].
func jsonError(code lookleap.Code, err error) *lookleap.Error {
	e := &lookleap.Error{Code: code, Message: "the text is not strict JSON"}
	if bad, ok := err.(*strictjson.Error); ok {
		place := bad.Place()
		e.Message, e.Fix = bad.Message, bad.Fix
		e.Position = lookleap.Position{Line: place.Line, Column: place.Column, Offset: place.Offset, Path: place.Pointer}
	}
	return e
}

// The draft asks for rotation and sets no times (section 3.4). A cached key set is used
// for at most MaxKeyLife, so a removed key is refused after that. An unknown kid causes
// one more fetch, but no more than one in refetchAfter.
const (
	DefaultKeyLife = 10 * time.Minute
	MaxKeyLife     = 24 * time.Hour
	refetchAfter   = 5 * time.Minute
)

// What a Client or Gateway caches of key sets.
const (
	maxKeySets = 256
	keyMemory  = 8 << 20 // bytes
)

// keyCache fetches and caches key sets.
type keyCache struct {
	host     *lookleap.Host
	life     time.Duration
	sets     *flight.Memo[string, fetchedKeys] // by URL
	renewals *flight.Memo[string, fetchedKeys] // by URL: the last fetch for an unknown kid
}

type fetchedKeys struct {
	set *KeySet // nil: they could not be fetched
	at  time.Time
}

func (k fetchedKeys) memory() int {
	if k.set == nil {
		return 0
	}
	return k.set.memory
}

func newKeyCache(host *lookleap.Host, life time.Duration) *keyCache {
	if life <= 0 {
		life = DefaultKeyLife
	}
	size := func(url string, keys fetchedKeys) int { return len(url) + keys.memory() }
	return &keyCache{
		host: host, life: min(life, MaxKeyLife),
		sets:     flight.NewSizedMemo(maxKeySets, keyMemory/2, size, host.Time),
		renewals: flight.NewSizedMemo(maxKeySets, keyMemory/2, size, host.Time),
	}
}

// parsedMemory returns about how many bytes the parsed form of a JSON text takes, however many
// members and elements it has.
func parsedMemory(text []byte) int { return 2<<10 + 2*len(text) + 512*bytes.Count(text, []byte(",")) }

// keysOf returns the key set of a discovered endpoint that is verifiable, from the cache if it is there.
func (s *keyCache) keysOf(ctx context.Context, d *Discovery) (fetchedKeys, error) {
	if d.keys != nil {
		return fetchedKeys{d.keys, s.host.Time()}, nil
	}
	return s.sets.Get(ctx, d.Document.JWKS, func(ctx context.Context) (flight.Loaded[fetchedKeys], error) {
		set, err := s.fetch(ctx, d.Document.JWKS)
		if err != nil {
			return flight.Loaded[fetchedKeys]{}, err
		}
		now := s.host.Time()
		return flight.Loaded[fetchedKeys]{Value: fetchedKeys{set, now}, Until: now.Add(s.life)}, nil
	})
}

func errNoKeys(d *Discovery) error {
	return &lookleap.Error{Code: CodeNoTrustAnchor, Subject: d.Endpoint.Redacted(),
		Message: "no document names keys to verify results with"}
}

// renew fetches a key set again. If that fails, the cached set stays. Either way the next
// attempt is made after refetchAfter at the earliest.
func (s *keyCache) renew(ctx context.Context, url string) (fetchedKeys, error) {
	return s.renewals.Get(ctx, url, func(ctx context.Context) (flight.Loaded[fetchedKeys], error) {
		set, err := s.fetch(ctx, url)
		now := s.host.Time()
		if err != nil { // a Memo does not keep that a caller has left
			return flight.Loaded[fetchedKeys]{Err: err, Until: now.Add(refetchAfter)}, nil
		}
		fresh := fetchedKeys{set, now}
		s.sets.Put(url, flight.Loaded[fetchedKeys]{Value: fresh, Until: now.Add(s.life)})
		return flight.Loaded[fetchedKeys]{Value: fresh, Until: now.Add(refetchAfter)}, nil
	})
}

// fetch requests a key set. Its errors have the code of the exchange, never that of a
// forged result.
func (s *keyCache) fetch(ctx context.Context, url string) (*KeySet, error) {
	u, err := domain.Parse(url)
	if err != nil {
		return nil, urlError(lookleap.CodeBadURL, "", "the URL of the key set is invalid", err)
	}
	resp, err := fetch.Do(ctx, s.host, &fetch.Request{
		URL: u, Accept: []string{"application/jwk-set+json", "application/json"}, Redirect: fetch.SameOrigin,
		Limits: fetch.Limits{Body: MaxKeySet, Hops: 3}, TrustEvidence: true, MinTLS: tls.VersionTLS13,
	})
	switch {
	case err != nil:
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: u.Origin() + u.Path(),
			Message: "the key set could not be fetched", Err: err}
	case resp.Status != http.StatusOK:
		return nil, &lookleap.Error{Code: lookleap.CodeBadStatus, Subject: u.Origin() + u.Path(),
			Message: "the key set could not be fetched: HTTP status " + strconv.Itoa(resp.Status)}
	}
	return ParseKeySet(resp.Body)
}

// verify verifies a result with the keys that were fetched before the call. They are
// fetched again if they have expired since, and if the result names an unknown kid.
func (s *keyCache) verify(ctx context.Context, d *Discovery, keys fetchedKeys, r SignedResult, x Expectation) (*Verified, error) {
	if s.host.Time().Sub(keys.at) >= s.life {
		var err error
		if keys, err = s.keysOf(ctx, d); err != nil {
			return nil, err
		}
	}
	v, err := VerifyResult(r, keys.set, s.host.Time(), x)
	if lookleap.CodeOf(err) != CodeRejectedKey || d.keys != nil || s.host.Time().Sub(keys.at) < refetchAfter {
		return v, err
	}
	keys, failed := s.renew(ctx, d.Document.JWKS)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		var rejected *lookleap.VerifyError
		if errors.As(err, &rejected) {
			rejected.Verdict.Checks = append(rejected.Verdict.Checks,
				lookleap.Check{Requirement: "AIU-3.4-12", Code: lookleap.CodeOf(failed), Status: lookleap.Noted,
					Message: "the key set could not be fetched again, so the key may be a new one"})
		}
		return nil, err
	}
	return VerifyResult(r, keys.set, s.host.Time(), x)
}

// rocaPrimes are the small primes whose residues reveal a modulus of the weak generator of
// CVE-2017-15361.
var rocaPrimes = [...]int64{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
	101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167}

// isROCA reports whether the modulus is a power of 65537 modulo every small prime. The primes
// of that generator were built from such powers. Another modulus matches with a probability
// of about 1 in 2^27.
func isROCA(n *big.Int) bool {
	var residue, prime big.Int
	for _, p := range rocaPrimes {
		r := residue.Mod(n, prime.SetInt64(p)).Int64()
		if !isPower(r, p) {
			return false
		}
	}
	return true
}

func isPower(r, p int64) bool {
	power := int64(1)
	for range p {
		if power == r {
			return true
		}
		power = power * 65537 % p
	}
	return false
}
