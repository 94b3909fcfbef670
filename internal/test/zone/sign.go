package zone

import (
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Signing says how a zone is signed. The zero value is sound: one ECDSA P-256 key, NSEC,
// signatures valid from an hour before to two weeks after the time of signing, and a SHA-256 DS
// in the parent if that is signed too.
type Signing struct {
	Algorithms []uint8 // one key each; one that we cannot sign with makes keys and signatures that no validator can check
	SplitKeys  bool    // a key-signing and a zone-signing key instead of one for both
	Flags      uint16  // more DNSKEY flags for the key that the DS names, such as dns.REVOKE
	Digests    []uint8 // DS digest types; unknown ones get made-up digests
	NSEC3      *NSEC3  // nil: NSEC
	From, Till time.Duration
	DS         func([]*dns.DS) []*dns.DS // changes what the parent publishes; see [NoDS] and [WrongDS]
}

// NSEC3 holds the parameters of hashed denial (RFC 5155).
type NSEC3 struct {
	Iterations uint16
	Salt       string // in hex
	OptOut     bool   // unsigned delegations are left out of the chain
}

// NoDS makes a signed zone an island: its parent publishes no DS.
func NoDS([]*dns.DS) []*dns.DS { return nil }

// WrongDS makes the parent publish digests of some other key.
func WrongDS(set []*dns.DS) []*dns.DS {
	for _, ds := range set {
		ds.Digest = strings.Repeat("5A", len(ds.Digest)/2)
	}
	return set
}

// Sign makes the zone a signed one. Its keys are made here, so a zone that moves to another
// server keeps them.
func (z *Zone) Sign(how Signing) *Zone {
	if len(how.Algorithms) == 0 {
		how.Algorithms = []uint8{dns.ECDSAP256SHA256}
	}
	if len(how.Digests) == 0 {
		how.Digests = []uint8{dns.SHA256}
	}
	if how.From == 0 && how.Till == 0 {
		how.From, how.Till = -time.Hour, 14*24*time.Hour
	}
	z.signing, z.keys = &how, nil
	for _, algorithm := range how.Algorithms {
		z.keys = append(z.keys, newKey(z.origin, algorithm, dns.ZONE|dns.SEP|how.Flags))
		if how.SplitKeys {
			z.keys = append(z.keys, newKey(z.origin, algorithm, dns.ZONE))
		}
	}
	return z
}

// Signed reports whether the zone is signed.
func (z *Zone) Signed() bool { return z.signing != nil }

// Anchor is the zone's trust anchor, DS lines as in a zone file.
func (z *Zone) Anchor() string {
	var lines []string
	for _, ds := range z.digests() {
		lines = append(lines, ds.String())
	}
	return strings.Join(lines, "\n") + "\n"
}

// SignSet signs any record set with the zone's keys, its own or not.
func (z *Zone) SignSet(now time.Time, rrs ...dns.RR) []dns.RR {
	return z.SignSetAs(now, z.origin, rrs...)
}

// SignSetAs signs a record set with the zone's keys in the name of another zone, as forgers do: with
// the key-signing ones a DNSKEY set, and with the zone-signing ones the rest.
func (z *Zone) SignSetAs(now time.Time, signer string, rrs ...dns.RR) []dns.RR {
	var sigs []dns.RR
	isKey := rrs[0].Header().Rrtype == dns.TypeDNSKEY
	for _, k := range z.keys {
		if !z.signing.SplitKeys || isKey == (k.record.Flags&dns.SEP != 0) {
			sigs = append(sigs, k.sign(signer, rrs, now.Add(z.signing.From), now.Add(z.signing.Till)))
		}
	}
	return sigs
}

func (z *Zone) digests() []*dns.DS {
	var set []*dns.DS
	for _, k := range z.keys {
		if k.record.Flags&dns.SEP == 0 {
			continue
		}
		for _, digest := range z.signing.Digests {
			ds := k.record.ToDS(digest)
			if ds == nil {
				ds = k.record.ToDS(dns.SHA256)
				ds.DigestType = digest
			}
			set = append(set, ds)
		}
	}
	return set
}

// sign signs all that the zone is authoritative for, and builds its denial chain.
func (d *data) sign(now time.Time) {
	if d.zone.signing == nil {
		return
	}
	for _, k := range d.zone.keys {
		d.insert(k.record)
	}
	d.buildChain()
	sign := func(set *rrset) { set.sigs = append(d.zone.trap(now, set), d.zone.SignSet(now, set.rrs...)...) }
	for _, n := range d.nodes {
		if d.isOccluded(n.name) {
			continue
		}
		for rrtype, set := range n.sets {
			if !d.isCut(n) || rrtype == dns.TypeDS {
				sign(set)
			}
		}
	}
	for _, l := range d.chain {
		sign(l.set)
		if d.zone.signing.NSEC3 == nil {
			l.node.sets[dns.TypeNSEC] = l.set
		}
	}
}

// key is a DNSKEY with its private half.
type key struct {
	record *dns.DNSKEY
	signer crypto.Signer
	real   uint8 // the algorithm that really signs
}

var keySizes = map[uint8]int{
	dns.RSASHA1: 1024, dns.RSASHA1NSEC3SHA1: 1024, dns.RSASHA256: 1024, dns.RSASHA512: 1024,
	dns.ECDSAP256SHA256: 256, dns.ECDSAP384SHA384: 384, dns.ED25519: 256,
}

// newKey tries again when the key tag is 0, as it is for one key in 65,536, because miekg/dns refuses
// to sign with such a key.
func newKey(origin string, algorithm uint8, flags uint16) *key {
	k := &key{real: algorithm}
	if keySizes[algorithm] == 0 {
		k.real = dns.ECDSAP256SHA256
	}
	for k.record == nil || k.record.KeyTag() == 0 {
		k.record = &dns.DNSKEY{
			Hdr:   dns.RR_Header{Name: origin, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
			Flags: flags, Protocol: 3, Algorithm: k.real,
		}
		private, err := k.record.Generate(keySizes[k.real])
		if err != nil {
			panic(fmt.Sprintf("zone %s: %v", origin, err))
		}
		k.record.Algorithm, k.signer = algorithm, private.(crypto.Signer)
	}
	return k
}

func (k *key) sign(signer string, rrs []dns.RR, from, till time.Time) *dns.RRSIG {
	sig := &dns.RRSIG{
		Hdr:       dns.RR_Header{Ttl: rrs[0].Header().Ttl},
		Algorithm: k.real, KeyTag: k.record.KeyTag(), SignerName: dns.CanonicalName(signer),
		Inception: uint32(from.Unix()), Expiration: uint32(till.Unix()),
	}
	if err := sig.Sign(k.signer, slices.Clone(rrs)); err != nil {
		panic(fmt.Sprintf("signing %s: %v", rrs[0].Header().Name, err))
	}
	sig.Algorithm = k.record.Algorithm
	return sig
}

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

// collidingKey makes a key with a random RSA modulus of which two bytes are chosen so that the tag
// comes out equal.
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
