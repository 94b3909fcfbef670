package dnssec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

func wire(t testing.TB, s string) name {
	t.Helper()
	n, ok := nameOf(s)
	if !ok {
		t.Fatalf("%q is no name", s)
	}
	return n
}

func nsecs(t testing.TB, zone string, lines ...string) *denial {
	d := &denial{nsec: nsecRecords{zone: wire(t, zone)}}
	for _, line := range lines {
		fields := strings.Fields(line)
		rr := &dns.NSEC{NextDomain: fields[1]}
		for _, tt := range fields[2:] {
			rr.TypeBitMap = append(rr.TypeBitMap, dns.StringToType[tt])
		}
		d.nsec.add(wire(t, fields[0]), rr)
	}
	return d
}

// nsec3s makes hashed records: owner, next, then types. Names are hashed here; "=" before one
// means it is used as it is and a "+" or "-" makes the hash one more or less.
func nsec3s(t testing.TB, zone string, lines ...string) *denial {
	b := newBudget(Limits{}.withDefaults())
	d := &denial{nsec: nsecRecords{zone: wire(t, zone)}, nsec3: newNSEC3Records(wire(t, zone), b)}
	d.nsec3.iterations = 0
	for _, line := range lines {
		fields := strings.Fields(line)
		r := nsec3Record{hash: hashOf(t, d.nsec3, fields[0]), next: hashOf(t, d.nsec3, fields[1])}
		for _, tt := range fields[2:] {
			if tt == "optout" {
				r.optOut = true
				continue
			}
			r.types = append(r.types, dns.StringToType[tt])
		}
		d.nsec3.records = append(d.nsec3.records, r)
	}
	b.hashes.Store(0)
	return d
}

func hashOf(t testing.TB, z *nsec3Records, text string) string {
	plain := strings.TrimRight(text, "+-")
	h, err := z.hash(wire(t, plain))
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(h)
	switch {
	case strings.HasSuffix(text, "+"):
		raw[len(raw)-1]++
	case strings.HasSuffix(text, "-"):
		raw[len(raw)-1]--
	}
	return string(raw)
}

