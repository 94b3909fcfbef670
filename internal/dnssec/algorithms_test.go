package dnssec

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"testing"

	"github.com/miekg/dns"
)

// signText signs as RFC 5702, 6605 and 8080 say.
func signText(t *testing.T, algorithm uint8, key crypto.PrivateKey, text []byte) []byte {
	t.Helper()
	var signature []byte
	var err error
	switch algorithm {
	case dns.RSASHA256:
		sum := sha256.Sum256(text)
		signature, err = rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, sum[:])
	case dns.RSASHA512:
		sum := sha512.Sum512(text)
		signature, err = rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA512, sum[:])
	case dns.ECDSAP256SHA256, dns.ECDSAP384SHA384:
		sum256, sum384 := sha256.Sum256(text), sha512.Sum384(text)
		size, sum := 32, sum256[:]
		if algorithm == dns.ECDSAP384SHA384 {
			size, sum = 48, sum384[:]
		}
		r, s, bad := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), sum)
		if err = bad; err == nil {
			signature = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
		}
	case dns.ED25519:
		signature = ed25519.Sign(key.(ed25519.PrivateKey), text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// newZoneKey generates a key and reads its public half from the record.
func newZoneKey(t *testing.T, algorithm uint8, bits int) (*zoneKey, crypto.PrivateKey) {
	t.Helper()
	record := &dns.DNSKEY{Hdr: dns.RR_Header{Name: "z.", Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET}, Flags: 256, Protocol: 3, Algorithm: algorithm}
	private, err := record.Generate(bits)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := parseKeys([]dns.RR{record}, newBudget(Limits{}.withDefaults()))
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	return &keys[0], private
}

// TestAlgorithms verifies one signature of each algorithm, and refuses each change of it.
func TestAlgorithms(t *testing.T) {
	for algorithm, bits := range map[uint8]int{dns.RSASHA256: 2048, dns.RSASHA512: 2048, dns.ECDSAP256SHA256: 256, dns.ECDSAP384SHA384: 384, dns.ED25519: 256} {
		key, private := newZoneKey(t, algorithm, bits)
		_, otherPrivate := newZoneKey(t, algorithm, bits)
		text := []byte("www.z. A 192.0.2.1")
		signature := signText(t, algorithm, private, text)
		flipped := func(at int) []byte {
			changed := bytes.Clone(signature)
			changed[at] ^= 1
			return changed
		}
		t.Run(fmt.Sprintf("RFC4035-5.3.3/accept-algorithm-%d", algorithm), func(t *testing.T) {
			if err := key.verify(text, signature); err != nil {
				t.Error(err)
			}
		})
		for name, c := range map[string]struct{ text, signature []byte }{
			"first-bit":     {text, flipped(0)},
			"last-bit":      {text, flipped(len(signature) - 1)},
			"truncated":     {text, signature[:len(signature)-1]},
			"longer":        {text, append(bytes.Clone(signature), 0)},
			"padded":        {text, append([]byte{0}, signature...)},
			"zeros":         {text, make([]byte, len(signature))},
			"empty":         {text, nil},
			"other-key":     {text, signText(t, algorithm, otherPrivate, text)},
			"other-message": {[]byte("www.z. A 192.0.2.2"), signature},
		} {
			t.Run(fmt.Sprintf("RFC4035-5.3.3/reject-%s-algorithm-%d", name, algorithm), func(t *testing.T) {
				if err := key.verify(c.text, c.signature); err == nil {
					t.Error("the signature verifies")
				}
			})
		}
	}
}
