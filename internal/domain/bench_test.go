package domain

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"
)

const (
	benchURL  = "https://skills.example.co.uk/teams/billing/refund/SKILL.md"
	benchRoot = "https://skills.example.co.uk/teams/"
)

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, raw string }{
		{"canonical", benchURL},
		{"to-normalise", "HTTPS://Skills.Example.co.uk:443/%7Eteams/caf%c3%a9/SKILL.md"},
		{"international", "https://skills.b\u00fccher.example/teams/SKILL.md"},
		{"longest", "https://skills.example.co.uk/" + strings.Repeat("abcdefg/", (DefaultMaxLength-30)/8)},
	} {
		b.Run(c.name+"/domain", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(c.raw); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/net-url", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := url.Parse(c.raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The decision that a loader takes for every URL: parse it, ask whether it lies under a root
// that was parsed before.
func BenchmarkUnder(b *testing.B) {
	root, u := mustParse(b, benchRoot), mustParse(b, benchURL)
	b.Run("parsed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !u.Under(root) {
				b.Fatal("outside")
			}
		}
	})
	b.Run("parse-and-decide", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if u, err := Parse(benchURL); err != nil || !u.Under(root) {
				b.Fatal("outside")
			}
		}
	})
	b.Run("net-url-parse-both", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			u, err := url.Parse(benchURL)
			r, err2 := url.Parse(benchRoot)
			if err != nil || err2 != nil || u.Host != r.Host || !strings.HasPrefix(u.Path, r.Path) {
				b.Fatal("outside")
			}
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	base := mustParse(b, benchURL)
	b.Run("domain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := base.Resolve("../shared/x.json"); err != nil {
				b.Fatal(err)
			}
		}
	})
	std := base.NetURL()
	b.Run("net-url", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := std.Parse("../shared/x.json"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRegistrable(b *testing.B) {
	const host = "skills.example.co.uk"
	b.Run("domain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := Registrable(host); !ok {
				b.Fatal("none")
			}
		}
	})
	b.Run("x-net", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := publicsuffix.EffectiveTLDPlusOne(host); err != nil {
				b.Fatal(err)
			}
		}
	})
}
