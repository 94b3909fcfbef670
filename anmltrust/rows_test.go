package anmltrust_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// denial asks the usual question in a world that was prepared.
func denial(record string, code lookleap.Code, prepare ...func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, record).willing()
		for _, f := range prepare {
			f(w)
		}
		w.denied(code)
	}
}

func approval(record string, code lookleap.Code, prepare ...func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, record).willing()
		for _, f := range prepare {
			f(w)
		}
		w.granted(code)
	}
}

// from asks about a claim, with no manifest that lists the server.
func from(docURL, site string, tier anmltrust.Tier, code lookleap.Code, lookup string) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, both)
		a, err := w.ask(anmltrust.Claim{URL: docURL, Site: site})
		w.wants(a, err, tier, code)
		queries := w.net.Journal().Queries()
		if lookup == "" && len(queries) != 0 {
			t.Errorf("%v", queries)
		}
		if lookup != "" && (len(queries) == 0 || queries[0].Name != lookup) {
			t.Errorf("%v, want a question about %s", queries, lookup)
		}
	}
}

func isSecure(w *world) { w.secure() }

func sameTier(t *testing.T) {
	for _, form := range []anmltrust.Form{anmltrust.SiteElement, anmltrust.TrustElement} {
		w := newWorld(t, manifestOnly).willing()
		c := shopClaim
		c.Form = form
		a, err := w.ask(c)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
	}
}

// request is the one request that reached the query endpoint.
func queryRequest(t *testing.T, record string) lookleaptest.Request {
	t.Helper()
	w := newWorld(t, record).secure().query(authorized)
	w.granted(anmltrust.CodeQueryAuthorized)
	seen := w.net.Journal().Requests("trust.example")
	if len(seen) != 1 {
		t.Fatalf("%d requests", len(seen))
	}
	return seen[0]
}

func anonymous(t *testing.T, h http.Header) {
	t.Helper()
	for _, name := range []string{"Cookie", "Authorization", "Referer", "Origin"} {
		if h.Get(name) != "" {
			t.Errorf("%s is sent", name)
		}
	}
}

const asked = "domain=shop.example&scope=head,persona,aesthetic,knowledge,interact,constraints,body,footer"

