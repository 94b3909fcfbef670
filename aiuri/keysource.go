package aiuri

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// How key sets are kept (section 3.4 asks for rotation and sets no times): a key
// that was removed dies with the cache, and an unknown kid causes one fetch more.
const (
	DefaultKeyLife = 10 * time.Minute
	MaxKeyLife     = 24 * time.Hour
	refetchAfter   = 5 * time.Minute
)

// keySource fetches and keeps key sets.
type keySource struct {
	host     *lookleap.Host
	life     time.Duration
	memo     *flight.Memo[string, fetchedKeys]
	renewals *flight.Memo[string, fetchedKeys] // what the last fetch for an unknown kid gave
}

type fetchedKeys struct {
	set *KeySet
	at  time.Time
}

func newKeySource(host *lookleap.Host, life time.Duration, entries int) *keySource {
	if life <= 0 {
		life = DefaultKeyLife
	}
	return &keySource{
		host: host, life: min(life, MaxKeyLife),
		memo:     flight.NewMemo[string, fetchedKeys](entries, host.Time),
		renewals: flight.NewMemo[string, fetchedKeys](entries, host.Time),
	}
}

func (s *keySource) purge() {
	s.memo.Purge()
	s.renewals.Purge()
}

func (s *keySource) get(ctx context.Context, url string) (fetchedKeys, error) {
	return s.memo.Get(ctx, url, func(ctx context.Context) (flight.Loaded[fetchedKeys], error) {
		set, err := s.fetch(ctx, url)
		if err != nil {
			return flight.Loaded[fetchedKeys]{}, err
		}
		now := s.host.Time()
		return flight.Loaded[fetchedKeys]{Value: fetchedKeys{set, now}, Until: now.Add(s.life)}, nil
	})
}

// renewed fetches a set anew if the one at hand is old enough. If that fails, the
// one at hand stays, and there is no further try for as long.
func (s *keySource) renewed(ctx context.Context, url string, held fetchedKeys) (fetchedKeys, bool) {
	if s.host.Time().Sub(held.at) < refetchAfter {
		return held, false
	}
	got, err := s.renewals.Get(ctx, url, func(ctx context.Context) (flight.Loaded[fetchedKeys], error) {
		set, err := s.fetch(ctx, url)
		now := s.host.Time()
		switch {
		case fetch.Cancelled(err):
			return flight.Loaded[fetchedKeys]{}, err
		case err != nil:
			return flight.Loaded[fetchedKeys]{Value: held, Until: now.Add(refetchAfter)}, nil
		}
		fresh := fetchedKeys{set, now}
		s.memo.Put(url, flight.Loaded[fetchedKeys]{Value: fresh, Until: now.Add(s.life)})
		return flight.Loaded[fetchedKeys]{Value: fresh, Until: now.Add(refetchAfter)}, nil
	})
	return got, err == nil && got != held
}

// fetch asks for a set. A key server that fails is told by its own code, which is
// never that of a forged result.
func (s *keySource) fetch(ctx context.Context, url string) (*KeySet, error) {
	u, err := domain.Parse(url)
	if err != nil {
		return nil, &Error{Code: lookleap.CodeBadURL, Reason: "the keys have no usable URL", Err: err}
	}
	resp, err := fetch.Do(ctx, s.host, &fetch.Request{
		URL: u, Accept: []string{"application/jwk-set+json", "application/json"}, Redirect: fetch.SameOrigin,
		Limits: fetch.Limits{Body: MaxKeySet, Hops: 3}, TrustEvidence: true, MinTLS: tls.VersionTLS13,
	})
	switch {
	case fetch.Cancelled(err):
		return nil, err
	case err != nil:
		return nil, &Error{Code: lookleap.CodeOf(err), Subject: url, Reason: "the keys could not be had", Err: err}
	case resp.Status != http.StatusOK:
		return nil, &Error{Code: lookleap.CodeBadStatus, Subject: url, Reason: "the keys could not be had"}
	}
	return ParseKeySet(resp.Body)
}

// verify verifies a result by the keys of a discovery, with one fetch more where
// its kid is unknown.
func (s *keySource) verify(ctx context.Context, d *Discovery, r Result, x Expectation) (*Verified, error) {
	if !d.Verifiable() {
		return nil, &Error{Code: lookleap.CodeNoTrustAnchor, Subject: d.Endpoint.Redacted(), Reason: "no document says by which keys results can be verified"}
	}
	keys, err := s.get(ctx, d.Document.JWKS)
	if err != nil {
		return nil, err
	}
	v, err := VerifyResult(r, keys.set, x, s.host.Time())
	if lookleap.CodeOf(err) == lookleap.CodeRejectedKey {
		if renewed, ok := s.renewed(ctx, d.Document.JWKS, keys); ok {
			return VerifyResult(r, renewed.set, x, s.host.Time())
		}
	}
	return v, err
}
