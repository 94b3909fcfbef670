package anmltrust_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/test/zone"
	"github.com/lookleap/lookleap/lookleaptest"
)

// ownResolver lets the world look names up with the module's own resolver, in signed zones in which the
// records of brand.example are these.
func (w *world) ownResolver(brand func(*zone.Zone)) *world {
	w.t.Helper()
	root, site := zone.New(".").Sign(zone.Signing{}), zone.New("brand.example").Sign(zone.Signing{})
	brand(site.A("@", w.brand.Addr().String()))
	server := zone.NewServer(w.net.Clock().Now, root, zone.New("example").Sign(zone.Signing{}), site,
		zone.New("provider.example").Sign(zone.Signing{}).TXT("_anml", manifestOnly))
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"192.0.2.53"}, Anchors: root.Anchor(),
		Now: w.net.Clock().Now, DialContext: zone.Dial(server)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.host.Resolver = r
	return w
}

// scriptedResolver answers each question with the same answer, and counts them.
type scriptedResolver struct {
	answer lookleap.DNSAnswer
	asked  int
}

func (r *scriptedResolver) Lookup(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
	r.asked++
	answer := r.answer
	return &answer, nil
}

// noted reports whether a verdict has a check of a row with a status.
func noted(v *lookleap.Verdict, row string, status lookleap.Status) bool {
	return slices.ContainsFunc(v.Checks, func(c lookleap.Check) bool { return c.Requirement == row && c.Status == status })
}

// sharedSite is the site shared-name.example, for which certificates of other hosts are valid too.
func (w *world) sharedSite(record string) anmltrust.Claim {
	w.net.Name("_anml.shared-name.example").TXT(record).TTL(time.Hour)
	return anmltrust.Claim{URL: shopClaim.URL, Site: "shared-name.example"}
}

var sharedManifest = strings.Replace(manifest(listed), "brand.example", "shared-name.example", 1)

