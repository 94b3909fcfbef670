package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dmarc"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
)

// BenchmarkTrustRecord reads a tag list. The peer reads a list of the same kind
// and length.
func BenchmarkTrustRecord(b *testing.B) {
	b.Run("lookleap", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := anmltrust.ParseRecord("v=anml1; manifest=https://example.com/.well-known/anml-trust; query=https://trust.example.com/anml/authorize"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("peer=go-msgauth-dmarc", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := dmarc.Parse("v=DMARC1; p=reject; sp=none; adkim=s; aspf=s; rua=mailto:dmarc-reports@example.com; ruf=mailto:failures@example.com"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// trustManifest lists n servers, a tenth of them by wildcards.
func trustManifest(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"version":"1.0","site":"brand.example","issued":"2026-01-01T00:00:00Z","expires":"2026-03-01T00:00:00Z","authorized-domains":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		star := ""
		if i%10 == 0 {
			star = "*."
		}
		fmt.Fprintf(&b, `{"domain":"%spartner-%06d.example.net","tier":%d,"scope":["body","aesthetic","knowledge"]}`, star, i, 1+i%2)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// BenchmarkTrustManifest parses and indexes manifests. The peer is what one
// would write first: encoding/json and a map, which checks neither duplicates
// nor names.
func BenchmarkTrustManifest(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		data := trustManifest(n)
		b.Run(fmt.Sprintf("lookleap/entries=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := anmltrust.ParseManifest(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("peer=encoding-json-map/entries=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				type entry struct {
					Domain string   `json:"domain"`
					Tier   int      `json:"tier"`
					Scope  []string `json:"scope"`
				}
				var m struct {
					Entries []entry `json:"authorized-domains"`
				}
				if err := json.Unmarshal(data, &m); err != nil {
					b.Fatal(err)
				}
				index := make(map[string]entry, len(m.Entries))
				for _, e := range m.Entries {
					index[e.Domain] = e
				}
				if len(index) != n {
					b.Fatal(len(index))
				}
			}
		})
	}
}

// BenchmarkTrustLookup asks an index about servers, known ones and others.
func BenchmarkTrustLookup(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		m, err := anmltrust.ParseManifest(trustManifest(n))
		if err != nil {
			b.Fatal(err)
		}
		for kind, form := range map[string]string{"exact": "partner-%06d.example.net", "wildcard": "a.partner-%06d.example.net", "miss": "nobody-%06d.example.net"} {
			servers := make([]anmltrust.Server, 1024)
			for i := range servers {
				at := (i * 7919) % n
				if kind == "wildcard" {
					at -= at % 10
				}
				servers[i] = anmltrust.Server{Host: fmt.Sprintf(form, at), Domain: "example.net"}
			}
			b.Run(fmt.Sprintf("%s/entries=%d", kind, n), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					m.Lookup(servers[i%len(servers)])
					i++
				}
			})
		}
	}
}

// deadEnd knows no record, so that a site does not narrow its own hosts.
type deadEnd struct{}

func (deadEnd) Lookup(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return &lookleap.DNSAnswer{TTL: time.Hour}, nil
}

// BenchmarkTrustCached decides from memory; the limit is one look into an LRU of
// strings.
func BenchmarkTrustCached(b *testing.B) {
	b.Run("lookleap", func(b *testing.B) {
		host := &lookleap.Host{Resolver: deadEnd{}}
		defer host.Close()
		v := anmltrust.NewVerifier(host, anmltrust.Rules{})
		claim := anmltrust.Claim{URL: "https://edge.brand.example/x", Site: "brand.example"}
		if _, err := v.Verify(b.Context(), claim); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := v.Verify(context.Background(), claim); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("peer=golang-lru", func(b *testing.B) {
		cache, err := lru.New[string, int](4096)
		if err != nil {
			b.Fatal(err)
		}
		cache.Add("edge.brand.example brand.example", 1)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, ok := cache.Get("edge.brand.example brand.example"); !ok {
					b.Error("lost")
				}
			}
		})
	})
}
