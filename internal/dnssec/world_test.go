package dnssec_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// world is a small internet: a signed root, TLDs that deny in every way, and leaf zones of
// every kind.
//
//	.         NSEC
//	org       NSEC, RSA, split keys      com  NSEC3      net  NSEC3 with opt-out      test  unsigned
type world struct {
	*zone.Server
	root, nsec, nsec3, attacker *zone.Zone
	now                         time.Time
}

// sharedWorld is for tests that change nothing of it: making its keys takes a while.
var sharedWorld = sync.OnceValue(func() *world { return newWorld(time.Unix(1.7e9, 0)) })

func newWorld(now time.Time) *world {
	signed := func(origin string, how zone.Signing) *zone.Zone { return zone.New(origin).Sign(how) }
	hashed := &zone.NSEC3{Salt: "5a17"}
	optOut := &zone.NSEC3{OptOut: true}
	w := &world{
		now:      now,
		root:     signed(".", zone.Signing{}),
		nsec:     signed("nsec.org", zone.Signing{}),
		nsec3:    signed("nsec3.com", zone.Signing{NSEC3: hashed}),
		attacker: signed("attacker.org", zone.Signing{}).A("www", "192.0.2.66").CNAME("alias", "www"),
	}
	// A zone whose keys only a wildcard DS would name.
	wildly := leaf(signed("sub.wds.nsec.org", zone.Signing{DS: zone.NoDS}))
	w.nsec.RR("*.wds " + strings.TrimPrefix(strings.TrimSpace(wildly.Anchor()), "sub.wds.nsec.org."))
	zones := []*zone.Zone{
		w.root,
		signed("org", zone.Signing{Algorithms: []uint8{dns.RSASHA256}, SplitKeys: true}),
		signed("com", zone.Signing{NSEC3: hashed}).A("www", "192.0.2.80"),
		signed("net", zone.Signing{NSEC3: optOut}).TXT("*.star", "star"),
		zone.New("test"),
		w.nsec, w.nsec3, w.attacker,
		leaf(zone.New("plain.org")),
		leaf(zone.New("plain.com")),
		leaf(zone.New("plain.net")),
		leaf(zone.New("plain.test")),
		leaf(signed("signed.net", zone.Signing{NSEC3: optOut})),
		zone.New("child.signed.net").A("www", "192.0.2.1"),
		zone.New("x.hidden.signed.net").A("www", "192.0.2.1"),
		leaf(signed("split.com", zone.Signing{SplitKeys: true})),
		leaf(signed("dual.org", zone.Signing{Algorithms: []uint8{200, dns.ECDSAP256SHA256}})),
		leaf(signed("sha384.org", zone.Signing{Digests: []uint8{dns.SHA384}})),
		leaf(signed("island.org", zone.Signing{DS: zone.NoDS})),
		leaf(signed("island.test", zone.Signing{})),
		leaf(signed("algorithm.org", zone.Signing{Algorithms: []uint8{200}})),
		leaf(signed("algorithm.com", zone.Signing{Algorithms: []uint8{200}})),
		leaf(signed("digest.org", zone.Signing{Digests: []uint8{200}})),
		leaf(signed("sha1.org", zone.Signing{Algorithms: []uint8{dns.RSASHA1}})),
		leaf(signed("sha1ds.org", zone.Signing{Digests: []uint8{dns.SHA1}})),
		leaf(signed("bothds.org", zone.Signing{Digests: []uint8{dns.SHA1, dns.SHA256}})),
		leaf(signed("wrongds.org", zone.Signing{DS: zone.WrongDS})),
		leaf(signed("revoked.org", zone.Signing{Flags: dns.REVOKE})),
		leaf(signed("expired.org", zone.Signing{From: -60 * 24 * time.Hour, Till: -10 * 24 * time.Hour})),
		leaf(signed("future.org", zone.Signing{From: 10 * 24 * time.Hour, Till: 60 * 24 * time.Hour})),
		leaf(signed("iter100.org", zone.Signing{NSEC3: &zone.NSEC3{Iterations: 100, Salt: "aa"}})),
		leaf(signed("iter2500.org", zone.Signing{NSEC3: &zone.NSEC3{Iterations: 2500}})),
		leaf(signed("sub.iter2500.org", zone.Signing{})),
		leaf(signed("keytrap.org", zone.Signing{Algorithms: []uint8{dns.RSASHA256}}).KeyTrap(40, 40)),
		leaf(signed("sigtrap.org", zone.Signing{Algorithms: []uint8{dns.RSASHA256}}).KeyTrap(2, 60)),
		leaf(signed("sub.nsec.org", zone.Signing{})),
		leaf(signed("sub.nsec3.com", zone.Signing{})),
		leaf(signed("sub.aliases.nsec.org", zone.Signing{})),
		leaf(signed("sub.aliases.nsec3.com", zone.Signing{})),
		leaf(signed("child.sub.dnames.nsec3.com", zone.Signing{})),
		leaf(zone.New("plain.nsec.org")),
		leaf(zone.New("plain.nsec3.com")),
		leaf(signed("x.y.z.nsec.org", zone.Signing{})),
		wildly,
		signed("chain.org", zone.Signing{}).DNAME("deep", "moved.nsec3.com.").DNAME("to-plain", "plain.nsec.org.").DNAME("to-expired", "expired.org.").
			CNAME("to-unsigned", "back.unchain.org.").CNAME("to-compact", "no.nsec.org.").CNAME("to-ent", "ent.nsec3.com.").
			CNAME("to-opt-out", "nope.signed.net.").CNAME("*.to-plain-child", "www.plain.nsec3.com."),
		zone.New("unchain.org").CNAME("back", "www.nsec.org.").CNAME("to-expired", "www.expired.org.").DNAME("deep", "nsec.org."),
		signed("dname.org", zone.Signing{NSEC3: &zone.NSEC3{}}).DNAME("@", "nsec3.com."),
		leaf(signed("two.org", zone.Signing{Algorithms: []uint8{dns.ECDSAP256SHA256, dns.ED25519}})),
		leaf(signed("two-one-ds.org", zone.Signing{
			Algorithms: []uint8{dns.ECDSAP256SHA256, dns.ED25519}, DS: func(set []*dns.DS) []*dns.DS { return set[:1] },
		})),
		leaf(signed("wrong-second-ds.org", zone.Signing{Algorithms: []uint8{200, dns.ED25519}, DS: func(set []*dns.DS) []*dns.DS {
			zone.WrongDS(set[1:])
			return set
		}})),
		leaf(signed("wrong-sha256.org", zone.Signing{Digests: []uint8{dns.SHA1, dns.SHA256}, DS: func(set []*dns.DS) []*dns.DS {
			zone.WrongDS(set[1:])
			return set
		}})),
		leaf(signed("weak-digests.org", zone.Signing{Digests: []uint8{dns.SHA1, 200}})),
	}
	for algorithm, origin := range map[uint8]string{
		dns.RSASHA256: "a8.org", dns.RSASHA512: "a10.org", dns.ECDSAP256SHA256: "a13.org", dns.ECDSAP384SHA384: "a14.org", dns.ED25519: "a15.org",
	} {
		zones = append(zones, leaf(signed(origin, zone.Signing{Algorithms: []uint8{algorithm}})))
	}
	for _, z := range []*zone.Zone{w.nsec, w.nsec3} {
		leaf(z).
			CNAME("to-self", "www").CNAME("to-none", "nope").CNAME("to-nodata", "mixed").
			CNAME("to-plain", "www.plain.org.").CNAME("to-wild", "any.wild").CNAME("to-other", "www.a15.org.").
			CNAME("to-bogus", "www.expired.org.").CNAME("loop1", "loop2").CNAME("loop2", "loop1").
			CNAME("*.aliases", "www").CNAME("to-child", "www.plain").DNAME("*.dnames", "a13.org.").
			DNAME("moved", "a13.org.").DNAME("inside", "wild")
		for i := range 12 {
			next := "www"
			if i > 0 {
				next = "c" + string(rune('a'+i-1))
			}
			z.CNAME("c"+string(rune('a'+i)), next)
		}
	}
	w.Server = zone.NewServer(func() time.Time { return w.now }, zones...)
	return w
}

