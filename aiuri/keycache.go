package aiuri

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"strconv"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

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
	renewals *flight.Memo[string, struct{}]    // by URL: that it was fetched for an unknown kid
}

type fetchedKeys struct {
	set *KeySet
	at  time.Time
}

func newKeyCache(host *lookleap.Host, life time.Duration) *keyCache {
	size := func(url string, keys fetchedKeys) int { return len(url) + keys.set.memory }
	return &keyCache{
		host: host, life: min(cmp.Or(max(life, 0), DefaultKeyLife), MaxKeyLife),
		sets:     flight.NewSizedMemo(maxKeySets, keyMemory, size, host.Time),
		renewals: flight.NewMemo[string, struct{}](maxKeySets, host.Time),
	}
}

// keysOf returns the key set of a discovered endpoint that is verifiable, from the cache if it is there.
func (s *keyCache) keysOf(ctx context.Context, d *Discovery) (fetchedKeys, error) {
	if d.keys != nil {
		return fetchedKeys{d.keys, s.host.Time()}, nil
	}
	return s.sets.Get(ctx, d.Document.JWKS, func(ctx context.Context) (flight.Loaded[fetchedKeys], error) {
		return s.fetch(ctx, d.Document.JWKS)
	})
}

// renew fetches a key set again. If that fails, the cached set stays. Either way the next
// attempt is made after refetchAfter at the earliest.
func (s *keyCache) renew(ctx context.Context, url string) error {
	_, err := s.renewals.Get(ctx, url, func(ctx context.Context) (flight.Loaded[struct{}], error) {
		fresh, err := s.fetch(ctx, url)
		if err == nil {
			s.sets.Put(url, fresh)
		}
		// A Memo does not keep that a caller has left.
		return flight.Loaded[struct{}]{Err: err, Until: s.host.Time().Add(refetchAfter)}, nil
	})
	return err
}

// fetch requests a key set. Its errors have the code of the exchange, never that of a
// forged result.
func (s *keyCache) fetch(ctx context.Context, url string) (keys flight.Loaded[fetchedKeys], err error) {
	u, err := domain.Parse(url)
	if err != nil {
		return keys, urlError(lookleap.CodeBadURL, "", "the URL of the key set is invalid", err)
	}
	resp, err := fetch.Do(ctx, s.host, &fetch.Request{
		URL: u, Accept: []string{jwksMediaType, "application/json"}, Redirect: fetch.SameOrigin,
		Limits: fetch.Limits{Body: maxKeySet, Hops: 3}, TrustEvidence: true, MinTLS: tls.VersionTLS13,
	})
	switch {
	case err != nil:
		return keys, failOn(lookleap.CodeOf(err), u.Origin()+u.Path(), "the key set could not be fetched", "", err)
	case !resp.OK():
		return keys, failOn(lookleap.CodeBadStatus, u.Origin()+u.Path(),
			"the key set could not be fetched: HTTP status "+strconv.Itoa(resp.Status), "", nil)
	}
	set, err := ParseKeySet(resp.Body)
	now := s.host.Time()
	return flight.Loaded[fetchedKeys]{Value: fetchedKeys{set, now}, Until: now.Add(s.life)}, err
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
	failed := s.renew(ctx, d.Document.JWKS)
	if failed == nil {
		keys, failed = s.keysOf(ctx, d)
	}
	if failed == nil {
		return VerifyResult(r, keys.set, s.host.Time(), x)
	}
	var rejected *lookleap.VerifyError
	if ctx.Err() == nil && errors.As(err, &rejected) {
		rejected.Verdict.Checks = append(rejected.Verdict.Checks, lookleap.Check{Requirement: "AIU-3.4-12", Code: lookleap.CodeOf(failed),
			Status: lookleap.Noted, Message: "the key set could not be fetched again, so the key may be a new one"})
	}
	return nil, cmp.Or(ctx.Err(), err)
}
