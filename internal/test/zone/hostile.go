package zone

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/miekg/dns"
)

// KeyTrap fills a signed zone with keys that share the tag and the algorithm of its first key,
// and puts sigs worthless signatures with that tag before every good one, so that a careless
// validator tries keys × sigs pairs (CVE-2023-50387). Call it after [Zone.Sign] with an RSA
// algorithm, whose checks cost most.
func (z *Zone) KeyTrap(keys, sigs int) *Zone {
	first := z.keys[0].record
	for range keys {
		z.add(collidingKey(first))
	}
	z.trapSigs = sigs
	return z
}

// collidingKey makes a key with a random RSA modulus whose last bytes are chosen so that the
// tag comes out equal.
func collidingKey(like *dns.DNSKEY) *dns.DNSKEY {
	const modulus = 256
	for {
		raw := make([]byte, 4+modulus) // exponent length, exponent 65537, modulus
		rand.Read(raw)
		copy(raw, []byte{3, 1, 0, 1})
		raw[4] |= 0x80
		raw[len(raw)-1] |= 1
		k := *like
		k.PublicKey = base64.StdEncoding.EncodeToString(raw)
		middle := raw[130:132]
		binary.BigEndian.PutUint16(middle, binary.BigEndian.Uint16(middle)+like.KeyTag()-k.KeyTag())
		k.PublicKey = base64.StdEncoding.EncodeToString(raw)
		if k.KeyTag() == like.KeyTag() {
			return &k
		}
	}
}

// trap makes the worthless signatures over a set.
func (z *Zone) trap(now time.Time, set *rrset) []dns.RR {
	var sigs []dns.RR
	for range z.trapSigs {
		sig := z.keys[0].sign(z.origin, set.rrs, now.Add(z.signing.From), now.Add(z.signing.Till))
		raw := make([]byte, 128)
		rand.Read(raw)
		raw[0] = 0
		sig.Signature = base64.StdEncoding.EncodeToString(raw)
		sigs = append(sigs, sig)
	}
	return sigs
}
