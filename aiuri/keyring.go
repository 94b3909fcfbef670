package aiuri

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/lookleap/lookleap"
)

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
	o.Lead = cmp.Or(max(o.Lead, 0), DefaultKeyLife)
	o.Overlap = cmp.Or(max(o.Overlap, 0), time.Hour)
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
	if _, err := SignResult(nil, k, SignOptions{}); err != nil {
		return err
	}
	r.published() // removes old keys
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.keys, func(old ringKey) bool { return old.ID == k.ID }) {
		return fail(CodeBadConfiguration, "the id of the key is already used", "")
	}
	r.keys = append(slices.Clip(r.keys), ringKey{k, from}) // others may read the old slice
	return nil
}

// published returns the keys whose successor has not signed for longer than the overlap, and the
// one that signs now.
func (r *KeyRing) published() (keys []ringKey, current SigningKey) {
	if !r.ready() {
		return nil, current
	}
	now := r.options.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.keys) > 1 && !now.Before(r.keys[1].from.Add(r.options.Overlap)) {
		r.keys = r.keys[1:]
	}
	for i, k := range r.keys {
		if i == 0 || !now.Before(k.from) {
			current = k.SigningKey
		}
	}
	return r.keys, current
}

// Current returns the key to sign with now, or the zero SigningKey for a zero ring.
func (r *KeyRing) Current() SigningKey {
	_, current := r.published()
	return current
}

// JWKS returns the public keys as a JWK Set.
func (r *KeyRing) JWKS() []byte {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	keys, _ := r.published()
	for _, k := range keys {
		algorithms, _ := algorithmsFor(k.Private.Public())
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: algorithms[0], Use: "sig"})
	}
	text, _ := json.Marshal(set) // add has checked the keys
	return text
}

// NewKeyRingHandler returns a handler that serves the current public keys of a ring.
// Mount it at the path of the descriptor's jwks URL. A nil ring has no keys.
func NewKeyRingHandler(r *KeyRing) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		served(r.JWKS(), jwksMediaType).ServeHTTP(w, req)
	})
}
