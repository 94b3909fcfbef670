package anmltrust

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// text is a manifest of brand.example with these entries, some members replaced.
func text(entries string, replace ...string) string {
	s := `{"version":"1.0","site":"brand.example","issued":"2026-05-01T00:00:00Z","expires":"2026-07-01T00:00:00Z","authorized-domains":[` + entries + `]}`
	return strings.NewReplacer(replace...).Replace(s)
}

func item(domain, tier, scope string) string {
	return fmt.Sprintf(`{"domain":%q,"tier":%s,"scope":%s}`, domain, tier, scope)
}

var shop = Server{Host: "cdn.shop.example", Domain: "shop.example"}

func TestParseManifest(t *testing.T) {
	good := item("shop.example", "2", `["body"]`)
	const bad = CodeManifestMalformed
	for _, c := range []struct {
		id, name, text string
		code           lookleap.Code
	}{
		{"ANML-12.3-01", "accept-object", text(good), ""},
		{"ANML-12.3-01", "reject-array", "[]", bad},
		{"ANML-12.3-04", "reject-large", text(good) + strings.Repeat(" ", 1<<20), bad},
		{"ANML-12.3-04", "accept-1-MiB", text(good) + strings.Repeat(" ", 1<<20-len(text(good))), ""},
		{"ANML-12.3-04", "reject-one-byte-more", text(good) + strings.Repeat(" ", 1<<20-len(text(good))+1), bad},
		{"ANML-12.3-04", "reject-many", text(strings.Repeat(`1,`, 10_000) + "1"), bad},
		{"ANML-12.3-04", "accept-10000", text(strings.Repeat(`1,`, 9_999) + "1"), ""},
		{"ANML-12.3-04", "reject-deep", text(good, `"version"`, `"x":`+strings.Repeat("[", 16)+strings.Repeat("]", 16)+`,"version"`), bad},
		{"ANML-12.3-04", "accept-depth-16", text(good, `"version"`, `"x":`+strings.Repeat("[", 15)+strings.Repeat("]", 15)+`,"version"`), ""},
		{"ANML-12.3-04", "reject-utf8", text(good, "brand", "br\xffnd"), bad},
		{"ANML-12.3-04", "reject-trailing", text(good) + "{}", bad},
		{"ANML-12.3-05", "reject-capital-site", text(good, `"site"`, `"Site"`), bad},
		{"ANML-12.3-05", "reject-capital-version", text(good, `"version"`, `"Version"`), CodeManifestVersion},
		{"ANML-12.3-05", "reject-capital-issued", text(good, `"issued"`, `"Issued"`), bad},
		{"ANML-12.3-05", "reject-capital-expires", text(good, `"expires"`, `"EXPIRES"`), bad},
		{"ANML-12.3-05", "reject-capital-authorized-domains", text(good, `"authorized-domains"`, `"Authorized-Domains"`), bad},
		{"ANML-12.3-05", "reject-two-sites", text(good, `"site"`, `"site":"brand.example","site"`), bad},
		{"ANML-12.3-05", "reject-two-tiers", text(`{"domain":"shop.example","tier":1,"tier":2,"scope":[]}`), bad},
		{"ANML-12.3-05", "reject-escaped-twin", text(`{"domain":"shop.example","tier":1,"ti\u0065r":2,"scope":[]}`), bad},
		{"ANML-12.3-06", "reject-missing", text(good, `"site":"brand.example",`, ""), bad},
		{"ANML-12.3-06", "reject-empty", text(good, `"brand.example"`, `""`), bad},
		{"ANML-12.3-06", "reject-number", text(good, `"brand.example"`, `1`), bad},
		{"ANML-12.3-10", "accept-1.0", text(good), ""},
		{"ANML-12.3-10", "reject-number", text(good, `"1.0"`, `1.0`), CodeManifestVersion},
		{"ANML-12.3-10", "reject-2.0", text(good, `"1.0"`, `"2.0"`), CodeManifestVersion},
		{"ANML-12.3-10", "reject-1.1", text(good, `"1.0"`, `"1.1"`), CodeManifestVersion},
		{"ANML-12.3-10", "reject-missing", text(good, `"version":"1.0",`, ``), CodeManifestVersion},
		{"ANML-12.3-11", "accept-offset", text(good, "2026-05-01T00:00:00Z", "2026-05-01T02:00:00+02:00"), ""},
		{"ANML-12.3-11", "accept-fraction", text(good, "2026-05-01T00:00:00Z", "2026-05-01T00:00:00.25Z"), ""},
		{"ANML-12.3-11", "reject-no-zone", text(good, "2026-05-01T00:00:00Z", "2026-05-01T00:00:00"), bad},
		{"ANML-12.3-11", "reject-missing", text(good, `"issued":"2026-05-01T00:00:00Z",`, ""), bad},
		{"ANML-12.3-11", "reject-null", text(good, `"2026-05-01T00:00:00Z"`, "null"), bad},
		{"ANML-12.3-11", "reject-number", text(good, `"2026-05-01T00:00:00Z"`, "1777593600"), bad},
		{"ANML-12.3-11", "reject-date", text(good, "2026-05-01T00:00:00Z", "2026-05-01"), bad},
		{"ANML-12.3-12", "reject-issued-at-expires", text(good, "2026-05-01T00:00:00Z", "2026-07-01T00:00:00Z"), bad},
		{"ANML-12.3-12", "accept-second-before", text(good, "2026-05-01T00:00:00Z", "2026-06-30T23:59:59Z"), ""},
		{"ANML-12.3-13", "accept-z", text(good), ""},
		{"ANML-12.3-13", "reject-offset", text(good, "2026-07-01T00:00:00Z", "2026-07-01T00:00:00+00:00"), bad},
		{"ANML-12.3-13", "accept-fraction", text(good, "2026-07-01T00:00:00Z", "2026-07-01T00:00:00.25Z"), ""},
		{"ANML-12.3-13", "reject-other-offset", text(good, "2026-07-01T00:00:00Z", "2026-07-01T02:00:00+02:00"), bad},
		{"ANML-12.3-13", "reject-small-z", text(good, "2026-07-01T00:00:00Z", "2026-07-01T00:00:00z"), bad},
		{"ANML-12.3-13", "reject-no-zone", text(good, "2026-07-01T00:00:00Z", "2026-07-01T00:00:00"), bad},
		{"ANML-12.3-13", "reject-date", text(good, "2026-07-01T00:00:00Z", "2026-07-01"), bad},
		{"ANML-12.3-13", "reject-null", text(good, `"2026-07-01T00:00:00Z"`, "null"), bad},
		{"ANML-12.3-13", "reject-missing", text(good, `"expires":"2026-07-01T00:00:00Z",`, ""), bad},
		{"ANML-12.3-17", "accept-array", text(""), ""},
		{"ANML-12.3-17", "reject-null", strings.Replace(text(""), "[]", "null", 1), bad},
		{"ANML-12.3-17", "reject-missing", text("", `,"authorized-domains":[]`, ""), bad},
		{"ANML-12.3-17", "reject-string", strings.Replace(text(""), "[]", `"shop.example"`, 1), bad},
		{"ANML-12.3-17", "reject-object", strings.Replace(text(""), "[]", "{}", 1), bad},
		{"ANML-12.3-30", "accept-unknown", text(`{"x":1,"domain":"shop.example","tier":2,"scope":[]}`, `"version"`, `"x-foo":1,"version"`), ""},
		{"ANML-16.1-06", "accept-unknown", text(good, `"version"`, `"x-foo":{"a":[1]},"version"`), ""},
		{"ANML-12.3-29", "accept-note", text(`{"domain":"shop.example","tier":2,"scope":["body"],"note":"hello"}`), ""},
		{"ANML-12.3-29", "accept-note-of-wrong-type", text(`{"domain":"shop.example","tier":2,"scope":["body"],"note":7}`), ""},
		{"ANML-16.1-02", "accept-mark", "\xEF\xBB\xBF" + text(good), ""},
		{"ANML-16.1-02", "reject-utf16", "\xFF\xFE{\x00", bad},
		{"H28", "accept-empty", text(""), ""},
		{"H28", "reject-null", strings.Replace(text(""), "[]", "null", 1), bad},
		{"H28", "reject-object", strings.Replace(text(""), "[]", "{}", 1), bad},
		{"H28", "reject-text", strings.Replace(text(""), "[]", `"shop.example"`, 1), bad},
		{"H28", "reject-number", strings.Replace(text(""), "[]", "0", 1), bad},
		{"H28", "reject-false", strings.Replace(text(""), "[]", "false", 1), bad},
		{"H28", "reject-missing", strings.Replace(text(""), "authorized-domains", "authorized", 1), bad},
		{"H28", "accept-10000", text(strings.Repeat("{},", 9999) + "{}"), ""},
		{"H28", "reject-10001", text(strings.Repeat("{},", 10000) + "{}"), bad},
		{"H28", "reject-a-million", text(strings.Repeat("1,", 1e6) + "1"), bad},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(c.text))
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if m != nil || lookleap.CodeOf(err) != c.code {
				t.Fatalf("%v, %v", m, err)
			}
			if e, ok := err.(*lookleap.Error); !ok || e.Position.Line == 0 || e.Message == "" {
				t.Errorf("no place: %v", err)
			}
		})
	}
	for name, member := range map[string]string{"ANML-12.3-30/accept-entry-with-unknown": `"x":1`, "ANML-16.1-06/accept-entry-with-unknown": `"x":{"tier":1}`, "ANML-12.3-29/accept-entry-with-note": `"note":"hello"`, "ANML-12.3-29/accept-entry-with-note-of-wrong-type": `"note":7`} {
		t.Run(name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text(`{` + member + `,"domain":"shop.example","tier":2,"scope":["body"]}`)))
			if err != nil {
				t.Fatal(err)
			}
			if l := m.Lookup(Server{Host: "shop.example", Domain: "shop.example"}); l.Malformed || l.Tier != Full || l.Scope != ScopeOf(Body) || len(m.Findings) != 0 {
				t.Errorf("%+v %v", l, m.Findings)
			}
		})
	}
	t.Run("ANML-16.1-02/accept-mark-with-finding", func(t *testing.T) {
		m, err := ParseManifest([]byte("\xEF\xBB\xBF" + text(good)))
		if err != nil || len(m.Findings) != 1 || m.Findings[0].Code != CodeManifestByteOrder {
			t.Errorf("the byte order mark is no finding: %v, %v", m, err)
		}
	})
}

