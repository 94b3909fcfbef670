package anmltrust_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
)

// grantedVerdict is the record of a grant that held at the start of the tests, as a verdict has it and
// as processes share it.
const grantedVerdict = `{"claim":{"url":"https://cdn.shop.example/anml","site":"brand.example","form":0},"evidence":{"dns":{"name":"_anml.brand.example","outcome":"answer","texts":["` + queryOnly + `"],"ttl":3600000000000,"at":"2026-06-01T12:00:00Z"},"exchanges":[{"mechanism":"query","url":"` + queryURI + `","at":"2026-06-01T12:00:00Z","status":200,"mediaType":"application/json","body":"eyJhdXRob3JpemVkIjp0cnVlLCJ0aWVyIjoyLCJzY29wZSI6WyJwZXJzb25hIiwiYm9keSJdLCJleHBpcmVzIjoiMjAyNi0wNi0yMFQwMDowMDowMFoifQ=="}]}}`

// storedVerdicts are records of several kinds.
var storedVerdicts = [...]string{
	grantedVerdict,
	`{"claim":{"url":"https://brand.example/","site":"brand.example","form":0},"evidence":{}}`,
	`{"claim":{},"evidence":{"exchanges":[{"mechanism":"manifest","status":304,"validated":true}]}}`,
	`{}`,
}

// advertising answers each question for a record with one text.
type advertising string

func (r advertising) Lookup(_ context.Context, name string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return &lookleap.DNSAnswer{Exists: true, TTL: time.Hour, Name: name, Records: []lookleap.Record{{Text: string(r)}}}, nil
}

// unreachable is a network without servers.
type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network")
}

// verifyShared verifies a claim where another process left a record in the shared cache. The
// site's endpoint does not answer.
func verifyShared(t *testing.T, record []byte) (*anmltrust.Authorization, error) {
	cache := &mapCache{}
	for _, host := range []string{"", "cdn.shop.example"} {
		key := "anmltrust/2/verdict/shop.example/brand.example/" + host
		stored := append([]byte(`{"key":"`+key+`","asked":"2026-06-01T12:00:00Z","found":"2026-06-01T12:00:00Z"}`+"\n"), record...)
		_ = cache.Put(t.Context(), key, stored, start.Add(time.Hour))
	}
	host := &lookleap.Host{Resolver: advertising(queryOnly), Cache: cache, Now: func() time.Time { return start },
		Fetcher: unreachable{}}
	v := anmltrust.NewVerifier(host, anmltrust.Rules{})
	return v.Verify(t.Context(), shopClaim)
}

// FuzzSharedVerdict reads what another process is said to have asked and found. Each grant is from
// the cache: it is about the question that is asked now, and it is what its own evidence proves.
func FuzzSharedVerdict(f *testing.F) {
	for _, record := range storedVerdicts {
		f.Add([]byte(record))
	}
	f.Add([]byte(strings.Replace(grantedVerdict, "cdn.shop", "cdn.evil", 1)))
	f.Add([]byte(strings.Replace(grantedVerdict, `"site":"brand`, `"site":"other`, 1)))
	f.Fuzz(func(t *testing.T, record []byte) {
		a, err := verifyShared(t, record)
		if (a == nil) == (err == nil) {
			t.Fatalf("%v, %v", a, err)
		}
		if a == nil {
			return
		}
		if !a.Cached || !a.Holds(start) || a.Site != shopClaim.Site || a.Server.Domain != "shop.example" || a.Scope&^anmltrust.Ceiling(a.Tier) != 0 {
			t.Errorf("%+v", a)
		}
		proved, err := anmltrust.Replay(&lookleap.Verdict{Document: anmltrust.Draft, Record: record}, start)
		if err != nil || proved.Site != a.Site || proved.Server.Domain != a.Server.Domain || a.Tier > proved.Tier || a.Scope&^proved.Scope != 0 {
			t.Errorf("%+v is granted, the evidence proves %+v: %v", a, proved, err)
		}
	})
}

// FuzzReplay judges stored verdicts that anyone may have written: none panics, and a grant is one that
// still holds.
func FuzzReplay(f *testing.F) {
	for _, record := range storedVerdicts {
		f.Add([]byte(record))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		a, err := anmltrust.Replay(&lookleap.Verdict{Document: anmltrust.Draft, Record: record}, start)
		if (a == nil) == (err == nil) {
			t.Fatalf("%v, %v", a, err)
		}
		if a == nil {
			return
		}
		if !a.Holds(start) || a.Scope&^anmltrust.Ceiling(a.Tier) != 0 {
			t.Errorf("%+v", a)
		}
		again, err := anmltrust.Replay(a.Verdict, start)
		if err != nil || again.Tier != a.Tier || again.Scope != a.Scope || !again.Expires.Equal(a.Expires) {
			t.Errorf("%+v, then %+v, %v", a, again, err)
		}
	})
}
