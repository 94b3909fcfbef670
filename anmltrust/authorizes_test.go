package anmltrust_test

import (
	"crypto/tls"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// authorizing answers the query with this status and a body that authorizes.
func authorizing(status int, header ...string) func(*world) {
	return func(w *world) {
		w.trust.HandleFunc(queryPath, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			if len(header) > 0 {
				rw.Header().Set(header[0], header[1])
			}
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(authorized))
		})
	}
}

// listingWith answers the manifest's URL with this status and a manifest that lists the server.
func listingWith(status int) func(*world) {
	return func(w *world) {
		w.brand.HandleFunc(manifestPath, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(manifest(listed)))
		})
	}
}

// TestWhatAuthorizes: a query's answer authorizes by its status 200 and by its members, and a
// manifest by its status 200.
func TestWhatAuthorizes(t *testing.T) {
	for status, code := range map[int]lookleap.Code{
		201: anmltrust.CodeQueryMalformed, 202: anmltrust.CodeQueryMalformed, 203: anmltrust.CodeQueryMalformed, 206: anmltrust.CodeQueryMalformed,
		226: anmltrust.CodeQueryMalformed, 300: anmltrust.CodeQueryRedirect, 400: anmltrust.CodeQuery400, 401: anmltrust.CodeQueryStatus,
		403: anmltrust.CodeQueryStatus, 404: anmltrust.CodeQuery404, 410: anmltrust.CodeQueryStatus, 429: anmltrust.CodeQuery429,
		500: anmltrust.CodeQueryUnavailable, 503: anmltrust.CodeQueryUnavailable,
	} {
		t.Run("H13/reject-"+strconv.Itoa(status)+"-that-authorizes", denial(queryOnly, code, authorizing(status)))
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run("H13/reject-"+strconv.Itoa(status)+"-that-authorizes", denial(queryOnly, anmltrust.CodeQueryRedirect, authorizing(status, "Location", "/x")))
	}
	t.Run("H13/accept-200", approval(queryOnly, anmltrust.CodeQueryAuthorized, authorizing(200)))
	for status, code := range map[int]lookleap.Code{203: anmltrust.CodeManifestMalformed, 404: anmltrust.CodeManifestMissing, 429: anmltrust.CodeManifest429} {
		t.Run("H13/reject-manifest-with-"+strconv.Itoa(status), denial(manifestOnly, code, listingWith(status)))
	}
	t.Run("F20/reject-query-that-authorizes", denial(queryOnly, anmltrust.CodeQuery429, authorizing(429)))
	t.Run("F20/reject-manifest-that-lists", denial(manifestOnly, anmltrust.CodeManifest429, listingWith(429)))
	for name, tier := range map[string]string{"string": `"2"`, "null": "null", "true": "true", "zero": "0", "three": "3", "minus": "-1", "2.0": "2.0", "2e0": "2e0", "fraction": "1.5", "huge": "9007199254740993"} {
		t.Run("H07/reject-query-"+name, denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, `"tier":2`, `"tier":`+tier, 1))))
	}
	t.Run("H07/reject-query-missing", denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, `"tier":2,`, "", 1))))
	for name, value := range map[string]string{"null": "null", "1": "1", "capital": `"True"`, "list": "[true]"} {
		t.Run("H11/reject-"+name, denial(queryOnly, anmltrust.CodeQueryMalformed, body(strings.Replace(authorized, "true", value, 1))))
	}
	t.Run("H11/accept-true", approval(queryOnly, anmltrust.CodeQueryAuthorized, body(authorized)))
	t.Run("H16/reject-by-a-second", sourceRow("M18", "by-a-second"))
	t.Run("H16/accept-the-same-again", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed))
		w.granted(anmltrust.CodeListed)
		w.after(25 * time.Hour).granted(anmltrust.CodeListed)
	})
	t.Run("H26/reject-hint-against-a-no", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(404)
		for _, verified := range []time.Time{start.Add(-time.Hour), start, time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)} {
			c := shopClaim
			c.Verified = verified
			a, err := w.ask(c)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		}
	})
	for _, kind := range []string{"query", "manifest"} {
		t.Run("H29/reject-fifth-"+kind, func(t *testing.T) {
			recordDenied(anmltrust.CodeRecordAmbiguous, records(kind, 5)...)(t)
		})
	}
	t.Run("H29/accept-fourth", func(t *testing.T) {
		w := newWorld(t, "").setRecord(records("manifest", 4)...)
		for i := range 4 {
			w.brand.Body("/"+strconv.Itoa(i), anmltrust.ManifestMediaType, manifest(listed))
		}
		w.granted(anmltrust.CodeListed)
	})
}