// TestRows shows the register's rows that need the DNS or the web.
func TestRows(t *testing.T) {
	const none = anmltrust.Unlisted
	for _, c := range []struct {
		id, name string
		test     func(*testing.T)
	}{
		{"ANML-12-01", "reject-certificate-names", denial("", anmltrust.CodeNoRecord)},
		{"ANML-12.1-02", "accept-www", from("https://www.brand.example/x", "brand.example", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.1-02", "accept-apex", from("https://brand.example/x", "brand.example", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.1-03", "accept-own-host", from("https://shop.brand.example/x", "shop.brand.example", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.1-03", "reject-sibling", from("https://blog.brand.example/x", "shop.brand.example", none, anmltrust.CodeNoRecord, "_anml.shop.brand.example")},
		{"ANML-12.1-03", "reject-parent", from("https://brand.example/x", "shop.brand.example", none, anmltrust.CodeNoRecord, "_anml.shop.brand.example")},
		{"ANML-12.1-04", "reject-not-listed", denial(manifestOnly, anmltrust.CodeNotListed, manifestBody(manifest("")))},
		{"ANML-12.1-05", "reject-nxdomain", denial("", anmltrust.CodeNoRecord)},
		{"ANML-12.1-07", "accept-own-identity", from("https://shop.example/x", "shop.example", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.1-09", "reject-claim-alone", denial(manifestOnly, anmltrust.CodeNotListed, manifestBody(manifest("")))},
		{"ANML-12.1-11", "reject-expired-after-grant", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(answer(2, "2026-06-01T12:10:00Z", "body"))
			w.granted(anmltrust.CodeQueryAuthorized)
			w.query("{").after(10 * time.Minute).denied(anmltrust.CodeQueryMalformed)
		}},
		{"ANML-12.2-01", "accept-name", from("https://shop.example/x", "Brand.EXAMPLE.", none, anmltrust.CodeManifestMissing, "_anml.brand.example")},
		{"ANML-12.2-01", "reject-ip", from("https://shop.example/x", "192.0.2.1", none, anmltrust.CodeSiteDomainInvalid, "")},
		{"ANML-12.2-02", "reject-tier-in-record", denial("v=anml1;tier=2;scope=body;manifest="+manifestURI, anmltrust.CodeNotListed, manifestBody(manifest("")))},
		{"ANML-12.2-04", "reject-discovery-record", denial("v=anml1; path=/a", anmltrust.CodeRecordMalformed)},
		{"ANML-12.2-05", "accept-cname", dnsRow("C8", "cname")},
		{"ANML-12.2.1-13", "accept-joined", approval("", anmltrust.CodeListed, func(w *world) { w.dns.TXT("v=anml1;mani", "fest="+manifestURI) })},
		{"ANML-12.2.1-13", "reject-records-joined", denial("", anmltrust.CodeNoRecord, func(w *world) { w.setRecord("v=anml1", "fest="+manifestURI); w.setRecord("mani", "fest="+manifestURI) })},
		{"ANML-12.2.1-17", "reject-unfetched", func(t *testing.T) {
			w := newWorld(t, "v=anml2;manifest="+manifestURI).willing()
			w.denied(anmltrust.CodeNoRecord)
			w.traffic(1, 0, 0)
		}},
		{"ANML-12.2.1-20", "reject-neither", denial("v=anml1;x=1", anmltrust.CodeRecordMalformed)},
		{"ANML-12.2.2-03", "accept-site", approval(manifestOnly, anmltrust.CodeListed)},
		{"ANML-12.2.2-03", "reject-subdomain", recordDenied(anmltrust.CodeManifestHost, "v=anml1;manifest=https://old.brand.example/m")},
		{"ANML-12.2.2-03", "reject-cdn", recordDenied(anmltrust.CodeManifestHost, "v=anml1;manifest=https://cdn.example/m")},
		{"ANML-12.2.2-03", "reject-www-certificate", denial("v=anml1;manifest=https://www.brand.example/m", anmltrust.CodeManifestTLS, func(w *world) { w.net.Site("www.brand.example") })},
		{"ANML-12.2.2-04", "accept-two-hops", approval(manifestOnly, anmltrust.CodeListed, func(w *world) {
			w.brand.Redirect(manifestPath, "/a").Status("/a", 308, "Location", "/b").File("/b", anmltrust.ManifestMediaType, manifest(listed))
		})},
		{"ANML-12.2.2-04", "reject-other-host", denial(manifestOnly, anmltrust.CodeManifestRedirect, manifestStatus(307, "Location", "https://cdn.example/m"))},
		{"ANML-12.2.2-07", "accept-any-domain", approval("v=anml1;query=https://authz.vendor.example/x", anmltrust.CodeQueryAuthorized, func(w *world) {
			w.net.Site("authz.vendor.example").File("/x", "application/json", authorized)
		})},
		{"ANML-12.2.2-08", "accept-manifest-first", approval(both, anmltrust.CodeListed)},
		{"ANML-12.2.2-09", "accept-query-as-is", approval(both, anmltrust.CodeQueryAuthorized, isSecure)},
		{"ANML-12.2.2-10", "accept-insecure", approval(queryOnly, anmltrust.CodeQueryAuthorized)},
		{"ANML-12.2.3-01", "reject-foreign", denial("v=spf1 -all", anmltrust.CodeNoRecord)},
		{"ANML-12.2.3-01", "accept-self-stays", from("https://brand.example/x", "brand.example", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.2.3-03", "accept-order-free", func(t *testing.T) {
			for _, texts := range [][]string{{manifestOnly, queryOnly}, {queryOnly, manifestOnly}} {
				newWorld(t, "").setRecord(texts...).secure().willing().granted(anmltrust.CodeQueryAuthorized)
			}
		}},
		{"ANML-12.2.3-04", "accept-two-records", approval("", anmltrust.CodeListedFallback, func(w *world) { w.setRecord(manifestOnly, queryOnly).secure().status(503) })},
		{"ANML-12.2.3-05", "reject-five", recordDenied(anmltrust.CodeRecordAmbiguous, "v=anml1;query=https://a.example/1", "v=anml1;query=https://a.example/2", "v=anml1;query=https://a.example/3", "v=anml1;query=https://a.example/4", "v=anml1;query=https://a.example/5")},
		{"ANML-12.2.3-05", "accept-identical", approval("", anmltrust.CodeListed, func(w *world) { w.setRecord(manifestOnly, manifestOnly+";x=1") })},
		{"ANML-12.2.3-06", "accept-query-preferred", func(t *testing.T) {
			w := newWorld(t, both).secure().willing()
			w.granted(anmltrust.CodeQueryAuthorized)
			w.traffic(1, 1, 0)
		}},
		{"ANML-12.2.3-06", "reject-without-dnssec", func(t *testing.T) {
			for _, state := range []lookleap.DNSSEC{lookleap.Indeterminate, lookleap.Insecure} {
				w := newWorld(t, both).willing()
				w.dns.DNSSEC(state)
				w.granted(anmltrust.CodeListed)
				w.traffic(1, 0, 1)
			}
		}},
		{"ANML-12.2.3-08", "accept-shown", dnsRow("C7", "states")},
		{"ANML-12.2.3-09", "reject-bogus", dnsRow("C3", "bogus")},
		{"ANML-12.2.3-10", "reject-drops-grant", dnsRow("C3", "drops-grants")},
		{"ANML-12.2.3-11", "reject-not-absence", dnsRow("C3", "bogus")},
		{"ANML-12.2.3-12", "reject-servfail", dnsRow("C5", "servfail")},
		{"ANML-12.2.3-12", "reject-while-a-grant-waits", dnsRow("C6", "grant-waits")},
		{"ANML-12.3-01", "accept-request", func(t *testing.T) {
			w := newWorld(t, manifestOnly).willing()
			w.granted(anmltrust.CodeListed)
			h := w.net.Journal().Requests("brand.example")[0].Header
			anonymous(t, h)
			if h.Get("Accept") != "application/anml-trust+json, application/json;q=0.5" {
				t.Error(h)
			}
		}},
		{"ANML-12.3-02", "accept-json-with-finding", func(t *testing.T) {
			w := newWorld(t, manifestOnly)
			w.brand.File(manifestPath, "application/json; charset=utf-8", manifest(listed))
			if a := w.granted(anmltrust.CodeListed); !has(a.Verdict.Findings, anmltrust.CodeManifestType) {
				t.Error("no finding")
			}
		}},
		{"ANML-12.3-02", "accept-parameters", approval(manifestOnly, anmltrust.CodeListed, func(w *world) {
			w.brand.File(manifestPath, anmltrust.ManifestMediaType+"; charset=utf-8", manifest(listed))
		})},
		{"ANML-12.3-02", "reject-octet-stream", denial(manifestOnly, anmltrust.CodeManifestType, func(w *world) { w.brand.File(manifestPath, "application/octet-stream", manifest(listed)) })},
		{"ANML-12.3-02", "accept-any-by-option", func(t *testing.T) {
			w := newWorld(t, manifestOnly, anmltrust.Rules{AcceptAnyManifestType: true})
			w.brand.File(manifestPath, "text/plain", manifest(listed))
			w.granted(anmltrust.CodeListed)
		}},
		{"ANML-12.3-03", "reject-tls", denial(both, anmltrust.CodeManifestTLS, func(w *world) { w.brand.Certificate(lookleaptest.CertificateUnknownCA) })},
		{"ANML-12.3-09", "reject-held-for-ttl", manifestRefused(anmltrust.CodeManifestSiteMismatch, time.Hour, manifestBody(manifest(listed, "site", `"evil.example"`)))},
		{"ANML-12.3-14", "accept-91-days", sourceRow("M17", "long-lived")},
		{"ANML-12.3-14", "reject-by-option", func(t *testing.T) {
			w := newWorld(t, manifestOnly, anmltrust.Rules{MaxManifestLifetime: anmltrust.LongLifetime})
			w.manifest(manifest(listed, "expires", `"2026-07-31T00:00:00Z"`)).denied(anmltrust.CodeManifestMalformed)
		}},
		{"ANML-12.3-16", "reject-expired", manifestRefused(anmltrust.CodeManifestExpired, five, manifestBody(manifest(listed, "expires", `"2026-06-01T12:00:00Z"`)))},
		{"ANML-16.1-05", "reject-expired", denial(both, anmltrust.CodeManifestExpired, manifestBody(manifest(listed, "expires", `"2026-06-01T11:00:00Z"`)))},
		{"ANML-12.3-18", "reject-empty-list", listing("", none, anmltrust.CodeNotListed, "")},
		{"ANML-12.3-24", "accept-narrowed", own("a.cdn.brand.example", "brand.example", anmltrust.Rules{}, anmltrust.Display, anmltrust.CodeSelfNarrowed, 1, 1)},
		{"ANML-12.3-24", "accept-not-listed", own("blog.brand.example", "brand.example", anmltrust.Rules{}, anmltrust.Self, anmltrust.CodeSelf, 1, 1)},
		{"ANML-12.3-24", "accept-www-untouched", own("www.brand.example", "brand.example", anmltrust.Rules{}, anmltrust.Self, anmltrust.CodeSelf, 0, 0)},
		{"ANML-12.3-31", "reject-404", denial(both, anmltrust.CodeManifestMissing, manifestStatus(404))},
		{"ANML-12.3-31", "accept-503-to-query", approval(both, anmltrust.CodeQueryAuthorized, manifestStatus(503))},
		{"ANML-12.3-31", "reject-204", denial(both, anmltrust.CodeManifestMalformed, manifestStatus(204))},
		{"ANML-12.3-31", "reject-429", denial(both, anmltrust.CodeManifest429, manifestStatus(429))},
		{"ANML-12.3-32", "accept-conditional", sourceRow("M2", "conditional")},
		{"ANML-12.3-32", "reject-no-store", sourceRow("M4", "no-store")},
		{"ANML-12.4-01", "reject-elsewhere", func(t *testing.T) {
			w := newWorld(t, manifestOnly).willing()
			w.brand.Fault(manifestPath, lookleaptest.Header("Link", `<https://trust.example/authorize>; rel="query"`))
			w.granted(anmltrust.CodeListed)
			w.traffic(1, 0, 1)
		}},
		{"ANML-12.4-02", "accept-foreign-host", approval(both, anmltrust.CodeQueryAuthorized, isSecure)},
		{"ANML-12.4-02", "reject-its-own-certificate", denial(both, anmltrust.CodeQueryTLS, isSecure, func(w *world) { w.trust.Certificate(lookleaptest.CertificateWrongName) })},
		{"ANML-12.4-03", "accept-order", approval(both, anmltrust.CodeListed)},
		{"ANML-12.4-04", "accept-four-fields", approval(queryOnly, anmltrust.CodeQueryAuthorized, func(w *world) {
			w.trust.File(queryPath, "application/anml+json", `{"trust":{"domain":"evil.example"},`+authorized[1:])
		})},
		{"ANML-12.4-05", "accept-form", func(t *testing.T) {
			if r := queryRequest(t, queryOnly); r.Method != "GET" || r.Target != queryPath+"?"+asked {
				t.Error(r.Target)
			}
		}},
		{"ANML-12.4-06", "accept-without-a-query", func(t *testing.T) {
			if r := queryRequest(t, queryOnly); r.Target != queryPath+"?"+asked {
				t.Error(r.Target)
			}
		}},
		{"ANML-12.4-06", "accept-appended", func(t *testing.T) {
			if r := queryRequest(t, queryOnly+"?k=1"); r.Target != queryPath+"?k=1&"+asked {
				t.Error(r.Target)
			}
		}},
		{"ANML-12.4-07", "accept-registrable", func(t *testing.T) {
			u, _ := url.Parse(queryRequest(t, queryOnly).Target)
			if u.Query().Get("domain") != "shop.example" {
				t.Error(u)
			}
		}},
		{"ANML-12.4-08", "accept-eight", func(t *testing.T) {
			u, _ := url.Parse(queryRequest(t, queryOnly).Target)
			if strings.Count(u.Query().Get("scope"), ",") != 7 {
				t.Error(u)
			}
		}},
		{"ANML-12.4-09", "accept-anonymous", func(t *testing.T) {
			h := queryRequest(t, queryOnly).Header
			anonymous(t, h)
			if h.Get("Accept") != "application/json" {
				t.Error(h)
			}
		}},
		{"ANML-12.4-10", "accept-suffix", approval(queryOnly, anmltrust.CodeQueryAuthorized, func(w *world) { w.trust.File(queryPath, "application/problem+json", authorized) })},
		{"ANML-12.4-10", "reject-html", denial(queryOnly, anmltrust.CodeQueryMalformed, func(w *world) { w.trust.File(queryPath, "text/html", authorized) })},
		{"ANML-12.4-11", "reject-large", denial(queryOnly, anmltrust.CodeQueryMalformed, body(authorized+strings.Repeat(" ", 64<<10)))},
		{"ANML-12.4-11", "reject-duplicate", denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, "{", `{"tier":2,`, 1)))},
		{"ANML-12.4-13", "reject-authorized-false", denial(queryOnly, anmltrust.CodeQueryAuthorizedFalse, body(`{"authorized":false}`))},
		{"ANML-12.4-14", "reject-404", queryRefused(anmltrust.CodeQuery404, time.Hour, status(404))},
		{"ANML-12.4-15", "reject-for-the-ttl", func(t *testing.T) {
			for ttl, stands := range map[time.Duration]time.Duration{time.Hour: time.Hour, 10 * time.Minute: 10 * time.Minute, 2 * time.Hour: 2 * time.Hour,
				0: time.Minute, 59 * time.Second: time.Minute, 48 * time.Hour: 24 * time.Hour} { // between a minute and a day
				queryRefused(anmltrust.CodeQuery404, stands, func(w *world) { w.status(404).dns.TTL(ttl) })(t)
			}
		}},
		{"ANML-12.4-26", "reject-cached", queryRefused(anmltrust.CodeQuery404, time.Hour, status(404))},
		{"ANML-12.4-16", "reject-only-the-pair", func(t *testing.T) {
			w := newWorld(t, queryOnly)
			w.trust.HandleFunc(queryPath, func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("domain") == "shop.example" {
					rw.WriteHeader(404)
					return
				}
				rw.Header().Set("Content-Type", "application/json")
				rw.Write([]byte(authorized))
			})
			w.denied(anmltrust.CodeQuery404)
			a, err := w.ask(claimFrom("https://other.example/x"))
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		}},
		{"ANML-12.4-17", "reject-string", denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, "true", `"true"`, 1)))},
		{"ANML-12.4-17", "accept-true", approval(queryOnly, anmltrust.CodeQueryAuthorized)},
		{"ANML-12.4-18", "reject-3", denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, `"tier":2`, `"tier":3`, 1)))},
		{"ANML-12.4-18", "accept-1-cut", sourceRow("Q1", "authorized")},
		{"ANML-12.4-19", "reject-missing", denial(queryOnly, anmltrust.CodeQueryMalformed, body(`{"authorized":true,"tier":2,"expires":"2026-06-20T00:00:00Z"}`))},
		{"ANML-12.4-19", "accept-empty", sourceRow("Q6", "empty-scope")},
		{"ANML-12.4-20", "accept-smaller", approval(queryOnly, anmltrust.CodeQueryAuthorized, body(answer(2, "2026-06-20T00:00:00Z", "persona")))},
		{"ANML-12.4-21", "reject-the-rest", func(t *testing.T) {
			a := newWorld(t, queryOnly).query(answer(2, "2026-06-20T00:00:00Z", "persona")).granted(anmltrust.CodeQueryAuthorized)
			if a.Permits(anmltrust.Body, start) || !a.Permits(anmltrust.Persona, start) {
				t.Error(a.Scope)
			}
		}},
		{"ANML-12.4-22", "reject-offset", denial(queryOnly, anmltrust.CodeQueryMalformed, body(answer(2, "2026-06-20T00:00:00+00:00", "body")))},
		{"ANML-12.4-22", "reject-past", denial(queryOnly, anmltrust.CodeQueryExpired, body(answer(2, "2026-06-01T12:00:00Z", "body")))},
		{"ANML-12.4-23", "reject-after-expires", cacheRow("E5", "expired")},
		{"ANML-12.4-24", "accept-until-expires", cacheRow("E1", "grant")},
		{"ANML-12.4-27", "reject-400", queryRefused(anmltrust.CodeQuery400, five, status(400))},
		{"ANML-12.4-28", "accept-logged", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(400)
			w.denied(anmltrust.CodeQuery400)
			w.saw(anmltrust.CodeQuery400)
		}},
		{"ANML-12.4-29", "reject-until-retry-after", queryRefused(anmltrust.CodeQuery429, 2*time.Minute, status(429, "Retry-After", "120"))},
		{"ANML-12.4-30", "reject-for-the-interaction", cacheRow("E0", "until-the-interaction-ends")},
		{"ANML-12.4-31", "accept-manifest", fallsBack(status(503))},
		{"ANML-12.4-32", "reject-alone", unavailable(status(503))},
		{"ANML-12.4-32", "reject-manifest-expired", denial(both, anmltrust.CodeManifestExpired, isSecure, status(503), manifestBody(manifest(listed, "expires", `"2026-06-01T12:00:00Z"`)))},
		{"ANML-12.4-33", "reject-302", queryRefused(anmltrust.CodeQueryRedirect, five, status(302, "Location", "/x"))},
		{"ANML-12.4-33", "reject-401", queryRefused(anmltrust.CodeQueryStatus, five, status(401))},
		{"ANML-12.4-33", "reject-201", queryRefused(anmltrust.CodeQueryMalformed, five, status(201))},
		{"ANML-12.4-35", "accept-one-query", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			anmltrust.Remember(w.v, 2, 1, 1<<20)
			for _, host := range []string{"a", "b", "c"} {
				a, err := w.ask(claimFrom("https://" + host + ".shop.example/x"))
				w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
				if a.Server.Host != host+".shop.example" || !strings.HasPrefix(a.Verdict.Subject, host+".") {
					t.Errorf("%+v %s", a.Server, a.Verdict.Subject)
				}
			}
			w.traffic(1, 1, 0)
		}},
		{"ANML-12.4-36", "accept-local-intersection", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			w.net.Journal().Clear()
			a := w.granted(anmltrust.CodeQueryAuthorized)
			if !a.Permits(anmltrust.Persona, start) || a.Permits(anmltrust.Interact, start) {
				t.Error(a.Scope)
			}
			w.traffic(0, 0, 0)
		}},
		{"ANML-12.4-38", "accept-by-host", func(t *testing.T) {
			w := newWorld(t, manifestOnly).manifest(manifest(entry("a.shop.example", 2, "body")))
			a, err := w.ask(claimFrom("https://a.shop.example/x"))
			w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
			a, err = w.ask(claimFrom("https://b.shop.example/x"))
			w.wants(a, err, none, anmltrust.CodeNotListed)
			w.traffic(1, 0, 1)
		}},
		{"ANML-12.4-39", "accept-bounded", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			anmltrust.Remember(w.v, 2, 1, 1<<20)
			for _, host := range []string{"a", "b", "c"} {
				a, err := w.ask(claimFrom("https://" + host + "-shop.example/x"))
				w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
			}
			a, err := w.ask(claimFrom("https://a-shop.example/x"))
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
			w.traffic(1, 4, 0)
		}},
		{"ANML-12.4-40", "reject-response", quiet(anmltrust.Claim{URL: "https://shop.example/x", Site: "brand.example", Response: true}, anmltrust.CodeNotServed)},
		{"ANML-12.5-02", "reject-no-claim", func(t *testing.T) {
			if claims, _ := (anmltrust.Document{URL: "https://shop.example/x"}).Claims(); len(claims) != 0 {
				t.Error(claims)
			}
			quiet(anmltrust.Claim{URL: "https://shop.example/x"}, anmltrust.CodeNoClaim)(t)
		}},
		{"ANML-12.5-07", "accept-www", from("https://www.brand.example/x", "brand.example", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.5-08", "reject-no-record", denial("", anmltrust.CodeNoRecord)},
		{"ANML-12.5-09", "accept-uris", approval(both, anmltrust.CodeListed)},
		{"ANML-12.5-10", "accept-cached", cacheRow("E1", "grant")},
		{"ANML-12.5-11", "accept-query-first", approval(both, anmltrust.CodeQueryAuthorized, isSecure)},
		{"ANML-12.5-12", "reject-no-manifest", queryRefused(anmltrust.CodeQueryMalformed, five, body("{"))},
		{"ANML-12.5-13", "reject-www-certificate", sourceRow("M5", "www-for-itself-only")},
		{"ANML-12.5-13", "reject-hop-certificate", sourceRow("M5", "redirect-to-www")},
		{"ANML-12.5-14", "reject-both-fail", sourceRow("M10", "after-query")},
		{"ANML-12.5-15", "reject-site", denial(both, anmltrust.CodeManifestSiteMismatch, manifestBody(manifest(listed, "site", `"evil.example"`)))},
		{"ANML-12.5-16", "reject-absent", listing(entry("*.a.shop.example", 2, "body"), none, anmltrust.CodeNotListed, "")},
		{"ANML-12.5-17", "accept-told", func(t *testing.T) {
			a := newWorld(t, both).secure().willing().granted(anmltrust.CodeQueryAuthorized)
			if a.DNSSEC != lookleap.Secure || !slices.Equal(a.Sources, []string{queryURI}) || a.Expires.IsZero() || a.CheckedAt.IsZero() {
				t.Errorf("%+v", a)
			}
		}},
		{"ANML-12.5-22", "accept-cached", cacheRow("E1", "grant")},
		{"ANML-12.5-24", "reject-second-fails", sourceOrSeveral("K2", "manifest")},
		{"ANML-12.5-25", "accept-own-identity", func(t *testing.T) {
			w := newWorld(t, "")
			out, _ := w.v.Begin().VerifyDocument(t.Context(), anmltrust.Document{URL: "https://shop.example/x", Sites: []anmltrust.SiteClaim{{Domain: "brand.example"}, {Domain: "shop.example"}}}, nil)
			w.wants(out[0].Authorization, out[0].Err, none, anmltrust.CodeNoRecord)
			w.wants(out[1].Authorization, out[1].Err, anmltrust.Self, anmltrust.CodeSelf)
		}},
		{"ANML-12.5-29", "accept-early", cacheRow("E4", "newer-trust-verified")},
		{"ANML-8.2-06", "accept-early-only", cacheRow("E4", "newer-trust-verified")},
		{"ANML-8.2-07", "accept-newer", cacheRow("E4", "newer-trust-verified")},
		{"ANML-8.2-07", "reject-often", cacheRow("E4", "once-in-five-minutes")},
		{"ANML-8.2-08", "reject-shortcut", func(t *testing.T) {
			w := newWorld(t, "")
			c := shopClaim
			c.Verified = start
			a, err := w.ask(c)
			w.wants(a, err, none, anmltrust.CodeNoRecord)
		}},
		{"ANML-8.2-09", "accept-absent", approval(manifestOnly, anmltrust.CodeListed)},
		{"ANML-8.2-10", "accept-domain-alone", from("https://shop.example/x", "brand.example", none, anmltrust.CodeManifestMissing, "_anml.brand.example")},
		{"ANML-8.2-03", "accept-normalised", from("https://example.com/x", "EXAMPLE.com.", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-8.2-03", "accept-www-both", from("https://www.example.com/x", "www.example.com", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-8.2-03", "reject-www-from-apex", from("https://example.com/x", "www.example.com", none, anmltrust.CodeNoRecord, "_anml.www.example.com")},
		{"ANML-8.2-04", "reject-unverified", denial("", anmltrust.CodeNoRecord)},
		{"ANML-7.6-06", "accept-form-free", sameTier},
		{"ANML-17.1-04", "accept-no-influence", sameTier},
		{"ANML-12.7-04", "reject-each-on-its-own", func(t *testing.T) {
			w := newWorld(t, manifestOnly).willing()
			w.net.Name("_anml.c-site.example").TXT(manifestOnly).Bogus()
			out, _ := w.v.Begin().VerifyDocument(t.Context(), anmltrust.Document{URL: "https://shop.example/x", Sites: []anmltrust.SiteClaim{{Domain: "brand.example"}, {Domain: "b-site.example"}, {Domain: "c-site.example"}}}, nil)
			w.wants(out[0].Authorization, out[0].Err, anmltrust.Full, anmltrust.CodeListed)
			w.wants(out[1].Authorization, out[1].Err, none, anmltrust.CodeNoRecord)
			w.wants(out[2].Authorization, out[2].Err, none, lookleap.CodeDNSSECBogus)
		}},
		{"ANML-12.7-05", "accept-own-site", from("https://www.example.net/x", "example.net", anmltrust.Self, anmltrust.CodeSelf, "")},
		{"ANML-12.7-06", "accept-own-site-unraised", func(t *testing.T) {
			w := newWorld(t, manifestOnly).willing()
			d := anmltrust.Document{URL: "https://shop.example/x", Sites: []anmltrust.SiteClaim{{Domain: "brand.example"}, {Domain: "shop.example"}, {Domain: "www.shop.example"}}}
			out, _ := w.v.Begin().VerifyDocument(t.Context(), d, nil)
			w.wants(out[0].Authorization, out[0].Err, anmltrust.Full, anmltrust.CodeListed)
			w.wants(out[1].Authorization, out[1].Err, anmltrust.Self, anmltrust.CodeSelf)
			w.wants(out[2].Authorization, out[2].Err, none, anmltrust.CodeNoRecord)
		}},
		{"ANML-12.8-06", "reject-redirect-to-http", denial(manifestOnly, anmltrust.CodeManifestRedirect, manifestStatus(301, "Location", "http://brand.example/m"))},
		{"ANML-12.8-07", "reject-self-signed", denial(manifestOnly, anmltrust.CodeManifestTLS, func(w *world) { w.brand.Certificate(lookleaptest.CertificateSelfSigned) })},
		{"ANML-12.8-08", "reject-beyond-expires", sourceRow("M16", "expires-in-memory")},
		{"ANML-12.8-11", "accept-exposed", dnsRow("C7", "states")},
		{"ANML-13.4-07", "accept-asked-again", sourceRow("M3", "fresh-mode")},
		{"ANML-16.1-04", "reject-www-certificate", sourceRow("M5", "www-for-itself-only")},
		{"ANML-16.2-02", "reject-unannounced", func(t *testing.T) {
			w := newWorld(t, "").willing()
			w.denied(anmltrust.CodeNoRecord)
			w.traffic(1, 0, 0)
			w = newWorld(t, queryOnly).willing()
			w.granted(anmltrust.CodeQueryAuthorized)
			w.traffic(1, 1, 0)
		}},
		{"F20", "reject-query", denial(queryOnly, anmltrust.CodeQuery429, status(429))},
		{"F20", "reject-manifest", denial(manifestOnly, anmltrust.CodeManifest429, manifestStatus(429))},
		{"F20", "reject-query-beside-a-manifest", denial(both, anmltrust.CodeQuery429, isSecure, status(429, "Retry-After", "120"))},
		{"G01", "accept-joined", approval("", anmltrust.CodeListed, func(w *world) { w.dns.TXT("v=anml1; manifest=https://bra", "nd.example"+manifestPath) })},
		{"G02", "reject-records-joined", denial("", anmltrust.CodeManifestHost, func(w *world) { w.setRecord("v=anml1; manifest=https://brand.exa.example", ".evil.example/t") })},
		{"G10", "reject-subdomain", recordDenied(anmltrust.CodeManifestHost, "v=anml1;manifest=https://sub.brand.example/m")},
		{"G10", "reject-longer-name", recordDenied(anmltrust.CodeManifestHost, "v=anml1;manifest=https://brand.example.evil.example/m")},
		{"G11", "accept-cname", dnsRow("C8", "cname")},
		{"G13", "reject-labels", func(t *testing.T) { findRow(t, preRows, "A6", "bad-names")(t) }},
		{"G14", "reject-bogus", dnsRow("C3", "bogus")},
		{"H02", "reject-cdn", denial(manifestOnly, anmltrust.CodeManifestRedirect, manifestStatus(302, "Location", "https://cdn.example/m"))},
		{"H11", "reject-200-false", denial(queryOnly, anmltrust.CodeQueryAuthorizedFalse, body(`{"authorized":false,"tier":2,"scope":["body"],"expires":"2026-06-20T00:00:00Z"}`))},
		{"H11", "reject-string", denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, "true", `"true"`, 1)))},
		{"H11", "reject-no-answer", denial(queryOnly, anmltrust.CodeQueryMalformed, body(`{"tier":2,"scope":["body"],"expires":"2026-06-20T00:00:00Z"}`))},
		{"H13", "reject-202", denial(queryOnly, anmltrust.CodeQueryMalformed, status(202))},
		{"H13", "reject-206", denial(queryOnly, anmltrust.CodeQueryMalformed, status(206))},
		{"H13", "reject-204", denial(queryOnly, anmltrust.CodeQueryMalformed, status(204))},
		{"H13", "reject-301", denial(queryOnly, anmltrust.CodeQueryRedirect, status(301, "Location", "/x"))},
		{"H13", "reject-401", denial(queryOnly, anmltrust.CodeQueryStatus, status(401))},
		{"H16", "reject-rollback", sourceRow("M18", "rollback")},
		{"H17", "accept-clamped-ttl", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(404)
			w.dns.TTL(68 * 365 * 24 * time.Hour)
			w.denied(anmltrust.CodeQuery404)
			w.query(authorized).after(24 * time.Hour).granted(anmltrust.CodeQueryAuthorized)
		}},
		{"H17", "accept-other-claim", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(404)
			w.denied(anmltrust.CodeQuery404)
			w.query(authorized)
			a, err := w.ask(claimFrom("https://other.example/x"))
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
			w.denied(anmltrust.CodeQuery404)
		}},
		{"H17", "accept-after-an-outage", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(503)
			w.denied(anmltrust.CodeQueryUnavailable)
			w.query(authorized).after(time.Minute).granted(anmltrust.CodeQueryAuthorized)
		}},
		{"H20", "reject-record-gone", dnsRow("C4", "drops-grants")},
		{"H20", "reject-record-bogus", dnsRow("C3", "drops-grants")},
		{"H26", "reject-future-hint", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			w.net.Journal().Clear()
			c := shopClaim
			c.Verified = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
			a, err := w.ask(c)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
			w.traffic(0, 0, 0)
		}},
		{"H29", "reject-endless", recordDenied(anmltrust.CodeRecordAmbiguous, "v=anml1;query=https://a.example/1", "v=anml1;query=https://a.example/2", "v=anml1;query=https://a.example/3", "v=anml1;query=https://a.example/4", "v=anml1;query=https://a.example/5")},
	} {
		t.Run(c.id+"/"+c.name, c.test)
	}
}
