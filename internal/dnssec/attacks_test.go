package dnssec_test

import (
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

var attacks = []scenario{
	{"O18", "reject-wildcard-cname-for-ds", "www.sub.aliases.nsec.org A", "bogus", expandAlias("nsec.org")},
	{"O18", "reject-wildcard-cname-for-ds-nsec3", "www.sub.aliases.nsec3.com A", "bogus", expandAlias("nsec3.com")},
	{"O18", "reject-wildcard-answer-for-an-existing-name", "sub.aliases.nsec3.com CNAME", "bogus", func(w *world) []zone.Edit {
		other := w.get("any.aliases.nsec3.com", dns.TypeCNAME)
		return []zone.Edit{replace("sub.aliases.nsec3.com", dns.TypeCNAME,
			w.records("any.aliases.nsec3.com", dns.TypeCNAME, "sub.aliases.nsec3.com"), other.Ns, 0)}
	}},
	{"O18", "accept-child-beside-wildcard-cname", "www.sub.aliases.nsec.org A", "secure", nil},
	{"O18", "accept-child-beside-wildcard-cname-nsec3", "www.sub.aliases.nsec3.com A", "secure", nil},
	{"O18", "accept-wildcard-cname-with-its-proof", "any.aliases.nsec3.com A", "secure", nil},
	{"O18", "reject-unsigned-data-below-wildcard-cname", "www.any.aliases.nsec3.com A", "bogus", edit(
		replace("www.any.aliases.nsec3.com", dns.TypeA, rrs("www.any.aliases.nsec3.com. 60 IN A 192.0.2.66"), nil, 0))},

	{"O19", "reject-wildcard-dname", "www.any.dnames.nsec.org A", "bogus", expandDNAME("nsec.org", true)},
	{"O19", "reject-wildcard-dname-nsec3", "www.any.dnames.nsec3.com A", "bogus", expandDNAME("nsec3.com", true)},
	{"O19", "reject-wildcard-dname-without-proof", "www.any.dnames.nsec.org A", "bogus", expandDNAME("nsec.org", false)},
	{"O18", "reject-wildcard-answer-below-an-asterisk", "x.*.wild.nsec.org TXT", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{replace("x.*.wild.nsec.org", dns.TypeTXT,
			w.records("any.wild.nsec.org", dns.TypeTXT, "x.*.wild.nsec.org"), w.get("any.wild.nsec.org", dns.TypeTXT).Ns, 0)}
	}},
	{"O18", "reject-wildcard-answer-below-an-asterisk-nsec3", "x.*.wild.nsec3.com TXT", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{replace("x.*.wild.nsec3.com", dns.TypeTXT,
			w.records("any.wild.nsec3.com", dns.TypeTXT, "x.*.wild.nsec3.com"), w.get("any.wild.nsec3.com", dns.TypeTXT).Ns, 0)}
	}},
	{"O18", "accept-nothing-below-an-asterisk", "x.*.wild.nsec3.com TXT", "secure nxdomain", nil},

	{"O19", "accept-dname", "www.moved.nsec3.com A", "secure", nil},
	{"O19", "accept-dname-at-the-wildcard-itself", "www.*.dnames.nsec.org A", "secure", nil},

	{"O30", "accept-nxdomain-for-empty-non-terminal", "ent.nsec.org A", "secure nodata", edit(zone.On("ent.nsec.org", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-nxdomain-for-empty-non-terminal-nsec3", "ent.nsec3.com A", "secure nodata", edit(zone.On("ent.nsec3.com", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-nxdomain-for-empty-non-terminal-below-wildcard", "ent.wild.nsec3.com TXT", "secure nodata",
		edit(zone.On("ent.wild.nsec3.com", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-nxdomain-for-empty-non-terminal-on-the-way", "www.x.y.z.nsec.org A", "secure", edit(
		zone.On("y.z.nsec.org", 0, setRcode(dns.RcodeNameError)), zone.On("z.nsec.org", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "reject-nxdomain-for-empty-non-terminal-without-proof", "ent.nsec.org A", "bogus", func(w *world) []zone.Edit {
		m := dropProofs(w.get("ent.nsec.org", dns.TypeA))
		m.Rcode = dns.RcodeNameError
		return []zone.Edit{zone.On("ent.nsec.org", dns.TypeA, zone.Replay(m))}
	}},
	{"O30", "accept-nxdomain-for-name-with-other-records", "www.nsec3.com MX", "secure nodata", edit(zone.On("www.nsec3.com", 0, setRcode(dns.RcodeNameError)))},

	{"O30", "accept-nxdomain-for-wildcard-without-the-type", "any.wild.nsec.org A", "secure nodata", edit(zone.On("any.wild.nsec.org", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-nxdomain-for-wildcard-without-the-type-nsec3", "any.wild.nsec3.com A", "secure nodata", edit(zone.On("any.wild.nsec3.com", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-alias-to-nxdomain-for-name-with-other-records", "to-other.nsec.org MX", "secure nodata", edit(zone.On("to-other.nsec.org", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "reject-nxdomain-for-name-with-the-type", "www.nsec.org A", "bogus", deniedAs("www.nsec.org", dns.TypeA, "www.nsec.org", dns.TypeMX)},
	{"O30", "reject-nxdomain-for-name-with-the-type-nsec3", "www.nsec3.com A", "bogus", deniedAs("www.nsec3.com", dns.TypeA, "www.nsec3.com", dns.TypeMX)},
	{"O30", "reject-nxdomain-for-wildcard-with-the-type", "any.wild.nsec.org TXT", "bogus", deniedAs("any.wild.nsec.org", dns.TypeTXT, "any.wild.nsec.org", dns.TypeA)},
	{"O30", "reject-nxdomain-for-wildcard-with-the-type-nsec3", "any.wild.nsec3.com TXT", "bogus", deniedAs("any.wild.nsec3.com", dns.TypeTXT, "any.wild.nsec3.com", dns.TypeA)},
	{"O30", "reject-nxdomain-for-an-alias", "to-other.nsec.org A", "bogus", deniedAs("to-other.nsec.org", dns.TypeA, "to-other.nsec.org", dns.TypeDS)},

	{"O30", "accept-compact-denial", "no.nsec.org A", "secure nxdomain", compactly("RRSIG NSEC NXNAME", dns.RcodeSuccess)},
	{"O30", "accept-compact-denial-with-nxdomain", "no.nsec.org A", "secure nxdomain", compactly("RRSIG NSEC NXNAME", dns.RcodeNameError)},
	{"O30", "accept-compact-denial-of-the-type", "no.nsec.org A", "secure nodata", compactly("TXT RRSIG NSEC", dns.RcodeSuccess)},
	{"O30", "accept-nxdomain-beside-compact-denial-of-the-type", "no.nsec.org A", "secure nodata", compactly("TXT RRSIG NSEC", dns.RcodeNameError)},

	{"O30", "accept-nxdomain-beside-compact-denial-without-types", "no.nsec.org A", "secure nodata", compactly("RRSIG NSEC", dns.RcodeNameError)},
	{"O30", "accept-compact-denial-nsec3", "no.nsec3.com A", "secure nxdomain", compactlyHashed("no", "no", "NXNAME", dns.RcodeSuccess)},
	{"O30", "accept-compact-denial-nsec3-with-nxdomain", "no.nsec3.com A", "secure nxdomain", compactlyHashed("no", "no", "RRSIG NXNAME", dns.RcodeNameError)},
	{"O30", "accept-compact-denial-nsec3-without-types", "no.nsec3.com A", "secure nodata", compactlyHashed("no", "no", "RRSIG", dns.RcodeNameError)},
	{"O30", "accept-nxdomain-beside-compact-denial-nsec3-of-the-type", "no.nsec3.com A", "secure nodata",
		compactlyHashed("no", "no", "TXT RRSIG", dns.RcodeNameError)},
	{"O30", "reject-compact-denial-nsec3-of-another-name", "www.nsec3.com A", "bogus", compactlyHashed("www", "no", "NXNAME", dns.RcodeNameError)},
	{"O30", "reject-compact-denial-nsec3-of-the-name-above", "a.no.nsec3.com A", "bogus", compactlyHashed("a.no", "no", "NXNAME", dns.RcodeNameError)},
	{"O30", "accept-alias-to-compact-denial", "to-compact.chain.org A", "secure nxdomain", func(w *world) []zone.Edit {
		denial := compactDenial(w, "RRSIG NSEC NXNAME")
		return []zone.Edit{replace("to-compact.chain.org", dns.TypeA, w.records("to-compact.chain.org", dns.TypeCNAME, ""), denial, 0)}
	}},
	{"O30", "accept-alias-to-nxdomain-for-empty-non-terminal", "to-ent.chain.org A", "secure nodata",
		edit(zone.On("to-ent.chain.org", 0, setRcode(dns.RcodeNameError)))},

	{"O30", "accept-nxdomain-for-opted-out-empty-non-terminal", "hidden.signed.net A", "insecure nxdomain",
		edit(zone.On("hidden.signed.net", 0, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-opted-out-child-denied-by-the-parent", "www.child.signed.net A", "insecure nxdomain", func(w *world) []zone.Edit {
		return []zone.Edit{replace("www.child.signed.net", dns.TypeA, nil, w.get("child.signed.net", dns.TypeDS).Ns, dns.RcodeNameError)}
	}},
	{"O30", "reject-existing-name-denied-by-opt-out", "www.signed.net A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{replace("www.signed.net", dns.TypeA, nil, w.get("nope.signed.net", dns.TypeA).Ns, dns.RcodeNameError)}
	}},
	{"O30", "reject-wildcard-with-the-type-denied-by-opt-out", "any.wild.signed.net TXT", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{replace("any.wild.signed.net", dns.TypeTXT, nil, w.get("any.wild.signed.net", dns.TypeMX).Ns, dns.RcodeNameError)}
	}},

	{"O30", "accept-cname-asked-for-below-dname", "www.moved.nsec.org CNAME", "secure", nil},
	{"O30", "accept-cname-asked-for-below-dname-not-sent", "www.moved.nsec3.com CNAME", "secure", edit(zone.Strip(dns.TypeCNAME))},
	{"O30", "accept-cname-asked-for-below-dname-of-unsigned-zone", "www.deep.unchain.org CNAME", "insecure", nil},
	{"O30", "reject-cname-asked-for-below-forged-dname", "www.moved.nsec.org CNAME", "bogus", edit(zone.On("www.moved.nsec.org", dns.TypeCNAME,
		zone.Forge(func(rr dns.RR) {
			if d, ok := rr.(*dns.DNAME); ok {
				d.Target = "attacker.org."
			}
		})))},
	{"O30", "accept-ds-asked-for-below-dname", "www.moved.nsec.org DS", "secure nodata", nil},
	{"O30", "accept-ds-of-an-alias", "to-other.nsec.org DS", "secure nodata", nil},

	{"O30", "accept-dname-into-unsigned-child", "www.to-plain.chain.org A", "insecure", nil},
	{"O30", "accept-dname-into-unsigned-child-denied-by-the-parent", "www.to-plain.chain.org A", "insecure nxdomain", func(w *world) []zone.Edit {
		denial := w.get("plain.nsec.org", dns.TypeDS).Ns
		return []zone.Edit{
			replace("www.to-plain.chain.org", dns.TypeA, w.records("to-plain.chain.org", dns.TypeDNAME, ""), denial, dns.RcodeNameError),
			replace("www.plain.nsec.org", dns.TypeA, nil, denial, dns.RcodeNameError),
		}
	}},
	{"O30", "accept-wildcard-alias-into-unsigned-child-denied-by-the-parent", "any.to-plain-child.chain.org A", "insecure nodata", func(w *world) []zone.Edit {
		denial := w.get("plain.nsec3.com", dns.TypeDS).Ns
		m := w.get("any.to-plain-child.chain.org", dns.TypeA)
		m.Answer, m.Ns = w.records("any.to-plain-child.chain.org", dns.TypeCNAME, ""), append(m.Ns, denial...)
		return []zone.Edit{zone.On("any.to-plain-child.chain.org", dns.TypeA, zone.Replay(m)), replace("www.plain.nsec3.com", dns.TypeA, nil, denial, 0)}
	}},
	{"O30", "accept-alias-through-unsigned-zone-as-insecure", "to-unsigned.chain.org A", "insecure", nil},
	{"O30", "accept-dname-to-dname", "www.deep.chain.org A", "secure", nil},
	{"O30", "accept-dname-to-dname-without-cnames", "www.deep.chain.org A", "secure", edit(zone.Strip(dns.TypeCNAME))},
	{"O30", "accept-dname-of-unsigned-zone", "nope.deep.unchain.org A", "insecure nxdomain", nil},
	{"O30", "accept-dname-at-apex", "a.b.nope.dname.org A", "secure nxdomain", nil},
	{"O30", "accept-dname-at-apex-denies-other-types-there", "dname.org A", "secure nodata", nil},
	{"O30", "accept-alias-to-opted-out-absence", "to-opt-out.chain.org A", "insecure nxdomain", nil},
	{"O30", "reject-dname-to-bogus", "www.to-expired.chain.org A", "bogus", nil},
	{"O30", "reject-unsigned-alias-to-bogus", "to-expired.unchain.org A", "bogus", nil},

	{"O30", "accept-unsigned-child-whose-ds-is-denied-with-nxdomain", "www.plain.nsec.org A", "insecure",
		edit(zone.On("plain.nsec.org", dns.TypeDS, setRcode(dns.RcodeNameError)))},
	{"O30", "accept-unsigned-child-whose-ds-is-denied-in-a-referral", "www.plain.nsec.org A", "insecure",
		edit(zone.On("plain.nsec.org", dns.TypeDS, zone.Strip(dns.TypeSOA), zone.Inject(nil, rrs("plain.nsec.org. 60 IN NS ns.plain.nsec.org."))))},
	{"O30", "reject-unsigned-child-whose-ds-is-denied-by-itself", "www.plain.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("plain.nsec.org", dns.TypeDS, zone.Replay(w.get("plain.nsec.org", dns.TypeMX)))}
	}},

	{"O30", "accept-one-algorithm-of-two-stripped", "www.two.org A", "secure", withoutAlgorithm("two.org", dns.ECDSAP256SHA256)},
	{"O30", "accept-other-algorithm-of-two-stripped", "nope.two.org A", "secure nxdomain", withoutAlgorithm("two.org", dns.ED25519)},
	{"O30", "accept-algorithm-without-ds", "www.two-one-ds.org A", "secure", edit(zone.On("www.two-one-ds.org", dns.TypeA, withoutSignatures(dns.ECDSAP256SHA256)))},
	{"O30", "reject-keys-signed-by-algorithm-without-ds", "www.two-one-ds.org A", "bogus",
		edit(zone.On("two-one-ds.org", dns.TypeDNSKEY, withoutSignatures(dns.ECDSAP256SHA256)))},
	{"O30", "reject-wrong-ds-beside-unknown-algorithm", "www.wrong-second-ds.org A", "bogus", nil},
	{"O30", "reject-wrong-sha256-beside-right-sha1", "www.wrong-sha256.org A", "bogus", nil},
	{"O30", "accept-only-weak-digests-as-insecure", "www.weak-digests.org A", "insecure", nil},

	{"O30", "accept-alias-into-unsigned-child-denied-by-the-parent", "to-child.nsec.org A", "insecure nodata", parentDenies("nsec.org", dns.RcodeSuccess)},
	{"O30", "accept-alias-into-unsigned-child-denied-by-the-parent-nsec3", "to-child.nsec3.com A", "insecure nxdomain",
		parentDenies("nsec3.com", dns.RcodeNameError)},
	{"O30", "accept-unsigned-child-denied-by-the-parent", "www.plain.nsec.org A", "insecure nxdomain", parentDenies("nsec.org", dns.RcodeNameError)},
	{"O30", "accept-unsigned-child-denied-without-proof", "www.plain.nsec.org A", "insecure nodata", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.plain.nsec.org", dns.TypeA, zone.Replay(dropProofs(w.get("www.nsec.org", dns.TypeMX))))}
	}},
	{"O30", "accept-alias-asked-again-in-unsigned-child", "to-child.nsec.org A", "insecure", func(w *world) []zone.Edit {
		return parentDenies("nsec.org", dns.RcodeSuccess)(w)[:1]
	}},
	{"O30", "accept-unsigned-child-with-a-signature-of-the-parents-name", "www.plain.nsec.org A", "insecure", func(w *world) []zone.Edit {
		set := w.records("www.plain.nsec.org", dns.TypeA, "")
		return []zone.Edit{replace("www.plain.nsec.org", dns.TypeA, append(set, w.attacker.SignSetAs(w.now, "nsec.org", set...)...), nil, 0)}
	}},
	{"O30", "reject-referral-from-the-parent-as-absence", "www.plain.nsec.org A", "server", func(w *world) []zone.Edit {
		return []zone.Edit{replace("www.plain.nsec.org", dns.TypeA, nil,
			append(rrs("plain.nsec.org. 60 IN NS ns.plain.nsec.org."), proofs(w, "plain.nsec.org")...), 0)}
	}},
	{"O30", "reject-signed-child-denied-by-the-parent", "www.sub.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.sub.nsec.org", dns.TypeA, zone.Replay(w.get("plain.nsec.org", dns.TypeDS)))}
	}},
	{"O30", "reject-name-of-the-parent-denied-with-the-childs-delegation", "www.nsec.org A", "bogus", func(w *world) []zone.Edit {
		return []zone.Edit{zone.On("www.nsec.org", dns.TypeA, zone.Replay(w.get("plain.nsec.org", dns.TypeDS)))}
	}},
}

func TestAttacks(t *testing.T) { runScenarios(t, attacks) }

// TestBadDelegationIsNotKept: a resolver that was lied to about a delegation finds the child
// once the lie has ended.
func TestBadDelegationIsNotKept(t *testing.T) {
	w := sharedWorld()
	for _, c := range []struct {
		name, child string
		edits       func(*world) []zone.Edit
	}{
		{"accept-after-wildcard-cname", "sub.aliases.nsec.org", expandAlias("nsec.org")},
		{"accept-after-wildcard-cname-nsec3", "sub.aliases.nsec3.com", expandAlias("nsec3.com")},
		{"accept-after-wildcard-cname-without-proof", "sub.aliases.nsec3.com", func(w *world) []zone.Edit {
			return []zone.Edit{replace("sub.aliases.nsec3.com", dns.TypeDS,
				w.records("any.aliases.nsec3.com", dns.TypeCNAME, "sub.aliases.nsec3.com"), nil, 0)}
		}},
		{"accept-after-wildcard-dname", "child.sub.dnames.nsec3.com", func(w *world) []zone.Edit {
			m := w.get("any.dnames.nsec3.com", dns.TypeDNAME)
			return []zone.Edit{replace("child.sub.dnames.nsec3.com", dns.TypeDS,
				w.records("any.dnames.nsec3.com", dns.TypeDNAME, "sub.dnames.nsec3.com"), m.Ns, 0)}
		}},
	} {
		t.Run("O18", func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				var honest atomic.Bool // queries of the first lookup may still be under way
				m := &zone.Mangler{Next: w.Server}
				for _, edit := range c.edits(w) {
					m.Edits = append(m.Edits, func(query, reply *dns.Msg) *dns.Msg {
						if honest.Load() {
							return reply
						}
						return edit(query, reply)
					})
				}
				r := w.resolver(t, m)
				for _, want := range []string{"bogus", "secure"} {
					if got := outcome(r.Lookup(t.Context(), "www."+c.child, dns.TypeA)); got != want {
						t.Fatalf("%s, want %s", got, want)
					}
					honest.Store(true)
				}
			})
		})
	}
}

