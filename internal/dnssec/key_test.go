package dnssec

import (
	"bytes"
	"crypto/elliptic"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// TestRSAKey: which RSA keys are used at all.
func TestRSAKey(t *testing.T) {
	key := func(exponent []byte, modulus int) []byte {
		m := bytes.Repeat([]byte{0xff}, modulus)
		return append(append([]byte{byte(len(exponent))}, exponent...), m...)
	}
	for _, c := range []struct {
		id, name string
		raw      []byte
		want     bool
	}{
		{"RFC3110-2", "accept-1024-bits", key([]byte{1, 0, 1}, 128), true},
		{"RFC3110-2", "accept-4096-bits", key([]byte{1, 0, 1}, 512), true},
		{"RFC3110-2", "accept-exponent-3", key([]byte{3}, 256), true},
		{"RFC3110-2", "accept-long-length", append([]byte{0, 0, 3, 1, 0, 1}, bytes.Repeat([]byte{0xff}, 256)...), true},
		{"RFC3110-2", "reject-4097-bits", append([]byte{3, 1, 0, 1, 1}, bytes.Repeat([]byte{0xff}, 512)...), false},
		{"RFC3110-2", "reject-exponent-with-zeros-before-it", key([]byte{0, 0, 1, 0, 1}, 256), false},
		{"RFC3110-2", "reject-modulus-that-ends-with-2", append(key([]byte{1, 0, 1}, 255), 2), false},
		{"RFC3110-2", "accept-modulus-that-ends-with-1", append(key([]byte{1, 0, 1}, 255), 1), true},
		{"RFC3110-2", "reject-cut-exponent", []byte{4, 1, 0, 1}, false},
		{"RFC3110-2", "reject-512-bits", key([]byte{1, 0, 1}, 64), false},
		{"RFC3110-2", "reject-8192-bits", key([]byte{1, 0, 1}, 1024), false},
		{"RFC3110-2", "reject-exponent-1", key([]byte{1}, 256), false},
		{"RFC3110-2", "reject-even-exponent", key([]byte{4}, 256), false},
		{"RFC3110-2", "reject-exponent-of-33-bits", key([]byte{1, 0, 0, 0, 1}, 256), false},
		{"RFC3110-2", "reject-exponent-of-32-bits", key([]byte{0xff, 0xff, 0xff, 0xff}, 256), false},
		{"RFC3110-2", "accept-exponent-of-31-bits", key([]byte{0x7f, 0xff, 0xff, 0xff}, 256), true},
		{"RFC3110-2", "reject-exponent-above-31-bits", key([]byte{0x80, 0, 0, 1}, 256), false},
		{"RFC3110-2", "reject-no-exponent", append([]byte{0, 0, 0}, bytes.Repeat([]byte{0xff}, 256)...), false},
		{"RFC3110-2", "reject-even-modulus", append(key([]byte{1, 0, 1}, 255), 0), false},
		{"RFC3110-2", "reject-empty", nil, false},
		{"RFC3110-2", "reject-only-length", []byte{0, 1}, false},
		{"RFC3110-2", "reject-no-modulus", []byte{3, 1, 0, 1}, false},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				if got := rsaKey(c.raw) != nil; got != c.want {
					t.Error(got)
				}
			})
		})
	}
}

