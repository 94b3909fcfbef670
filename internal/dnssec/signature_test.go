package dnssec

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// signer is a zone's key with its private half.
type signer struct {
	zone    name
	private ed25519.PrivateKey
	keys    []zoneKey
}

func newSigner(t testing.TB, zone string) *signer {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(zone, 32)[:32]))
	record := &dns.DNSKEY{Flags: 257, Protocol: 3, Algorithm: dns.ED25519, PublicKey: base64.StdEncoding.EncodeToString(private.Public().(ed25519.PublicKey))}
	keys, err := parseKeys([]dns.RR{record}, newBudget(Limits{}.withDefaults()))
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	return &signer{wire(t, zone), private, keys}
}

// set makes a signed set. change alters the signature's fields before signing, so that it
// verifies all the same.
func (s *signer) set(t testing.TB, lines []string, change func(*dns.RRSIG)) *recordSet {
	set := &recordSet{ttl: 1 << 20}
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		set.owner, set.rrtype = wire(t, rr.Header().Name), rr.Header().Rrtype
		set.rrs = append(set.rrs, rr)
	}
	labels := set.owner.labels()
	if set.owner.isWildcard() {
		labels--
	}
	sig := &dns.RRSIG{
		TypeCovered: set.rrtype, Algorithm: dns.ED25519, Labels: uint8(labels), OrigTtl: 3600,
		Inception: 1000, Expiration: 2000, KeyTag: s.keys[0].tag, SignerName: s.zone.String(),
	}
	change(sig)
	s.sign(t, set, sig)
	return set
}

func (s *signer) sign(t testing.TB, set *recordSet, sig *dns.RRSIG) {
	message, err := signedData(set, sig, s.zone)
	if err != nil {
		t.Fatal(err)
	}
	sig.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(s.private, message))
	set.sigs = append(set.sigs, sig)
}

// TestVerifySet: sets whose signatures are all genuine, so that only the rule named can refuse
// them.
func TestVerifySet(t *testing.T) {
	s := newSigner(t, "z.")
	now := int64(1500)
	none := func(*dns.RRSIG) {}
	for _, c := range []struct {
		id, name string
		set      *recordSet
		now      int64
		want     bool
		encloser string
		ttl      uint32
		ede      uint16
	}{
		{"RFC4035-5.3.1", "accept", s.set(t, []string{"a.z. A 192.0.2.1"}, none), now, true, "", 500, 0},
		{"RFC4035-5.3.1", "accept-at-inception", s.set(t, []string{"a.z. A 192.0.2.1"}, none), 1000, true, "", 1000, 0},
		{"RFC4035-5.3.1", "accept-at-expiration", s.set(t, []string{"a.z. A 192.0.2.1"}, none), 2000, true, "", 0, 0},
		{"RFC4035-5.3.1", "reject-before-inception", s.set(t, []string{"a.z. A 192.0.2.1"}, none), 999, false, "", 0, EDENotYetValid},
		{"RFC4035-5.3.1", "reject-after-expiration", s.set(t, []string{"a.z. A 192.0.2.1"}, none), 2001, false, "", 0, EDEExpired},
		{"RFC4034-3.1.5", "accept-across-wrap", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Inception, r.Expiration = 1<<32-100, 100 }), 1<<32 + 50, true, "", 50, 0},
		{"RFC4034-3.1.5", "reject-expiration-before-inception", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Inception, r.Expiration = 1600, 1400 }), now, false, "", 0, EDEBogus},
		{"RFC4035-5.3.1", "reject-more-labels-than-the-name", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Labels = 3 }), now, false, "", 0, EDEBogus},
		{"RFC4035-5.3.1", "reject-wildcard-label-counted", s.set(t, []string{"*.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Labels = 2 }), now, false, "", 0, EDEBogus},
		{"RFC4035-5.3.1", "reject-other-type", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.TypeCovered = dns.TypeAAAA }), now, false, "", 0, EDEBogus},
		{"RFC4035-5.3.1", "reject-name-outside-the-zone", s.set(t, []string{"a.y. A 192.0.2.1"}, none), now, false, "", 0, EDEBogus},
		{"RFC4035-5.3.1", "reject-other-signer", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.SignerName = "a.z." }), now, false, "", 0, EDESignatureAbsent},
		{"RFC4035-5.3.1", "reject-other-tag", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.KeyTag++ }), now, false, "", 0, EDEKeyMissing},
		{"RFC4035-5.3.1", "reject-other-algorithm", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Algorithm = dns.ECDSAP256SHA256 }), now, false, "", 0, EDEKeyMissing},
		{"RFC4035-5.3.3", "accept-original-ttl", s.set(t, []string{"a.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.OrigTtl = 7 }), now, true, "", 7, 0},
		{"RFC4035-5.3.2", "accept-wildcard-expansion", s.set(t, []string{"a.b.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Labels = 1 }), now, true, "z.", 500, 0},
		{"RFC4035-5.3.2", "accept-wildcard-itself", s.set(t, []string{"*.z. A 192.0.2.1"}, none), now, true, "", 500, 0},
		{"RFC4035-5.3.2", "accept-wildcard-name-as-expansion", s.set(t, []string{"*.b.z. A 192.0.2.1"}, func(r *dns.RRSIG) { r.Labels = 1 }), now, true, "z.", 500, 0},
		{"RFC4034-6.3", "accept-any-order-and-duplicates", s.set(t, []string{"a.z. A 192.0.2.2", "a.z. A 192.0.2.1", "a.z. A 192.0.2.2"}, none), now, true, "", 500, 0},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				got, err := verifySet(c.set, s.zone, s.keys, time.Unix(c.now, 0), newBudget(Limits{}.withDefaults()))
				if (err == nil) != c.want {
					t.Fatal(err)
				}
				var bogus *BogusError
				if !c.want {
					if !errors.As(err, &bogus) || bogus.EDE != c.ede {
						t.Errorf("%v, want EDE %d", err, c.ede)
					}
					return
				}
				if c.encloser != "" && got.encloser != wire(t, c.encloser) || c.encloser == "" && got.encloser != "" || got.ttl != c.ttl {
					t.Errorf("encloser %q, ttl %d", got.encloser, got.ttl)
				}
			})
		})
	}
}