// TestErrorsNameWhatFailed: the question that failed is often another one than the user's.
func TestErrorsNameWhatFailed(t *testing.T) {
	w := sharedWorld()
	for _, c := range []struct {
		name, question string
		edits          []zone.Edit
		hostile        string // the zone that made validation costly
		words          []string
	}{
		{"reject-servfail-for-keys", "www.nsec.org", []zone.Edit{zone.On("nsec.org", dns.TypeDNSKEY, zone.Rcode(dns.RcodeServerFailure))}, "",
			[]string{"SERVFAIL", "question nsec.org DNSKEY", "validate names in nsec.org", "another DNS server", "operator of nsec.org"}},
		{"reject-servfail-for-ds", "www.nsec.org", []zone.Edit{zone.On("org", dns.TypeDS, zone.Rcode(dns.RcodeServerFailure))}, "",
			[]string{"SERVFAIL", "question org DS", "validate names in org", "operator of the zone above org must"}},
		{"reject-servfail-for-keys-of-the-root", "www.nsec.org", []zone.Edit{zone.On(".", dns.TypeDNSKEY, zone.Rcode(dns.RcodeServerFailure))}, "",
			[]string{"question . DNSKEY, needed to validate names in .); use another DNS server"}},
		{"reject-servfail-for-keys-of-the-parent", "www.nsec.org", []zone.Edit{zone.On("nsec.org", dns.TypeDS, zone.Strip(dns.TypeRRSIG)),
			zone.On("org", dns.TypeDNSKEY, zone.Rcode(dns.RcodeServerFailure))}, "", []string{"SERVFAIL", "question org DNSKEY", "operator of org"}},
		{"reject-refused-keys", "www.nsec.org", []zone.Edit{zone.On("nsec.org", dns.TypeDNSKEY, zone.Rcode(dns.RcodeRefused))}, "",
			[]string{"REFUSED", "question nsec.org DNSKEY", "serves this network"}},
		{"reject-servfail-for-ds-of-an-alias", "to-other.nsec.org", []zone.Edit{zone.On("a15.org", dns.TypeDS, zone.Rcode(dns.RcodeServerFailure))}, "",
			[]string{"question a15.org DS", "operator of the zone above a15.org must"}},
		{"reject-servfail-for-the-question", "www.nsec.org", []zone.Edit{zone.On("www.nsec.org", 0, zone.Rcode(dns.RcodeServerFailure))}, "",
			[]string{"SERVFAIL", "question www.nsec.org A", "try again later"}},
		{"reject-refused", "www.nsec.org", []zone.Edit{zone.Rcode(dns.RcodeRefused)}, "",
			[]string{"REFUSED", "question www.nsec.org A", "serves this network"}},
		{"reject-unknown-code", "www.nsec.org", []zone.Edit{zone.Rcode(12)}, "", []string{"RCODE12"}},
		{"reject-referral", "www.plain.org", []zone.Edit{replace("www.plain.org", dns.TypeA, nil, rrs("plain.org. 60 IN NS ns.plain.org."), 0)}, "",
			[]string{"question www.plain.org A"}},
		{"reject-target-of-alias", "to-other.nsec.org", []zone.Edit{zone.On("a15.org", dns.TypeDNSKEY, zone.Rcode(dns.RcodeServerFailure))}, "",
			[]string{"question a15.org DNSKEY", "operator of a15.org"}},
		{"reject-too-many-keys-with-one-tag", "www.keytrap.org", nil, "keytrap.org", []string{"www.keytrap.org", "(zone keytrap.org)", "do not use"}},
		{"reject-too-many-signatures", "www.sigtrap.org", nil, "sigtrap.org", []string{"www.sigtrap.org", "(zone sigtrap.org)", "its operator"}},
		{"reject-alias-loop", "loop1.nsec.org", nil, "", []string{"loop1.nsec.org", "8 aliases"}},
	} {
		t.Run("O31", func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				r := w.resolver(t, &zone.Mangler{Next: w.Server, Edits: c.edits})
				_, err := r.Lookup(t.Context(), c.question, dns.TypeA)
				for _, word := range c.words {
					if err == nil || !strings.Contains(err.Error(), word) {
						t.Errorf("%q is missing: %v", word, err)
					}
				}
				var over *dnssec.BudgetError
				if hostile := errors.As(err, &over) && over.Hostile(); hostile != (c.hostile != "") || hostile && over.Zone != c.hostile {
					t.Errorf("hostile %t: %v", hostile, err)
				}
			})
		})
	}
}