// TestCurveKeys: which keys of other algorithms are used at all.
func TestCurveKeys(t *testing.T) {
	p256, p384 := elliptic.P256().Params(), elliptic.P384().Params()
	point := func(c *elliptic.CurveParams, size int) []byte {
		return append(c.Gx.FillBytes(make([]byte, size)), c.Gy.FillBytes(make([]byte, size))...)
	}
	for _, c := range []struct {
		id, name  string
		algorithm uint8
		raw       []byte
		want      bool
	}{
		{"RFC6605-4", "accept-p256", dns.ECDSAP256SHA256, point(p256, 32), true},
		{"RFC6605-4", "accept-p384", dns.ECDSAP384SHA384, point(p384, 48), true},
		{"RFC6605-4", "reject-p384-as-p256", dns.ECDSAP256SHA256, point(p384, 48), false},
		{"RFC6605-4", "reject-p256-as-p384", dns.ECDSAP384SHA384, point(p256, 32), false},
		{"RFC6605-4", "reject-no-point-of-the-curve", dns.ECDSAP256SHA256, make([]byte, 64), false},
		{"RFC6605-4", "reject-short-point", dns.ECDSAP256SHA256, point(p256, 32)[:63], false},
		{"RFC8080-3", "accept-ed25519", dns.ED25519, make([]byte, 32), true},
		{"RFC8080-3", "reject-short-ed25519", dns.ED25519, make([]byte, 31), false},
		{"RFC8080-3", "reject-long-ed25519", dns.ED25519, make([]byte, 33), false},
		{"RFC8624-3.1", "reject-sha1", dns.RSASHA1, append([]byte{3, 1, 0, 1}, bytes.Repeat([]byte{0xff}, 256)...), false},
		{"RFC8624-3.1", "accept-sha512", dns.RSASHA512, append([]byte{3, 1, 0, 1}, bytes.Repeat([]byte{0xff}, 256)...), true},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				if got := publicKey(c.algorithm, c.raw) != nil; got != c.want {
					t.Error(got)
				}
			})
		})
	}
}

// TestParseKeys: which keys may sign at all.
func TestParseKeys(t *testing.T) {
	good := func() *dns.DNSKEY {
		return &dns.DNSKEY{Flags: 256, Protocol: 3, Algorithm: dns.ED25519, PublicKey: base64.StdEncoding.EncodeToString(make([]byte, 32))}
	}
	for _, c := range []struct {
		id, name string
		change   func(*dns.DNSKEY)
		want     int
	}{
		{"RFC4034-2.1", "accept", func(*dns.DNSKEY) {}, 1},
		{"RFC4034-2.1.1", "accept-sep", func(k *dns.DNSKEY) { k.Flags |= dns.SEP }, 1},
		{"RFC4034-2.1.1", "reject-without-zone-flag", func(k *dns.DNSKEY) { k.Flags = dns.SEP }, 0},
		{"RFC4034-2.1.2", "reject-other-protocol", func(k *dns.DNSKEY) { k.Protocol = 2 }, 0},
		{"RFC5011-2.1", "reject-revoked", func(k *dns.DNSKEY) { k.Flags |= dns.REVOKE }, 0},
		{"RFC4034-2.1.4", "reject-unreadable", func(k *dns.DNSKEY) { k.PublicKey = "=" }, 0},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				k := good()
				c.change(k)
				keys, err := parseKeys([]dns.RR{&dns.A{}, k, good()}, newBudget(Limits{}.withDefaults()))
				if err != nil || len(keys) != c.want+1 {
					t.Error(keys, err)
				}
			})
		})
	}
	for most, want := range map[int]bool{1: false, 2: true} {
		keys, err := parseKeys([]dns.RR{good(), good()}, newBudget(Limits{Keys: most}.withDefaults()))
		if over, ok := err.(*BudgetError); (err == nil) != want || want && len(keys) != 2 || !want && (!ok || over.Limit != 1) {
			t.Errorf("2 keys of %d: %v, %v", most, keys, err)
		}
	}
}

