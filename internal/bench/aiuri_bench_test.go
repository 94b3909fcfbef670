package bench

import (
	"net/url"
	"testing"

	"github.com/lookleap/lookleap/aiuri"
)

// BenchmarkAIURIParse reads a typical URI. The peer checks less; the limit is
// one look at each octet.
func BenchmarkAIURIParse(b *testing.B) {
	const in = "ai://factory.example/service/payments?amount=10&currency=USD"
	b.Run("lookleap", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := aiuri.Parse(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("peer=net_url", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := url.Parse(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("limit=scan", func(b *testing.B) {
		b.ReportAllocs()
		var table [256]bool
		n := 0
		for b.Loop() {
			for i := range len(in) {
				if table[in[i]] {
					n++
				}
			}
		}
	})
}
