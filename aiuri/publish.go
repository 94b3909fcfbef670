package aiuri

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/serve"
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
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key.Private, KeyID: key.ID}}, options)
	if err != nil {
		return SignedResult{}, &lookleap.Error{Code: CodeBadConfiguration, Message: "the key cannot sign", Err: err}
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return SignedResult{}, unsigned(err)
	}
	if !o.Detached {
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
	return &lookleap.Error{Code: CodeBadConfiguration, Message: "signing failed", Fix: "check the private key", Err: err}
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

// AdvertiseLink returns the value of a Link header (section 3.1), "" for the zero URI.
func AdvertiseLink(endpoint URI) string {
	if endpoint.IsZero() {
		return ""
	}
	return "<" + endpoint.Normalize().String() + `>; rel="` + Relation + `"`
}

// LinkElement returns the element for a page's head, "" for the zero URI.
func LinkElement(endpoint URI) string {
	if endpoint.IsZero() {
		return ""
	}
	return `<link rel="` + Relation + `" href="` + html.EscapeString(endpoint.Normalize().String()) + `">`
}

// DNSRecords returns the bootstrap records of a domain as lines of a zone file, with absolute
// names. The target is the host that serves the endpoint.
func DNSRecords(domain string, endpoint URI, target string, port uint16, ttl time.Duration) []string {
	domain, target = strings.TrimSuffix(domain, "."), strings.TrimSuffix(target, ".")
	seconds := strconv.Itoa(int(ttl / time.Second))
	return []string{
		"_aiip._tcp." + domain + ". " + seconds + " IN SRV 0 0 " + strconv.Itoa(int(port)) + " " + target + ".",
		"_aiip." + domain + ". " + seconds + " IN TXT " + characterStrings("endpoint="+endpoint.Normalize().String()),
	}
}

// characterStrings returns a text as strings of at most 255 bytes (RFC 1035 section 3.3), which
// readers join again. A URI has no characters that a zone file escapes.
func characterStrings(text string) string {
	var b strings.Builder
	for piece := range slices.Chunk([]byte(text), 255) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		b.Write(piece)
		b.WriteByte('"')
	}
	return b.String()
}

// MarshalJSON returns the document in the form of the draft.
func (d *Descriptor) MarshalJSON() ([]byte, error) {
	if d == nil {
		return nil, fail(CodeBadDocument, "the descriptor is nil", "")
	}
	members := make(map[string]any, len(d.Extra)+4)
	for name, value := range d.Extra {
		members[name] = value
	}
	members["endpoint"], members["policy"] = d.Endpoint.Normalize().String(), d.Policy
	if d.JWKS != "" {
		members["jwks"] = d.JWKS
	}
	if d.Scopes != nil {
		members["scopes"] = d.Scopes
	}
	return json.Marshal(members)
}

// NewDescriptorHandler returns a handler that serves an origin's document. Mount it at
// /.well-known/aiip. It returns an error for a document that clients would refuse, such
// as one that does not require signed results.
func NewDescriptorHandler(origin string, d *Descriptor, allowedKeyOrigins ...string) (http.Handler, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, &lookleap.Error{Code: CodeBadDocument, Message: "the document cannot be written", Err: err}
	}
	u, err := domain.Parse(origin)
	if err != nil {
		return nil, urlError(lookleap.CodeBadURL, "", "the origin is not an https origin", err)
	}
	read, err := ParseDescriptor(text, u.Origin(), allowedKeyOrigins...)
	switch {
	case err != nil:
		return nil, err
	case len(read.Findings) > 0:
		return nil, fail(read.Findings[0].Code, read.Findings[0].Message, read.Findings[0].Fix)
	}
	return served(text, "application/json"), nil
}

// served returns a document that clients may cache for five minutes.
func served(content []byte, mediaType string) *serve.Document {
	document := serve.New(content, mediaType)
	document.Keep(5 * time.Minute)
	return document
}

// KeyRing has an endpoint's signing keys and publishes their public parts (section 3.4). It is
// safe for concurrent use.
type KeyRing struct {
	options KeyRingOptions

	mu   sync.Mutex
	keys []ringKey // by the time from which they sign
}

type ringKey struct {
	SigningKey
	from time.Time
}

// KeyRingOptions configure a [KeyRing].
type KeyRingOptions struct {
	// Lead is how long a new key is published before it signs; 0: DefaultKeyLife. It must
	// be at least the time for which verifiers cache a key set.
	Lead time.Duration
	// Overlap is how long an old key stays published after it last signed; 0: 1 hour. It
	// must also be at least the life of its results.
	Overlap time.Duration
	Now     func() time.Time // nil: time.Now
}

