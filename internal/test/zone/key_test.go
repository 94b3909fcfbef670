package zone

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestKeyTagIsNeverZero(t *testing.T) {
	generated := 0
	k := (&key{real: dns.ED25519}).generate("example.com.", dns.ED25519, dns.ZONE,
		func(record *dns.DNSKEY, bits int) (crypto.PrivateKey, error) {
			if generated++; generated > 1 {
				return record.Generate(bits)
			}
			// The data before the key adds up to 0x040f, so the sum is 0x1ffff, whose checksum is 0.
			raw := make([]byte, ed25519.PublicKeySize)
			copy(raw, []byte{0xfb, 0xf0, 0xff, 0xff, 0x00, 0x01})
			record.PublicKey = base64.StdEncoding.EncodeToString(raw)
			if tag := record.KeyTag(); tag != 0 {
				t.Fatalf("the first key has the tag %d", tag)
			}
			return make(ed25519.PrivateKey, ed25519.PrivateKeySize), nil
		})
	if generated < 2 || k.record.KeyTag() == 0 {
		t.Fatalf("%d keys generated, tag %d", generated, k.record.KeyTag())
	}
	k.sign("example.com.", []dns.RR{k.record}, time.Unix(1e9, 0), time.Unix(2e9, 0))
}
