package anmltrust

import (
	"fmt"
	"testing"
)

func BenchmarkParseRecord(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRecord("v=anml1; manifest=https://example.com/.well-known/anml-trust; query=https://trust.example.com/anml/authorize"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseManifest(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		data := bigManifest(n)
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := ParseManifest(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		m, err := ParseManifest(bigManifest(n))
		if err != nil {
			b.Fatal(err)
		}
		var servers []Server
		for i := range 1024 {
			host := fmt.Sprintf("partner-%06d.example.net", (i*7919)%(2*n))
			if i%10 == 0 {
				host = "edge." + host
			}
			servers = append(servers, Server{host, "example.net"})
		}
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				m.Lookup(servers[i&1023])
				i++
			}
		})
	}
}