// TestRowsOfRecords shows rows of section 12.1, 12.2 and 16.2: who is verified, and what a record says.
func TestRowsOfRecords(t *testing.T) {
	const none = anmltrust.Unlisted
	runRows(t, []rowTest{
		{"ANML-12-01", "reject-server-with-a-certificate-of-the-site", func(t *testing.T) {
			for record, code := range map[string]lookleap.Code{"v=spf1 -all": anmltrust.CodeNoRecord, "v=anml1;manifest=https://cdn.shop.example/m": anmltrust.CodeManifestHost} {
				w := newWorld(t, "")
				c := w.sharedSite(record)
				w.net.Site("cdn.shop.example").Certificate(lookleaptest.CertificateSharedName).File("/m", anmltrust.ManifestMediaType, sharedManifest).File(manifestPath, anmltrust.ManifestMediaType, sharedManifest)
				a, err := w.ask(c)
				w.wants(a, err, none, code)
				if n := len(w.net.Journal().Requests()); n != 0 {
					t.Errorf("%d requests", n)
				}
			}
		}},
		{"ANML-12.1-09", "reject-claim-of-each-form", func(t *testing.T) {
			for _, form := range []anmltrust.Form{anmltrust.SiteElement, anmltrust.TrustElement} {
				w, c := newWorld(t, ""), shopClaim
				c.Form = form
				a, err := w.ask(c)
				w.wants(a, err, none, anmltrust.CodeNoRecord)
			}
		}},
		{"ANML-12.1-11", "reject-after-each-refusal", func(t *testing.T) {
			for _, c := range []struct {
				record string
				refuse func(*world)
				code   lookleap.Code
			}{
				{queryOnly, status(404), anmltrust.CodeQuery404},
				{queryOnly, status(403), anmltrust.CodeQueryStatus},
				{queryOnly, body("{"), anmltrust.CodeQueryMalformed},
				{queryOnly, status(400), anmltrust.CodeQuery400},
				{queryOnly, status(302, "Location", "/x"), anmltrust.CodeQueryRedirect},
				{queryOnly, body(authorizedWith("authorized", "false")), anmltrust.CodeQueryAuthorizedFalse},
				{queryOnly, body(authorizedWith("expires", `"2026-06-01T12:00:00Z"`)), anmltrust.CodeQueryExpired},
				{queryOnly, func(w *world) { w.dns.Bogus() }, lookleap.CodeDNSSECBogus},
				{queryOnly, func(w *world) { w.setRecord("v=anml1") }, anmltrust.CodeRecordMalformed},
				{queryOnly, func(w *world) { w.setRecord("v=anml1;manifest=https://cdn.example/m") }, anmltrust.CodeManifestHost},
				{queryOnly, func(w *world) { w.dns.Clear() }, anmltrust.CodeNoRecord},
				{manifestOnly, manifestBody("{"), anmltrust.CodeManifestMalformed},
				{manifestOnly, manifestBody(manifest(listed, "version", `"2.0"`)), anmltrust.CodeManifestVersion},
				{manifestOnly, manifestBody(manifest(listed, "site", `"other.example"`)), anmltrust.CodeManifestSiteMismatch},
				{manifestOnly, manifestBody(manifest(listed, "issued", `"2026-06-02T00:00:00Z"`)), anmltrust.CodeManifestNotYetValid},
				{manifestOnly, manifestBody(manifest(listed, "expires", `"2026-06-01T12:00:00Z"`)), anmltrust.CodeManifestExpired},
				{manifestOnly, manifestBody(manifest(entry("shop.example", 3, "body"))), anmltrust.CodeManifestEntryMalformed},
				{manifestOnly, manifestStatus(302, "Location", "https://cdn.example/m"), anmltrust.CodeManifestRedirect},
				{manifestOnly, func(w *world) { w.brand.File(manifestPath, "text/html", manifest(listed)) }, anmltrust.CodeManifestType},
				{manifestOnly, manifestBody(manifest("")), anmltrust.CodeNotListed},
				{manifestOnly, manifestStatus(404), anmltrust.CodeManifestMissing},
				{manifestOnly, func(w *world) { w.dns.Clear() }, anmltrust.CodeNoRecord},
			} {
				w := newWorld(t, c.record).willing()
				a, err := w.ask(shopClaim)
				if err != nil || a.Tier != anmltrust.Full {
					t.Fatal(a, err)
				}
				c.refuse(w)
				a, err = w.v.VerifyFresh(t.Context(), shopClaim)
				w.wants(a, err, none, c.code)
				w.denied(c.code)
				w.dns.Heal()
				w.setRecord(c.record).status(503).brand.Status(manifestPath, 503)
				if a, err := w.after(3 * time.Hour).ask(shopClaim); a != nil || err == nil {
					t.Errorf("the grant is used after %s: %+v", c.code, a)
				}
			}
		}},
		{"ANML-12.2-01", "accept-a-label", from("https://shop.example/x", "BÜCHER.example", none, anmltrust.CodeNoRecord, "_anml.xn--bcher-kva.example")},
		{"ANML-12.2-01", "accept-once", func(t *testing.T) {
			for _, record := range []string{"", both} {
				w := newWorld(t, record)
				if a, err := w.ask(shopClaim); a != nil || err == nil {
					t.Errorf("%+v, %v", a, err)
				}
				if asked := w.net.Journal().Queries("_anml.brand.example"); len(asked) != 1 || asked[0].Type != lookleap.TypeTXT {
					t.Errorf("%v", asked)
				}
			}
		}},
		{"ANML-12.2-01", "reject-each-bad-name", func(t *testing.T) {
			for _, site := range []string{"[2001:db8::1]", "localhost", "com", "co.uk", "github.io", "brand.example:443", "brand.example/x", "brand..example",
				"*.brand.example", "https://brand.example", "brand.example..", strings.Repeat("a.", 140) + "example"} {
				quiet(anmltrust.Claim{URL: "https://shop.example/x", Site: site}, anmltrust.CodeSiteDomainInvalid)(t)
			}
		}},
		{"ANML-12.2-04", "reject-discovery-name", func(t *testing.T) {
			w := newWorld(t, "").willing()
			w.net.Name("_anml._tcp.brand.example").TXT(manifestOnly)
			w.denied(anmltrust.CodeNoRecord)
			if asked := w.net.Journal().Queries("_anml._tcp.brand.example"); len(asked) != 0 {
				t.Errorf("%v", asked)
			}
		}},
		{"ANML-12.2-05", "accept-cname-by-the-own-resolver", func(t *testing.T) {
			w := newWorld(t, "").willing().ownResolver(func(z *zone.Zone) { z.CNAME("_anml", "_anml.provider.example.") })
			if a := w.granted(anmltrust.CodeListed); a.DNSSEC != lookleap.Secure {
				t.Errorf("%s", a.DNSSEC)
			}
		}},
		{"ANML-12.2-05", "accept-dname-by-the-own-resolver", func(t *testing.T) {
			w := newWorld(t, "").willing().ownResolver(func(z *zone.Zone) { z.RR("brand.example. IN DNAME provider.example.") })
			if a := w.granted(anmltrust.CodeListed); a.DNSSEC != lookleap.Secure {
				t.Errorf("%s", a.DNSSEC)
			}
		}},
		{"ANML-12.2-05", "reject-manifest-of-the-alias", func(t *testing.T) {
			w := newWorld(t, "")
			w.dns.CNAME("_anml.provider.example.")
			w.net.Name("_anml.provider.example").TXT(manifestOnly)
			w.manifest(strings.Replace(manifest(listed), "brand.example", "provider.example", 1)).denied(anmltrust.CodeManifestSiteMismatch)
		}},
		{"ANML-12.2-05", "reject-manifest-at-the-alias", func(t *testing.T) {
			w := newWorld(t, "")
			w.dns.CNAME("_anml.provider.example.")
			w.net.Name("_anml.provider.example").TXT("v=anml1;manifest=https://provider.example/m")
			w.net.Site("provider.example").File("/m", anmltrust.ManifestMediaType, manifest(listed))
			w.denied(anmltrust.CodeManifestHost)
			if n := len(w.net.Journal().Requests()); n != 0 {
				t.Errorf("%d requests", n)
			}
		}},
		{"ANML-12.2.1-13", "reject-two-records-joined", denial("", anmltrust.CodeRecordMalformed, func(w *world) { w.setRecord("v=anml1;mani", "fest="+manifestURI) })},
		{"ANML-12.2.1-14", "accept-uri-in-parts", func(t *testing.T) {
			w, path := newWorld(t, ""), "/"+strings.Repeat("0123456789", 60)
			uri := "https://brand.example" + path
			text := "v=anml1;manifest=" + uri
			w.dns.TXT(text[:100], text[100:355], text[355:400], text[400:])
			w.brand.File(path, anmltrust.ManifestMediaType, manifest(listed))
			if a := w.granted(anmltrust.CodeListed); !slices.Equal(a.Sources, []string{uri}) {
				t.Errorf("%s", a.Sources)
			}
		}},
		{"ANML-12.2.1-17", "reject-each-unfetched", func(t *testing.T) {
			for _, record := range []string{"v=anml10;manifest=" + manifestURI, "V=anml1;manifest=" + manifestURI, "v=ANML1;query=" + queryURI, "manifest=" + manifestURI + ";v=anml1", "query=" + queryURI, "v=;manifest=" + manifestURI} {
				w := newWorld(t, record).willing()
				w.denied(anmltrust.CodeNoRecord)
				w.traffic(1, 0, 0)
			}
		}},
		{"ANML-12.2.1-20", "reject-neither-for-its-ttl", func(t *testing.T) {
			w := newWorld(t, "v=anml1;x=1").willing()
			w.denied(anmltrust.CodeRecordMalformed)
			w.setRecord(manifestOnly).after(time.Hour - time.Second).denied(anmltrust.CodeRecordMalformed)
			w.after(time.Second).granted(anmltrust.CodeListed)
		}},
		{"ANML-12.2.2-03", "accept-www", func(t *testing.T) {
			w := newWorld(t, "")
			c := w.sharedSite("v=anml1;manifest=https://www.shared-name.example/m")
			w.net.Site("www.shared-name.example").Certificate(lookleaptest.CertificateSharedName).File("/m", anmltrust.ManifestMediaType, sharedManifest)
			a, err := w.ask(c)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		}},
		{"ANML-12.2.2-03", "reject-www-of-a-subdomain", func(t *testing.T) {
			w := newWorld(t, "")
			w.net.Name("_anml.store.brand.example").TXT("v=anml1;manifest=https://www.store.brand.example/m")
			a, err := w.ask(anmltrust.Claim{URL: shopClaim.URL, Site: "store.brand.example"})
			w.wants(a, err, none, anmltrust.CodeManifestHost)
		}},
		{"ANML-12.2.2-03", "reject-host-with-a-certificate-of-the-site", func(t *testing.T) {
			w := newWorld(t, "")
			c := w.sharedSite("v=anml1;manifest=https://cdn.example/m")
			w.net.Site("cdn.example").Certificate(lookleaptest.CertificateSharedName).File("/m", anmltrust.ManifestMediaType, sharedManifest)
			a, err := w.ask(c)
			w.wants(a, err, none, anmltrust.CodeManifestHost)
		}},
		{"ANML-12.2.2-04", "accept-each-status", func(t *testing.T) {
			for _, code := range []int{301, 302, 303, 307, 308} {
				w := newWorld(t, manifestOnly)
				w.brand.Status(manifestPath, code, "Location", "/b").File("/b", anmltrust.ManifestMediaType, manifest(listed))
				w.granted(anmltrust.CodeListed)
			}
		}},
		{"ANML-12.2.2-04", "accept-www", func(t *testing.T) {
			w := newWorld(t, "")
			c := w.sharedSite("v=anml1;manifest=https://shared-name.example/m")
			w.net.Site("shared-name.example").Redirect("/m", "https://www.shared-name.example/m")
			w.net.Site("www.shared-name.example").Certificate(lookleaptest.CertificateSharedName).File("/m", anmltrust.ManifestMediaType, sharedManifest)
			a, err := w.ask(c)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		}},
		{"ANML-12.2.2-04", "reject-third-hop", func(t *testing.T) {
			w := newWorld(t, manifestOnly)
			w.brand.Redirect(manifestPath, "/1").Redirect("/1", "/2").Redirect("/2", "/3").File("/3", anmltrust.ManifestMediaType, manifest(listed))
			w.denied(anmltrust.CodeManifestRedirect)
			w.traffic(1, 0, 3)
		}},
		{"ANML-12.2.2-04", "reject-at-the-second-hop", func(t *testing.T) {
			w := newWorld(t, manifestOnly)
			w.net.Site("cdn.example").File("/m", anmltrust.ManifestMediaType, manifest(listed))
			w.brand.Redirect(manifestPath, "/1").Redirect("/1", "https://cdn.example/m")
			w.denied(anmltrust.CodeManifestRedirect)
			if n := len(w.net.Journal().Requests("cdn.example")); n != 0 {
				t.Errorf("%d requests to another host", n)
			}
		}},
		{"ANML-12.2.2-04", "reject-host-with-a-certificate-of-the-site", func(t *testing.T) {
			w := newWorld(t, "")
			c := w.sharedSite("v=anml1;manifest=https://shared-name.example/m")
			w.net.Site("shared-name.example").Redirect("/m", "https://cdn.example/m")
			w.net.Site("cdn.example").Certificate(lookleaptest.CertificateSharedName).File("/m", anmltrust.ManifestMediaType, sharedManifest)
			a, err := w.ask(c)
			w.wants(a, err, none, anmltrust.CodeManifestRedirect)
		}},
		{"ANML-12.2.2-08", "accept-in-each-state-but-secure", unsignedStates(both, anmltrust.CodeListed, 0, 1)},
		{"ANML-12.2.2-10", "accept-said", func(t *testing.T) {
			for _, state := range []lookleap.DNSSEC{lookleap.Indeterminate, lookleap.Insecure} {
				w := newWorld(t, queryOnly).willing()
				w.dns.DNSSEC(state)
				if a := w.granted(anmltrust.CodeQueryAuthorized); a.DNSSEC != state || !noted(a.Verdict, "F4", lookleap.Noted) {
					t.Errorf("%s\n%s", a.DNSSEC, a.Verdict)
				}
			}
		}},
		{"ANML-12.2.2-10", "reject-by-option", func(t *testing.T) {
			o := anmltrust.Rules{RequireDNSSECForQuery: true}
			for _, state := range []lookleap.DNSSEC{lookleap.Indeterminate, lookleap.Insecure} {
				w := newWorld(t, queryOnly, o).willing()
				w.dns.DNSSEC(state)
				w.denied(anmltrust.CodeDNSSECRequired)
				w.traffic(1, 0, 0)
			}
			newWorld(t, queryOnly, o).willing().secure().granted(anmltrust.CodeQueryAuthorized)
			w := newWorld(t, both, o).query(authorized) // nor as the second source
			w.brand.Status(manifestPath, 503)
			w.denied(anmltrust.CodeManifestUnavailable)
			w.traffic(1, 0, 1)
		}},
		{"ANML-12.2.3-01", "reject-until-the-negative-ttl", func(t *testing.T) {
			for ttl, stands := range map[time.Duration]time.Duration{0: 5 * time.Minute, 30 * time.Second: time.Minute, time.Hour: time.Hour, 4 * time.Hour: 3 * time.Hour} {
				w, r := newWorld(t, ""), &scriptedResolver{answer: lookleap.DNSAnswer{TTL: ttl}}
				w.host.Resolver = r
				w.denied(anmltrust.CodeNoRecord)
				w.after(stands - time.Second).denied(anmltrust.CodeNoRecord)
				early := r.asked
				w.after(time.Second).denied(anmltrust.CodeNoRecord)
				if early != 1 || r.asked != 2 {
					t.Errorf("TTL %s: %d lookups, then %d", ttl, early, r.asked)
				}
			}
		}},
		{"ANML-12.2.3-01", "accept-until-the-ttl", func(t *testing.T) {
			for ttl, stands := range map[time.Duration]time.Duration{0: time.Minute, 30 * time.Second: time.Minute, 10 * time.Minute: 10 * time.Minute, 48 * time.Hour: 24 * time.Hour} {
				w := newWorld(t, queryOnly).query(authorized)
				w.dns.TTL(ttl)
				w.granted(anmltrust.CodeQueryAuthorized)
				w.after(stands - time.Second).granted(anmltrust.CodeQueryAuthorized)
				w.traffic(1, 1, 0)
				w.after(time.Second).granted(anmltrust.CodeQueryAuthorized)
				w.traffic(1, 0, 0)
			}
		}},
		{"ANML-12.2.3-04", "accept-next-to-a-malformed-one", func(t *testing.T) { findRow(t, recordRows, "D2", "malformed-beside-good")(t) }},
		{"ANML-12.2.3-04", "accept-malformed-first-or-last", func(t *testing.T) {
			for _, texts := range [][]string{{"v=anml1;query", manifestOnly}, {manifestOnly, "v=anml1;query"}} {
				a := newWorld(t, "").setRecord(texts...).willing().granted(anmltrust.CodeListed)
				if !has(a.Verdict.Findings, anmltrust.CodeRecordMalformed) {
					t.Errorf("%v", a.Verdict.Findings)
				}
			}
		}},
		{"ANML-12.2.3-05", "accept-identical-once", func(t *testing.T) {
			w := newWorld(t, "").setRecord(manifestOnly, manifestOnly+";x=1", "v=anml1;manifest=HTTPS://BRAND.example:443"+manifestPath).willing()
			if a := w.granted(anmltrust.CodeListed); !slices.Equal(a.Sources, []string{manifestURI}) {
				t.Errorf("%s", a.Sources)
			}
			w.traffic(1, 0, 1)
		}},
		{"ANML-12.2.3-05", "accept-four-of-each", func(t *testing.T) {
			w, texts := newWorld(t, ""), []string{}
			for n := range 4 {
				path := fmt.Sprint("/", n)
				texts = append(texts, "v=anml1;manifest=https://brand.example"+path+";query=https://trust.example"+path)
				w.brand.File(path, anmltrust.ManifestMediaType, manifest(listed))
			}
			if a := w.setRecord(texts...).granted(anmltrust.CodeListed); len(a.Sources) != 4 {
				t.Errorf("%s", a.Sources)
			}
			w.traffic(1, 0, 4)
		}},
		{"ANML-12.2.3-05", "reject-five-manifests", recordDenied(anmltrust.CodeRecordAmbiguous, "v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2",
			"v=anml1;manifest=https://brand.example/3", "v=anml1;manifest=https://brand.example/4", "v=anml1;manifest=https://brand.example/5")},
	})
}

// unsignedStates asks in a world whose record is not signed, or not known to be.
func unsignedStates(record string, code lookleap.Code, queries, manifests int) func(*testing.T) {
	return func(t *testing.T) {
		for _, state := range []lookleap.DNSSEC{lookleap.Indeterminate, lookleap.Insecure} {
			w := newWorld(t, record).willing()
			w.dns.DNSSEC(state)
			w.granted(code)
			w.traffic(1, queries, manifests)
		}
	}
}