// TestVerifySetLimits: however many signatures and keys a set has, few are tried, and the error
// says where it stopped.
func TestVerifySetLimits(t *testing.T) {
	s := newSigner(t, "z.")
	at := time.Unix(1500, 0)
	forged := func(set *recordSet, n int) *recordSet { // n signatures that do not verify, before the genuine one
		genuine := set.sigs[0]
		set.sigs = nil
		for range n {
			bad := *genuine
			bad.Signature = base64.StdEncoding.EncodeToString(make([]byte, ed25519.SignatureSize))
			set.sigs = append(set.sigs, &bad)
		}
		set.sigs = append(set.sigs, genuine)
		return set
	}
	genuine := func() *recordSet { return s.set(t, []string{"a.z. A 192.0.2.1"}, func(*dns.RRSIG) {}) }
	sameTag := make([]zoneKey, 3)
	for i := range sameTag {
		sameTag[i] = s.keys[0]
	}
	for name, c := range map[string]struct {
		forged  int
		keys    []zoneKey
		limits  Limits
		what    string // of the BudgetError; "": accepted
		checked int64
	}{
		"accept-as-many-as-may-fail-in-a-set":    {2, s.keys, Limits{SetFailures: 3}, "", 3},
		"reject-more-than-may-fail-in-a-set":     {3, s.keys, Limits{SetFailures: 3}, "failed signature checks for one record set", 3},
		"accept-as-many-as-may-fail-in-all":      {2, s.keys, Limits{Failures: 2}, "", 3},
		"reject-more-than-may-fail-in-all":       {3, s.keys, Limits{Failures: 2}, "failed signature checks", 3},
		"accept-as-many-as-are-checked":          {1, s.keys, Limits{Signatures: 2}, "", 2},
		"reject-more-than-are-checked":           {2, s.keys, Limits{Signatures: 2}, "signature checks", 3},
		"accept-as-many-keys-of-one-tag":         {0, sameTag, Limits{KeysPerTag: 3}, "", 1},
		"reject-more-keys-of-one-tag":            {0, sameTag, Limits{KeysPerTag: 2}, "keys with the same tag", 0},
		"reject-keys-count-towards-the-failures": {1, sameTag, Limits{SetFailures: 2}, "failed signature checks for one record set", 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBudget(c.limits.withDefaults())
			set, err := verifySet(forged(genuine(), c.forged), s.zone, c.keys, at, b)
			var over *BudgetError
			switch {
			case c.what == "" && (err != nil || set == nil):
				t.Errorf("refused: %v", err)
			case c.what != "" && (set != nil || !errors.As(err, &over) || over.What != c.what || over.Zone != "z" || !over.Hostile()):
				t.Errorf("got %v, want too many %s", err, c.what)
			}
			if got := b.signatures.Load(); got != c.checked {
				t.Errorf("%d signatures were checked, want %d", got, c.checked)
			}
		})
	}
	// The error is about the signature that came closest, in whatever order they stand.
	for name, c := range map[string]struct {
		change []func(*dns.RRSIG)
		ede    uint16
	}{
		"reject-expired-before-unknown-key": {[]func(*dns.RRSIG){func(r *dns.RRSIG) { r.Expiration = 1400 }, func(r *dns.RRSIG) { r.KeyTag++ }}, EDEExpired},
		"reject-unknown-key-then-expired":   {[]func(*dns.RRSIG){func(r *dns.RRSIG) { r.KeyTag++ }, func(r *dns.RRSIG) { r.Expiration = 1400 }}, EDEExpired},
		"reject-form-then-unknown-key":      {[]func(*dns.RRSIG){func(r *dns.RRSIG) { r.TypeCovered = dns.TypeAAAA }, func(r *dns.RRSIG) { r.KeyTag++ }}, EDEKeyMissing},
		"reject-expired-then-forged":        {[]func(*dns.RRSIG){func(r *dns.RRSIG) { r.Expiration = 1400 }, func(r *dns.RRSIG) { r.Signature = "AAAA" }}, EDEBogus},
		"reject-not-base64":                 {[]func(*dns.RRSIG){func(r *dns.RRSIG) { r.Signature = "%" }}, EDESignatureAbsent},
	} {
		t.Run(name, func(t *testing.T) {
			set := genuine()
			good := set.sigs[0]
			set.sigs = nil
			for _, change := range c.change {
				sig := *good
				change(&sig)
				set.sigs = append(set.sigs, &sig)
			}
			got, err := verifySet(set, s.zone, s.keys, at, newBudget(Limits{}.withDefaults()))
			var bogus *BogusError
			if got != nil || !errors.As(err, &bogus) || bogus.EDE != c.ede {
				t.Errorf("got %v, want EDE %d", err, c.ede)
			}
			set.sigs = append(set.sigs, good)
			if _, err := verifySet(set, s.zone, s.keys, at, newBudget(Limits{}.withDefaults())); err != nil {
				t.Errorf("the good signature after them does not count: %v", err)
			}
		})
	}
}

