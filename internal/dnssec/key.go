package dnssec

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// zoneKey is a DNSKEY that may sign a zone's data: it has the Zone Key flag and protocol 3 (RFC
// 4034 section 2.1), and is not revoked (RFC 5011 section 2.1).
type zoneKey struct {
	algorithm uint8
	tag       uint16
	rdata     []byte
	public    crypto.PublicKey // nil: an algorithm, size or exponent that we do not use
}

// supportedAlgorithm lists what we validate (RFC 8624 section 3.1): zones that use only others are
// insecure.
func supportedAlgorithm(algorithm uint8) bool {
	switch algorithm {
	case dns.RSASHA256, dns.RSASHA512, dns.ECDSAP256SHA256, dns.ECDSAP384SHA384, dns.ED25519:
		return true
	}
	return false
}

// supportedDigest lists the DS digests that count (RFC 8624 section 3.3).
func supportedDigest(digest uint8) bool { return digest == dns.SHA256 || digest == dns.SHA384 }

// parseKeys keeps the records of a DNSKEY set that may sign.
func parseKeys(rrs []dns.RR, b *budget) ([]zoneKey, error) {
	if len(rrs) > b.limits.Keys {
		return nil, &BudgetError{What: "keys in a zone", Limit: b.limits.Keys}
	}
	var keys []zoneKey
	for _, rr := range rrs {
		k, ok := rr.(*dns.DNSKEY)
		if !ok || k.Flags&dns.ZONE == 0 || k.Flags&dns.REVOKE != 0 || k.Protocol != 3 {
			continue
		}
		rdata, err := keyData(k)
		if err != nil {
			continue
		}
		keys = append(keys, zoneKey{
			algorithm: k.Algorithm, tag: keyTag(rdata), rdata: rdata, public: publicKey(k.Algorithm, rdata[4:]),
		})
	}
	return keys, nil
}

func keyData(k *dns.DNSKEY) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(k.PublicKey)
	if err != nil {
		return nil, err
	}
	rdata := binary.BigEndian.AppendUint16(make([]byte, 0, 4+len(raw)), k.Flags)
	return append(append(rdata, k.Protocol, k.Algorithm), raw...), nil
}

// keyTag is the checksum of RFC 4034 appendix B. Different keys may share one.
func keyTag(rdata []byte) uint16 {
	var sum uint32
	for i, c := range rdata {
		if i%2 == 0 {
			sum += uint32(c) << 8
		} else {
			sum += uint32(c)
		}
	}
	return uint16(sum + sum>>16)
}

// publicKey reads the key material, nil when it is not what the algorithm prescribes or too weak or
// costly to use.
func publicKey(algorithm uint8, raw []byte) crypto.PublicKey {
	switch algorithm {
	case dns.RSASHA256, dns.RSASHA512:
		return rsaKey(raw)
	case dns.ECDSAP256SHA256:
		return ecdsaKey(elliptic.P256(), raw)
	case dns.ECDSAP384SHA384:
		return ecdsaKey(elliptic.P384(), raw)
	case dns.ED25519:
		if len(raw) == ed25519.PublicKeySize {
			return ed25519.PublicKey(raw)
		}
	}
	return nil
}

// rsaKey reads RFC 3110 section 2. Moduli from 1024 to 4096 bits and odd exponents from 3 to 2³¹-1
// are used: less is broken, more serves only those who want us to compute.
func rsaKey(raw []byte) crypto.PublicKey {
	if len(raw) < 3 {
		return nil
	}
	size, rest := int(raw[0]), raw[1:]
	if size == 0 {
		size, rest = int(binary.BigEndian.Uint16(raw[1:])), raw[3:]
	}
	if size > 4 || len(rest) <= size {
		return nil
	}
	var exponent uint64
	for _, c := range rest[:size] {
		exponent = exponent<<8 | uint64(c)
	}
	modulus := new(big.Int).SetBytes(rest[size:])
	bits := modulus.BitLen()
	if exponent < 3 || exponent > 1<<31-1 || exponent%2 == 0 || bits < 1024 || bits > 4096 || modulus.Bit(0) == 0 {
		return nil
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent)}
}

func ecdsaKey(curve elliptic.Curve, raw []byte) crypto.PublicKey {
	key, err := ecdsa.ParseUncompressedPublicKey(curve, append([]byte{4}, raw...))
	if err != nil {
		return nil
	}
	return key
}

var errSignature = errors.New("the signature does not verify")

