package plaintext

import (
	"strconv"
	"strings"
	"testing"
)

func BenchmarkQuote(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ascii", strings.Repeat("Pays an invoice and files it. ", 10)},
		{"unicode", strings.Repeat("Zahlt Rechnungen f\u00fcr B\u00fccher. \u4e2d\u6587 ", 10)},
		{"hostile", strings.Repeat("\x1b[2K\u202e\U000e0041", 50)},
	} {
		b.Run(c.name+"/plaintext", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Quote(c.text, 4096)
			}
		})
		b.Run(c.name+"/strconv", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				strconv.Quote(c.text)
			}
		})
	}
}

// What a loader pays to flag the body of a document.
func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("Pays an invoice and files it.\n", 1<<15)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Count(text)
	}
}

func BenchmarkHost(b *testing.B) {
	for _, host := range []string{"skills.example.com", "www.xn--bcher-kva.example"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Host(host)
			}
		})
	}
}