// NewKeyRing returns a ring with a key that signs at once.
func NewKeyRing(first SigningKey, o KeyRingOptions) (*KeyRing, error) {
	if o.Lead <= 0 {
		o.Lead = DefaultKeyLife
	}
	if o.Overlap <= 0 {
		o.Overlap = time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &KeyRing{options: o}
	if err := r.add(first, time.Time{}); err != nil {
		return nil, err
	}
	return r, nil
}

// Rotate publishes a key now and signs with it after KeyRingOptions.Lead.
func (r *KeyRing) Rotate(next SigningKey) error {
	if !r.ready() {
		return fail(lookleap.CodeUsage, "the key ring is nil or zero", "make it with NewKeyRing")
	}
	return r.add(next, r.options.Now().Add(r.options.Lead))
}

// ready reports whether the ring was made with NewKeyRing.
func (r *KeyRing) ready() bool { return r != nil && r.options.Now != nil }

func (r *KeyRing) add(k SigningKey, from time.Time) error {
	if _, err := k.algorithm(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	taken := slices.ContainsFunc(r.keys, func(old ringKey) bool { return old.ID == k.ID })
	if k.ID == "" || taken {
		return fail(CodeBadConfiguration, "the id of the key is empty or already used", "")
	}
	r.keys = append(r.keys, ringKey{k, from})
	return nil
}

// prune removes keys whose successor has signed for longer than the overlap.
func (r *KeyRing) prune() {
	now := r.options.Now()
	for len(r.keys) > 1 && !now.Before(r.keys[1].from.Add(r.options.Overlap)) {
		r.keys = r.keys[1:]
	}
}

// Current returns the key to sign with now, or the zero SigningKey for a zero ring.
func (r *KeyRing) Current() SigningKey {
	if !r.ready() {
		return SigningKey{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	current := r.keys[0]
	for _, k := range r.keys[1:] {
		if !r.options.Now().Before(k.from) {
			current = k
		}
	}
	return current.SigningKey
}

// JWKS returns the public keys as a JWK Set.
func (r *KeyRing) JWKS() []byte {
	if !r.ready() {
		return []byte(`{"keys":[]}`)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	var set jose.JSONWebKeySet
	for _, k := range r.keys {
		algorithm, _ := k.algorithm()
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: string(algorithm), Use: "sig"})
	}
	text, err := json.Marshal(set)
	if err != nil {
		return []byte(`{"keys":[]}`) // cannot happen: add has checked the keys
	}
	return text
}

// NewKeyRingHandler returns a handler that serves the current public keys of a ring.
// Mount it at the path of the descriptor's jwks URL. A nil ring has no keys.
func NewKeyRingHandler(r *KeyRing) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		served(r.JWKS(), jwksMediaType).ServeHTTP(w, req)
	})
}

const jwksMediaType = "application/jwk-set+json"

// NewKeySetHandler returns a handler that serves a JWK Set made by another program.
// Mount it at the path of the descriptor's jwks URL. It returns an error for a set with
// a private or symmetric key, a key without kid, or a key that no verifier would use.
func NewKeySetHandler(set []byte) (http.Handler, error) {
	parsed, err := ParseKeySet(set)
	if err != nil {
		return nil, err
	}
	if len(parsed.findings) > 0 {
		f := parsed.findings[0]
		return nil, &lookleap.Error{Code: CodeBadKeySet, Position: f.Position, Message: f.Message}
	}
	for _, k := range parsed.keys {
		if !k.hasID || strings.TrimSpace(k.id) == "" {
			return nil, fail(CodeBadKeySet, "a key has no kid", "")
		}
	}
	return served(set, jwksMediaType), nil
}

// Lint returns findings about how an origin advertises its endpoint: those of a discovery,
// and one for each part that is missing. Use a nil discovery if nothing was found.
func Lint(d *Discovery) []lookleap.Finding {
	if d == nil || len(d.Candidates) == 0 {
		return []lookleap.Finding{{Severity: lookleap.SeverityWarning, Code: CodeNoEndpoint, Requirement: "AIU-3.1-01",
			Message: "the origin advertises no endpoint", Fix: "publish /.well-known/aiip"}}
	}
	findings := slices.Clone(d.Findings)
	if !d.Verifiable() {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeNoTrustAnchor,
			Requirement: "AIU-3.4-10", Message: "no document names keys, so no result can be verified",
			Fix: "publish /.well-known/aiip with jwks"})
	}
	return findings
}
