package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

// BenchmarkDecideBoth is a decision from the cache by agents.txt alone and by both files.
// The robots.txt has 300 plain rules and 120 with wildcards.
func BenchmarkDecideBoth(b *testing.B) {
	net := lookleaptest.NewInternet()
	defer net.Close()
	policy, err := agentstxt.Sign([]byte("/admin DISALLOW\n"))
	if err != nil {
		b.Fatal(err)
	}
	var robots strings.Builder
	robots.WriteString("User-agent: *\n")
	for i := range 300 {
		fmt.Fprintf(&robots, "Disallow: /private%d/\n", i)
	}
	for i := range 60 {
		fmt.Fprintf(&robots, "Disallow: /*?filter%d=\nDisallow: /shop%d/*/edit$\n", i, i)
	}
	net.Site("shop.example").File("/agents.txt", "text/plain", string(policy)).File("/robots.txt", "text/plain", robots.String())
	for name, o := range map[string]agentstxt.Options{"agents.txt": {}, "agents.txt+robots.txt": agentstxt.Web("ExampleBot")} {
		client := agentstxt.NewClient(&lookleap.Host{Fetcher: net.StubHost()}, o) // on the system clock
		for _, path := range []string{"/products/lamp-12", "/products/lamp-12?color=red&page=3"} {
			b.Run(name+path, func(b *testing.B) {
				page := "https://shop.example" + path
				b.ReportAllocs()
				for b.Loop() {
					if d, err := client.Decide(b.Context(), page); err != nil || !d.Allowed {
						b.Fatal(d, err)
					}
				}
			})
		}
	}
}