func TestAnchors(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"accept-ds":                 {". IN DS 1 13 2 " + sum, true},
		"accept-comments":           {"; the root\n\n. 3600 IN DS 1 13 2 " + sum + " ; a key\n", true},
		"accept-other-zone":         {"example.com. IN DS 1 13 2 " + sum, true},
		"accept-without-class":      {"example.com. DS 1 13 2 " + sum, true},
		"accept-unsupported-beside": {". IN DS 1 13 1 " + sum[:40] + "\n. IN DS 1 13 2 " + sum, true},
		"reject-empty":              {"", false},
		"reject-only-comment":       {"; nothing", false},
		"reject-garbage":            {"hello world", false},
		"reject-other-record":       {". IN A 192.0.2.1", false},
		"reject-sha1-only":          {". IN DS 1 13 1 " + sum[:40], false},
		"reject-unknown-algorithm":  {". IN DS 1 200 2 " + sum, false},
		"reject-revoked-key":        {". IN DNSKEY 385 3 15 " + base64.StdEncoding.EncodeToString(make([]byte, 32)), false},
		"reject-no-zone-key":        {". IN DNSKEY 1 3 15 " + base64.StdEncoding.EncodeToString(make([]byte, 32)), false},
		"reject-unreadable-key":     {". IN DNSKEY 257 3 15 %%%", false},
		"reject-other-protocol":     {". IN DNSKEY 257 2 15 " + base64.StdEncoding.EncodeToString(make([]byte, 32)), false},
		"reject-garbage-after-ds":   {". IN DS 1 13 2 " + sum + "\nhello world", false},
		"reject-useless-zone":       {". IN DS 1 13 2 " + sum + "\nexample. IN DS 1 13 1 " + sum[:40], false},
		"reject-indented-generate":  {". IN DS 1 13 2 " + sum + "\n  $generate 1-2 a$ IN DS 20326 8 2 " + sum, false},
		"reject-include":            {"$INCLUDE /etc/passwd", false},
		"reject-generate":           {"$GENERATE 1-2 a$ IN DS 20326 8 2 " + sum + "\n. IN DS 20326 8 2 " + sum, false},
		"accept-generate-in-words":  {"; no $GENERATE\n. IN DS 20326 8 2 " + sum, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseAnchors(c.text)
			if (err == nil) != c.want {
				t.Error(err)
			}
			if name == "reject-no-zone-key" && !strings.Contains(err.Error(), "trust anchor of .: the key must not be used for validation (flags 1, protocol 3)") {
				t.Error(err)
			}
		})
	}
}

// TestCanonicalData: names in record data are lowered where they count as names, and nowhere else.
func TestCanonicalData(t *testing.T) {
	for _, c := range []struct {
		line  string
		lower bool
	}{
		{"x. IN NS A.EXAMPLE.", true}, {"x. IN SOA A. B. 1 2 3 4 5", true}, {"x. IN MX 1 A.", true}, {"x. IN SRV 1 2 3 A.", true},
		{"x. IN NAPTR 1 2 \"u\" \"s\" \"r\" A.", true}, {"x. IN DNAME A.", true}, {"x. IN PX 1 A. B.", true}, {"x. IN RP A. B.", true},
		{"x. IN TXT \"A\"", false}, {"x. IN NSEC A. NS", false}, {"x. IN HINFO \"A\" \"B\"", false}, {"x. IN CAA 0 issue \"A\"", false},
		{"x. IN SVCB 1 A.", false},
	} {
		rr, err := dns.NewRR(c.line)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := rdataOf(rr)
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := canonicalData(rr)
		if err != nil || bytes.Equal(plain, canonical) == c.lower || !bytes.Equal(bytes.ToLower(plain), bytes.ToLower(canonical)) {
			t.Errorf("%s: %q %v", c.line, canonical, err)
		}
	}
}

