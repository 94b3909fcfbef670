package lab_test

import (
	"testing"

	"github.com/lookleap/lookleap/internal/lab"
)

// BenchmarkThreeSites is what a test pays for an internet of three sites and one exchange with
// each.
func BenchmarkThreeSites(b *testing.B) {
	for b.Loop() {
		net := lab.New()
		transport := net.ForeignTransport()
		for _, name := range []string{"a.example", "b.example", "c.example"} {
			site := net.Site(name).Body("/", "text/plain", "hi")
			if _, _, err := get(b.Context(), transport, site.URL("/")); err != nil {
				b.Fatal(err)
			}
		}
		net.Close()
	}
}