// TestRefreshIsFresh: what began before the call is not new enough for it, and not kept in
// place of what is.
func TestRefreshIsFresh(t *testing.T) {
	t.Run("O20", func(t *testing.T) {
		t.Run("reject-answer-of-an-older-lookup", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSmall()
				asked := 0
				release := make(chan struct{})
				r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.On("www.example.com", dns.TypeA, func(_, m *dns.Msg) *dns.Msg {
					if asked++; asked == 1 {
						<-release
					}
					return m
				})}})
				older := make(chan string)
				go func() { older <- outcome(r.Lookup(t.Context(), "www.example.com", dns.TypeA)) }()
				synctest.Wait()
				if got := outcome(r.Refresh(t.Context(), "www.example.com", dns.TypeA)); got != "secure" || asked != 2 {
					t.Errorf("%s after %d questions", got, asked)
				}
				close(release)
				if got := <-older; got != "secure" {
					t.Errorf("the older lookup: %s", got)
				}
			})
		})
	})
}

// expandAlias answers the question for the DS records of sub.aliases with the expansion of
// *.aliases.
func expandAlias(origin string) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit {
		other := w.get("any.aliases."+origin, dns.TypeDS)
		return []zone.Edit{replace("sub.aliases."+origin, dns.TypeDS,
			w.records("any.aliases."+origin, dns.TypeCNAME, "sub.aliases."+origin), other.Ns, 0)}
	}
}