// TestVerifySetWithoutCanonicalForm: a signature over records that cannot be written is not checked
// against what could be.
func TestVerifySetWithoutCanonicalForm(t *testing.T) {
	t.Run("RFC4034-6.2", func(t *testing.T) {
		t.Run("reject-too-long-text", func(t *testing.T) {
			s := newSigner(t, "z.")
			set := s.set(t, []string{"a.z. TXT x"}, func(*dns.RRSIG) {})
			set.rrs[0].(*dns.TXT).Txt = []string{strings.Repeat("x", 256)}
			b := newBudget(Limits{}.withDefaults())
			_, err := verifySet(set, s.zone, s.keys, time.Unix(1500, 0), b)
			var bogus *BogusError
			if !errors.As(err, &bogus) || bogus.EDE != EDEBogus || b.signatures.Load() != 0 {
				t.Errorf("%v after %d signature checks", err, b.signatures.Load())
			}
		})
	})
}

// TestSigners: who may have signed a set.
func TestSigners(t *testing.T) {
	sigs := func(names ...string) []*dns.RRSIG {
		var out []*dns.RRSIG
		for _, n := range names {
			out = append(out, &dns.RRSIG{SignerName: n})
		}
		return out
	}
	for _, c := range []struct {
		id, name string
		owner    string
		rrtype   uint16
		sigs     []*dns.RRSIG
		want     string
	}{
		{"RFC4035-5.3.1", "accept-closest-first", "a.b.z.", dns.TypeA, sigs("z.", "b.z.", ".", "Z."), "b.z. z. ."},
		{"RFC4035-5.3.1", "accept-apex", "z.", dns.TypeA, sigs("z."), "z."},
		{"RFC4035-5.3.1", "reject-outside", "a.z.", dns.TypeA, sigs("y.", "b.a.z.", "xz."), ""},
		{"RFC4035-5.3.1", "reject-text-suffix", "a.xz.", dns.TypeA, sigs("z."), ""},
		{"RFC4035-5.2", "reject-ds-of-the-child", "b.z.", dns.TypeDS, sigs("b.z.", "z."), "z."},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				set := &recordSet{owner: wire(t, c.owner), rrtype: c.rrtype, sigs: c.sigs}
				var got []string
				for _, n := range set.signers() {
					got = append(got, n.String())
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("%v, want %s", got, c.want)
				}
			})
		})
	}
}