// verify checks a signature over a message with the key.
func (k *zoneKey) verify(message, signature []byte) error {
	ok := false
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		hash, digest := crypto.SHA256, sum256(message)
		if k.algorithm == dns.RSASHA512 {
			hash, digest = crypto.SHA512, sum512(message)
		}
		ok = rsa.VerifyPKCS1v15(public, hash, digest, signature) == nil
	case *ecdsa.PublicKey:
		size, digest := 32, sum256(message)
		if k.algorithm == dns.ECDSAP384SHA384 {
			sum := sha512.Sum384(message)
			size, digest = 48, sum[:]
		}
		if len(signature) == 2*size { // RFC 6605 section 4
			r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
			ok = ecdsa.Verify(public, digest, r, s)
		}
	case ed25519.PublicKey:
		ok = ed25519.Verify(public, message, signature)
	}
	if !ok {
		return errSignature
	}
	return nil
}

func sum256(message []byte) []byte { sum := sha256.Sum256(message); return sum[:] }
func sum512(message []byte) []byte { sum := sha512.Sum512(message); return sum[:] }

// delegation is one DS record, or a trust anchor, which is the same thing written by hand.
type delegation struct {
	tag       uint16
	algorithm uint8
	digest    uint8
	sum       []byte
}

// usableDelegations keeps the DS records that count: supported algorithm and digest (RFC 4035
// section 5.2).
func usableDelegations(rrs []dns.RR) []delegation {
	var out []delegation
	for _, rr := range rrs {
		ds, ok := rr.(*dns.DS)
		if !ok || !supportedAlgorithm(ds.Algorithm) || !supportedDigest(ds.DigestType) {
			continue
		}
		sum, err := hex.DecodeString(ds.Digest)
		if err != nil {
			continue
		}
		out = append(out, delegation{ds.KeyTag, ds.Algorithm, ds.DigestType, sum})
	}
	return out
}

// names says whether the DS record is the digest of this key of this zone (RFC 4034 section 5.1.4).
func (d *delegation) names(zone name, k *zoneKey) bool {
	if d.tag != k.tag || d.algorithm != k.algorithm {
		return false
	}
	data := append([]byte(zone), k.rdata...)
	switch d.digest {
	case dns.SHA256:
		return bytes.Equal(d.sum, sum256(data))
	case dns.SHA384:
		sum := sha512.Sum384(data)
		return bytes.Equal(d.sum, sum[:])
	}
	return false
}

// RootAnchors are IANA's trust anchors of the root zone: KSK-2017 and KSK-2024.
const RootAnchors = `
. IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D
. IN DS 38696 8 2 683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16
`

// parseAnchors reads DS and DNSKEY records as a zone file writes them. Keys are kept as their
// SHA-256 digests. It refuses $GENERATE, of which a line makes up to 65,536 records.
func parseAnchors(text string) (map[name][]delegation, error) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(line)), "$GENERATE") {
			return nil, fmt.Errorf("trust anchor: $GENERATE is not supported; write each record")
		}
	}
	anchors := map[name][]delegation{}
	p := dns.NewZoneParser(strings.NewReader(text), ".", "")
	p.SetDefaultTTL(0)
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		owner, valid := nameOf(rr.Header().Name)
		if !valid {
			return nil, fmt.Errorf("trust anchor %s: not a name", plaintext.Quote(rr.Header().Name, 100))
		}
		switch k := rr.(type) {
		case *dns.DS:
		case *dns.DNSKEY:
			if k.Flags&dns.ZONE == 0 || k.Flags&dns.REVOKE != 0 || k.Protocol != 3 {
				return nil, fmt.Errorf("trust anchor of %s: the key must not be used for validation (flags %d, protocol %d)",
					owner, k.Flags, k.Protocol)
			}
			ds := k.ToDS(dns.SHA256)
			if ds == nil {
				return nil, fmt.Errorf("trust anchor of %s: the key cannot be read", owner)
			}
			rr = ds
		default:
			return nil, fmt.Errorf("trust anchor of %s: want DS or DNSKEY, have %s", owner, dns.Type(rr.Header().Rrtype))
		}
		anchors[owner] = append(anchors[owner], usableDelegations([]dns.RR{rr})...)
	}
	for owner, usable := range anchors {
		if len(usable) == 0 {
			return nil, fmt.Errorf("trust anchor of %s: no record with a supported algorithm and digest", owner)
		}
	}
	if err := p.Err(); err != nil {
		return nil, fmt.Errorf("trust anchor: %w", err)
	}
	if len(anchors) == 0 {
		return nil, fmt.Errorf("trust anchor: no DS or DNSKEY record found")
	}
	return anchors, nil
}