// TestCanonicalDataOfDamagedRecords: data that ends within its fields has no canonical form.
func TestCanonicalDataOfDamagedRecords(t *testing.T) {
	for _, c := range []struct {
		rrtype uint16
		rdata  string
		ok     bool
	}{
		{dns.TypeNAPTR, "00010002" + "0175" + "0173" + "0172" + "014100", true},
		{dns.TypeNAPTR, "0001", false},
		{dns.TypeNAPTR, "00010002", false},
		{dns.TypeNAPTR, "000100020575", false},
		{dns.TypeNAPTR, "00010002" + "0175" + "0173" + "0172", false},
		{dns.TypeMX, "0001" + "014100", true},
		{dns.TypeMX, "0001" + "0141", false},
		{dns.TypeMX, "0001" + "40" + strings.Repeat("41", 64) + "00", false},
		{dns.TypeMX, "0001" + "3f" + strings.Repeat("41", 63) + "00", true},
		{dns.TypeRP, "014100" + "00", true},
		{dns.TypeSIG, strings.Repeat("00", 18) + "014100", true},
		{dns.TypeSIG, strings.Repeat("00", 18) + "0141", false},
		{65280, "", true},
		{dns.TypeRP, "014100", false},
	} {
		record := &dns.RFC3597{Hdr: dns.RR_Header{Name: "x.", Rrtype: c.rrtype, Class: dns.ClassINET}, Rdata: c.rdata}
		if data, err := canonicalData(record); (err == nil) != c.ok || c.ok && len(data) != len(c.rdata)/2 {
			t.Errorf("%s %s: %x, %v", dns.Type(c.rrtype), c.rdata, data, err)
		}
	}
}

// TestDelegationWithUnknownDigest: a digest that is not computed never counts as equal.
func TestDelegationWithUnknownDigest(t *testing.T) {
	t.Run("RFC4034-5.1.3", func(t *testing.T) {
		t.Run("reject", func(t *testing.T) {
			key := &zoneKey{algorithm: dns.ED25519, tag: 1, rdata: []byte{1, 1, 3, dns.ED25519}}
			d := delegation{tag: 1, algorithm: dns.ED25519, digest: 3}
			if d.names("\x01z\x00", key) {
				t.Error("the DS record names the key")
			}
		})
	})
}

// TestDelegationOfAnotherType: only DS records delegate.
func TestDelegationOfAnotherType(t *testing.T) {
	ds := &dns.DS{KeyTag: 1, Algorithm: dns.ED25519, DigestType: dns.SHA256, Digest: strings.Repeat("0", 64)}
	bad := *ds
	bad.Digest = "0g"
	if got := usableDelegations([]dns.RR{&dns.A{}, &bad, ds, &dns.CDS{DS: *ds}}); len(got) != 1 || got[0].tag != 1 {
		t.Errorf("%+v", got)
	}
}

// TestDelegation: a DS names a key by tag, algorithm and digest together, under one owner.
func TestDelegation(t *testing.T) {
	record := &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: "z.", Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET},
		Flags: 257, Protocol: 3, Algorithm: dns.ED25519, PublicKey: base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}
	keys, err := parseKeys([]dns.RR{record}, newBudget(Limits{}.withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, name, owner string
		change          func(*dns.DS)
		want            bool
	}{
		{"RFC4034-5.1", "accept", "z.", func(*dns.DS) {}, true},
		{"RFC4034-5.1.1", "reject-tag", "z.", func(d *dns.DS) { d.KeyTag++ }, false},
		{"RFC4034-5.1.2", "reject-algorithm", "z.", func(d *dns.DS) { d.Algorithm = dns.RSASHA256 }, false},
		{"RFC4034-5.1.3", "reject-unknown-digest", "z.", func(d *dns.DS) { d.DigestType = 3 }, false},
		{"RFC4034-5.1.3", "reject-digest-of-another-kind", "z.", func(d *dns.DS) { d.DigestType = dns.SHA384 }, false},
		{"RFC4034-5.1.4", "reject-digest", "z.", func(d *dns.DS) { d.Digest = strings.Repeat("0", 64) }, false},
		{"RFC4034-5.1.4", "reject-short-digest", "z.", func(d *dns.DS) { d.Digest = d.Digest[:62] }, false},
		{"RFC4034-5.1.4", "reject-owner", "y.", func(*dns.DS) {}, false},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				ds := record.ToDS(dns.SHA256)
				c.change(ds)
				usable := usableDelegations([]dns.RR{ds})
				if got := len(usable) == 1 && usable[0].names(wire(t, c.owner), &keys[0]); got != c.want {
					t.Error(got)
				}
			})
		})
	}
}
