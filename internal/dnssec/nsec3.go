package dnssec

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/hex"
	"strings"

	"github.com/miekg/dns"
)

// nsec3Record says that the zone has no names whose hashes lie between hash and next, except
// unsigned delegations if it opts out, and at the name with this hash only these types (RFC 5155
// section 3).
type nsec3Record struct {
	hash, next string // 20 bytes each
	optOut     bool
	types      typeBits
}

// nsec3Records are the verified NSEC3 records of one zone. They share one set of parameters.
type nsec3Records struct {
	zone       name
	salt       []byte
	iterations int
	records    []nsec3Record
	mixed      bool // records with different parameters: nothing is proven (RFC 5155 section 8.2)
	hashed     map[name]string
	budget     *budget
}

func newNSEC3Records(zone name, b *budget) *nsec3Records {
	return &nsec3Records{zone: zone, iterations: -1, hashed: map[name]string{}, budget: b}
}

// add takes one record; those with an unknown hash algorithm or unknown flags do not count (RFC
// 5155 section 8.1, 8.2).
func (z *nsec3Records) add(owner name, rr *dns.NSEC3) {
	if rr.Hash != dns.SHA1 || rr.Flags > 1 || owner == rootName || owner.parent() != z.zone {
		return
	}
	hash, ok1 := decodeHash(string(owner[1 : 1+owner[0]]))
	next, ok2 := decodeHash(rr.NextDomain)
	salt, err := hex.DecodeString(strings.TrimPrefix(rr.Salt, "-"))
	if !ok1 || !ok2 || err != nil {
		return
	}
	if z.iterations < 0 {
		z.salt, z.iterations = salt, int(rr.Iterations)
	}
	if z.iterations != int(rr.Iterations) || string(z.salt) != string(salt) {
		z.mixed = true
		return
	}
	z.records = append(z.records, nsec3Record{hash, next, rr.Flags == 1, rr.TypeBitMap})
}

func decodeHash(text string) (string, bool) {
	raw, err := base32.HexEncoding.DecodeString(strings.ToUpper(text))
	return string(raw), err == nil && len(raw) == sha1.Size
}

// unusable says that the records are signed but prove nothing in a way that we compute: too many
// iterations (RFC 9276 section 3.2). The zone then counts as insecure.
func (z *nsec3Records) unusable() bool { return z.iterations > z.budget.limits.Iterations }

// hash is the hash of RFC 5155 section 5.
func (z *nsec3Records) hash(n name) (string, error) {
	if h, ok := z.hashed[n]; ok {
		return h, nil
	}
	if err := z.budget.hash(); err != nil {
		return "", inZone(z.zone, err)
	}
	sum := sha1.Sum(append([]byte(n), z.salt...))
	buf := make([]byte, 0, sha1.Size+len(z.salt))
	for range z.iterations {
		sum = sha1.Sum(append(append(buf, sum[:]...), z.salt...))
	}
	z.hashed[n] = string(sum[:])
	return z.hashed[n], nil
}

// find returns the record at n's hash, and the one in whose gap n's hash falls. A name that exists
// is never covered.
func (z *nsec3Records) find(n name) (match, cover *nsec3Record, err error) {
	if z.mixed || !n.within(z.zone) {
		return nil, nil, nil
	}
	h, err := z.hash(n)
	if err != nil {
		return nil, nil, err
	}
	for i := range z.records {
		r := &z.records[i]
		switch {
		case r.hash == h:
			return r, nil, nil
		case r.hash < h && h < r.next, r.hash >= r.next && (r.hash < h || h < r.next):
			cover = r
		}
	}
	return nil, cover, nil
}

// closestEncloser is the proof of RFC 5155 section 8.3: the longest ancestor of n that exists, and
// the record that covers the next closer name. cover is nil when there is no such proof, or when n
// itself exists.
func (z *nsec3Records) closestEncloser(n name) (encloser name, cover *nsec3Record, err error) {
	match, cover, err := z.find(n)
	if err != nil || match != nil {
		return "", nil, err
	}
	for encloser = n; encloser.isBelow(z.zone); {
		encloser = encloser.parent()
		match, above, err := z.find(encloser)
		if err != nil {
			return "", nil, err
		}
		if match != nil {
			if match.types.hidesBelow() {
				return "", nil, nil
			}
			return encloser, cover, nil
		}
		cover = above
	}
	return "", nil, nil
}

// nameError: RFC 5155 section 8.4.
func (z *nsec3Records) nameError(n name) (proof, error) {
	if z.unusable() {
		return optedOut, nil
	}
	encloser, cover, err := z.closestEncloser(n)
	if err != nil || cover == nil {
		return unproven, err
	}
	if wildcard, ok := encloser.wildcard(); ok {
		if _, covered, err := z.find(wildcard); err != nil || covered == nil {
			return unproven, err
		}
	}
	return cover.proof(), nil
}

// noData: RFC 5155 sections 8.5 (the name itself), 8.6 (opt-out) and 8.7 (wildcard).
func (z *nsec3Records) noData(n name, rrtype uint16) (proof, error) {
	if z.unusable() {
		return optedOut, nil
	}
	match, _, err := z.find(n)
	if err != nil {
		return unproven, err
	}
	if match != nil {
		if match.types.lacks(n, rrtype) {
			return proven, nil
		}
		return unproven, nil
	}
	encloser, cover, err := z.closestEncloser(n)
	if err != nil || cover == nil {
		return unproven, err
	}
	if wildcard, ok := encloser.wildcard(); ok {
		match, _, err := z.find(wildcard)
		if err != nil {
			return unproven, err
		}
		if match != nil {
			if match.types.lacks(wildcard, rrtype) {
				return cover.proof(), nil
			}
			return unproven, nil
		}
	}
	if cover.optOut {
		return optedOut, nil
	}
	return unproven, nil
}

// typesAt returns the types that a record at n lists; nil if there is no such record.
func (z *nsec3Records) typesAt(n name) (typeBits, error) {
	if z.unusable() {
		return nil, nil
	}
	match, _, err := z.find(n)
	if err != nil || match == nil {
		return nil, err
	}
	return match.types, nil
}

// noCloser: RFC 5155 section 8.8.
func (z *nsec3Records) noCloser(n, encloser name) (proof, error) {
	if z.unusable() {
		return optedOut, nil
	}
	_, cover, err := z.find(n.childOf(encloser))
	if err != nil || cover == nil {
		return unproven, err
	}
	return cover.proof(), nil
}

// cutAt: RFC 5155 section 8.9.
func (z *nsec3Records) cutAt(n name) (cut, error) {
	if z.unusable() {
		return cutOptedOut, nil
	}
	match, _, err := z.find(n)
	if err != nil {
		return cutUnknown, err
	}
	if match != nil {
		return match.types.cut(), nil
	}
	_, cover, err := z.closestEncloser(n)
	switch {
	case err != nil || cover == nil:
		return cutUnknown, err
	case cover.optOut:
		return cutOptedOut, nil
	}
	return cutNone, nil
}

// proof is what a covering record establishes: an opt-out gap may hide unsigned delegations (RFC
// 5155 section 9.2).
func (r *nsec3Record) proof() proof {
	if r.optOut {
		return optedOut
	}
	return proven
}
