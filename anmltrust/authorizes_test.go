package anmltrust_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
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
			w.brand.File("/"+strconv.Itoa(i), anmltrust.ManifestMediaType, manifest(listed))
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
					w.net.Site(host).File("/other", anmltrust.ManifestMediaType, manifest(listed))
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

// records returns n records of one site that name different URIs.
func records(kind string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, "v=anml1;"+kind+"=https://brand.example/"+strconv.Itoa(i))
	}
	return out
}
