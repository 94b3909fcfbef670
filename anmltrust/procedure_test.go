package anmltrust_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
)

// budget allows some requests.
type budget struct{ left int }

func (b *budget) Take() bool { b.left--; return b.left >= 0 }

// TestProcedure drives every row of the decision table against scripted DNS and
// HTTPS, one subtest for each.
func TestProcedure(t *testing.T) {
	runRows(t, preRows)
	runRows(t, selfRows)
	runRows(t, dnsRows)
	runRows(t, recordRows)
	runRows(t, cacheRows)
	runRows(t, choiceRows)
	runRows(t, queryRows)
	runRows(t, manifestRows)
	runRows(t, listingRows)
	runRows(t, severalRows)
}

// broken is a budget that panics.
type broken struct{}

func (broken) Take() bool { panic("no budget") }

// TestBudgetThatPanics: the fault is not the site's, and not the caller's time.
func TestBudgetThatPanics(t *testing.T) {
	for record, code := range map[string]lookleap.Code{manifestOnly: anmltrust.CodeListed, queryOnly: anmltrust.CodeQueryAuthorized} {
		w := newWorld(t, record).willing()
		a, err := w.v.Begin().Verify(t.Context(), shopClaim, broken{})
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeInternal)
		w.granted(code)
	}
}

// quiet asks about a claim that must cause no traffic.
func quiet(c anmltrust.Claim, code lookleap.Code) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, both).willing()
		a, err := w.ask(c)
		w.wants(a, err, anmltrust.Unlisted, code)
		if j := w.net.Journal(); len(j.Queries()) != 0 || len(j.Requests()) != 0 {
			t.Errorf("%v %v", j.Queries(), j.Requests())
		}
	}
}