// TestManifestRedirects: a manifest redirects within its host, and nowhere else.
func TestManifestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, c := range map[string]struct {
			location string
			code     lookleap.Code
		}{
			"accept-within": {"/other", anmltrust.CodeListed}, "reject-other-domain": {"https://evil.example/other", anmltrust.CodeManifestRedirect},
			"reject-subdomain": {"https://cdn.brand.example/other", anmltrust.CodeManifestRedirect}, "reject-http": {"http://brand.example/other", anmltrust.CodeManifestRedirect},
		} {
			t.Run("H02/"+name+"-"+strconv.Itoa(status), func(t *testing.T) {
				w := newWorld(t, manifestOnly)
				for _, host := range []string{"brand.example", "evil.example", "cdn.brand.example"} {
					w.net.Site(host).Body("/other", anmltrust.ManifestMediaType, manifest(listed))
				}
				w.brand.Status(manifestPath, status, "Location", c.location)
				if c.code == anmltrust.CodeListed {
					w.granted(c.code)
					return
				}
				w.denied(c.code)
				if n := len(w.net.Journal().Requests("evil.example", "cdn.brand.example")); n != 0 {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}

// unusedOfAnotherSite shows that a manifest that names another site grants nothing.
func unusedOfAnotherSite(t *testing.T) {
	for _, site := range []string{"other.example", "www.brand.example", "a.brand.example", "mybrand.example", "example", "brand.example.other.example"} {
		denial(both, anmltrust.CodeManifestSiteMismatch, manifestBody(manifest(listed, "site", `"`+site+`"`)))(t)
	}
}

// TestRowsOfManifests shows rows of section 12.3 by what a manifest grants.
func TestRowsOfManifests(t *testing.T) {
	runRows(t, []rowTest{
		{"ANML-12.3-03", "reject-each-certificate", func(t *testing.T) {
			for _, c := range []lab.Certificate{lab.SelfSigned, lab.WrongName, lab.Expired} {
				denial(both, anmltrust.CodeManifestTLS, func(w *world) { w.brand.Certificate(c) })(t)
			}
			denial(both, anmltrust.CodeManifestTLS, func(w *world) { w.brand.MaxTLS(tls.VersionTLS11) })(t)
		}},
		{"ANML-12.3-03", "reject-certificate-of-www", sourceRow("M5", "www-for-itself-only")},
		{"ANML-12.3-08", "reject-unused", unusedOfAnotherSite},
		{"ANML-16.1-07", "reject-unused", unusedOfAnotherSite},
		{"ANML-12.3-12", "reject-unused", denial(both, anmltrust.CodeManifestNotYetValid, manifestBody(manifest(listed, "issued", `"2026-06-01T12:05:01Z"`)))},
		{"ANML-12.3-12", "accept-used-within-the-skew", sourceRow("M15", "within-skew")},
		{"ANML-12.3-15", "reject-unused", denial(both, anmltrust.CodeManifestExpired, manifestBody(manifest(listed, "expires", `"2026-06-01T12:00:00Z"`)))},
		{"ANML-12.3-15", "accept-used-before-it", sourceRow("M16", "expires-in-memory")},
		{"ANML-12.3-24", "accept-narrowed-scope", func(t *testing.T) {
			w := newWorld(t, manifestOnly).manifest(manifest(entry("edge.brand.example", 2, "body") + "," + entry("*.cdn.brand.example", 1, "body", "head")))
			for host, tier := range map[string]anmltrust.Tier{"edge": anmltrust.Full, "a.cdn": anmltrust.Display} {
				a, err := w.ask(claimFrom("https://" + host + ".brand.example/x"))
				w.wants(a, err, tier, anmltrust.CodeSelfNarrowed)
				if a.Scope.String() != "body" || a.Permits(anmltrust.State, start) || a.Permits(anmltrust.Persona, start) {
					t.Errorf("%s: scope %s", host, a.Scope)
				}
			}
		}},
		{"ANML-12.3-26", "reject-server", listing(listed+`,{"domain":"cdn.shop.example","tier":3,"scope":["body"]}`, anmltrust.Unlisted, anmltrust.CodeManifestEntryMalformed, "")},
		{"ANML-12.3-26", "accept-server", listing(listed+`,{"domain":"www.shop.example","tier":3,"scope":["body"]},{"domain":"*.a.shop.example"}`, anmltrust.Full, anmltrust.CodeListed, "persona,interact,body")},
	})
}

// records returns n records of one site that name different URIs.
func records(kind string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, "v=anml1;"+kind+"=https://brand.example/"+strconv.Itoa(i))
	}
	return out
}
