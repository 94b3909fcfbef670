package zone

import (
	"crypto"
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
		if how.SplitKeys {
			z.keys = append(z.keys, newKey(z.origin, algorithm, dns.ZONE|dns.SEP|how.Flags), newKey(z.origin, algorithm, dns.ZONE))
		} else {
			z.keys = append(z.keys, newKey(z.origin, algorithm, dns.ZONE|dns.SEP|how.Flags))
		}
	}
	return z
}

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

// SignSetAs signs a record set with the zone's keys in the name of another zone, as forgers do.
func (z *Zone) SignSetAs(now time.Time, signer string, rrs ...dns.RR) []dns.RR {
	var sigs []dns.RR
	for _, k := range z.signersOf(rrs[0].Header().Rrtype) {
		sigs = append(sigs, k.sign(signer, rrs, now.Add(z.signing.From), now.Add(z.signing.Till)))
	}
	return sigs
}

// signersOf picks the keys that sign a type: the key-signing ones for DNSKEY, the zone-signing
// ones for the rest.
func (z *Zone) signersOf(rrtype uint16) []*key {
	if !z.signing.SplitKeys {
		return z.keys
	}
	var keys []*key
	for _, k := range z.keys {
		if (k.record.Flags&dns.SEP != 0) == (rrtype == dns.TypeDNSKEY) {
			keys = append(keys, k)
		}
	}
	return keys
}

// delegation is the DS set for the parent.
func (z *Zone) delegation() []*dns.DS {
	if z.signing == nil {
		return nil
	}
	set := z.digests()
	if z.signing.DS != nil {
		set = z.signing.DS(set)
	}
	return set
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
	if d.zone.signing.NSEC3 != nil {
		d.buildNSEC3()
	} else {
		d.buildNSEC()
	}
	for _, n := range d.nodes {
		if d.isOccluded(n.name) {
			continue
		}
		for rrtype, set := range n.sets {
			if !d.isCut(n) || rrtype == dns.TypeDS || rrtype == dns.TypeNSEC {
				set.sigs = append(d.zone.trap(now, set), d.zone.SignSet(now, set.rrs...)...)
			}
		}
	}
	for _, e := range d.nsec3 {
		e.set.sigs = append(d.zone.trap(now, e.set), d.zone.SignSet(now, e.set.rrs...)...)
	}
}

// isOccluded says whether a name lies below a zone cut or a DNAME, where the zone's records do
// not count.
func (d *data) isOccluded(name string) bool {
	for name != d.zone.origin {
		name = parentName(name)
		n := d.nodes[name]
		if n != nil && (d.isCut(n) || n.sets[dns.TypeDNAME] != nil) {
			return true
		}
	}
	return false
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

func newKey(origin string, algorithm uint8, flags uint16) *key {
	k := &key{real: algorithm}
	if keySizes[algorithm] == 0 {
		k.real = dns.ECDSAP256SHA256
	}
	return k.generate(origin, algorithm, flags, (*dns.DNSKEY).Generate)
}

// generate fills in the key. It tries again when the key tag is 0, as it is for one key in
// 65,536, because miekg/dns refuses to sign with such a key.
func (k *key) generate(
	origin string, algorithm uint8, flags uint16, generate func(*dns.DNSKEY, int) (crypto.PrivateKey, error),
) *key {
	for {
		k.record = &dns.DNSKEY{
			Hdr:   dns.RR_Header{Name: origin, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
			Flags: flags, Protocol: 3, Algorithm: k.real,
		}
		private, err := generate(k.record, keySizes[k.real])
		if err != nil {
			panic(fmt.Sprintf("zone %s: %v", origin, err))
		}
		k.record.Algorithm = algorithm
		k.signer = private.(crypto.Signer)
		if k.record.KeyTag() != 0 {
			return k
		}
	}
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
