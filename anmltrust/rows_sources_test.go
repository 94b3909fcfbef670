package anmltrust_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// each runs a test for each of some statuses.
func each(test func(status int) func(*testing.T), statuses ...int) func(*testing.T) {
	return func(t *testing.T) {
		for _, status := range statuses {
			t.Run(fmt.Sprint(status), test(status))
		}
	}
}

// authorizedWith is a response of a query endpoint with one member replaced; "" leaves it out.
func authorizedWith(member, value string) string {
	members := []string{}
	for _, m := range [][2]string{{"authorized", "true"}, {"tier", "2"}, {"scope", `["persona","body"]`}, {"expires", `"2026-06-20T00:00:00Z"`}} {
		if m[0] == member {
			m[1] = value
		}
		if m[1] != "" {
			members = append(members, fmt.Sprintf("%q:%s", m[0], m[1]))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// malformedMember denies each response in which a member has one of some values.
func malformedMember(member string, values ...string) func(*testing.T) {
	return func(t *testing.T) {
		for _, value := range values {
			denial(queryOnly, anmltrust.CodeQueryMalformed, body(authorizedWith(member, value)))(t)
		}
	}
}

// headerNames are the names of the fields of the one request to a host.
func (w *world) headerNames(host string) string {
	w.t.Helper()
	seen := w.net.Journal().Requests(host)
	if len(seen) != 1 {
		w.t.Fatalf("%d requests to %s", len(seen), host)
	}
	var names []string
	for name := range seen[0].Header {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestRowsOfSources shows rows of section 12.3 to 13.4: manifests, query endpoints and the procedure.
func TestRowsOfSources(t *testing.T) {
	const none = anmltrust.Unlisted
	refusedManifest := func(code lookleap.Code) func(int) func(*testing.T) {
		return func(status int) func(*testing.T) { return denial(both, code, manifestStatus(status)) }
	}
	refusedQuery := func(code lookleap.Code) func(int) func(*testing.T) {
		return func(s int) func(*testing.T) {
			return denial(both, code, isSecure, status(s, "Location", "https://trust.example/other"))
		}
	}
	runRows(t, []rowTest{
		{"ANML-12.3-01", "accept-no-other-header", func(t *testing.T) {
			w := newWorld(t, manifestOnly).willing()
			w.granted(anmltrust.CodeListed)
			if names := w.headerNames("brand.example"); names != "Accept Accept-Encoding User-Agent" {
				t.Errorf("%s", names)
			}
			if r := w.net.Journal().Requests("brand.example")[0]; r.Method != http.MethodGet || r.Target != manifestPath {
				t.Errorf("%s %s", r.Method, r.Target)
			}
		}},
		{"ANML-12.3-02", "reject-other-types", func(t *testing.T) {
			for _, mediaType := range []string{"text/plain", "text/html", "text/json", "application/anml+json", "application/problem+json", "application/anml-trust", "application/anml-trust+xml"} {
				denial(both, anmltrust.CodeManifestType, func(w *world) { w.brand.File(manifestPath, mediaType, manifest(listed)) })(t)
			}
		}},
		{"ANML-12.3-02", "accept-any-with-finding", func(t *testing.T) {
			for _, mediaType := range []string{"text/plain", "application/octet-stream"} {
				w := newWorld(t, manifestOnly, anmltrust.Rules{AcceptAnyManifestType: true})
				w.brand.File(manifestPath, mediaType, manifest(listed))
				if a := w.granted(anmltrust.CodeListed); !has(a.Verdict.Findings, anmltrust.CodeManifestType) {
					t.Errorf("%s: no finding", mediaType)
				}
			}
		}},
		{"ANML-12.3-02", "accept-without-finding", func(t *testing.T) {
			if a := newWorld(t, manifestOnly).willing().granted(anmltrust.CodeListed); len(a.Verdict.Findings) != 0 {
				t.Errorf("%v", a.Verdict.Findings)
			}
		}},
		{"ANML-12.3-24", "accept-exact-entry", own("edge.brand.example", "brand.example", anmltrust.Rules{}, anmltrust.Display, anmltrust.CodeSelfNarrowed, 1, 1)},
		{"ANML-12.3-24", "accept-apex-untouched", own("brand.example", "brand.example", anmltrust.Rules{}, anmltrust.Self, anmltrust.CodeSelf, 0, 0)},
		{"ANML-12.3-24", "accept-site-of-its-own-untouched", own("edge.brand.example", "edge.brand.example", anmltrust.Rules{}, anmltrust.Self, anmltrust.CodeSelf, 0, 0)},
		{"ANML-12.3-24", "accept-trusted-by-option", own("edge.brand.example", "brand.example", anmltrust.Rules{SelfSubdomains: anmltrust.TrustSubdomains}, anmltrust.Self, anmltrust.CodeSelf, 0, 0)},
		{"ANML-12.3-24", "accept-verified-by-option", own("blog.brand.example", "brand.example", anmltrust.Rules{SelfSubdomains: anmltrust.VerifySubdomains}, anmltrust.Display, anmltrust.CodeListed, 1, 1)},
		{"ANML-12.3-31", "reject-each-4xx", each(refusedManifest(anmltrust.CodeManifestMissing), 400, 401, 403, 410, 428, 430, 499)},
		{"ANML-12.3-31", "accept-each-5xx", each(func(s int) func(*testing.T) { return approval(both, anmltrust.CodeQueryAuthorized, manifestStatus(s)) }, 500, 502, 504, 599)},
		{"ANML-12.3-31", "reject-each-2xx", each(refusedManifest(anmltrust.CodeManifestMalformed), 201, 203, 206, 299)},
		{"ANML-12.3-31", "reject-until-retry-after", manifestRefused(anmltrust.CodeManifest429, 10*time.Minute, manifestStatus(429, "Retry-After", "600"))},
		{"ANML-12.4-07", "accept-a-label-without-port", func(t *testing.T) {
			for url, want := range map[string]string{"https://CDN.Bücher.example:8443/x": "xn--bcher-kva.example", "https://a.b.shop.co.uk./x": "shop.co.uk", "https://u.github.io/x": "u.github.io"} {
				w := newWorld(t, queryOnly).query(authorized)
				a, err := w.ask(claimFrom(url))
				w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
				if target := w.net.Journal().Requests("trust.example")[0].Target; !strings.HasPrefix(target, queryPath+"?domain="+want+"&scope=") {
					t.Errorf("%s: %s", url, target)
				}
			}
		}},
		{"ANML-12.4-08", "accept-by-name", func(t *testing.T) {
			if r := queryRequest(t, queryOnly); !strings.HasSuffix(r.Target, "&scope=head,persona,aesthetic,knowledge,interact,constraints,body,footer") {
				t.Error(r.Target)
			}
		}},
		{"ANML-12.4-09", "accept-no-other-header", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			if names := w.headerNames("trust.example"); names != "Accept Accept-Encoding User-Agent" {
				t.Errorf("%s", names)
			}
			if target := w.net.Journal().Requests("trust.example")[0].Target; strings.Contains(target, "anml") || strings.Contains(target, "cdn") {
				t.Errorf("the request tells of the document: %s", target)
			}
		}},
		{"ANML-12.4-10", "accept-json", func(t *testing.T) {
			for _, mediaType := range []string{"application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/x+json"} {
				approval(queryOnly, anmltrust.CodeQueryAuthorized, func(w *world) { w.trust.File(queryPath, mediaType, authorized) })(t)
			}
		}},
		{"ANML-12.4-10", "reject-other-types", func(t *testing.T) {
			for _, mediaType := range []string{"text/plain", "text/json", "application/jsonp", "application/xjson", "application/json+xml", "application/octet-stream"} {
				denial(queryOnly, anmltrust.CodeQueryMalformed, func(w *world) { w.trust.File(queryPath, mediaType, authorized) })(t)
			}
		}},
		{"ANML-12.4-11", "accept-64-KiB", approval(queryOnly, anmltrust.CodeQueryAuthorized, body(authorized+strings.Repeat(" ", 64<<10-len(authorized))))},
		{"ANML-12.4-11", "reject-one-byte-more", denial(queryOnly, anmltrust.CodeQueryMalformed, body(authorized+strings.Repeat(" ", 64<<10-len(authorized)+1)))},
		{"ANML-12.4-11", "accept-depth-16", approval(queryOnly, anmltrust.CodeQueryAuthorized, body(`{"x":`+strings.Repeat("[", 15)+strings.Repeat("]", 15)+","+authorized[1:]))},
		{"ANML-12.4-11", "reject-each-fault", func(t *testing.T) {
			for _, text := range []string{`{"x":` + strings.Repeat("[", 16) + strings.Repeat("]", 16) + "," + authorized[1:], authorized + "{}", authorized + "x", "{\"\xff\":1," + authorized[1:],
				strings.Replace(authorized, `"tier"`, `"Tier"`, 1), strings.Replace(authorized, "{", `{"ti\u0065r":2,`, 1), "\uFEFF\uFEFF" + authorized, "[" + authorized + "]", "null", ""} {
				denial(queryOnly, anmltrust.CodeQueryMalformed, body(text))(t)
			}
		}},
		{"ANML-12.4-16", "reject-all-hosts-of-the-pair", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(404)
			w.denied(anmltrust.CodeQuery404)
			a, err := w.query(authorized).ask(claimFrom("https://www.shop.example/y"))
			w.wants(a, err, none, anmltrust.CodeQuery404)
			w.traffic(1, 1, 0)
			a, err = w.ask(w.sharedSite(queryOnly)) // another site
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		}},
		{"ANML-12.4-17", "reject-other-values", malformedMember("authorized", "", "null", "1", `""`, "[true]", "{}")},
		{"ANML-12.4-18", "reject-other-values", malformedMember("tier", "", "0", "-1", "3", "1.0", "2.0", "2e0", `"2"`, "null", "true", "[2]")},
		{"ANML-12.4-18", "accept-1-and-2", func(t *testing.T) {
			for tier := anmltrust.Display; tier <= anmltrust.Full; tier++ {
				w := newWorld(t, queryOnly).query(authorizedWith("tier", fmt.Sprint(int(tier))))
				a, err := w.ask(shopClaim)
				w.wants(a, err, tier, anmltrust.CodeQueryAuthorized)
			}
		}},
		{"ANML-12.4-19", "reject-other-values", malformedMember("scope", "", "null", `"body"`, `{"body":true}`, `[1]`, `["body",null]`, `[["body"]]`)},
		{"ANML-12.4-22", "reject-other-values", malformedMember("expires", "", "null", "1782000000", `"2026-06-20"`, `"2026-06-20T00:00:00"`, `"2026-06-20T02:00:00+02:00"`, `"2026-06-20T00:00:00z"`,
			`"2026-06-20 00:00:00Z"`, `""`)},
		{"ANML-12.4-22", "accept-second-before", approval(queryOnly, anmltrust.CodeQueryAuthorized, body(authorizedWith("expires", `"2026-06-01T12:00:01Z"`)))},
		{"ANML-12.4-24", "accept-until-the-last-second", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorizedWith("expires", `"2026-06-20T00:00:00Z"`))
			end := time.Date(2026, 6, 20, 0, 0, 0, 0, time.UTC)
			if a := w.granted(anmltrust.CodeQueryAuthorized); !a.Expires.Equal(end) {
				t.Errorf("until %s", a.Expires)
			}
			w.net.Journal().Clear()
			w.after(end.Sub(start) - time.Second).granted(anmltrust.CodeQueryAuthorized)
			w.traffic(1, 0, 0)
			w.after(time.Second).status(404).denied(anmltrust.CodeQuery404)
			w.traffic(0, 1, 0)
		}},
		{"ANML-12.4-24", "accept-90-days", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorizedWith("expires", `"2030-01-01T00:00:00Z"`))
			w.granted(anmltrust.CodeQueryAuthorized)
			w.net.Journal().Clear()
			w.after(90*24*time.Hour - time.Second).granted(anmltrust.CodeQueryAuthorized)
			w.traffic(1, 0, 0)
			w.after(time.Second).granted(anmltrust.CodeQueryAuthorized)
			w.traffic(0, 1, 0)
		}},
		{"ANML-12.4-24", "reject-other-uri-or-no-record", func(t *testing.T) {
			findRow(t, cacheRows, "E2", "no-longer-advertised")(t)
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			w.dns.Clear()
			w.after(time.Hour).denied(anmltrust.CodeNoRecord)
			w.setRecord(queryOnly).status(404).after(3 * time.Hour).denied(anmltrust.CodeQuery404) // the grant is gone
		}},
		{"ANML-12.4-24", "reject-after-a-bogus-record", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			w.dns.Bogus()
			w.after(time.Hour).denied(lookleap.CodeDNSSECBogus)
			w.dns.Heal()
			w.status(404).after(time.Minute).denied(anmltrust.CodeQuery404)
		}},
		{"ANML-12.4-24", "accept-after-a-lookup-that-failed", func(t *testing.T) { findRow(t, dnsRows, "C6", "grant-waits")(t) }},
		{"ANML-12.4-28", "accept-one-event", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(400)
			a, err := w.ask(claimFrom("https://cdn.shop.example/anml?user=alice"))
			w.wants(a, err, none, anmltrust.CodeQuery400)
			logged := 0
			for _, e := range w.events.All() {
				if e.Kind != lookleap.EventFinding || e.Code != anmltrust.CodeQuery400 {
					continue
				}
				if logged++; strings.Contains(fmt.Sprintf("%+v %+v", e, *e.Finding), "alice") {
					t.Errorf("the event has user data: %+v", e)
				}
			}
			if logged != 1 {
				t.Errorf("%d events", logged)
			}
		}},
		{"ANML-12.4-29", "reject-until-the-date", queryRefused(anmltrust.CodeQuery429, 20*time.Minute, status(429, "Retry-After", "Mon, 01 Jun 2026 12:20:00 GMT"))},
		{"ANML-12.4-29", "reject-for-a-minute-without-it", queryRefused(anmltrust.CodeQuery429, time.Minute, status(429))},
		{"ANML-12.4-29", "reject-other-pair-of-the-endpoint", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(429, "Retry-After", "120")
			w.denied(anmltrust.CodeQuery429)
			a, err := w.query(authorized).ask(claimFrom("https://other.example/x"))
			w.wants(a, err, none, anmltrust.CodeQuery429)
			w.traffic(1, 1, 0)
		}},
		{"ANML-12.4-30", "reject-without-fallback", func(t *testing.T) {
			w := newWorld(t, both).secure().willing().status(429)
			w.in = w.v.Begin()
			w.denied(anmltrust.CodeQuery429)
			w.traffic(1, 1, 0)
			w.after(time.Hour).denied(anmltrust.CodeQuery429)
			if n := len(w.net.Journal().Requests()); n != 0 {
				t.Errorf("%d requests", n)
			}
		}},
		{"ANML-12.4-31", "accept-each-5xx", each(func(s int) func(*testing.T) { return fallsBack(status(s)) }, 500, 501, 502, 504, 599)},
		{"ANML-12.4-31", "accept-without-a-response", func(t *testing.T) {
			for _, prepare := range []func(*world){func(w *world) { w.trust.Connection(lookleaptest.ConnectionRefused) }, queryFault(lookleaptest.Reset()), queryFault(lookleaptest.Truncated())} {
				fallsBack(prepare)(t)
			}
		}},
		{"ANML-12.4-31", "reject-what-does-not-pass", func(t *testing.T) {
			for code, prepare := range map[lookleap.Code]func(*world){
				anmltrust.CodeQueryTLS: func(w *world) { w.trust.Certificate(lookleaptest.CertificateSelfSigned) }, anmltrust.CodeQueryRedirect: status(302, "Location", "/x"),
				anmltrust.CodeQueryMalformed: body("{"), anmltrust.CodeQuery404: status(404), anmltrust.CodeQueryStatus: status(499),
			} {
				denial(both, code, isSecure, prepare)(t)
			}
			denial(both, anmltrust.CodeQueryMalformed, isSecure, body(authorized+strings.Repeat(" ", 64<<10)))(t)
		}},
		{"ANML-12.4-33", "reject-each-3xx", each(refusedQuery(anmltrust.CodeQueryRedirect), 300, 301, 303, 304, 307, 308, 399)},
		{"ANML-12.4-33", "reject-each-4xx", each(refusedQuery(anmltrust.CodeQueryStatus), 402, 403, 405, 410, 428, 430, 499)},
		{"ANML-12.4-33", "reject-each-2xx", each(refusedQuery(anmltrust.CodeQueryMalformed), 202, 203, 204, 206, 299)},
		{"ANML-12.4-33", "reject-unfollowed", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(302, "Location", "https://trust.example/other")
			w.trust.File("/other", "application/json", authorized)
			w.denied(anmltrust.CodeQueryRedirect)
			w.traffic(1, 1, 0)
		}},
		{"ANML-12.4-35", "reject-other-site", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			other := w.sharedSite(queryOnly)
			a, err := w.status(404).ask(other)
			w.wants(a, err, none, anmltrust.CodeQuery404)
			w.granted(anmltrust.CodeQueryAuthorized)
			a, err = w.ask(claimFrom("https://cdn.other.example/anml")) // another server
			w.wants(a, err, none, anmltrust.CodeQuery404)
		}},
		{"ANML-12.4-39", "accept-bounded-manifests", func(t *testing.T) {
			for most, reads := range map[int]int{1: 1, 2: 0} {
				w := newWorld(t, manifestOnly).willing()
				anmltrust.Remember(w.v, 10, most, 1<<20)
				w.granted(anmltrust.CodeListed)
				w.other(anmltrust.CodeListed)
				w.net.Journal().Clear()
				a, err := w.ask(claimFrom("https://www.shop.example/x"))
				w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
				w.traffic(0, 0, reads)
			}
		}},
		{"ANML-12.4-39", "accept-bounded-bytes", func(t *testing.T) {
			for most, queries := range map[int]int{1: 1, 1 << 20: 0} {
				w := newWorld(t, queryOnly).query(authorized)
				anmltrust.Remember(w.v, 10, 10, most)
				w.granted(anmltrust.CodeQueryAuthorized)
				w.net.Journal().Clear()
				a, err := w.ask(claimFrom("https://www.shop.example/x"))
				w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
				if n := len(w.net.Journal().Requests("trust.example")); n != queries {
					t.Errorf("%d bytes: %d queries, want %d", most, n, queries)
				}
			}
		}},
		{"ANML-12.5-08", "reject-before-the-cache", func(t *testing.T) {
			for _, record := range []string{"", "v=anml2;query=" + queryURI} {
				w := newWorld(t, queryOnly).query(authorized)
				w.granted(anmltrust.CodeQueryAuthorized)
				w.setRecord()
				if record != "" {
					w.setRecord(record)
				}
				w.net.Journal().Clear()
				w.after(time.Hour).denied(anmltrust.CodeNoRecord)
				w.traffic(1, 0, 0)
			}
		}},
		{"ANML-12.5-09", "accept-each-uri", func(t *testing.T) {
			for _, c := range []struct {
				prepare func(*world)
				code    lookleap.Code
				source  string
			}{
				{func(*world) {}, anmltrust.CodeListed, manifestURI}, {isSecure, anmltrust.CodeQueryAuthorized, queryURI},
				{manifestStatus(503), anmltrust.CodeQueryAuthorized, queryURI}, {func(w *world) { w.secure().status(503) }, anmltrust.CodeListedFallback, manifestURI},
			} {
				w := newWorld(t, both).willing()
				c.prepare(w)
				if a := w.granted(c.code); !slices.Equal(a.Sources, []string{c.source}) {
					t.Errorf("%s", a.Sources)
				}
			}
		}},
		{"ANML-12.5-11", "accept-manifest-after-5xx", fallsBack(status(500))},
		{"ANML-12.5-11", "accept-manifest-after-a-network-error", fallsBack(func(w *world) { w.trust.Connection(lookleaptest.ConnectionRefused) })},
		{"ANML-12.5-12", "reject-each-other-status", func(t *testing.T) {
			for s, code := range map[int]lookleap.Code{201: anmltrust.CodeQueryMalformed, 302: anmltrust.CodeQueryRedirect, 400: anmltrust.CodeQuery400, 403: anmltrust.CodeQueryStatus,
				404: anmltrust.CodeQuery404, 429: anmltrust.CodeQuery429} {
				w := newWorld(t, both).secure().willing().status(s, "Location", "/x")
				w.denied(code)
				w.traffic(1, 1, 0)
			}
			for text, code := range map[string]lookleap.Code{authorizedWith("authorized", "false"): anmltrust.CodeQueryAuthorizedFalse, authorizedWith("expires", `"2026-06-01T12:00:00Z"`): anmltrust.CodeQueryExpired} {
				w := newWorld(t, both).secure().willing().query(text)
				w.denied(code)
				w.traffic(1, 1, 0)
			}
		}},
		{"ANML-12.5-13", "reject-certificate-of-the-first-hop", func(t *testing.T) {
			w := newWorld(t, "v=anml1;manifest=https://www.brand.example/m").willing()
			w.net.Site("www.brand.example").Redirect("/m", manifestURI)
			w.denied(anmltrust.CodeManifestTLS)
			w.traffic(1, 0, 0)
		}},
		{"ANML-12.5-15", "reject-expired", denial(both, anmltrust.CodeManifestExpired, manifestBody(manifest(listed, "expires", `"2026-06-01T12:00:00Z"`)))},
		{"ANML-12.5-15", "reject-not-yet-valid", denial(both, anmltrust.CodeManifestNotYetValid, manifestBody(manifest(listed, "issued", `"2026-06-01T12:05:01Z"`)))},
		{"ANML-12.5-17", "accept-all-told", func(t *testing.T) {
			for _, c := range []struct {
				prepare func(*world)
				want    string
			}{
				{isSecure, "full persona,body query-authorized [" + queryURI + "] secure 2026-06-20T00:00:00Z"},
				{func(w *world) { w.query(answer(1, "2026-06-20T00:00:00Z", "persona", "body")).secure() }, "display body query-authorized [" + queryURI + "] secure 2026-06-20T00:00:00Z"},
				{func(w *world) { w.dns.DNSSEC(lookleap.Insecure) }, "full persona,interact,body listed [" + manifestURI + "] insecure 2026-06-01T13:00:00Z"},
			} {
				w := newWorld(t, both).willing()
				c.prepare(w)
				a, err := w.ask(shopClaim)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(a.Tier, " ", a.Scope, " ", a.Reason, " ", a.Sources, " ", a.DNSSEC, " ", a.Expires.Format(time.RFC3339)); got != c.want || !a.CheckedAt.Equal(start) {
					t.Errorf("%s\nwant %s", got, c.want)
				}
			}
		}},
		{"ANML-12.5-24", "reject-query-second-fails", sourceOrSeveral("K2", "one-no")},
		{"ANML-12.5-29", "reject-often", cacheRow("E4", "once-in-five-minutes")},
		{"ANML-12.5-29", "accept-grant-after-a-failure", cacheRow("E4", "failure-keeps-the-grant")},
		{"ANML-12.7-04", "reject-ninth", func(t *testing.T) { findRow(t, preRows, "A9", "ninth-site")(t) }},
		{"ANML-12.8-08", "reject-verdict-beyond-expires", func(t *testing.T) {
			findRow(t, cacheRows, "E5", "expired")(t)
			w := newWorld(t, manifestOnly).manifest(manifest(listed, "expires", `"2026-06-01T12:10:00Z"`))
			a := w.granted(anmltrust.CodeListed)
			if end := start.Add(10 * time.Minute); !a.Permits(anmltrust.Body, end.Add(-time.Second)) || a.Permits(anmltrust.Body, end) || a.Holds(end) {
				t.Errorf("until %s", a.Expires)
			}
		}},
		{"ANML-12.8-11", "accept-source-and-age", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			a := w.after(30 * time.Minute).granted(anmltrust.CodeQueryAuthorized)
			if !slices.Equal(a.Sources, []string{queryURI}) || !a.CheckedAt.Equal(start) || !a.Verdict.CheckedAt.Equal(start) || !a.Cached {
				t.Errorf("%+v", a)
			}
		}},
	})
}