var preRows = []rowTest{
	{"A1", "http", quiet(anmltrust.Claim{URL: "http://shop.example/x", Site: "brand.example"}, lookleap.CodeInsecureTransport)},
	{"A1", "http-own", quiet(anmltrust.Claim{URL: "http://brand.example/x", Site: "brand.example"}, lookleap.CodeInsecureTransport)},
	{"A2", "response", quiet(anmltrust.Claim{URL: "https://shop.example/x", Site: "brand.example", Response: true}, anmltrust.CodeNotServed)},
	{"A3", "nothing", quiet(anmltrust.Claim{URL: "https://shop.example/x"}, anmltrust.CodeNoClaim)},
	{"A4", "no-domain", func(t *testing.T) {
		claims, findings := anmltrust.Document{URL: "https://shop.example/x", Trust: []anmltrust.TrustClaim{{}}}.Claims()
		if len(claims) != 0 || !has(findings, anmltrust.CodeClaimMalformed) {
			t.Errorf("%v %v", claims, findings)
		}
	}},
	{"A4", "alias", func(t *testing.T) {
		claims, findings := anmltrust.Document{URL: "https://shop.example/x", Trust: []anmltrust.TrustClaim{{Site: "brand.example"}}}.Claims()
		if len(claims) != 1 || claims[0].Site != "brand.example" || claims[0].Refused != "" || !has(findings, "alias") {
			t.Errorf("%v %v", claims, findings)
		}
	}},
	{"A5", "alias-differs", func(t *testing.T) {
		documentClaim(t, anmltrust.Document{Trust: []anmltrust.TrustClaim{{Domain: "brand.example", Site: "other.example"}}}, anmltrust.CodeClaimInvalid)
	}},
	{"A5", "two-trusts", func(t *testing.T) {
		documentClaim(t, anmltrust.Document{Trust: []anmltrust.TrustClaim{{Domain: "brand.example"}, {Domain: "other.example"}}}, anmltrust.CodeClaimInvalid)
	}},
	{"A5", "same-twice-is-one", func(t *testing.T) {
		claims, _ := anmltrust.Document{URL: "https://shop.example/x", Trust: []anmltrust.TrustClaim{{Domain: "brand.example", Site: "BRAND.example."}}}.Claims()
		if len(claims) != 1 || claims[0].Refused != "" {
			t.Errorf("%v", claims)
		}
	}},
	{"A6", "bad-names", func(t *testing.T) {
		w := newWorld(t, both)
		for _, site := range []string{"192.0.2.1", "localhost", "com", "co.uk", "github.io", "brand.example:443", "brand.example/x", "*.brand.example",
			"a.example,b.example", "https://brand.example", "brand..example", "-a.example", "example.com\x00.evil", strings.Repeat("a.", 140) + "example", "brand.example..", "_anml.brand.example"} {
			a, err := w.ask(anmltrust.Claim{URL: "https://shop.example/x", Site: site})
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeSiteDomainInvalid)
		}
		if n := len(w.net.Journal().Queries()); n != 0 {
			t.Errorf("%d DNS queries", n)
		}
	}},
	{"A7", "granted-before", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.granted(anmltrust.CodeListed)
		twice := shopClaim
		twice.Refused = anmltrust.CodeClaimDuplicate
		a, err := w.ask(twice)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeClaimDuplicate)
	}},
	{"A9", "ninth-site", func(t *testing.T) {
		w := newWorld(t, both).willing()
		d := anmltrust.Document{URL: "https://shop.example/x", Sites: []anmltrust.SiteClaim{{Domain: "shop.example"}}}
		for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
			d.Sites = append(d.Sites, anmltrust.SiteClaim{Domain: n + "-site.example"})
		}
		for range 2 { // its own site first, then last
			out, _ := w.v.Begin().VerifyDocument(t.Context(), d, nil)
			foreign := 0
			for _, o := range out {
				if o.Claim.Site == "shop.example" {
					w.wants(o.Authorization, o.Err, anmltrust.Self, anmltrust.CodeSelf)
					continue
				}
				code := anmltrust.CodeNoRecord
				if foreign++; foreign > 8 {
					code = lookleap.CodeLimit
				}
				w.wants(o.Authorization, o.Err, anmltrust.Unlisted, code)
			}
			d.Sites = append(d.Sites[1:], d.Sites[0])
		}
		if n := len(w.net.Journal().Queries("_anml.i-site.example")); n != 0 {
			t.Error("the ninth site was looked up")
		}
	}},
	{"A10", "budget", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		a, err := w.v.Begin().Verify(t.Context(), shopClaim, &budget{})
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeBudget)
		w.traffic(1, 0, 0)
		w.granted(anmltrust.CodeListed) // nothing was kept, not even a backoff
	}},
	{"A11", "exchanges", func(t *testing.T) {
		w := newWorld(t, "")
		w.setRecord(w.exhausting()...).denied(lookleap.CodeTimeout)
		w.traffic(1, 0, 8)
		w.after(59 * time.Second).denied(lookleap.CodeTimeout)
		w.traffic(0, 0, 0)
		w.after(time.Second).granted(anmltrust.CodeListed)
	}},
	{"A11", "cancelled", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a, err := w.v.Verify(ctx, shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeTimeout)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the cause is lost: %v", err)
		}
		w.granted(anmltrust.CodeListed)
	}},
	{"A11", "cancelled-while-asking", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		ctx, cancel := context.WithCancel(t.Context())
		w.brand.Handle(manifestPath, handle(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done() // an answer that came all the same would be as good as any
		}))
		a, err := w.v.Verify(ctx, shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeTimeout)
		w.manifest(manifest(listed)).granted(anmltrust.CodeListed)
	}},
	{"A11", "closed", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.host.Close()
		w.denied(lookleap.CodeClosed)
	}},
}

func documentClaim(t *testing.T, d anmltrust.Document, code lookleap.Code) {
	t.Helper()
	d.URL = "https://shop.example/x"
	claims, _ := d.Claims()
	if len(claims) != 1 {
		t.Fatalf("%v", claims)
	}
	quiet(claims[0], code)(t)
}

