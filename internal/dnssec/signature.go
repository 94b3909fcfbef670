package dnssec

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// recordSet is the records of one name and type, with the signatures that claim to cover them.
type recordSet struct {
	owner  name
	rrtype uint16
	rrs    []dns.RR
	sigs   []*dns.RRSIG
	ttl    uint32 // least of the records as received
}

// signedSet is a recordSet that one of its zone's keys vouches for.
type signedSet struct {
	*recordSet
	zone     name   // the signer
	encloser name   // the wildcard's parent if the set is an expansion of "*.encloser", else ""
	ttl      uint32 // least of received, original and remaining lifetime (RFC 4035 section 5.3.3)
}

// signers lists who claims to have signed the set, closest first. A DS set belongs to the parent's
// side of a cut, so that the name itself cannot be its signer; a zone signs no names outside itself
// (RFC 4035 section 5.3.1).
func (s *recordSet) signers() []name {
	var out []name
	for _, sig := range s.sigs {
		signer, ok := nameOf(sig.SignerName)
		if !ok || !s.owner.within(signer) || s.rrtype == dns.TypeDS && signer == s.owner && s.owner != rootName {
			continue
		}
		if !slices.Contains(out, signer) {
			out = append(out, signer)
		}
	}
	slices.SortFunc(out, func(a, b name) int { return b.labels() - a.labels() })
	return out
}

// verifySet looks for a signature over the set that holds now under one of the zone's keys (RFC
// 4035 section 5.3). The error is a *BogusError about the signature that came closest, or a
// *BudgetError.
func verifySet(s *recordSet, zone name, keys []zoneKey, now time.Time, b *budget) (*signedSet, error) {
	best := bogus(zone, EDESignatureAbsent, "%s %s has no signature of the zone", s.owner, dns.Type(s.rrtype))
	worse := func(rank *int, at int, ede uint16, reason string) {
		if at > *rank {
			*rank = at
			best = bogus(zone, ede, "%s %s: %s", s.owner, dns.Type(s.rrtype), reason)
		}
	}
	rank, failed := 0, 0
	for _, sig := range s.sigs {
		if signer, ok := nameOf(sig.SignerName); !ok || signer != zone {
			continue
		}
		if reason := checkForm(s, sig, zone); reason != "" {
			worse(&rank, 1, EDEBogus, reason)
			continue
		}
		if ede, reason := checkTime(sig, now); reason != "" {
			worse(&rank, 3, ede, reason)
			continue
		}
		candidates, err := matchingKeys(keys, sig, b)
		if err != nil {
			return nil, inZone(zone, err)
		}
		if len(candidates) == 0 {
			worse(&rank, 2, EDEKeyMissing, "the zone has no key that its signature names")
			continue
		}
		signature, err := base64.StdEncoding.DecodeString(sig.Signature)
		if err != nil {
			continue
		}
		message, err := signedData(s, sig, zone)
		if err != nil {
			worse(&rank, 4, EDEBogus, "the records have no canonical form")
			continue
		}
		for _, k := range candidates {
			if failed >= b.limits.SetFailures {
				return nil, &BudgetError{Zone: zone.text(), What: "failed signature checks for one record set", Limit: b.limits.SetFailures}
			}
			if err := b.signature(); err != nil {
				return nil, inZone(zone, err)
			}
			if k.verify(message, signature) == nil {
				return newSignedSet(s, sig, zone, now), nil
			}
			if err := b.failure(); err != nil {
				return nil, inZone(zone, err)
			}
			failed++
			worse(&rank, 4, EDEBogus, "the signature does not verify")
		}
	}
	return nil, best
}

// verifyOwn is verifySet for records that describe a zone: DS, DNSKEY and SOA. No wildcard can
// stand for those, because the zone that they describe begins at their own name (RFC 4035 section
// 5.3.4).
func verifyOwn(s *recordSet, zone name, keys []zoneKey, now time.Time, b *budget) (*signedSet, error) {
	signed, err := verifySet(s, zone, keys, now, b)
	if err == nil && signed.encloser != "" {
		return nil, bogus(zone, EDEBogus, "%s %s is made from a wildcard", s.owner, dns.Type(s.rrtype))
	}
	return signed, err
}

