package dnssec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/test/zone"
)

// scenario is one question put to the world, through an attacker if there are edits.
type scenario struct {
	id, name string // subtest: the rule or the attack, then what happens
	question string // name and type
	want     string // see outcome
	edits    func(w *world) []zone.Edit
}

var scenarios = []scenario{
	// Positive answers.
	{"RFC4035-5.3", "accept-algorithm-8", "www.a8.org A", "secure", nil},
	{"RFC4035-5.3", "accept-algorithm-10", "www.a10.org A", "secure", nil},
	{"RFC4035-5.3", "accept-algorithm-13", "www.a13.org A", "secure", nil},
	{"RFC4035-5.3", "accept-algorithm-14", "www.a14.org A", "secure", nil},
	{"RFC4035-5.3", "accept-algorithm-15", "www.a15.org A", "secure", nil},
	{"RFC4035-5.3", "accept-txt", "www.nsec.org TXT", "secure", nil},
	{"RFC4035-5.3", "accept-srv", "_s._tcp.nsec.org SRV", "secure", nil},
	{"RFC4035-5.3", "accept-aaaa", "www.nsec.org AAAA", "secure", nil},
	{"RFC4035-5.3", "accept-unknown-type", "unknown.nsec.org TYPE65280", "secure", nil},
	{"RFC4034-6.2", "accept-mx-lowered", "mx.nsec.org MX", "secure", nil},
	{"RFC4034-6.2", "accept-naptr-lowered", "naptr.nsec.org NAPTR", "secure", nil},
	{"RFC4034-6.2", "accept-owner-case", "MIXED.nsec.ORG TXT", "secure", nil},
	{"RFC4035-5.2", "accept-sha384-digest", "www.sha384.org A", "secure", nil},
	{"RFC4035-5.2", "accept-split-keys", "www.split.com A", "secure", nil},
	{"RFC4035-5.2", "accept-second-algorithm", "www.dual.org A", "secure", nil},
	{"RFC4035-5.2", "accept-root-answer", ". SOA", "secure", nil},
	{"RFC4035-5.2", "accept-tld-answer", "www.com A", "secure", nil},
	{"RFC4035-5.2", "accept-ds-answer", "nsec.org DS", "secure", nil},
	{"RFC4035-5.2", "accept-dnskey-answer", "nsec.org DNSKEY", "secure", nil},
	{"RFC4035-5.2", "accept-deep-cut", "www.x.y.z.nsec.org A", "secure", nil},
	{"RFC4035-5.2", "accept-cut-in-nsec3", "www.sub.nsec3.com A", "secure", nil},
	{"RFC4035-5.2", "accept-signed-below-opt-out", "www.signed.net A", "secure", nil},

	// Unsigned parts of the tree.
	{"RFC4035-5.2", "accept-unsigned-leaf", "www.plain.org A", "insecure", nil},
	{"RFC5155-8.9", "accept-unsigned-leaf", "www.plain.com A", "insecure", nil},
	{"RFC5155-8.9", "accept-unsigned-leaf-opted-out", "www.plain.net A", "insecure", nil},
	{"RFC4035-5.2", "accept-unsigned-tld", "www.plain.test A", "insecure", nil},
	{"RFC4035-5.2", "accept-unsigned-below-signed", "www.plain.nsec.org A", "insecure", nil},
	{"RFC4035-5.2", "accept-unsigned-nodata", "www.plain.org MX", "insecure nodata", nil},
	{"RFC4035-5.2", "accept-unsigned-nxdomain", "nope.plain.org A", "insecure nxdomain", nil},
	{"RFC4035-4.3", "accept-island", "www.island.org A", "insecure", nil},
	{"RFC4035-4.3", "accept-island-below-unsigned", "www.island.test A", "insecure", nil},
	{"RFC4035-4.3", "accept-island-nxdomain", "nope.island.org A", "insecure nxdomain", nil},
	{"RFC4035-5.2", "accept-unknown-algorithm", "www.algorithm.org A", "insecure", nil},
	{"RFC4035-5.2", "accept-unknown-algorithm-nodata", "www.algorithm.com MX", "insecure nodata", nil},
	{"RFC8624-3.1", "accept-sha1-algorithm-as-insecure", "www.sha1.org A", "insecure", nil},
	{"RFC8624-3.3", "accept-sha1-digest-as-insecure", "www.sha1ds.org A", "insecure", nil},
	{"RFC4509-3", "accept-sha1-digest-beside-sha256", "www.bothds.org A", "secure", nil},
	{"RFC4035-5.2", "accept-unknown-digest", "www.digest.org A", "insecure", nil},
	{"RFC4035-5.2", "accept-opted-out-ent", "hidden.signed.net A", "insecure nodata", nil},
	{"RFC5155-8.9", "accept-opted-out-child", "www.child.signed.net A", "insecure", nil},
	{"RFC5155-8.9", "accept-opted-out-child-below-ent", "www.x.hidden.signed.net A", "insecure", nil},

	// Absences.
	{"RFC4035-5.4", "accept-nxdomain", "nope.nsec.org A", "secure nxdomain", nil},
	{"RFC4035-5.4", "accept-nxdomain-before-first", "!.nsec.org A", "secure nxdomain", nil},
	{"RFC4035-5.4", "accept-nxdomain-after-last", "zzz.nsec.org A", "secure nxdomain", nil},
	{"RFC4035-5.4", "accept-nxdomain-deep", "a.b.c.d.nope.nsec.org A", "secure nxdomain", nil},
	{"RFC4035-5.4", "accept-nodata", "www.nsec.org MX", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nodata-apex", "nsec.org MX", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nodata-ent", "ent.nsec.org A", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nodata-wildcard", "any.wild.nsec.org A", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nodata-ent-below-wildcard", "ent.wild.nsec.org TXT", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nxdomain-root", "nope A", "secure nxdomain", nil},
	{"RFC4035-5.4", "accept-nodata-ds", "www.nsec.org DS", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nodata-ds-at-unsigned-cut", "plain.org DS", "secure nodata", nil},
	{"RFC4035-5.4", "accept-nodata-ds-at-root", ". DS", "secure nodata", nil},
	{"RFC5155-8.4", "accept-nxdomain", "nope.nsec3.com A", "secure nxdomain", nil},
	{"RFC5155-8.4", "accept-nxdomain-deep", "a.b.c.nope.nsec3.com A", "secure nxdomain", nil},
	{"RFC5155-8.4", "accept-nxdomain-tld", "nope.com A", "secure nxdomain", nil},
	{"RFC5155-8.5", "accept-nodata", "www.nsec3.com MX", "secure nodata", nil},
	{"RFC5155-8.5", "accept-nodata-ent", "ent.nsec3.com A", "secure nodata", nil},
	{"RFC5155-8.6", "accept-nodata-ds", "plain.com DS", "secure nodata", nil},
	{"RFC5155-8.6", "accept-nodata-ds-opted-out", "plain.net DS", "insecure nodata", nil},
	{"RFC5155-8.7", "accept-nodata-wildcard", "any.wild.nsec3.com A", "secure nodata", nil},
	{"RFC5155-9.2", "accept-nxdomain-opted-out", "nope.net A", "insecure nxdomain", nil},
	{"RFC5155-9.2", "accept-nxdomain-opted-out-leaf", "nope.signed.net A", "insecure nxdomain", nil},
	{"RFC5155-9.2", "reject-stripped-nxdomain-in-opt-out-zone", "nope.signed.net A", "bogus", edit(zone.On("nope.signed.net", dns.TypeA, zone.StripDNSSEC()))},
	{"RFC5155-9.2", "reject-stripped-nxdomain-in-opt-out-tld", "nope.net A", "bogus", edit(zone.On("nope.net", dns.TypeA, zone.StripDNSSEC()))},
	{"RFC5155-9.2", "accept-stripped-wildcard-where-unsigned-names-may-be", "any.star.net TXT", "insecure", edit(zone.On("any.star.net", dns.TypeTXT, zone.StripDNSSEC()))},
	{"RFC5155-8.5", "accept-nodata-in-opt-out-zone", "www.signed.net MX", "secure nodata", nil},

	// Wildcards.
	{"RFC4035-5.3.4", "accept-wildcard", "any.wild.nsec.org TXT", "secure", nil},
	{"RFC4035-5.3.4", "accept-wildcard-deep", "a.b.any.wild.nsec.org TXT", "secure", nil},
	{"RFC4035-5.3.4", "accept-wildcard-itself", "*.wild.nsec.org TXT", "secure", nil},
	{"RFC5155-8.8", "accept-wildcard", "any.wild.nsec3.com TXT", "secure", nil},
	{"RFC5155-8.8", "accept-wildcard-deep", "a.b.any.wild.nsec3.com TXT", "secure", nil},
	{"RFC5155-8.8", "accept-wildcard-opted-out", "any.star.net TXT", "insecure", nil},
	{"RFC4035-5.3.4", "accept-wildcard-alias", "any.aliases.nsec.org A", "secure", nil},

	// Iterations.
	{"RFC9276-3.2", "accept-100-iterations", "nope.iter100.org A", "secure nxdomain", nil},
	{"G17", "accept-2500-iterations-as-insecure", "nope.iter2500.org A", "insecure nxdomain", nil},
	{"G17", "accept-2500-iterations-nodata", "www.iter2500.org MX", "insecure nodata", nil},
	{"G17", "accept-2500-iterations-positive", "www.iter2500.org A", "secure", nil},
	{"RFC9276-3.2", "accept-signed-child-of-2500-iterations", "www.sub.iter2500.org A", "secure", nil},

	// Aliases.
	{"G11", "accept-cname", "to-self.nsec.org A", "secure", nil},
	{"G11", "accept-cname-to-signed", "to-other.nsec3.com A", "secure", nil},
	{"G11", "accept-cname-to-unsigned-as-insecure", "to-plain.nsec.org A", "insecure", nil},
	{"G11", "accept-cname-to-nxdomain", "to-none.nsec.org A", "secure nxdomain", nil},
	{"G11", "accept-cname-to-nodata", "to-nodata.nsec3.com A", "secure nodata", nil},
	{"G11", "accept-cname-to-wildcard", "to-wild.nsec.org TXT", "secure", nil},
	{"G11", "accept-cname-asked-for", "to-self.nsec.org CNAME", "secure", nil},
	{"G11", "accept-eight-links", "ch.nsec.org A", "secure", nil},
	{"G11", "reject-nine-links", "ci.nsec.org A", "budget", nil},
	{"G11", "reject-loop", "loop1.nsec.org A", "budget", nil},
	{"G11", "reject-cname-to-bogus", "to-bogus.nsec.org A", "bogus", nil},
	{"RFC2181-10.1", "reject-two-aliases-of-one-name", "alias.plain.org A", "server", edit(zone.On("alias.plain.org", 0, zone.Inject(rrs("alias.plain.org. 60 IN CNAME www.attacker.org."), nil)))},
	{"RFC2181-10.1", "accept-one-alias-twice", "alias.plain.org A", "insecure", edit(zone.On("alias.plain.org", 0, zone.Inject(rrs("alias.plain.org. 60 IN CNAME WWW.plain.org."), nil)))},
	{"RFC1035-3.2.4", "reject-other-class", "www.plain.org A", "server", edit(zone.Forge(func(rr dns.RR) {
		if a, ok := rr.(*dns.A); ok {
			a.Hdr.Class = dns.ClassCHAOS
		}
	}), zone.On("www.plain.org", 0, zone.Inject(nil, rrs("plain.org. 60 IN NS ns.plain.org."))))},
	{"G11", "accept-dname", "www.moved.nsec.org A", "secure", nil},
	{"G11", "accept-dname-inside-to-wildcard", "foo.inside.nsec.org TXT", "secure", nil},
	{"G11", "accept-dname-to-nxdomain", "nope.moved.nsec3.com A", "secure nxdomain", nil},
	{"G11", "accept-dname-owner", "moved.nsec.org A", "secure nodata", nil},
	{"RFC6672-5.3.1", "accept-dname-without-cname", "www.moved.nsec.org A", "secure", edit(zone.On("www.moved.nsec.org", 0, zone.Strip(dns.TypeCNAME)))},
	{"RFC6672-5.3.1", "accept-true-target-beside-forged-cname", "www.moved.nsec.org A", "secure", edit(zone.On("www.moved.nsec.org", dns.TypeA, zone.Forge(func(rr dns.RR) {
		switch rr := rr.(type) {
		case *dns.CNAME:
			rr.Target = "www.attacker.org."
		case *dns.A:
			rr.Hdr.Name = "www.attacker.org."
		}
	})))},
	{"RFC6672-5.3.1", "reject-forged-dname", "www.moved.nsec.org A", "bogus", edit(zone.On("www.moved.nsec.org", dns.TypeA, zone.Forge(func(rr dns.RR) {
		if d, ok := rr.(*dns.DNAME); ok {
			d.Target = "attacker.org."
		}
	})))},
	{"G11", "accept-chain-left-to-us", "to-other.nsec.org A", "secure", edit(zone.On("to-other.nsec.org", dns.TypeA, zone.Filter(func(rr dns.RR) bool {
		return strings.HasPrefix(rr.Header().Name, "to-other")
	})))},

	// Signatures that do not hold.
	{"G14", "reject-expired", "www.expired.org A", "bogus", nil},
	{"G14", "reject-not-yet-valid", "www.future.org A", "bogus", nil},
	{"G14", "reject-wrong-ds", "www.wrongds.org A", "bogus", nil},
	{"G14", "reject-revoked-key", "www.revoked.org A", "bogus", nil},
	{"G14", "reject-broken-signature", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", 0, zone.BreakSignatures(dns.TypeA)))},
	{"G14", "reject-broken-dnskey-signature", "www.nsec.org A", "bogus", edit(zone.BreakSignatures(dns.TypeDNSKEY))},
	{"G14", "reject-broken-ds-signature", "www.nsec.org A", "bogus", edit(zone.On("nsec.org", 0, zone.BreakSignatures(dns.TypeDS)))},
	{"G14", "reject-stripped-rrsig", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", 0, zone.Strip(dns.TypeRRSIG)))},
	{"G14", "reject-stripped-leaf", "www.nsec.org A", "bogus", edit(zone.Below("nsec.org", zone.StripDNSSEC()))},
	{"G14", "reject-stripped-below-tld", "www.nsec.org A", "bogus", edit(zone.Below("org", zone.StripDNSSEC()))},
	{"G14", "reject-stripped-alias", "to-self.nsec.org A", "bogus", edit(zone.On("to-self.nsec.org", dns.TypeA, zone.Strip(dns.TypeRRSIG)))},
	{"G14", "reject-stripped-dname", "www.moved.nsec.org A", "bogus", edit(zone.On("www.moved.nsec.org", dns.TypeA, zone.Strip(dns.TypeRRSIG)))},
	{"G14", "reject-unsigned-below-dname", "www.moved.nsec.org A", "bogus", edit(replace("www.moved.nsec.org", dns.TypeA, rrs("www.moved.nsec.org. 60 IN A 192.0.2.66"), nil, 0))},
	{"G14", "reject-unsigned-in-place-of-alias", "to-self.nsec.org A", "bogus", edit(replace("to-self.nsec.org", dns.TypeA, rrs("to-self.nsec.org. 60 IN A 192.0.2.66"), nil, 0))},
	{"G14", "reject-unsigned-below-nothing", "a.b.nope.nsec3.com A", "bogus", edit(replace("a.b.nope.nsec3.com", dns.TypeA, rrs("a.b.nope.nsec3.com. 60 IN A 192.0.2.66"), nil, 0))},
	{"G14", "reject-stripped-negative", "nope.nsec.org A", "bogus", edit(zone.On("nope.nsec.org", 0, zone.StripDNSSEC()))},
	{"G14", "reject-stripped-keys", "www.nsec.org A", "bogus", edit(zone.On("nsec.org", dns.TypeDNSKEY, zone.Strip(dns.TypeDNSKEY)))},
	{"G14", "reject-stripped-ds", "www.nsec.org A", "bogus", edit(zone.On("nsec.org", dns.TypeDS, zone.Strip(dns.TypeDS)))},
	{"G14", "reject-stripped-ds-with-rrsig", "www.nsec.org A", "bogus", edit(zone.On("nsec.org", dns.TypeDS, zone.StripDNSSEC()))},
	{"G14", "reject-tampered-data", "www.nsec.org A", "bogus", edit(zone.Forge(func(rr dns.RR) {
		if a, ok := rr.(*dns.A); ok {
			a.A[3]++
		}
	}))},
	{"G14", "reject-added-record", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", dns.TypeA, zone.Inject(rrs("www.nsec.org. 60 IN A 192.0.2.99"), nil)))},
	{"G14", "reject-removed-record", "nsec.org NS", "bogus", edit(zone.On("nsec.org", dns.TypeNS, zone.Inject(rrs("nsec.org. 60 IN NS ns2.invalid."), nil)))},
	{"G14", "reject-wrong-key", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		set := w.records("www.nsec.org", dns.TypeA, "")[:1]
		forged := append(set, w.attacker.SignSet(w.now, set...)...)
		return []zone.Edit{replace("www.nsec.org", dns.TypeA, forged, nil, 0)}
	}},
	{"G14", "reject-wrong-key-in-the-zones-name", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		set := w.records("www.nsec.org", dns.TypeA, "")[:1]
		sigs := w.attacker.SignSetAs(w.now, "nsec.org", set...)
		return []zone.Edit{replace("www.nsec.org", dns.TypeA, append(set, sigs...), nil, 0)}
	}},
	{"G14", "reject-attackers-key-set", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		set := w.records("www.nsec.org", dns.TypeA, "")[:1]
		keys := w.records("attacker.org", dns.TypeDNSKEY, "nsec.org")[:1]
		return []zone.Edit{
			replace("www.nsec.org", dns.TypeA, append(set, w.attacker.SignSetAs(w.now, "nsec.org", set...)...), nil, 0),
			replace("nsec.org", dns.TypeDNSKEY, append(keys, w.attacker.SignSetAs(w.now, "nsec.org", keys...)...), nil, 0),
		}
	}},
	{"RFC4035-5.2", "reject-key-set-signed-by-a-key-that-no-ds-names", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		keys := append(w.records("nsec.org", dns.TypeDNSKEY, "")[:1], w.records("attacker.org", dns.TypeDNSKEY, "nsec.org")[0])
		set := w.records("www.nsec.org", dns.TypeA, "")[:1]
		set[0].(*dns.A).A[3] = 66
		return []zone.Edit{
			replace("www.nsec.org", dns.TypeA, append(set, w.attacker.SignSetAs(w.now, "nsec.org", set...)...), nil, 0),
			replace("nsec.org", dns.TypeDNSKEY, append(keys, w.attacker.SignSetAs(w.now, "nsec.org", keys...)...), nil, 0),
		}
	}},
	{"RFC4035-5.2", "accept-zone-without-ds-of-its-own", "www.sub.wds.nsec.org A", "insecure", nil},
	{"RFC4035-5.2", "reject-ds-made-from-a-wildcard", "www.sub.wds.nsec.org A", "bogus", func(w *world) []zone.Edit {
		ds := w.records("any.wds.nsec.org", dns.TypeDS, "sub.wds.nsec.org")
		return []zone.Edit{replace("sub.wds.nsec.org", dns.TypeDS, ds, w.get("any.wds.nsec.org", dns.TypeDS).Ns, 0)}
	}},
	{"RFC4035-5.2", "reject-ds-signed-by-the-child", "attacker.org DS", "bogus", func(w *world) []zone.Edit {
		ds := w.records("attacker.org", dns.TypeDS, "")[0]
		ds.(*dns.DS).Digest = strings.Repeat("AB", 32)
		return []zone.Edit{replace("attacker.org", dns.TypeDS, append([]dns.RR{ds}, w.attacker.SignSet(w.now, ds)...), nil, 0)}
	}},
	{"G14", "accept-name-under-attackers-suffix", "www.attacker.org A", "secure", nil},
	{"RFC4035-5.3.1", "reject-signer-that-is-only-a-text-suffix", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", dns.TypeA, zone.Forge(func(rr dns.RR) {
		if sig, ok := rr.(*dns.RRSIG); ok {
			sig.SignerName = "c.org."
		}
	})))},
	{"RFC4035-5.3.1", "reject-more-labels-than-the-name", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", dns.TypeA, zone.Forge(func(rr dns.RR) {
		if sig, ok := rr.(*dns.RRSIG); ok {
			sig.Labels++
		}
	})))},
	{"RFC4035-5.3.3", "accept-raised-ttl", "www.nsec.org A", "secure", edit(zone.On("www.nsec.org", dns.TypeA, zone.Forge(func(rr dns.RR) {
		rr.Header().Ttl = 1 << 30
	})))},

	// Upstreams without DNSSEC.
	{"RFC4035-4.3", "accept-everything-stripped-as-indeterminate", "www.nsec.org A", "indeterminate", edit(zone.StripDNSSEC())},
	{"RFC4035-4.3", "accept-stripped-absence-as-indeterminate", "nope.nsec.org A", "indeterminate nxdomain", edit(zone.StripDNSSEC())},
	{"RFC4035-4.3", "accept-all-but-keys-stripped-as-indeterminate", "www.nsec.org A", "indeterminate",
		edit(zone.Strip(dns.TypeRRSIG, dns.TypeDS, dns.TypeNSEC, dns.TypeNSEC3))},
	{"RFC4035-5.2", "accept-delegation-beside-signature-of-no-zone", "www.x.y.z.nsec.org A", "secure", func(w *world) []zone.Edit {
		m := w.get("x.y.z.nsec.org", dns.TypeDS)
		for _, rr := range m.Answer {
			if sig, ok := rr.(*dns.RRSIG); ok {
				other := dns.Copy(sig).(*dns.RRSIG)
				other.SignerName = "y.z.nsec.org."
				m.Answer = append(m.Answer, other)
			}
		}
		return []zone.Edit{zone.On("x.y.z.nsec.org", dns.TypeDS, zone.Replay(m))}
	}},
	{"G17", "reject-too-many-delegations", "www.nsec.org A", "budget", func(*world) []zone.Edit {
		var many []dns.RR
		for i := range 64 {
			many = append(many, rrs(fmt.Sprintf("nsec.org. 3600 IN DS %d 13 2 %064x", i, i))...)
		}
		return []zone.Edit{zone.On("nsec.org", dns.TypeDS, zone.Inject(many, nil))}
	}},
	{"RFC4035-4.3", "reject-only-keys-stripped", "www.nsec.org A", "bogus", edit(zone.Strip(dns.TypeDNSKEY))},
	{"RFC4035-4.3", "reject-only-root-keys-stripped", "www.nsec.org A", "bogus", edit(zone.On(".", 0, zone.StripDNSSEC()))},
	{"G16", "accept-forged-ad-as-indeterminate", "www.nsec.org A", "indeterminate", edit(zone.StripDNSSEC(), setAD)},
	{"G16", "accept-forged-ad-as-insecure", "www.plain.org A", "insecure", edit(setAD)},
	{"G16", "reject-forged-ad-in-signed-zone", "www.nsec.org A", "bogus", edit(zone.Below("org", zone.StripDNSSEC()), setAD)},

	// Replays and other proofs that prove something else.
	{"RFC4035-5.3.4", "reject-wildcard-without-proof", "any.wild.nsec.org TXT", "bogus", edit(zone.On("any.wild.nsec.org", 0, zone.Strip(dns.TypeNSEC)))},
	{"RFC5155-8.8", "reject-wildcard-without-proof", "any.wild.nsec3.com TXT", "bogus", edit(zone.On("any.wild.nsec3.com", 0, zone.Strip(dns.TypeNSEC3)))},
	{"RFC5155-8.8", "reject-wildcard-without-proof-despite-opt-out", "any.star.net TXT", "bogus", edit(zone.On("any.star.net", dns.TypeTXT, zone.Strip(dns.TypeNSEC3)))},
	{"RFC5155-8.4", "reject-nxdomain-without-proof-despite-opt-out", "nope.signed.net A", "bogus", edit(zone.On("nope.signed.net", dns.TypeA, zone.Strip(dns.TypeNSEC3)))},
	{"RFC4035-5.4", "accept-proof-beside-another-zones", "www.plain.org A", "insecure", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("plain.org", dns.TypeDS, zone.Inject(nil, w.get("nope.net", dns.TypeA).Ns))}
	}},
	{"RFC4035-5.4", "reject-absence-of-two-zones", "nope.nsec3.com A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("nope.nsec3.com", dns.TypeA, zone.Inject(nil, w.get("nope.com", dns.TypeA).Ns))}
	}},
	{"RFC2308-2.2", "reject-answer-to-something-else", "www.plain.org A", "server", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.plain.org", dns.TypeA, zone.Replay(w.get("www.nsec.org", dns.TypeA)))}
	}},
	{"RFC2308-2.2", "reject-referral-as-absence", "www.plain.org A", "server", edit(
		replace("www.plain.org", dns.TypeA, nil, rrs("plain.org. 60 IN NS ns.plain.org."), 0))},
	{"G11", "accept-spoiled-target-that-can-be-asked-for", "to-other.nsec.org A", "secure", edit(zone.On("to-other.nsec.org", dns.TypeA, zone.Forge(func(rr dns.RR) {
		if a, ok := rr.(*dns.A); ok {
			a.A[3]++
		}
	})))},
	{"RFC4035-5.3.4", "reject-wildcard-for-existing-name", "exists.wild.nsec.org TXT", "bogus", func(w *world) []zone.Edit {
		other := w.get("any.wild.nsec.org", dns.TypeTXT)
		return []zone.Edit{replace("exists.wild.nsec.org", dns.TypeTXT, w.records("any.wild.nsec.org", dns.TypeTXT, "exists.wild.nsec.org"), other.Ns, 0)}
	}},
	{"RFC5155-8.8", "reject-wildcard-for-existing-name", "exists.wild.nsec3.com TXT", "bogus", func(w *world) []zone.Edit {
		other := w.get("any.wild.nsec3.com", dns.TypeTXT)
		return []zone.Edit{replace("exists.wild.nsec3.com", dns.TypeTXT, w.records("any.wild.nsec3.com", dns.TypeTXT, "exists.wild.nsec3.com"), other.Ns, 0)}
	}},
	{"RFC4035-5.3.4", "reject-wildcard-for-existing-name-with-its-own-nsec", "exists.wild.nsec.org TXT", "bogus", func(w *world) []zone.Edit {
		own := w.get("exists.wild.nsec.org", dns.TypeMX)
		return []zone.Edit{replace("exists.wild.nsec.org", dns.TypeTXT, w.records("any.wild.nsec.org", dns.TypeTXT, "exists.wild.nsec.org"), own.Ns, 0)}
	}},
	{"RFC4592-2.2.2", "reject-wildcard-for-empty-non-terminal", "ent.wild.nsec.org TXT", "bogus", func(w *world) []zone.Edit {
		own := w.get("ent.wild.nsec.org", dns.TypeTXT)
		return []zone.Edit{replace("ent.wild.nsec.org", dns.TypeTXT, w.records("any.wild.nsec.org", dns.TypeTXT, "ent.wild.nsec.org"), own.Ns, 0)}
	}},
	{"RFC4592-2.2.2", "reject-wildcard-below-closer-name", "x.ent.wild.nsec.org TXT", "bogus", func(w *world) []zone.Edit {
		own := w.get("x.ent.wild.nsec.org", dns.TypeTXT)
		return []zone.Edit{replace("x.ent.wild.nsec.org", dns.TypeTXT, w.records("any.wild.nsec.org", dns.TypeTXT, "x.ent.wild.nsec.org"), own.Ns, 0)}
	}},
	{"RFC4035-5.4", "reject-replayed-nxdomain", "www.nsec.org A", "bogus", replay("nope.nsec.org", "www.nsec.org", dns.TypeA)},
	{"RFC5155-8.4", "reject-replayed-nxdomain", "www.nsec3.com A", "bogus", replay("nope.nsec3.com", "www.nsec3.com", dns.TypeA)},
	{"RFC5155-8.4", "reject-nxdomain-whose-nsec3-matches-the-name", "www.nsec3.com A", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.nsec3.com", dns.TypeA)
		for _, name := range []string{"www.nsec3.com", "nsec3.com", "*.nsec3.com", "x.www.nsec3.com"} {
			m.Ns = append(m.Ns, w.get(name, dns.TypeMX).Ns...)
		}
		return []zone.Edit{zone.On("www.nsec3.com", dns.TypeA, zone.Replay(m))}
	}},
	{"RFC4035-5.4", "reject-replayed-nodata", "www.nsec.org A", "bogus", replay("mixed.nsec.org", "www.nsec.org", dns.TypeA)},
	{"RFC4035-5.4", "reject-nodata-with-own-nsec", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.nsec.org", dns.TypeA, zone.Replay(w.get("www.nsec.org", dns.TypeMX)))}
	}},
	{"RFC5155-8.5", "reject-nodata-with-own-nsec3", "www.nsec3.com A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.nsec3.com", dns.TypeA, zone.Replay(w.get("www.nsec3.com", dns.TypeMX)))}
	}},
	{"RFC6840-4.3", "reject-nodata-where-cname-bit-is-set", "to-self.nsec.org A", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.nsec.org", dns.TypeA)
		m.Rcode = dns.RcodeSuccess
		m.Ns = append(m.Ns, w.get("to-self.nsec.org", dns.TypeNSEC).Answer...)
		return []zone.Edit{zone.On("to-self.nsec.org", dns.TypeA, zone.Replay(m))}
	}},
	{"RFC6840-4.1", "reject-ancestor-nsec", "www.sub.nsec.org A", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.nsec.org", dns.TypeA)
		m.Ns = append(m.Ns, nsecAtCut(w, "sub.nsec.org")...)
		return []zone.Edit{zone.On("www.sub.nsec.org", dns.TypeA, zone.Replay(m))}
	}},
	{"RFC6840-4.1", "reject-ancestor-nsec3", "www.sub.nsec3.com A", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.nsec3.com", dns.TypeA)
		for _, name := range []string{"nope.nsec3.com", "*.sub.nsec3.com", "www.sub.nsec3.com", "a.nsec3.com", "b.nsec3.com", "c.nsec3.com", "d.nsec3.com"} {
			m.Ns = append(m.Ns, w.get(name, dns.TypeA).Ns...)
		}
		m.Ns = append(m.Ns, w.get("sub.nsec3.com", dns.TypeDS).Ns...)
		return []zone.Edit{zone.On("www.sub.nsec3.com", dns.TypeA, zone.Replay(m))}
	}},
	{"RFC6840-4.1", "reject-parents-nsec-for-child-apex", "plain.nsec.org A", "bogus", func(w *world) []zone.Edit {
		m := w.get("plain.nsec.org", dns.TypeDS) // speaks for DS only
		return []zone.Edit{zone.On("sub.nsec.org", dns.TypeA, zone.Replay(m)), zone.On("plain.nsec.org", dns.TypeA, zone.Replay(m)),
			zone.On("plain.nsec.org", dns.TypeDS, zone.Strip(dns.TypeNSEC))}
	}},
	{"RFC6840-4.4", "reject-childs-nsec-for-ds", "www.sub.nsec.org A", "bogus", func(w *world) []zone.Edit {
		m := w.get("sub.nsec.org", dns.TypeMX) // the apex record of the child: NS, SOA, no DS
		return []zone.Edit{zone.On("sub.nsec.org", dns.TypeDS, zone.Replay(m)), zone.On("www.sub.nsec.org", 0, zone.StripDNSSEC())}
	}},
	{"RFC6840-4.4", "reject-nodata-without-ns-as-cut", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		// The true proof that www has no DS, with an unsigned answer: www is not a zone.
		return []zone.Edit{zone.On("www.nsec.org", dns.TypeA, zone.StripDNSSEC())}
	}},
	{"RFC5155-8.9", "reject-opt-out-downgrade", "www.signed.net A", "bogus", func(w *world) []zone.Edit {
		m := w.get("plain.net", dns.TypeDS)
		for _, name := range []string{"a.net", "b.net", "c.net", "d.net", "e.net", "f.net"} {
			m.Ns = append(m.Ns, w.get(name, dns.TypeDS).Ns...)
		}
		return []zone.Edit{zone.On("signed.net", dns.TypeDS, zone.Replay(m)), zone.Below("www.signed.net", zone.StripDNSSEC())}
	}},
	{"RFC4035-5.4", "reject-ds-denied-by-another-cut", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("nsec.org", dns.TypeDS, zone.Replay(w.get("plain.org", dns.TypeDS))), zone.Below("www.nsec.org", zone.StripDNSSEC())}
	}},
	{"RFC4035-5.4", "reject-nxdomain-without-wildcard-denial", "nope.wild.nsec.org TXT", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.wild.nsec.org", dns.TypeTXT)
		m.Answer, m.Rcode = nil, dns.RcodeNameError
		m.Ns = append(m.Ns, w.records("nsec.org", dns.TypeSOA, "")...)
		return []zone.Edit{zone.On("nope.wild.nsec.org", dns.TypeTXT, zone.Replay(m))}
	}},
	{"RFC5155-8.4", "reject-nxdomain-without-wildcard-denial", "nope.wild.nsec3.com TXT", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.wild.nsec3.com", dns.TypeMX)
		m.Answer, m.Rcode = nil, dns.RcodeNameError
		return []zone.Edit{zone.On("nope.wild.nsec3.com", dns.TypeTXT, zone.Replay(m))}
	}},
	{"RFC5155-8.4", "reject-missing-closest-encloser", "nope.nsec3.com A", "bogus", func(w *world) []zone.Edit {
		m := w.get("nope.nsec3.com", dns.TypeA)
		return []zone.Edit{zone.On("nope.nsec3.com", dns.TypeA, dropMatching(m, "nsec3.com"))}
	}},
	{"RFC4035-5.4", "reject-nsec-of-another-zone", "nope.nsec.org A", "bogus", replay("nope.attacker.org", "nope.nsec.org", dns.TypeA)},
	{"RFC4035-5.4", "reject-nsec-made-from-a-wildcard", "any.wild.nsec.org MX", "bogus", func(w *world) []zone.Edit {
		m := w.get("any.wild.nsec.org", dns.TypeMX)
		for _, rr := range m.Ns {
			if strings.HasPrefix(rr.Header().Name, "*.wild") {
				rr.Header().Name = "any.wild.nsec.org."
			}
		}
		kept := m.Ns[:0]
		for _, rr := range m.Ns {
			if name := rr.Header().Name; name == "any.wild.nsec.org." || name == "nsec.org." {
				kept = append(kept, rr)
			}
		}
		m.Ns = kept
		return []zone.Edit{zone.On("any.wild.nsec.org", dns.TypeMX, zone.Replay(m))}
	}},
	{"RFC2308-5", "reject-tampered-soa", "nope.nsec.org A", "bogus", edit(zone.On("nope.nsec.org", 0, zone.Forge(func(rr dns.RR) {
		if soa, ok := rr.(*dns.SOA); ok {
			soa.Minttl = 86400
		}
	})))},
	{"RFC2308-5", "reject-unsigned-soa", "nope.nsec.org A", "bogus", edit(zone.On("nope.nsec.org", 0, func(_, m *dns.Msg) *dns.Msg {
		kept := m.Ns[:0]
		for _, rr := range m.Ns {
			if sig, ok := rr.(*dns.RRSIG); !ok || sig.TypeCovered != dns.TypeSOA {
				kept = append(kept, rr)
			}
		}
		m.Ns = kept
		return m
	}))},
	{"RFC2308-5", "accept-absence-without-soa", "nope.nsec.org A", "secure nxdomain", edit(zone.On("nope.nsec.org", 0, zone.Filter(func(rr dns.RR) bool {
		sig, ok := rr.(*dns.RRSIG)
		return rr.Header().Rrtype != dns.TypeSOA && !(ok && sig.TypeCovered == dns.TypeSOA)
	})))},
	{"RFC4035-5.4", "reject-nxdomain-turned-into-nodata", "nope.nsec.org A", "bogus", edit(zone.On("nope.nsec.org", 0, setRcode(dns.RcodeSuccess)))},
	{"RFC5155-8.4", "reject-nxdomain-turned-into-nodata", "nope.nsec3.com A", "bogus", edit(zone.On("nope.nsec3.com", 0, setRcode(dns.RcodeSuccess)))},
	{"RFC4035-5.4", "accept-nodata-turned-into-nxdomain", "www.nsec.org MX", "secure nodata", edit(zone.On("www.nsec.org", 0, setRcode(dns.RcodeNameError)))},
	{"RFC5155-8.5", "accept-nodata-turned-into-nxdomain", "www.nsec3.com MX", "secure nodata", edit(zone.On("www.nsec3.com", 0, setRcode(dns.RcodeNameError)))},
	{"RFC4035-5.4", "reject-answer-turned-into-nxdomain", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", 0, setRcode(dns.RcodeNameError)))},
	{"RFC4035-5.4", "reject-emptied-answer", "www.nsec.org A", "bogus", edit(zone.On("www.nsec.org", dns.TypeA, zone.Replay(new(dns.Msg))))},
	{"RFC4035-5.3", "reject-injected-cname", "nope.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{replace("nope.nsec.org", dns.TypeA,
			append(rrs("nope.nsec.org. 60 IN CNAME www.attacker.org."), w.records("www.attacker.org", dns.TypeA, "")...), nil, 0)}
	}},
	{"RFC4035-5.3", "reject-moved-cname", "nope.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{replace("nope.nsec.org", dns.TypeA,
			append(w.records("alias.attacker.org", dns.TypeCNAME, "nope.nsec.org"), w.records("www.attacker.org", dns.TypeA, "")...), nil, 0)}
	}},
	{"RFC2181-5.4", "accept-junk-beside-the-answer", "www.nsec.org A", "secure", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.nsec.org", dns.TypeA, zone.Inject(
			append(rrs("www.other.example. 60 IN A 192.0.2.66"), w.records("www.attacker.org", dns.TypeA, "")...),
			rrs("com. 60 IN NS ns.attacker.org.")))}
	}},
	{"RFC4035-5.3", "accept-extra-worthless-signature", "www.nsec.org A", "secure", func(w *world) []zone.Edit {
		set := w.records("www.nsec.org", dns.TypeA, "")
		sigs := w.attacker.SignSetAs(w.now, "nsec.org", set[0])
		return []zone.Edit{replace("www.nsec.org", dns.TypeA, append(sigs, set...), nil, 0)}
	}},
	{"RFC4035-5.3", "accept-signature-of-no-zone-beside-good-one", "www.nsec.org A", "secure", func(w *world) []zone.Edit {
		set := w.records("www.nsec.org", dns.TypeA, "")
		sigs := w.attacker.SignSetAs(w.now, "www.nsec.org", set[0])
		return []zone.Edit{replace("www.nsec.org", dns.TypeA, append(sigs, set...), nil, 0)}
	}},
	{"RFC4035-5.3", "accept-junk-signature-in-unsigned-zone", "www.plain.org A", "insecure", func(w *world) []zone.Edit {
		set := w.records("www.plain.org", dns.TypeA, "")
		return []zone.Edit{replace("www.plain.org", dns.TypeA, append(set, w.attacker.SignSet(w.now, set[0])...), nil, 0)}
	}},

	// A referral denies nothing, whatever proofs it brings about the cut.
	{"RFC2308-2.2", "reject-referral-from-opt-out-zone", "www.plain.net A", "server", func(w *world) []zone.Edit {
		return []zone.Edit{replace("www.plain.net", dns.TypeA, nil, append(rrs("plain.net. 60 IN NS ns.plain.net."), proofs(w, "plain.net")...), 0)}
	}},
	{"RFC2308-2.2", "reject-referral-with-junk-denial", "www.plain.org A", "server", func(w *world) []zone.Edit {
		junk := rrs("www.plain.org. 60 IN NSEC x.plain.org. TXT")
		junk = append(junk, w.attacker.SignSetAs(w.now, "plain.org", junk[0])...)
		return []zone.Edit{replace("www.plain.org", dns.TypeA, nil, append(junk, rrs("plain.org. 60 IN NS ns.plain.org.")...), 0)}
	}},

	// Work that is not done.
	{"G17", "reject-keytrap-keys", "www.keytrap.org A", "budget", nil},
	{"G17", "reject-keytrap-signatures", "www.sigtrap.org A", "budget", nil},
}

func TestScenarios(t *testing.T) { runScenarios(t, scenarios) }

func runScenarios(t *testing.T, scenarios []scenario) {
	w := sharedWorld()
	for _, s := range scenarios {
		t.Run(s.id, func(t *testing.T) {
			t.Run(s.name, func(t *testing.T) {
				m := &zone.Mangler{Next: w.Server}
				if s.edits != nil {
					m.Edits = s.edits(w)
				}
				name, rrtype, _ := strings.Cut(s.question, " ")
				r := w.resolver(t, m)
				result, err := r.Lookup(t.Context(), name, typeFromText(t, rrtype))
				if got := outcome(result, err); got != s.want {
					t.Errorf("%s: %s (%v), want %s", s.question, got, err, s.want)
				}
			})
		})
	}
}

func typeFromText(t testing.TB, text string) uint16 {
	if text == "TYPE65280" {
		return 65280
	}
	return typeOf(t, text)
}