// TestDenial is one table for the denial rules; each line names its rule.
func TestDenial(t *testing.T) {
	const (
		nxdomain = "nxdomain"
		nodata   = "nodata"
		wildcard = "wildcard"
		cutting  = "cut"
	)
	for _, c := range []struct {
		id, name string
		d        *denial
		kind     string
		question string
		want     string
	}{
		{"RFC4035-5.4", "accept-nxdomain", nsecs(t, "z.", "a.z. d.z. A", "z. a.z. SOA NS"), nxdomain, "b.z.", "proven"},
		{"RFC4035-5.4", "reject-wildcard-not-denied", nsecs(t, "z.", "a.z. d.z. A"), nxdomain, "b.z.", "unproven"},
		{"RFC4035-5.4", "reject-owner-itself", nsecs(t, "z.", "b.z. d.z. A", "z. a.z. SOA NS"), nxdomain, "b.z.", "unproven"},
		{"RFC4035-5.4", "reject-next-itself", nsecs(t, "z.", "a.z. b.z. A", "z. a.z. SOA NS"), nxdomain, "b.z.", "unproven"},
		{"RFC4035-5.4", "reject-before-gap", nsecs(t, "z.", "c.z. d.z. A", "z. a.z. SOA NS"), nxdomain, "b.z.", "unproven"},
		{"RFC4035-5.4", "accept-last-gap", nsecs(t, "z.", "m.z. z. A", "z. a.z. SOA NS"), nxdomain, "n.z.", "proven"},
		{"RFC4035-5.4", "reject-last-gap-wraps-not-before", nsecs(t, "z.", "m.z. z. A", "z. a.z. SOA NS"), nxdomain, "c.z.", "unproven"},
		{"RFC4035-5.4", "accept-single-name-zone", nsecs(t, "z.", "z. z. SOA NS"), nxdomain, "n.z.", "proven"},
		{"RFC4035-5.4", "reject-outside-zone", nsecs(t, "z.", "z. z. SOA NS"), nxdomain, "n.zz.", "unproven"},
		{"RFC4035-5.4", "reject-next-outside-zone", nsecs(t, "z.", "m.z. zz. A", "z. a.z. SOA NS"), nxdomain, "n.z.", "unproven"},
		{"RFC4034-6.1", "accept-canonical-order", nsecs(t, "example.", "yljkjljk.a.example. Z.a.example. A", "*.a.example. \\200.a.example."), nxdomain, "z0.a.example.", "unproven"},
		{"RFC4592-2.2.2", "reject-empty-non-terminal", nsecs(t, "z.", "a.z. x.b.z. A", "z. a.z. SOA NS"), nxdomain, "b.z.", "unproven"},
		{"RFC4592-2.2.2", "accept-nodata-at-empty-non-terminal", nsecs(t, "z.", "a.z. x.b.z. A"), nodata, "b.z. A", "proven"},
		{"RFC4592-2.2.2", "reject-nodata-above-gap", nsecs(t, "z.", "a.z. x.b.z. A"), nodata, "c.z. A", "unproven"},
		{"RFC6840-4.1", "reject-ancestor-delegation", nsecs(t, "z.", "sub.z. z. NS DS", "z. a.z. SOA NS"), nxdomain, "x.sub.z.", "unproven"},
		{"RFC6840-4.1", "accept-apex-with-ns", nsecs(t, "z.", "z. z. SOA NS"), nxdomain, "x.z.", "proven"},
		{"RFC6840-4.1", "reject-below-dname", nsecs(t, "z.", "d.z. z. DNAME", "z. a.z. SOA NS"), nxdomain, "x.d.z.", "unproven"},
		{"RFC6840-4.1", "reject-parents-record-for-other-types", nsecs(t, "z.", "sub.z. z. NS"), nodata, "sub.z. A", "unproven"},
		{"RFC6840-4.1", "accept-parents-record-for-ds", nsecs(t, "z.", "sub.z. z. NS"), nodata, "sub.z. DS", "proven"},
		{"RFC6840-4.4", "reject-childs-record-for-ds", nsecs(t, "sub.z.", "sub.z. sub.z. NS SOA"), nodata, "sub.z. DS", "unproven"},
		{"RFC6840-4.4", "accept-ds-at-root", nsecs(t, ".", ". . NS SOA"), nodata, ". DS", "proven"},
		{"RFC6840-4.3", "reject-cname-bit", nsecs(t, "z.", "a.z. z. CNAME"), nodata, "a.z. A", "unproven"},
		{"RFC4035-5.4", "reject-type-bit", nsecs(t, "z.", "a.z. z. A"), nodata, "a.z. A", "unproven"},
		{"RFC4035-5.4", "accept-nodata", nsecs(t, "z.", "a.z. z. A"), nodata, "a.z. TXT", "proven"},
		{"RFC4035-5.4", "accept-wildcard-nodata", nsecs(t, "z.", "*.z. m.z. A"), nodata, "b.z. TXT", "proven"},
		{"RFC4035-5.4", "reject-wildcard-nodata-with-type", nsecs(t, "z.", "*.z. m.z. A"), nodata, "b.z. A", "unproven"},
		{"RFC4035-5.4", "reject-wildcard-nodata-with-cname", nsecs(t, "z.", "*.z. m.z. CNAME"), nodata, "b.z. A", "unproven"},
		{"RFC4035-5.4", "reject-wildcard-of-wrong-encloser", nsecs(t, "z.", "*.z. a.b.z. A", "a.b.z. m.z. A"), nodata, "c.b.z. TXT", "unproven"},
		{"RFC9824-2", "accept-compact-nodata", nsecs(t, "z.", "b.z. \\000.b.z. RRSIG NSEC"), nodata, "b.z. A", "proven"},
		{"RFC9824-2", "reject-compact-denial-of-names-below", nsecs(t, "z.", "b.z. \\000.b.z. RRSIG NSEC"), nxdomain, "a.b.z.", "unproven"},
		{"RFC9824-2", "accept-compact-denial-as-no-cut", nsecs(t, "z.", "b.z. \\000.b.z. RRSIG NSEC"), cutting, "b.z.", "none"},
		{"RFC4470-3", "accept-minimal-gaps", nsecs(t, "z.", "a\\255.z. b\\000.z. RRSIG NSEC", "\\041.z. +.z. RRSIG NSEC"), nxdomain, "b.z.", "proven"},
		{"RFC4035-5.3.4", "accept-no-closer", nsecs(t, "z.", "*.z. m.z. A"), wildcard, "b.z. z.", "proven"},
		{"RFC4035-5.3.4", "reject-closer-encloser", nsecs(t, "z.", "b.z. m.z. A"), wildcard, "x.b.z. z.", "unproven"},
		{"RFC4035-5.3.4", "reject-closer-encloser-by-next", nsecs(t, "z.", "a.z. y.b.z. A"), wildcard, "x.b.z. z.", "unproven"},
		{"RFC4035-5.3.4", "reject-existing-name", nsecs(t, "z.", "b.z. m.z. A"), wildcard, "b.z. z.", "unproven"},
		{"RFC4035-5.2", "accept-unsigned-cut", nsecs(t, "z.", "sub.z. z. NS"), cutting, "sub.z.", "unsigned"},
		{"RFC4035-5.2", "reject-cut-with-ds", nsecs(t, "z.", "sub.z. z. NS DS"), cutting, "sub.z.", "unknown"},
		{"RFC6840-4.4", "reject-cut-by-childs-own-record", nsecs(t, "z.", "sub.z. z. NS SOA"), cutting, "sub.z.", "unknown"},
		{"RFC4035-5.2", "accept-no-cut-without-ns", nsecs(t, "z.", "sub.z. z. A"), cutting, "sub.z.", "none"},
		{"RFC4035-5.2", "accept-no-cut-where-nothing-is", nsecs(t, "z.", "a.z. z. A"), cutting, "sub.z.", "none"},
		{"RFC4035-5.2", "accept-no-cut-at-empty-non-terminal", nsecs(t, "z.", "a.z. x.sub.z. A"), cutting, "sub.z.", "none"},
		{"RFC4035-5.2", "reject-cut-below-a-cut", nsecs(t, "z.", "sub.z. z. NS DS"), cutting, "x.sub.z.", "unknown"},

		{"RFC5155-8.4", "accept-nxdomain", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+", "*.z.- *.z.+"), nxdomain, "b.z.", "proven"},
		{"RFC5155-8.4", "reject-wildcard-not-denied", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-name-not-denied", nsec3s(t, "z.", "z. z.+ SOA NS", "*.z.- *.z.+"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-no-encloser", nsec3s(t, "z.", "b.z.- b.z.+", "*.z.- *.z.+"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-matching-name", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z. b.z.+ A", "*.z.- *.z.+"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-matching-name-below-a-gap", nsec3s(t, "z.", "z. z.+ SOA NS", "b.a.z. b.a.z.+ A", "a.z.- a.z.+", "*.z.- *.z.+"), nxdomain, "b.a.z.", "unproven"},
		{"RFC5155-8.4", "reject-last-gap-that-ends-at-the-name", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.+ b.z.", "*.z.- *.z.+"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-matching-name-covered-by-whole-zone", nsec3s(t, "z.", "b.z. b.z. A", "z. z. SOA"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-matching-wildcard", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+", "*.z. *.z.+ TXT"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.4", "reject-gap-that-ends-at-the-name", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.", "*.z.- *.z.+"), nxdomain, "b.z.", "unproven"},
		{"RFC5155-8.3", "accept-deep", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+", "*.z.- *.z.+"), nxdomain, "x.y.b.z.", "proven"},
		{"RFC5155-8.3", "reject-wrong-next-closer", nsec3s(t, "z.", "z. z.+ SOA NS", "y.b.z.- y.b.z.+", "*.z.- *.z.+"), nxdomain, "x.y.b.z.", "unproven"},
		{"RFC5155-8.3", "reject-encloser-is-delegation", nsec3s(t, "z.", "sub.z. sub.z.+ NS", "b.sub.z.- b.sub.z.+", "*.sub.z.- *.sub.z.+"), nxdomain, "b.sub.z.", "unproven"},
		{"RFC5155-8.3", "reject-encloser-is-dname", nsec3s(t, "z.", "sub.z. sub.z.+ DNAME", "b.sub.z.- b.sub.z.+", "*.sub.z.- *.sub.z.+"), nxdomain, "b.sub.z.", "unproven"},
		{"RFC5155-9.2", "accept-opt-out-as-insecure", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+ optout", "*.z.- *.z.+"), nxdomain, "b.z.", "opted out"},
		{"RFC5155-8.5", "accept-nodata", nsec3s(t, "z.", "b.z. b.z.+ A"), nodata, "b.z. TXT", "proven"},
		{"RFC5155-8.5", "accept-nodata-without-types", nsec3s(t, "z.", "b.z. b.z.+"), nodata, "b.z. TXT", "proven"},
		{"RFC5155-8.5", "reject-type-bit", nsec3s(t, "z.", "b.z. b.z.+ A"), nodata, "b.z. A", "unproven"},
		{"RFC5155-8.5", "reject-cname-bit", nsec3s(t, "z.", "b.z. b.z.+ CNAME"), nodata, "b.z. A", "unproven"},
		{"RFC5155-8.5", "reject-parents-record", nsec3s(t, "z.", "b.z. b.z.+ NS"), nodata, "b.z. A", "unproven"},
		{"RFC5155-8.6", "accept-ds-at-cut", nsec3s(t, "z.", "b.z. b.z.+ NS"), nodata, "b.z. DS", "proven"},
		{"RFC5155-8.6", "accept-ds-opted-out", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+ optout"), nodata, "b.z. DS", "opted out"},
		{"RFC5155-8.6", "reject-ds-covered-without-opt-out", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+"), nodata, "b.z. DS", "unproven"},
		{"RFC5155-8.6", "reject-childs-record-for-ds", nsec3s(t, "z.", "z. z.+ SOA NS"), nodata, "z. DS", "unproven"},
		{"RFC5155-8.7", "accept-wildcard-nodata", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+", "*.z. *.z.+ A"), nodata, "b.z. TXT", "proven"},
		{"RFC5155-8.7", "accept-wildcard-nodata-opted-out", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+ optout", "*.z. *.z.+ A"), nodata, "b.z. TXT", "opted out"},
		{"RFC5155-8.7", "reject-wildcard-nodata-with-type", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+", "*.z. *.z.+ A"), nodata, "b.z. A", "unproven"},
		{"RFC5155-8.7", "reject-wildcard-with-type-despite-opt-out", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+ optout", "*.z. *.z.+ A"), nodata, "b.z. A", "unproven"},
		{"RFC5155-8.8", "accept-no-closer", nsec3s(t, "z.", "b.z.- b.z.+"), wildcard, "x.b.z. z.", "proven"},
		{"RFC5155-8.8", "accept-no-closer-opted-out", nsec3s(t, "z.", "b.z.- b.z.+ optout"), wildcard, "x.b.z. z.", "opted out"},
		{"RFC5155-8.8", "reject-only-name-itself-covered", nsec3s(t, "z.", "x.b.z.- x.b.z.+"), wildcard, "x.b.z. z.", "unproven"},
		{"RFC5155-8.8", "reject-next-closer-exists", nsec3s(t, "z.", "b.z. b.z.+", "b.z.- b.z.+"), wildcard, "x.b.z. z.", "unproven"},
		{"RFC5155-8.8", "reject-outside-zone", nsec3s(t, "z.", "z. z. SOA NS"), wildcard, "x.b.zz. zz.", "unproven"},
		{"RFC5155-8.4", "reject-outside-zone", nsec3s(t, "z.", "z. z. SOA NS"), nxdomain, "b.zz.", "unproven"},
		{"RFC5155-8.9", "accept-unsigned-cut", nsec3s(t, "z.", "b.z. b.z.+ NS"), cutting, "b.z.", "unsigned"},
		{"RFC5155-8.9", "reject-cut-with-ds", nsec3s(t, "z.", "b.z. b.z.+ NS DS"), cutting, "b.z.", "unknown"},
		{"RFC5155-8.9", "accept-no-cut-without-ns", nsec3s(t, "z.", "b.z. b.z.+ A"), cutting, "b.z.", "none"},
		{"RFC5155-8.9", "accept-opt-out-as-unsigned", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+ optout"), cutting, "b.z.", "opted out"},
		{"RFC5155-8.9", "accept-no-cut-where-nothing-is", nsec3s(t, "z.", "z. z.+ SOA NS", "b.z.- b.z.+"), cutting, "b.z.", "none"},
		{"RFC5155-8.9", "reject-opt-out-below-a-cut", nsec3s(t, "z.", "sub.z. sub.z.+ NS DS", "b.sub.z.- b.sub.z.+ optout"), cutting, "b.sub.z.", "unknown"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				fields := strings.Fields(c.question)
				n := wire(t, fields[0])
				var got string
				var err error
				switch c.kind {
				case nxdomain:
					var p proof
					p, err = c.d.nameError(n)
					got = proofText(p)
				case nodata:
					var p proof
					p, err = c.d.noData(n, dns.StringToType[fields[1]])
					got = proofText(p)
				case wildcard:
					var p proof
					p, err = c.d.noCloser(n, wire(t, fields[1]))
					got = proofText(p)
				case cutting:
					var k cut
					k, err = c.d.cutAt(n)
					got = [...]string{"unknown", "none", "unsigned", "opted out"}[k]
				}
				if err != nil || got != c.want {
					t.Errorf("%s %s: %s, %v, want %s", c.kind, c.question, got, err, c.want)
				}
			})
		})
	}
}

func proofText(p proof) string { return [...]string{"unproven", "opted out", "proven"}[p] }

// TestNSEC3Records: which records count at all.
func TestNSEC3Records(t *testing.T) {
	good := func() *dns.NSEC3 {
		return &dns.NSEC3{Hash: 1, Iterations: 1, Salt: "AB", NextDomain: strings.Repeat("0", 32)}
	}
	owner := strings.Repeat("0", 31) + "1.z."
	for _, c := range []struct {
		id, name, owner string
		change          func(*dns.NSEC3)
		want            int
	}{
		{"RFC5155-3", "accept", owner, func(*dns.NSEC3) {}, 1},
		{"RFC5155-3", "accept-lower-case-next", owner, func(r *dns.NSEC3) { r.NextDomain = strings.Repeat("a", 32) }, 1},
		{"RFC5155-8.1", "reject-unknown-hash", owner, func(r *dns.NSEC3) { r.Hash = 2 }, 0},
		{"RFC5155-8.2", "reject-unknown-flags", owner, func(r *dns.NSEC3) { r.Flags = 3 }, 0},
		{"RFC5155-8.2", "reject-unknown-flag-without-opt-out", owner, func(r *dns.NSEC3) { r.Flags = 2 }, 0},
		{"RFC5155-3", "reject-owner-below-the-zone", strings.Repeat("0", 32) + ".x.z.", func(*dns.NSEC3) {}, 0},
		{"RFC5155-3", "reject-owner-at-apex", "z.", func(*dns.NSEC3) {}, 0},
		{"RFC5155-3", "reject-short-owner", "00000000.z.", func(*dns.NSEC3) {}, 0},
		{"RFC5155-3", "reject-short-next", owner, func(r *dns.NSEC3) { r.NextDomain = "00000000" }, 0},
		{"RFC5155-3", "reject-salt-that-is-no-hex", owner, func(r *dns.NSEC3) { r.Salt = "AG" }, 0},
		{"RFC5155-3", "reject-owner-after-a-hash", strings.Repeat("0", 32) + "!.z.", func(*dns.NSEC3) {}, 0},
		{"RFC5155-3", "reject-next-after-a-hash", owner, func(r *dns.NSEC3) { r.NextDomain = strings.Repeat("0", 32) + "!" }, 0},
		{"RFC5155-3", "reject-owner-that-is-no-hash", strings.Repeat("z", 32) + ".z.", func(*dns.NSEC3) {}, 0},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				z := newNSEC3Records(wire(t, "z."), newBudget(Limits{}.withDefaults()))
				rr := good()
				c.change(rr)
				z.add(wire(t, c.owner), rr)
				if len(z.records) != c.want {
					t.Errorf("%d records", len(z.records))
				}
			})
		})
	}
	t.Run("RFC5155-8.2", func(t *testing.T) {
		t.Run("reject-mixed-parameters", func(t *testing.T) {
			for name, change := range map[string]func(*dns.NSEC3){"salt": func(r *dns.NSEC3) { r.Salt = "" }, "iterations": func(r *dns.NSEC3) { r.Iterations = 2 }} {
				z, first, other := newNSEC3Records(wire(t, "z."), newBudget(Limits{}.withDefaults())), good(), good()
				first.Iterations, other.Iterations = 0, 0
				change(other)
				z.add(wire(t, owner), first)
				z.add(wire(t, owner), other)
				if match, cover, err := z.find(wire(t, "b.z.")); match != nil || cover != nil || err != nil {
					t.Error(name, match, cover, err)
				}
			}
		})
	})
}

// modelZone is a zone drawn at random: names with types, and what really exists in it.
type modelZone struct {
	apex  name
	types map[name][]uint16
	nodes map[name]bool // names with types and empty non-terminals
}

func drawZone(t *rapid.T) *modelZone {
	apex, _ := nameOf("z.")
	z := &modelZone{apex: apex, types: map[name][]uint16{apex: {dns.TypeSOA, dns.TypeNS}}, nodes: map[name]bool{apex: true}}
	for range rapid.IntRange(0, 12).Draw(t, "names") {
		n := drawName(t, apex)
		if n == apex || z.hidden(n) {
			continue
		}
		types := rapid.SampledFrom([][]uint16{
			{dns.TypeA}, {dns.TypeTXT}, {dns.TypeA, dns.TypeTXT}, {dns.TypeCNAME}, {dns.TypeNS}, {dns.TypeNS, dns.TypeDS}, {dns.TypeDNAME},
		}).Draw(t, "types")
		z.types[n] = types
		if typeBits(types).hidesBelow() {
			for other := range z.types {
				if other.isBelow(n) {
					delete(z.types, other)
				}
			}
		}
	}
	for n := range z.types {
		for ; n != apex; n = n.parent() {
			z.nodes[n] = true
		}
	}
	return z
}

func drawName(t *rapid.T, apex name) name {
	n := apex
	for range rapid.IntRange(1, 4).Draw(t, "depth") {
		label := rapid.SampledFrom([]string{"*", "a", "b", "c", "\x01", "\xff"}).Draw(t, "label")
		n = name(string(rune(len(label)))) + name(label) + n
	}
	return n
}

// hidden says whether n lies below a cut or a DNAME.
func (z *modelZone) hidden(n name) bool {
	for n != z.apex {
		n = n.parent()
		if n != z.apex && typeBits(z.types[n]).hidesBelow() || typeBits(z.types[n]).has(dns.TypeDNAME) {
			return true
		}
	}
	return false
}

// answer is the truth: whether n exists, alone or through a wildcard, and whether it has the
// type or an alias.
func (z *modelZone) answer(n name, rrtype uint16) (exists, hasType bool) {
	at := n
	if !z.nodes[n] {
		encloser := n.parent()
		for !z.nodes[encloser] {
			encloser = encloser.parent()
		}
		w, _ := encloser.wildcard()
		if !z.nodes[w] {
			return false, false
		}
		at = w
	}
	types := typeBits(z.types[at])
	return true, types.has(rrtype) || types.has(dns.TypeCNAME)
}

func (z *modelZone) nsecRecords() []nsecRecord {
	var owners []name
	for n := range z.types {
		owners = append(owners, n)
	}
	slices.SortFunc(owners, compareNames)
	var out []nsecRecord
	for i, n := range owners {
		types := append(slices.Clone(z.types[n]), dns.TypeNSEC, dns.TypeRRSIG)
		out = append(out, nsecRecord{n, owners[(i+1)%len(owners)], types})
	}
	return out
}

func (z *modelZone) nsec3Records(h *nsec3Records, optOut bool) []nsec3Record {
	unsigned := func(n name) bool {
		types := typeBits(z.types[n])
		return types.isDelegation() && !types.has(dns.TypeDS)
	}
	var out []nsec3Record
	for n := range z.nodes {
		if optOut && n != z.apex && unsigned(n) {
			continue
		}
		hash, err := h.hash(n)
		if err != nil {
			panic(err)
		}
		out = append(out, nsec3Record{hash: hash, optOut: optOut, types: z.types[n]})
	}
	slices.SortFunc(out, func(a, b nsec3Record) int { return strings.Compare(a.hash, b.hash) })
	for i := range out {
		out[i].next = out[(i+1)%len(out)].hash
	}
	return out
}

// TestDenialNeverLies: no subset of a zone's own denial records proves anything that is not so,
// and the whole set proves everything that is.
func TestDenialNeverLies(t *testing.T) { rapid.Check(t, checkDenial) }

// FuzzDenial draws the same zones from fuzzed bytes.
func FuzzDenial(f *testing.F) {
	f.Add(bytes.Repeat([]byte("\x01\x02\x03\x04\x05\x06\x07\x08"), 512))
	f.Fuzz(rapid.MakeFuzz(checkDenial))
}

func checkDenial(t *rapid.T) {
	z := drawZone(t)
	n := drawName(t, z.apex)
	if z.hidden(n) {
		return
	}
	rrtype := rapid.SampledFrom([]uint16{dns.TypeA, dns.TypeTXT, dns.TypeMX}).Draw(t, "type")
	limits := Limits{}.withDefaults()
	limits.Hashes = 1 << 20
	b := newBudget(limits)
	hashed, all := rapid.Bool().Draw(t, "hashed"), rapid.Bool().Draw(t, "all")
	optOut := rapid.Bool().Draw(t, "opt-out")
	keep := func() bool { return all || rapid.Bool().Draw(t, "keep") }

	d := &denial{nsec: nsecRecords{zone: z.apex}}
	if hashed {
		d.nsec3 = newNSEC3Records(z.apex, b)
		d.nsec3.iterations = 1
		for _, r := range z.nsec3Records(d.nsec3, optOut) {
			if keep() {
				d.nsec3.records = append(d.nsec3.records, r)
			}
		}
	} else {
		for _, r := range z.nsecRecords() {
			if keep() {
				d.nsec.records = append(d.nsec.records, r)
			}
		}
	}
	exists, hasType := z.answer(n, rrtype)
	delegated := typeBits(z.types[n]).isDelegation() && n != z.apex
	describe := fmt.Sprintf("zone %v: %s %s", z.types, n, dns.Type(rrtype))

	p, err := d.nameError(n)
	if err != nil || p == proven && exists || p == optedOut && exists && !delegated && !optOut {
		t.Fatalf("%s: exists, but NXDOMAIN is %s, %v", describe, proofText(p), err)
	}
	if all && !exists && p == unproven {
		t.Fatalf("%s: does not exist, but that is not proven", describe)
	}
	p, err = d.noData(n, rrtype)
	if err != nil || p == proven && (!exists || hasType || delegated) {
		t.Fatalf("%s: exists %t, has type %t, but NODATA is %s, %v", describe, exists, hasType, proofText(p), err)
	}
	if all && exists && !hasType && !delegated && !wildcardCut(z, n) && p == unproven {
		t.Fatalf("%s: has no such type, but that is not proven", describe)
	}
	for encloser := n.parent(); encloser.within(z.apex); encloser = encloser.parent() {
		p, err = d.noCloser(n, encloser)
		closer := z.nodes[n.childOf(encloser)]
		if err != nil || p == proven && closer {
			t.Fatalf("%s: %s exists, but nothing closer than %s is %s, %v", describe, n.childOf(encloser), encloser, proofText(p), err)
		}
		if encloser == z.apex {
			break
		}
	}
	if n == z.apex {
		return
	}
	c, err := d.cutAt(n)
	isCut := typeBits(z.types[n]).isDelegation()
	signedCut := isCut && typeBits(z.types[n]).has(dns.TypeDS)
	if err != nil || c == cutUnsigned && (signedCut || !isCut) || c == cutNone && isCut ||
		c == cutOptedOut && (signedCut || !isCut && !(hashed && optOut && !z.nodes[n])) {
		t.Fatalf("%s: cut %t, signed %t, but it is %d, %v", describe, isCut, signedCut, c, err)
	}
	if all && c == cutUnknown && !signedCut {
		t.Fatalf("%s: nothing is known of the cut", describe)
	}
}

// wildcardCut says whether the wildcard that stands for n is a delegation, which no server
// answers from.
func wildcardCut(z *modelZone, n name) bool {
	for !z.nodes[n] {
		n = n.parent()
	}
	w, _ := n.wildcard()
	return typeBits(z.types[w]).isDelegation()
}
