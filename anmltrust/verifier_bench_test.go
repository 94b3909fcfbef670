package anmltrust_test

import (
	"testing"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// BenchmarkCachedDecision is a decision from memory, from end to end. The record
// and manifest live by the real clock.
func BenchmarkCachedDecision(b *testing.B) {
	net := lab.ForTest(b)
	net.Name("_anml.brand.example").TXT(queryOnly)
	net.Name("_anml.brand.example").TTL(24 * 3600 * 1e9)
	net.Site("trust.example").Body(queryPath, "application/json", answer(2, "2099-01-01T00:00:00Z", "body"))
	host := net.Host()
	host.Now = nil // the clock that everybody has
	v := anmltrust.NewVerifier(host, anmltrust.Rules{})
	if _, err := v.Verify(b.Context(), shopClaim); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := b.Context()
		for pb.Next() {
			if a, err := v.Verify(ctx, shopClaim); err != nil || !a.Cached {
				b.Error(a, err)
				return
			}
		}
	})
}