// expandDNAME answers a question below any.dnames with the expansion of the DNAME record of
// *.dnames.
func expandDNAME(origin string, withProof bool) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit {
		m := w.get("any.dnames."+origin, dns.TypeDNAME)
		if !withProof {
			m = dropProofs(m)
		}
		m.Answer = append(m.Answer, w.get("www.a13.org", dns.TypeA).Answer...)
		return []zone.Edit{zone.On("www.any.dnames."+origin, dns.TypeA, zone.Replay(m))}
	}
}

// deniedAs answers a question with NXDOMAIN and the proof of another absence.
func deniedAs(n string, rrtype uint16, as string, other uint16) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit {
		return []zone.Edit{replace(n, rrtype, nil, w.get(as, other).Ns, dns.RcodeNameError)}
	}
}

// compactly denies no.nsec.org with an NSEC record of its own (RFC 9824).
func compactly(types string, rcode int) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit {
		return []zone.Edit{replace("no.nsec.org", dns.TypeA, nil, compactDenial(w, types), rcode)}
	}
}

func compactDenial(w *world, types string) []dns.RR {
	nsec := rrs("no.nsec.org. 60 IN NSEC \\000.no.nsec.org. " + types)
	soa := slices.DeleteFunc(w.get("nope.nsec.org", dns.TypeA).Ns, isProof)
	return slices.Concat(soa, nsec, w.nsec.SignSet(w.now, nsec...))
}