// own asks about a claim of the brand's own hosts.
func own(host, site string, p anmltrust.Rules, tier anmltrust.Tier, code lookleap.Code, lookups, manifests int, prepare ...func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, manifestOnly, p)
		w.manifest(manifest(entry("edge.brand.example", 1, "body", "aesthetic") + "," + entry("*.cdn.brand.example", 1, "body") + "," + entry("brand.example", 1, "head")))
		for _, f := range prepare {
			f(w)
		}
		a, err := w.ask(anmltrust.Claim{URL: "https://" + host + "/x", Site: site})
		if w.wants(a, err, tier, code); code == anmltrust.CodeSelf && len(a.Sources) > 0 {
			t.Errorf("from %v", a.Sources)
		}
		w.traffic(lookups, 0, manifests)
	}
}

var selfRows = []rowTest{
	{"B2", "trust", own("edge.brand.example", "brand.example", anmltrust.Rules{SelfSubdomains: anmltrust.TrustSubdomains}, anmltrust.Self, anmltrust.CodeSelf, 0, 0)},
	{"B5", "failed", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Status(manifestPath, 503)
		a, err := w.ask(anmltrust.Claim{URL: "https://edge.brand.example/x", Site: "brand.example"})
		w.wants(a, err, anmltrust.Self, anmltrust.CodeSelf)
		if !has(a.Verdict.Findings, anmltrust.CodeSelfNarrowUnavailable) {
			t.Errorf("%v", a.Verdict.Findings)
		}
	}},
	{"B6", "verify", own("blog.brand.example", "brand.example", anmltrust.Rules{SelfSubdomains: anmltrust.VerifySubdomains}, anmltrust.Display, anmltrust.CodeListed, 1, 1)},
	{"B8", "third", func(t *testing.T) { newWorld(t, manifestOnly).willing().granted(anmltrust.CodeListed) }},
}

var dnsRows = []rowTest{
	{"C1", "kept", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.granted(anmltrust.CodeListed)
		w.traffic(1, 0, 1)
		a, err := w.ask(claimFrom("https://other.example/x"))
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeNotListed)
		w.traffic(0, 0, 0)
	}},
	{"C1a", "backoff", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.dns.ServFail()
		w.denied(lookleap.CodeDNSError)
		w.dns.Heal()
		w.net.Journal().Clear()
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeDNSError)
		w.after(59 * time.Second).denied(lookleap.CodeDNSError)
		w.traffic(0, 0, 0)
		w.after(time.Second).granted(anmltrust.CodeListed)
	}},
	{"C2", "fresh", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.granted(anmltrust.CodeListed)
		w.net.Journal().Clear()
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		w.traffic(1, 0, 1)
	}},
	{"C3", "bogus", func(t *testing.T) {
		w := newWorld(t, both).willing()
		w.dns.Bogus()
		w.denied(lookleap.CodeDNSSECBogus)
		w.saw(lookleap.CodeDNSSECBogus)
		if n := len(w.net.Journal().Requests()); n != 0 {
			t.Errorf("%d requests after a bogus answer", n)
		}
		w.dns.Heal()
		w.after(59 * time.Second).denied(lookleap.CodeDNSSECBogus)
		w.after(time.Second).granted(anmltrust.CodeListed)
	}},
	{"C3", "drops-grants", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.granted(anmltrust.CodeListed)
		w.dns.Bogus()
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeDNSSECBogus)
		w.denied(lookleap.CodeDNSSECBogus)
		w.dns.Heal()
		w.manifest(manifest(""))
		w.after(time.Minute).denied(anmltrust.CodeNotListed)
	}},
	{"C4", "nxdomain", func(t *testing.T) {
		w := newWorld(t, "").willing()
		w.denied(anmltrust.CodeNoRecord)
		w.traffic(1, 0, 0)
		w.setRecord(manifestOnly)
		w.denied(anmltrust.CodeNoRecord)
		w.traffic(0, 0, 0)
		w.after(3 * time.Hour).granted(anmltrust.CodeListed)
	}},
	{"C4", "drops-grants", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.granted(anmltrust.CodeListed)
		w.dns.Clear()
		w.after(time.Hour).denied(anmltrust.CodeNoRecord)
		w.setRecord(manifestOnly).manifest(manifest("")).after(3 * time.Hour).denied(anmltrust.CodeNotListed)
	}},
	{"C5", "servfail", func(t *testing.T) {
		w := newWorld(t, both).willing()
		w.dns.ServFail()
		w.denied(lookleap.CodeDNSError)
		w.traffic(1, 0, 0)
		w.dns.Heal()
		w.after(time.Minute).granted(anmltrust.CodeListed)
	}},
	{"C6", "grant-waits", func(t *testing.T) {
		w := newWorld(t, queryOnly).secure().query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.dns.ServFail()
		w.after(time.Hour).denied(lookleap.CodeDNSError)
		w.dns.Heal().DNSSEC(lookleap.Secure)
		w.net.Journal().Clear()
		w.after(time.Minute).granted(anmltrust.CodeQueryAuthorized)
		w.traffic(1, 0, 0) // the grant was there all along
	}},
	{"C7", "states", func(t *testing.T) {
		for _, state := range []lookleap.DNSSEC{lookleap.Indeterminate, lookleap.Insecure, lookleap.Secure} {
			w := newWorld(t, manifestOnly).willing()
			w.dns.DNSSEC(state)
			if a := w.granted(anmltrust.CodeListed); a.DNSSEC != state {
				t.Errorf("%s shows as %s", state, a.DNSSEC)
			}
		}
	}},
	{"C8", "cname", func(t *testing.T) {
		w := newWorld(t, "").willing()
		w.dns.CNAME("_anml.provider.example.")
		w.net.Name("_anml.provider.example").TXT(manifestOnly).TTL(2 * time.Minute)
		w.granted(anmltrust.CodeListed)
		w.net.Journal().Clear()
		w.after(2*time.Minute - time.Second).granted(anmltrust.CodeListed)
		w.traffic(0, 0, 0)
		w.after(time.Second).granted(anmltrust.CodeListed)
		if len(w.net.Journal().Queries()) == 0 {
			t.Error("the least TTL of the chain does not count")
		}
		w = newWorld(t, "").willing() // what it may name is decided by the site that was asked about
		w.dns.CNAME("_anml.provider.example.")
		w.net.Name("_anml.provider.example").TXT("v=anml1;manifest=https://provider.example/m")
		w.denied(anmltrust.CodeManifestHost)
	}},
}