// checkForm is the part of RFC 4035 section 5.3.1 that needs neither clock nor key.
func checkForm(s *recordSet, sig *dns.RRSIG, zone name) string {
	labels := s.owner.labels()
	if s.owner.isWildcard() {
		labels--
	}
	switch {
	case sig.TypeCovered != s.rrtype:
		return "the signature covers another type"
	case !s.owner.within(zone):
		return "the name lies outside the zone"
	case int(sig.Labels) > labels:
		return "the signature counts more labels than the name has"
	}
	return ""
}

// checkTime compares by serial number arithmetic (RFC 4034 section 3.1.5, RFC 1982): 32-bit seconds
// wrap in 2106.
func checkTime(sig *dns.RRSIG, now time.Time) (uint16, string) {
	at := uint32(now.Unix())
	switch {
	case int32(sig.Expiration-sig.Inception) < 0:
		return EDEBogus, "the signature expires before it begins"
	case int32(at-sig.Inception) < 0:
		return EDENotYetValid, "the signature is not valid before " + dns.TimeToString(sig.Inception)
	case int32(sig.Expiration-at) < 0:
		return EDEExpired, "the signature expired at " + dns.TimeToString(sig.Expiration)
	}
	return 0, ""
}

// matchingKeys are the keys that a signature's tag and algorithm name. There may be several; more
// than a few are an attack (CVE-2023-50387).
func matchingKeys(keys []zoneKey, sig *dns.RRSIG, b *budget) ([]*zoneKey, error) {
	var out []*zoneKey
	for i := range keys {
		if k := &keys[i]; k.tag == sig.KeyTag && k.algorithm == sig.Algorithm && k.public != nil {
			out = append(out, k)
		}
	}
	if len(out) > b.limits.KeysPerTag {
		return nil, &BudgetError{What: "keys with the same tag", Limit: b.limits.KeysPerTag}
	}
	return out, nil
}

func newSignedSet(s *recordSet, sig *dns.RRSIG, zone name, now time.Time) *signedSet {
	out := &signedSet{recordSet: s, zone: zone}
	out.ttl = min(s.ttl, sig.OrigTtl, sig.Expiration-uint32(now.Unix()))
	labels := s.owner.labels()
	if s.owner.isWildcard() {
		labels--
	}
	if int(sig.Labels) < labels {
		out.encloser = s.owner.last(int(sig.Labels))
	}
	return out
}

// signedData is the message that was signed (RFC 4034 section 3.1.8.1): the signature's own fields
// and the records in canonical form and order, without duplicates.
func signedData(s *recordSet, sig *dns.RRSIG, zone name) ([]byte, error) {
	owner := s.owner
	if labels := owner.labels(); labels > int(sig.Labels) && !(owner.isWildcard() && labels-1 == int(sig.Labels)) {
		owner, _ = owner.last(int(sig.Labels)).wildcard() // it is no longer than the name that it stands for
	}
	rdatas := make([][]byte, 0, len(s.rrs))
	for _, rr := range s.rrs {
		rdata, err := canonicalData(rr)
		if err != nil {
			return nil, err
		}
		rdatas = append(rdatas, rdata)
	}
	slices.SortFunc(rdatas, bytes.Compare)
	rdatas = slices.CompactFunc(rdatas, bytes.Equal)

	m := binary.BigEndian.AppendUint16(make([]byte, 0, 512), sig.TypeCovered)
	m = append(m, sig.Algorithm, sig.Labels)
	m = binary.BigEndian.AppendUint32(m, sig.OrigTtl)
	m = binary.BigEndian.AppendUint32(m, sig.Expiration)
	m = binary.BigEndian.AppendUint32(m, sig.Inception)
	m = binary.BigEndian.AppendUint16(m, sig.KeyTag)
	m = append(m, zone...)
	for _, rdata := range rdatas {
		m = append(m, owner...)
		m = binary.BigEndian.AppendUint16(m, s.rrtype)
		m = binary.BigEndian.AppendUint16(m, dns.ClassINET)
		m = binary.BigEndian.AppendUint32(m, sig.OrigTtl)
		m = binary.BigEndian.AppendUint16(m, uint16(len(rdata)))
		m = append(m, rdata...)
	}
	return m, nil
}