// compactlyHashed denies the question in nsec3.com with an NSEC3 record at the hash of the name
// (RFC 9824).
func compactlyHashed(question, at, types string, rcode int) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit {
		hash := dns.HashName(at+".nsec3.com.", dns.SHA1, 0, "5a17")
		next, err := base32.HexEncoding.DecodeString(hash)
		if err != nil {
			panic(err)
		}
		next[len(next)-1]++
		nsec3 := rrs(fmt.Sprintf("%s.nsec3.com. 60 IN NSEC3 1 0 0 5A17 %s %s", hash, base32.HexEncoding.EncodeToString(next), types))
		soa := slices.DeleteFunc(w.get("nope.nsec3.com", dns.TypeA).Ns, isProof)
		return []zone.Edit{replace(question+".nsec3.com", dns.TypeA, nil, slices.Concat(soa, nsec3, w.nsec3.SignSet(w.now, nsec3...)), rcode)}
	}
}

// withoutAlgorithm takes the signatures of one algorithm from all that a zone signed.
func withoutAlgorithm(origin string, algorithm uint8) func(*world) []zone.Edit {
	return edit(zone.Below(origin, withoutSignatures(algorithm)))
}

// withoutSignatures takes the signatures of an algorithm.
func withoutSignatures(algorithm uint8) zone.Edit {
	return zone.Filter(func(rr dns.RR) bool {
		sig, ok := rr.(*dns.RRSIG)
		return !ok || sig.Algorithm != algorithm
	})
}

// parentDenies has the parent answer for the unsigned child "plain": with its SOA, and with the
// proof that the child is unsigned. The first edit is about the alias.
func parentDenies(origin string, rcode int) func(*world) []zone.Edit {
	return func(w *world) []zone.Edit {
		denial := w.get("plain."+origin, dns.TypeDS).Ns
		return []zone.Edit{
			replace("to-child."+origin, dns.TypeA, w.records("to-child."+origin, dns.TypeCNAME, ""), denial, rcode),
			replace("www.plain."+origin, dns.TypeA, nil, denial, rcode),
		}
	}
}

func dropProofs(m *dns.Msg) *dns.Msg {
	m.Ns = slices.DeleteFunc(m.Ns, isProof)
	return m
}

// isProof says whether a record is a denial, or the signature of one.
func isProof(rr dns.RR) bool {
	rrtype := rr.Header().Rrtype
	if sig, ok := rr.(*dns.RRSIG); ok {
		rrtype = sig.TypeCovered
	}
	return strings.HasPrefix(dns.TypeToString[rrtype], "NSEC")
}