var recordRows = []rowTest{
	{"D2", "malformed-beside-good", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=http://evil.example/q", manifestOnly).willing()
		a := w.granted(anmltrust.CodeListed)
		if !has(a.Verdict.Findings, anmltrust.CodeRecordMalformed) {
			t.Error("the malformed record is not reported")
		}
	}},
	{"D4", "drops-grants", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.setRecord("v=anml1").after(time.Hour).denied(anmltrust.CodeRecordMalformed)
		w.setRecord(queryOnly).status(404).after(time.Hour).denied(anmltrust.CodeQuery404)
	}},
}

func recordDenied(code lookleap.Code, texts ...string) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.granted(anmltrust.CodeListed)
		w.setRecord(texts...).net.Journal().Clear()
		w.after(time.Hour).denied(code) // and the grant is gone
		w.traffic(1, 0, 0)
		w.denied(code)
		w.traffic(0, 0, 0)
	}
}

// findRow returns a test of the decision table, where a row of the register says
// the same.
func findRow(t *testing.T, rows []rowTest, row, name string) func(*testing.T) {
	t.Helper()
	for _, r := range rows {
		if r.row == row && r.name == name {
			return r.test
		}
	}
	t.Fatalf("no test of row %s is called %s", row, name)
	return nil
}

func dnsRow(row, name string) func(*testing.T) {
	return func(t *testing.T) { findRow(t, dnsRows, row, name)(t) }
}

func cacheRow(row, name string) func(*testing.T) {
	return func(t *testing.T) { findRow(t, cacheRows, row, name)(t) }
}

func sourceRow(row, name string) func(*testing.T) {
	return func(t *testing.T) { findRow(t, append(slices.Clone(queryRows), manifestRows...), row, name)(t) }
}

func sourceOrSeveral(row, name string) func(*testing.T) {
	return func(t *testing.T) { findRow(t, severalRows, row, name)(t) }
}