// leaf fills a zone with one name of every kind.
func leaf(z *zone.Zone) *zone.Zone {
	return z.A("@", "192.0.2.1").A("www", "192.0.2.1").A("WwW", "2001:db8::1").TXT("www", "hello", " world").
		TXT("Mixed", "x").SRV("_s._tcp", 1, 2, 443, "Www").
		TXT("*.wild", "wild").A("exists.wild", "192.0.2.2").TXT("b.ent.wild", "below").
		TXT("deep.ent", "deep").CNAME("alias", "www").
		RR("mx MX 10 WWW").RR("caa CAA 0 issue \"ca.example\"").RR("naptr NAPTR 1 1 \"s\" \"x\" \"\" WWW").
		RR("unknown TYPE65280 \\# 3 010203")
}

// options reach the world in memory, under its clock.
func (w *world) options(h zone.Handler) dnssec.Options {
	return dnssec.Options{
		Anchors: w.root.Anchor(), Now: func() time.Time { return w.now }, Exchange: zone.Exchange(h),
	}
}

func (w *world) resolver(t testing.TB, h zone.Handler) *dnssec.Resolver {
	t.Helper()
	r, err := dnssec.New(w.options(h))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// get asks the world directly, as an attacker would who records replies.
func (w *world) get(name string, rrtype uint16) *dns.Msg {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), rrtype)
	q.SetEdns0(1232, true)
	return w.Handle(q)
}

// records returns a set out of a reply, with its signatures, renamed when owner is not "".
func (w *world) records(name string, rrtype uint16, owner string) []dns.RR {
	m := w.get(name, rrtype)
	var out []dns.RR
	for _, rr := range slices.Concat(m.Answer, m.Ns) {
		sig, isSig := rr.(*dns.RRSIG)
		if rr.Header().Rrtype == rrtype || isSig && sig.TypeCovered == rrtype {
			if owner != "" {
				rr.Header().Name = dns.Fqdn(owner)
			}
			out = append(out, rr)
		}
	}
	if len(out) == 0 {
		panic("no records: " + m.String())
	}
	return out
}

// outcome is a lookup's result in one word, followed by what an absence is.
func outcome(r *dnssec.Result, err error) string {
	var bogus *dnssec.BogusError
	var budget *dnssec.BudgetError
	var server *dnssec.ServerError
	switch {
	case errors.As(err, &bogus):
		return "bogus"
	case errors.As(err, &budget):
		return "budget"
	case errors.As(err, &server):
		return "server"
	case err != nil:
		return err.Error()
	case len(r.Records) > 0:
		return r.State.String()
	case r.Exists:
		return r.State.String() + " nodata"
	default:
		return r.State.String() + " nxdomain"
	}
}

func typeOf(t testing.TB, text string) uint16 {
	rrtype, ok := dns.StringToType[strings.ToUpper(text)]
	if !ok {
		t.Fatal(text)
	}
	return rrtype
}
