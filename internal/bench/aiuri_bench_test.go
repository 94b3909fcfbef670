package bench

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/lookleap/lookleap/aiuri"
)

// BenchmarkAIURIParse reads a typical URI. The peer checks less; the limit is
// one look at each byte.
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

// BenchmarkAIURIVerify verifies detached ES256 signatures over bytes, and over the
// members of a JSON object, among which claims are looked for. The limit is the
// hash of the payload and the check of the signature alone.
func BenchmarkAIURIVerify(b *testing.B) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "1", Private: private}, aiuri.KeyRingOptions{})
	if err != nil {
		b.Fatal(err)
	}
	keys, err := aiuri.ParseKeySet(ring.JWKS())
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10} {
		payload := bytes.Repeat([]byte("x"), size)
		for _, c := range []struct {
			name    string
			payload []byte
		}{{"lookleap", payload}, {"lookleap/json", receipt(size, "")}, {"lookleap/json-claims", receipt(size, `"exp":4102444800,`)}} {
			signed, err := aiuri.SignResult(c.payload, ring.Current(), aiuri.SignOptions{Detached: true})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/size=%d", c.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := aiuri.VerifyResult(signed, keys, time.Now(), aiuri.Expectation{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("limit=hash+ecdsa/size=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			sum := sha256.Sum256(payload)
			r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				sum := sha256.Sum256(payload)
				if !ecdsa.Verify(&private.PublicKey, sum[:], r, s) {
					b.Fatal("refused")
				}
			}
		})
	}
}

// receipt is a JSON object of about size bytes, which begins with these members.
func receipt(size int, members string) []byte {
	text := []byte(`{` + members + `"paid":true,"items":[`)
	for n := 0; len(text) < size-2; n++ {
		text = fmt.Appendf(text, `{"number":%d,"name":"a thing","price":"10.00"},`, n)
	}
	return append(text[:len(text)-1], "]}"...)
}