// TestManifestZones holds the zone of issued to RFC 3339.
func TestManifestZones(t *testing.T) {
	for _, zone := range []string{"Z", "+00:00", "-00:00", "+23:59", "-11:30"} {
		t.Run("H14/accept-zone"+zone, func(t *testing.T) {
			if _, ok := parseTime("2026-08-01T00:00:00"+zone, false); !ok {
				t.Error("refused")
			}
		})
	}
	for _, zone := range []string{"+24:00", "-24:00", "+23:60", "+1:00", "+0100", "+01", "+01:00:00", "z", "Z+00:00", "\u221201:00"} {
		t.Run("H14/reject-zone"+zone, func(t *testing.T) {
			if got, ok := parseTime("2026-08-01T00:00:00"+zone, false); ok {
				t.Errorf("read as %s", got)
			}
		})
	}
}

func TestCheckManifest(t *testing.T) {
	for _, c := range []struct {
		id, name, site string
		replace        []string
		code           lookleap.Code
	}{
		{"ANML-12.3-07", "accept-normalised", "brand.example", []string{`"brand.example"`, `"Brand.EXAMPLE."`}, ""},
		{"ANML-12.3-07", "reject-www", "brand.example", []string{`"brand.example"`, `"www.brand.example"`}, CodeManifestSiteMismatch},
		{"ANML-12.3-07", "accept-unicode", "xn--bcher-kva.example", []string{`"brand.example"`, `"BÜCHER.example"`}, ""},
		{"ANML-12.3-07", "reject-host-below", "brand.example", []string{`"brand.example"`, `"a.brand.example"`}, CodeManifestSiteMismatch},
		{"ANML-12.3-07", "reject-parent", "a.brand.example", nil, CodeManifestSiteMismatch},
		{"ANML-12.3-07", "reject-longer-name", "brand.example", []string{`"brand.example"`, `"mybrand.example"`}, CodeManifestSiteMismatch},
		{"ANML-12.3-07", "reject-end-of-the-name", "mybrand.example", nil, CodeManifestSiteMismatch},
		{"ANML-12.3-08", "reject-other", "brand.example", []string{`"brand.example"`, `"other.example"`}, CodeManifestSiteMismatch},
		{"ANML-12.3-08", "reject-host-below", "brand.example", []string{`"brand.example"`, `"a.brand.example"`}, CodeManifestSiteMismatch},
		{"ANML-12.3-08", "reject-longer-name", "brand.example", []string{`"brand.example"`, `"mybrand.example"`}, CodeManifestSiteMismatch},
		{"ANML-12.3-08", "reject-parent", "a.brand.example", nil, CodeManifestSiteMismatch},
		{"ANML-16.1-07", "reject-other", "other.example", nil, CodeManifestSiteMismatch},
		{"H01", "reject-evil", "brand.example", []string{`"brand.example"`, `"evil.example"`}, CodeManifestSiteMismatch},
		{"H01", "accept-dotted", "brand.example", []string{`"brand.example"`, `"BRAND.example."`}, ""},
		{"ANML-12.3-12", "reject-future", "brand.example", []string{"2026-05-01T00:00:00Z", "2026-06-01T12:05:01Z"}, CodeManifestNotYetValid},
		{"ANML-12.3-12", "accept-skew", "brand.example", []string{"2026-05-01T00:00:00Z", "2026-06-01T12:05:00Z"}, ""},
		{"ANML-12.3-15", "reject-at-expiry", "brand.example", []string{"2026-07-01T00:00:00Z", "2026-06-01T12:00:00Z"}, CodeManifestExpired},
		{"H01", "reject-subdomain", "brand.example", []string{`"brand.example"`, `"www.brand.example"`}, CodeManifestSiteMismatch},
		{"H01", "reject-parent", "shop.brand.example", nil, CodeManifestSiteMismatch},
		{"H01", "reject-longer-name", "brand.example", []string{`"brand.example"`, `"brand.example.evil.example"`}, CodeManifestSiteMismatch},
		{"H01", "accept-same", "brand.example", nil, ""},
		{"H14", "reject-a-second-beyond-the-skew", "brand.example", []string{"2026-05-01T00:00:00Z", "2026-06-01T12:05:01Z"}, CodeManifestNotYetValid},
		{"H14", "accept-as-far-as-the-skew", "brand.example", []string{"2026-05-01T00:00:00Z", "2026-06-01T12:05:00Z"}, ""},
		{"H14", "accept-second-before", "brand.example", []string{"2026-07-01T00:00:00Z", "2026-06-01T12:00:01Z"}, ""},
		{"H14", "reject-now", "brand.example", []string{"2026-07-01T00:00:00Z", "2026-06-01T12:00:00Z"}, CodeManifestExpired},
		{"ANML-12.3-15", "accept-second-before", "brand.example", []string{"2026-07-01T00:00:00Z", "2026-06-01T12:00:01Z"}, ""},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text("", c.replace...)))
			if err != nil {
				t.Fatal(err)
			}
			if _, code := m.Check(c.site, noon); code != c.code {
				t.Errorf("got %s", code)
			}
		})
	}
	if row, code := (*Manifest)(nil).Check("", noon); row != "M14" || code != CodeManifestSiteMismatch || (*Manifest)(nil).Len() != 0 {
		t.Errorf("no manifest: %s %s", row, code)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(text(item("shop.example", "2", `["body"]`))))
	f.Add([]byte(text(item("*.shop.example", "1", `[]`) + `,{"domain":7}`)))
	f.Add([]byte(`{"version":"1.0"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if (m == nil) == (err == nil) {
			t.Fatal("neither or both")
		}
		if m == nil {
			return
		}
		if l := m.Lookup(shop); l.Rank != "" && !l.Malformed && l.Tier != Display && l.Tier != Full {
			t.Fatalf("tier %d", l.Tier)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"authorized":true,"tier":2,"scope":["body"],"expires":"2026-08-01T00:00:00Z"}`))
	f.Add([]byte(`{"authorized":false}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ParseQueryResponse(data)
		if (a == nil) == (err == nil) {
			t.Fatal("neither or both")
		}
		if a != nil && (a.Tier != Display && a.Tier != Full || a.Expires.IsZero()) {
			t.Fatalf("%+v", a)
		}
	})
}
