package aiuri

import (
	"context"
	"crypto/tls"
	"errors"
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

// renewed fetches a set anew. If that fails, what is held stays, and there is no
// further try for as long as after one that succeeds.
func (s *keySource) renewed(ctx context.Context, url string) (fetchedKeys, error) {
	return s.renewals.Get(ctx, url, func(ctx context.Context) (flight.Loaded[fetchedKeys], error) {
		set, err := s.fetch(ctx, url)
		now := s.host.Time()
		switch {
		case fetch.Cancelled(err):
			return flight.Loaded[fetchedKeys]{}, err
		case err != nil:
			return flight.Loaded[fetchedKeys]{Err: err, Until: now.Add(refetchAfter)}, nil
		}
		fresh := fetchedKeys{set, now}
		s.memo.Put(url, flight.Loaded[fetchedKeys]{Value: fresh, Until: now.Add(s.life)})
		return flight.Loaded[fetchedKeys]{Value: fresh, Until: now.Add(refetchAfter)}, nil
	})
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
		return nil, &Error{Code: lookleap.CodeOf(err), Subject: u.Origin() + u.Path(), Reason: "the keys could not be had", Err: err}
	case resp.Status != http.StatusOK:
		return nil, &Error{Code: lookleap.CodeBadStatus, Subject: u.Origin() + u.Path(), Reason: "the keys could not be had"}
	}
	return ParseKeySet(resp.Body)
}

// verify verifies a result by the keys of a discovery, with one fetch more where
// its kid is unknown.
func (s *keySource) verify(ctx context.Context, d *Discovery, r SignedResult, x Expectation) (*Verified, error) {
	if !d.Verifiable() {
		return nil, &Error{Code: CodeNoTrustAnchor, Subject: d.Endpoint.Redacted(), Reason: "no document says by which keys results can be verified"}
	}
	keys, err := s.get(ctx, d.Document.JWKS)
	if err != nil {
		return nil, err
	}
	v, err := VerifyResult(r, keys.set, x, s.host.Time())
	if lookleap.CodeOf(err) != CodeRejectedKey || s.host.Time().Sub(keys.at) < refetchAfter {
		return v, err
	}
	keys, failed := s.renewed(ctx, d.Document.JWKS)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		return nil, withoutRenewal(err, failed)
	}
	return VerifyResult(r, keys.set, x, s.host.Time())
}

// withoutRenewal tells of a rejected result that its key may be a new one, which a
// key server that failed kept from us: that is no forgery yet.
func withoutRenewal(rejected, failed error) error {
	var no *lookleap.VerifyError
	if errors.As(rejected, &no) {
		no.Verdict.Checks = append(no.Verdict.Checks, lookleap.Check{Requirement: "AIU-3.4-12", Code: lookleap.CodeOf(failed), Status: lookleap.Noted,
			Message: "the keys were asked for once more and could not be had, so nobody knows whether there is a new one"})
	}
	return rejected
}
