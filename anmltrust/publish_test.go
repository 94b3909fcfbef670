package anmltrust_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/wellknown"
)

func build(t *testing.T, life time.Duration, entries ...anmltrust.Entry) []byte {
	t.Helper()
	data, err := anmltrust.BuildManifest("Brand.example.", start, life, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var retailer = anmltrust.Entry{Domain: "Shop.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf(anmltrust.Body, anmltrust.Interact), Note: "a retailer"}

func TestBuildManifest(t *testing.T) {
	data := build(t, 0, retailer, anmltrust.Entry{Domain: "*.cdn.example", Tier: anmltrust.Display, Scope: anmltrust.ScopeOf(anmltrust.Body)})
	m, err := anmltrust.ParseManifest(data)
	if err != nil || m.Site != "brand.example" || m.Expires.Sub(m.Issued) != anmltrust.LongLifetime || m.Len() != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	t.Run("ANML-16.1-02/accept-no-mark", func(t *testing.T) {
		if data[0] != '{' {
			t.Errorf("it begins with %x", data[0])
		}
	})
	for name, e := range map[string]anmltrust.Entry{
		"star": {Domain: "*", Tier: anmltrust.Full}, "suffix": {Domain: "*.co.uk", Tier: anmltrust.Full}, "suffix-itself": {Domain: "co.uk", Tier: anmltrust.Full}, "tier-0": {Domain: "a.example"},
		"tier-3": {Domain: "a.example", Tier: anmltrust.Self}, "url": {Domain: "https://a.example", Tier: anmltrust.Full}, "note": {Domain: "a.example", Tier: anmltrust.Full, Note: strings.Repeat("x", 2000)},
	} {
		t.Run("ANML-12.3-19/reject-build-"+name, func(t *testing.T) {
			if data, err := anmltrust.BuildManifest("brand.example", start, 0, e); data != nil || lookleap.CodeOf(err) != anmltrust.CodeManifestEntryMalformed {
				t.Errorf("%s, %v", data, err)
			}
		})
	}
	t.Run("ANML-12.3-29/accept-written", func(t *testing.T) {
		for note, want := range map[string]string{"": "", "a retailer": `"note": "a retailer"`, strings.Repeat("x", 1024): `"note": "` + strings.Repeat("x", 1024) + `"`} {
			data := string(build(t, 0, anmltrust.Entry{Domain: "a.example", Tier: anmltrust.Full, Note: note}))
			if !strings.Contains(data, want) || strings.Contains(data, "note") != (want != "") {
				t.Errorf("%s", data)
			}
		}
	})
	t.Run("ANML-12.3-29/reject-1025-bytes", func(t *testing.T) {
		e := anmltrust.Entry{Domain: "a.example", Tier: anmltrust.Full, Note: strings.Repeat("x", 1025)}
		if data, err := anmltrust.BuildManifest("brand.example", start, 0, e); data != nil || lookleap.CodeOf(err) != anmltrust.CodeManifestEntryMalformed {
			t.Errorf("%s, %v", data, err)
		}
	})
	if _, err := anmltrust.BuildManifest("co.uk:443", start, 0); lookleap.CodeOf(err) != anmltrust.CodeSiteDomainInvalid {
		t.Error(err)
	}
}

func TestLintManifest(t *testing.T) {
	for _, c := range []struct {
		id, name string
		data     []byte
		site     string
		want     lookleap.Code
	}{
		{"ANML-12.8-01", "reject-120-days", build(t, 120*24*time.Hour, retailer), "brand.example", anmltrust.CodeManifestLongLived},
		{"ANML-12.8-01", "accept-90-days", build(t, 90*24*time.Hour, retailer), "brand.example", ""},
		{"ANML-12.1-14", "reject-beyond-tier-1", build(t, 0, anmltrust.Entry{Domain: "a.example", Tier: anmltrust.Display, Scope: anmltrust.AllSections}), "brand.example", "lint"},
		{"ANML-12.8-02", "reject-all-eight-sections", build(t, 0, anmltrust.Entry{Domain: "a.example", Tier: anmltrust.Full, Scope: anmltrust.AllSections}), "brand.example", "lint"},
		{"ANML-12.8-02", "accept-seven-sections", build(t, 0, anmltrust.Entry{Domain: "a.example", Tier: anmltrust.Full, Scope: anmltrust.AllSections &^ anmltrust.ScopeOf(anmltrust.Persona)}), "brand.example", ""},
		{"H08", "reject-every-section", build(t, 0, anmltrust.Entry{Domain: "a.example", Tier: anmltrust.Full, Scope: anmltrust.AllSections}), "brand.example", "lint"},
		{"ANML-12.3-07", "reject-other-site", build(t, 0, retailer), "www.brand.example", anmltrust.CodeManifestSiteMismatch},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			findings, err := anmltrust.LintManifest(c.data, c.site, start)
			if err != nil || c.want == "" && len(findings) != 0 || c.want != "" && !has(findings, c.want) {
				t.Errorf("%v, %v", findings, err)
			}
		})
	}
	if _, err := anmltrust.LintManifest([]byte("{"), "brand.example", start); err == nil {
		t.Error("an unreadable manifest is no error")
	}
}

func TestLintRecord(t *testing.T) {
	answer := func(state lookleap.DNSSEC, texts ...string) *lookleap.DNSAnswer {
		a := &lookleap.DNSAnswer{Name: "_anml.brand.example", Exists: true, DNSSEC: state}
		for _, text := range texts {
			a.Records = append(a.Records, lookleap.Record{Text: text})
		}
		return a
	}
	const record = "v=anml1;manifest=" + manifestURI
	for _, c := range []struct {
		name   string
		answer *lookleap.DNSAnswer
		want   string // code and severity of each finding
	}{
		{"ANML-12.2.3-07/reject-unsigned-zone", answer(lookleap.Insecure, record), "dnssec-missing info;"},
		{"ANML-12.2.3-07/accept-signed-zone", answer(lookleap.Secure, record), ""},
		{"ANML-12.2.3-07/accept-not-validated", answer(lookleap.Indeterminate, record), ""},
		{"ANML-12.8-04/reject-unsigned-zone", answer(lookleap.Insecure, record), "dnssec-missing info;"},
		{"ANML-12.8-04/accept-signed-zone", answer(lookleap.Secure, record), ""},
		{"no-record", answer(lookleap.Insecure, "v=spf1 -all"), ""},
		{"no-answer", nil, ""},
		{"malformed", answer(lookleap.Secure, "v=anml1"), "record-malformed warning;record-malformed error;"},
		{"foreign-host", answer(lookleap.Insecure, "v=anml1;manifest=https://cdn.example/m"), "manifest-host error;dnssec-missing info;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			findings, err := anmltrust.LintRecord("brand.example", c.answer)
			got := ""
			for _, f := range findings {
				got += fmt.Sprintf("%s %s;", f.Code, f.Severity)
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if _, err := anmltrust.LintRecord("co.uk:443", nil); lookleap.CodeOf(err) != anmltrust.CodeSiteDomainInvalid {
		t.Error(err)
	}
}

func TestPublishRecord(t *testing.T) {
	t.Run("ANML-12.2.1-06/accept-zone-line", func(t *testing.T) {
		r := &anmltrust.Record{Manifest: manifestURI, Query: "https://trust.example/" + strings.Repeat("x", 300)}
		line, err := r.Zone("Brand.example", time.Hour)
		if err != nil || !strings.HasPrefix(line, `_anml.brand.example. 3600 IN TXT "v=anml1;manifest=`) || strings.Count(line, `" "`) != 1 {
			t.Errorf("%s, %v", line, err)
		}
		w := newWorld(t, "").manifest(manifest(listed))
		w.dns.TXT(r.Strings()...).TTL(time.Hour)
		w.granted(anmltrust.CodeListed)
	})
	for name, r := range map[string]*anmltrust.Record{
		"ANML-12.2.1-10/reject-semicolon":               {Query: "https://q.example/a;b"},
		"ANML-12.2.1-10/reject-semicolon-of-a-manifest": {Manifest: "https://brand.example/a;b"},
		"ANML-12.2.1-19/reject-nothing":                 {},
		"ANML-12.2.2-03/reject-foreign-host":            {Manifest: "https://cdn.example/m"},
		"ANML-12.2.2-06/reject-http":                    {Query: "http://q.example/a"},
		"ANML-12.4-06/reject-scope-parameter":           {Query: "https://q.example/a?scope=x"},
	} {
		t.Run(name, func(t *testing.T) {
			if line, err := r.Zone("brand.example", time.Hour); line != "" || err == nil {
				t.Errorf("%s", line)
			}
		})
	}
}

func TestManifestHandler(t *testing.T) {
	h, err := anmltrust.NewManifestHandler(build(t, 30*time.Minute, retailer), func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, manifestOnly)
	w.brand.Handle(manifestPath, h)
	if a := w.granted(anmltrust.CodeListed); !a.Expires.Equal(start.Add(30 * time.Minute)) {
		t.Error(a.Expires)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/", nil))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Error(rec.Code)
	}
	rec = httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	if rec.Header().Get("Cache-Control") != "max-age=1800" || rec.Header().Get("ETag") == "" || rec.Header().Get("Content-Type") != anmltrust.ManifestMediaType {
		t.Error(rec.Header())
	}
	if _, err := anmltrust.NewManifestHandler([]byte("{}"), time.Now); err == nil {
		t.Error("a broken manifest is served")
	}
}

func TestQueryHandler(t *testing.T) {
	h, err := anmltrust.NewQueryHandler(func(server string, _ anmltrust.Scope) (anmltrust.QueryResponse, bool) {
		a := anmltrust.QueryResponse{Tier: anmltrust.Full, Scope: anmltrust.AllSections, Expires: start.Add(time.Hour)}
		switch server {
		case "late.example":
			a.Expires = start
		case "soon.example":
			a.Expires = start.Add(time.Second)
		case "unlisted.example":
			a.Tier = anmltrust.Unlisted
		case "self.example":
			a.Tier = anmltrust.Self
		case "display.example":
			a.Tier = anmltrust.Display
		}
		return a, server != "other.example" && server != "evil.example"
	}, func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, name, query string
		status          int
		body            string
	}{
		{"ANML-12.4-12", "accept-listed", "domain=shop.example&scope=persona,body", 200, `{"authorized":true,"tier":2,"scope":["persona","body"],"expires":"2026-06-01T13:00:00Z"}`},
		{"ANML-12.4-12", "reject-unlisted", "domain=other.example&scope=body", 404, ""},
		{"ANML-12.4-12", "reject-unknown-scope", "domain=shop.example&scope=x,state", 404, ""},
		{"ANML-12.4-12", "reject-expired", "domain=late.example&scope=body", 404, ""},
		{"ANML-12.4-12", "reject-no-domain", "scope=body", 400, ""},
		{"ANML-12.4-12", "reject-two-domains", "domain=shop.example&domain=a.example", 400, ""},
		{"ANML-12.4-12", "reject-host-as-domain", "domain=a.shop.example", 400, ""},
		{"ANML-12.4-12", "reject-suffix", "domain=co.uk", 400, ""},
		{"ANML-12.4-12", "accept-second-before", "domain=soon.example&scope=body", 200, `{"authorized":true,"tier":2,"scope":["body"],"expires":"2026-06-01T12:00:01Z"}`},
		{"ANML-12.4-12", "accept-tier-1", "domain=display.example&scope=body", 200, `{"authorized":true,"tier":1,"scope":["body"],"expires":"2026-06-01T13:00:00Z"}`},
		{"ANML-12.4-12", "accept-without-scope", "domain=SHOP.example.", 200,
			`{"authorized":true,"tier":2,"scope":["head","persona","aesthetic","knowledge","interact","constraints","body","footer"],"expires":"2026-06-01T13:00:00Z"}`},
		{"ANML-12.4-12", "accept-known-names-of-the-scope", "domain=shop.example&scope=state,body,Head", 200, `{"authorized":true,"tier":2,"scope":["body"],"expires":"2026-06-01T13:00:00Z"}`},
		{"ANML-12.4-12", "reject-tier-0", "domain=unlisted.example&scope=body", 404, ""},
		{"ANML-12.4-12", "reject-tier-3", "domain=self.example&scope=body", 404, ""},
		{"ANML-12.4-12", "reject-empty-scope", "domain=shop.example&scope=", 404, ""},
		{"ANML-12.4-12", "reject-two-scopes", "domain=shop.example&scope=body&scope=head", 400, ""},
		{"ANML-12.4-12", "reject-empty-domain", "domain=&scope=body", 400, ""},
		{"ANML-12.4-12", "reject-address", "domain=192.0.2.1&scope=body", 400, ""},
		{"ANML-12.4-12", "reject-bad-escape", "domain=shop.example&scope=%zz", 400, ""},
		{"ANML-12.4-13", "reject-without-false", "domain=evil.example&scope=body", 404, ""},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/authorize?"+c.query, nil))
			if rec.Code != c.status || rec.Body.String() != c.body {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
		})
	}
	w := newWorld(t, queryOnly)
	w.trust.Handle(queryPath, h)
	w.granted(anmltrust.CodeQueryAuthorized)
}

// TestUntouched: what a verification says nothing about.
func TestUntouched(t *testing.T) {
	t.Run("ANML-12.2.3-02/accept-discovery-after-no-record", func(t *testing.T) {
		w := newWorld(t, "")
		w.brand.File("/.well-known/anml", "application/anml+xml", "<anml/>")
		w.denied(anmltrust.CodeNoRecord)
		r, err := wellknown.NewClient(w.host, wellknown.Options{}).Fetch(t.Context(), "https://brand.example", "anml")
		if err != nil || r.State != wellknown.Present {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("G16/accept-manifest-first-without-validation", func(t *testing.T) {
		w := newWorld(t, both).willing() // the stub resolver's answers are indeterminate
		if a := w.granted(anmltrust.CodeListed); a.DNSSEC != lookleap.Indeterminate {
			t.Error(a.DNSSEC)
		}
		w.traffic(1, 0, 1)
	})
	t.Run("X8/tier-1-cannot-act", func(t *testing.T) {
		for _, a := range []*anmltrust.Authorization{nil, {Tier: anmltrust.Display, Scope: anmltrust.AllSections}, {Tier: anmltrust.Full, Scope: anmltrust.ScopeOf(anmltrust.Body)}} {
			if anmltrust.Confirm(a, nil, anmltrust.Interact, start) == nil {
				t.Errorf("%+v may act", a)
			}
		}
	})
	t.Run("X11/own-identity-stays", func(t *testing.T) {
		w := newWorld(t, "")
		w.denied(anmltrust.CodeNoRecord)
		a, err := w.ask(anmltrust.Claim{URL: shopClaim.URL, Site: "cdn.shop.example"})
		w.wants(a, err, anmltrust.Self, anmltrust.CodeSelf)
	})
	t.Run("X12/explained", func(t *testing.T) {
		w := newWorld(t, both).willing()
		story := fmt.Sprint(w.granted(anmltrust.CodeListed).Verdict)
		for _, word := range []string{"cdn.shop.example for brand.example", "[C7]", "[D7]", "[F3]", "[L3]", manifestURI, "_anml.brand.example TXT"} {
			if !strings.Contains(story, word) {
				t.Errorf("%s is missing in\n%s", word, story)
			}
		}
	})
}
