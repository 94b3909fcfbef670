package anmltrust

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"encoding/json"

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
		{"ANML-12.3-04", "reject-many", text(strings.Repeat(`1,`, 10_000) + "1"), bad},
		{"ANML-12.3-04", "accept-10000", text(strings.Repeat(`1,`, 9_999) + "1"), ""},
		{"ANML-12.3-04", "accept-65536-values", text("", `"version"`, `"x":[`+strings.Repeat("1,", 65536-8)+`1],"version"`), ""},
		{"ANML-12.3-04", "reject-65537-values", text("", `"version"`, `"x":[`+strings.Repeat("1,", 65536-7)+`1],"version"`), bad},
		{"ANML-12.3-04", "reject-deep", text(good, `"version"`, `"x":`+strings.Repeat("[", 16)+strings.Repeat("]", 16)+`,"version"`), bad},
		{"ANML-12.3-04", "accept-depth-16", text(good, `"version"`, `"x":`+strings.Repeat("[", 15)+strings.Repeat("]", 15)+`,"version"`), ""},
		{"ANML-12.3-04", "reject-utf8", text(good, "brand", "br\xffnd"), bad},
		{"ANML-12.3-04", "reject-trailing", text(good) + "{}", bad},
		{"ANML-12.3-05", "reject-capital-site", text(good, `"site"`, `"Site"`), bad},
		{"ANML-12.3-05", "reject-two-sites", text(good, `"site"`, `"site":"brand.example","site"`), bad},
		{"ANML-12.3-05", "reject-two-tiers", text(`{"domain":"shop.example","tier":1,"tier":2,"scope":[]}`), bad},
		{"ANML-12.3-05", "reject-escaped-twin", text(`{"domain":"shop.example","tier":1,"ti\u0065r":2,"scope":[]}`), bad},
		{"ANML-12.3-06", "reject-missing", text(good, `"site":"brand.example",`, ""), bad},
		{"ANML-12.3-06", "reject-empty", text(good, `"brand.example"`, `""`), bad},
		{"ANML-12.3-06", "reject-number", text(good, `"brand.example"`, `1`), bad},
		{"ANML-12.3-06", "accept-4096-bytes", text(good, `"brand.example"`, `"`+strings.Repeat("x", 4094)+`"`), ""},
		{"ANML-12.3-06", "reject-4097-bytes", text(good, `"brand.example"`, `"`+strings.Repeat("x", 4095)+`"`), bad},
		{"ANML-12.3-10", "accept-1.0", text(good), ""},
		{"ANML-12.3-10", "reject-number", text(good, `"1.0"`, `1.0`), CodeManifestVersion},
		{"ANML-12.3-10", "reject-2.0", text(good, `"1.0"`, `"2.0"`), CodeManifestVersion},
		{"ANML-12.3-10", "reject-1.1", text(good, `"1.0"`, `"1.1"`), CodeManifestVersion},
		{"ANML-12.3-10", "reject-missing", text(good, `"version":"1.0",`, ``), CodeManifestVersion},
		{"ANML-12.3-11", "accept-offset", text(good, "2026-05-01T00:00:00Z", "2026-05-01T02:00:00+02:00"), ""},
		{"ANML-12.3-11", "accept-fraction", text(good, "2026-05-01T00:00:00Z", "2026-05-01T00:00:00.25Z"), ""},
		{"ANML-12.3-11", "reject-no-zone", text(good, "2026-05-01T00:00:00Z", "2026-05-01T00:00:00"), bad},
		{"ANML-12.3-11", "reject-date", text(good, "2026-05-01T00:00:00Z", "2026-05-01"), bad},
		{"ANML-12.3-12", "reject-issued-at-expires", text(good, "2026-05-01T00:00:00Z", "2026-07-01T00:00:00Z"), bad},
		{"ANML-12.3-12", "accept-second-before", text(good, "2026-05-01T00:00:00Z", "2026-06-30T23:59:59Z"), ""},
		{"ANML-12.3-13", "accept-z", text(good), ""},
		{"ANML-12.3-13", "reject-offset", text(good, "2026-07-01T00:00:00Z", "2026-07-01T00:00:00+00:00"), bad},
		{"ANML-12.3-13", "reject-missing", text(good, `"expires":"2026-07-01T00:00:00Z",`, ""), bad},
		{"ANML-12.3-17", "accept-array", text(""), ""},
		{"ANML-12.3-17", "reject-null", strings.Replace(text(""), "[]", "null", 1), bad},
		{"ANML-12.3-17", "reject-object", strings.Replace(text(""), "[]", "{}", 1), bad},
		{"ANML-12.3-30", "accept-unknown", text(`{"x":1,"domain":"shop.example","tier":2,"scope":[]}`, `"version"`, `"x-foo":1,"version"`), ""},
		{"ANML-16.1-06", "accept-unknown", text(good, `"version"`, `"x-foo":{"a":[1]},"version"`), ""},
		{"ANML-12.3-29", "accept-note", text(`{"domain":"shop.example","tier":2,"scope":["body"],"note":"hello"}`), ""},
		{"ANML-12.3-29", "accept-note-of-wrong-type", text(`{"domain":"shop.example","tier":2,"scope":["body"],"note":7}`), ""},
		{"ANML-16.1-02", "accept-mark", "\xEF\xBB\xBF" + text(good), ""},
		{"ANML-16.1-02", "reject-utf16", "\xFF\xFE{\x00", bad},
		{"H28", "accept-empty", text(""), ""},
		{"H28", "reject-null", strings.Replace(text(""), "[]", "null", 1), bad},
		{"H28", "reject-a-million", text(strings.Repeat("1,", 1e6) + "1"), bad},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(c.text), ManifestLimits{})
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
	for name, member := range map[string]string{"ANML-12.3-30/accept-entry-with-unknown": `"x":1`, "ANML-12.3-29/accept-entry-with-note": `"note":"hello"`, "ANML-12.3-29/accept-entry-with-note-of-wrong-type": `"note":7`} {
		t.Run(name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text(`{`+member+`,"domain":"shop.example","tier":2,"scope":["body"]}`)), ManifestLimits{})
			if err != nil {
				t.Fatal(err)
			}
			if l := m.Lookup(Server{Host: "shop.example", Domain: "shop.example"}); l.Malformed || l.Tier != Full || l.Scope != ScopeOf(Body) || len(m.Findings) != 0 {
				t.Errorf("%+v %v", l, m.Findings)
			}
		})
	}
	m, err := ParseManifest([]byte("\xEF\xBB\xBF"+text(good)), ManifestLimits{})
	if err != nil || len(m.Findings) != 1 || m.Findings[0].Code != CodeManifestByteOrder {
		t.Errorf("the byte order mark is no finding: %v, %v", m, err)
	}
}

// TestManifestDates holds timestamps to one form (attack H14).
func TestManifestDates(t *testing.T) {
	for _, s := range []string{"2026-08-01T00:00:00Z", "2026-08-01T00:00:00.0000000000000000000Z", "2026-08-01T00:00:00.5Z", "9999-12-31T23:59:59Z", "2024-02-29T00:00:00Z"} {
		t.Run("H14/accept-"+s, func(t *testing.T) {
			if _, ok := parseTime(s, true); !ok {
				t.Error("refused")
			}
		})
	}
	for _, s := range []string{"", "2026-08-01", "2026-08-01T00:00:00.", "2026-08-01T00:00:00.00000000000000000000Z", "2026-08-01T0:00:00Z", "2026-08-01T0:00:00.5Z", "2026-08-01T0:00:00.50Z", "2026-08-01T0:00:00,5Z", "2026-08-01T00:00:00,5Z", "2026-08-01T00:00:00.5", "2026-8-01T00:00:00.5Z", "2026-08-01T00:0:00.5Z", "2026-08-01T00:00:60Z", "2026-08-01t00:00:00z", "2026-08-01T00:00:00", "2026-08-01 00:00:00Z",
		"2026-08-01T00:00:00+14:00", "2026-08-01T00:00:00.Z", "2026-02-30T00:00:00Z", "2026-08-01T24:00:00Z", "+2026-08-01T00:00:00Z", "2026-08-01T00:00:00ZZ", " 2026-08-01T00:00:00Z", "2026-08-01T00:00:00+25:00"} {
		t.Run("H14/reject-"+strings.ReplaceAll(s, " ", "_"), func(t *testing.T) {
			if got, ok := parseTime(s, true); ok {
				t.Errorf("read as %s", got)
			}
			if got, ok := parseTime(s, false); ok && !strings.HasSuffix(s, "+14:00") {
				t.Errorf("with any zone, read as %s", got)
			}
		})
	}
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

// TestLookup finds entries about a server.
func TestLookup(t *testing.T) {
	b := `["body"]`
	for _, c := range []struct {
		id, name, entries string
		host              string
		rank              Rank
		tier              Tier
		scope             string
		malformed         bool
	}{
		{"ANML-12.3-19", "accept-normalised", item("Shop.EXAMPLE.", "2", b), "cdn.shop.example", ByDomain, Full, "body", false},
		{"ANML-12.3-19", "accept-unicode", item("bücher.example", "2", b), "xn--bcher-kva.example", ByExactHost, Full, "body", false},
		{"ANML-12.3-19", "reject-url", item("https://shop.example", "2", b), "shop.example", NotListed, 0, "", false},
		{"ANML-12.3-19", "reject-port", item("shop.example:443", "2", b), "shop.example", NotListed, 0, "", false},
		{"ANML-12.3-19", "reject-star", item("*", "2", b), "shop.example", NotListed, 0, "", false},
		{"ANML-12.3-19", "reject-suffix", item("*.com", "2", b), "shop.com", NotListed, 0, "", false},
		{"ANML-12.3-19", "reject-inner-star", item("a.*.example", "2", b), "a.b.example", NotListed, 0, "", false},
		{"ANML-12.3-20", "accept-one-label", item("*.shop.example", "2", b), "a.shop.example", ByWildcard, Full, "body", false},
		{"ANML-12.3-20", "reject-apex", item("*.shop.example", "2", b), "shop.example", NotListed, 0, "", false},
		{"ANML-12.3-20", "reject-two-labels", item("*.shop.example", "2", b), "a.b.shop.example", NotListed, 0, "", false},
		{"ANML-12.3-20", "reject-no-dot", item("*.shop.example", "2", b), "xshop.example", NotListed, 0, "", false},
		{"ANML-12.3-21", "accept-all-hosts", item("shop.example", "2", b), "a.b.c.shop.example", ByDomain, Full, "body", false},
		{"ANML-12.3-21", "accept-itself", item("shop.example", "2", b), "shop.example", ByExactHost, Full, "body", false},
		{"ANML-12.3-21", "accept-below-a-suffix-of-two-labels", item("shop.co.uk", "2", b), "www.shop.co.uk", ByDomain, Full, "body", false},
		{"ANML-12.3-21", "reject-other-domain", item("shop.example", "2", b), "shop.other.example", NotListed, 0, "", false},
		{"ANML-12.3-21", "reject-longer-name", item("shop.example", "2", b), "workshop.example", NotListed, 0, "", false},
		{"ANML-12.3-22", "accept-that-host", item("cdn.shop.example", "2", b), "cdn.shop.example", ByExactHost, Full, "body", false},
		{"ANML-12.3-22", "reject-www", item("cdn.shop.example", "2", b), "www.cdn.shop.example", NotListed, 0, "", false},
		{"ANML-12.3-22", "reject-deeper", item("cdn.shop.example", "2", b), "a.b.cdn.shop.example", NotListed, 0, "", false},
		{"ANML-12.3-22", "reject-sibling", item("cdn.shop.example", "2", b), "img.shop.example", NotListed, 0, "", false},
		{"ANML-12.3-22", "reject-others", item("cdn.shop.example", "2", b), "a.cdn.shop.example", NotListed, 0, "", false},
		{"ANML-12.3-22", "reject-parent", item("cdn.shop.example", "2", b), "shop.example", NotListed, 0, "", false},
		{"ANML-12.3-23", "accept-host-before-wildcard", item("*.shop.example", "2", b) + "," + item("a.shop.example", "1", `["aesthetic"]`), "a.shop.example", ByExactHost, Display, "aesthetic", false},
		{"ANML-12.3-23", "accept-wildcard-before-domain", item("shop.example", "1", b) + "," + item("*.shop.example", "2", b), "a.shop.example", ByWildcard, Full, "body", false},
		{"ANML-12.3-23", "accept-lowest-of-equals", item("shop.example", "2", `["body","head"]`) + "," + item("shop.example", "1", `["body","knowledge"]`), "shop.example", ByExactHost, Display, "body", false},
		{"ANML-12.3-25", "reject-zero", item("shop.example", "0", b), "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-25", "reject-three", item("shop.example", "3", b), "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-25", "reject-fraction", item("shop.example", "1.5", b), "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-25", "reject-2.0", item("shop.example", "2.0", b), "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-25", "accept-1", item("shop.example", "1", b), "shop.example", ByExactHost, Display, "body", false},
		{"ANML-12.3-26", "accept-better-wildcard", item("shop.example", "3", b) + "," + item("*.shop.example", "2", b), "a.shop.example", ByWildcard, Full, "body", false},
		{"ANML-12.3-26", "reject-malformed-best", item("shop.example", "3", b) + "," + item("*.shop.example", "2", b), "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-27", "reject-missing", `{"domain":"shop.example","tier":2}`, "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-27", "reject-numbers", item("shop.example", "2", `["body",1]`), "shop.example", ByExactHost, 0, "", true},
		{"ANML-12.3-27", "accept-empty", item("shop.example", "2", `[]`), "shop.example", ByExactHost, Full, "", false},
		{"ANML-12.3-28", "accept-eight-only", item("shop.example", "2", `["body","state","status","Persona","x","body"]`), "shop.example", ByExactHost, Full, "body", false},
		{"H04", "reject-depth", item("*.cdn.example.com", "2", b), "a.b.cdn.example.com", NotListed, 0, "", false},
		{"H04", "reject-apex", item("*.cdn.example.com", "2", b), "cdn.example.com", NotListed, 0, "", false},
		{"H05", "reject-suffix", item("*.co.uk", "2", b), "example.co.uk", NotListed, 0, "", false},
		{"H05", "reject-private-suffix", item("*.github.io", "2", b) + "," + item("github.io", "2", b), "shop1.github.io", NotListed, 0, "", false},
		{"H05", "reject-partial", item("f*.example.com", "2", b), "foo.example.com", NotListed, 0, "", false},
		{"H05", "reject-double", item("**.example.com", "2", b), "a.example.com", NotListed, 0, "", false},
		{"H05", "accept-final-dot", item("*.example.com.", "2", b), "a.example.com", ByWildcard, Full, "body", false},
		{"H07", "reject-string", item("shop.example", `"2"`, b), "shop.example", ByExactHost, 0, "", true},
		{"H07", "reject-null", item("shop.example", `null`, b), "shop.example", ByExactHost, 0, "", true},
		{"H07", "reject-true", item("shop.example", `true`, b), "shop.example", ByExactHost, 0, "", true},
		{"H07", "reject-minus", item("shop.example", `-1`, b), "shop.example", ByExactHost, 0, "", true},
		{"H07", "reject-huge", item("shop.example", `9007199254740993`, b), "shop.example", ByExactHost, 0, "", true},
		{"H07", "reject-missing", `{"domain":"shop.example","scope":["body"]}`, "shop.example", ByExactHost, 0, "", true},
		{"H10", "accept-none", item("shop.example", "2", `["*","Persona","interact ","trust"]`), "shop.example", ByExactHost, Full, "", false},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text(c.entries)), ManifestLimits{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := ServerOf("https://" + c.host + "/x")
			if err != nil {
				t.Fatal(err)
			}
			l := m.Lookup(s)
			if l.Rank != c.rank || l.Malformed != c.malformed {
				t.Fatalf("%+v", l)
			}
			if !c.malformed && (l.Tier != c.tier || l.Scope.String() != c.scope) {
				t.Errorf("%+v %s", l, l.Scope)
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
		{"ANML-12.3-08", "reject-other", "brand.example", []string{`"brand.example"`, `"other.example"`}, CodeManifestSiteMismatch},
		{"ANML-16.1-07", "reject-other", "other.example", nil, CodeManifestSiteMismatch},
		{"H01", "reject-evil", "brand.example", []string{`"brand.example"`, `"evil.example"`}, CodeManifestSiteMismatch},
		{"H01", "accept-dotted", "brand.example", []string{`"brand.example"`, `"BRAND.example."`}, ""},
		{"ANML-12.3-12", "reject-future", "brand.example", []string{"2026-05-01T00:00:00Z", "2026-06-01T12:05:01Z"}, CodeManifestNotYetValid},
		{"ANML-12.3-12", "accept-skew", "brand.example", []string{"2026-05-01T00:00:00Z", "2026-06-01T12:05:00Z"}, ""},
		{"ANML-12.3-15", "reject-at-expiry", "brand.example", []string{"2026-07-01T00:00:00Z", "2026-06-01T12:00:00Z"}, CodeManifestExpired},
		{"ANML-12.3-15", "accept-second-before", "brand.example", []string{"2026-07-01T00:00:00Z", "2026-06-01T12:00:01Z"}, ""},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text("", c.replace...)), ManifestLimits{})
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

// TestIndexIsTheList: the index says what reading the list would.
func TestIndexIsTheList(t *testing.T) {
	names := []string{"shop.example", "a.shop.example", "*.shop.example", "b.a.shop.example", "other.example", "*.a.shop.example"}
	rapid.Check(t, func(t *rapid.T) {
		var items []string
		want := map[string]grant{}
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			name, tier := rapid.SampledFrom(names).Draw(t, "name"), rapid.IntRange(0, 3).Draw(t, "tier")
			scope := Scope(rapid.Uint8().Draw(t, "scope"))
			data, _ := scope.MarshalJSON()
			items = append(items, item(name, fmt.Sprint(tier), string(data)))
			g := grant{Tier(tier), scope, tier < 1 || tier > 2}
			if before, ok := want[name]; ok {
				g = g.merge(before)
			}
			want[name] = g
		}
		m, err := ParseManifest([]byte(text(strings.Join(items, ","))), ManifestLimits{})
		if err != nil {
			t.Fatal(err)
		}
		s := Server{rapid.SampledFrom([]string{"shop.example", "a.shop.example", "b.a.shop.example", "c.shop.example"}).Draw(t, "host"), "shop.example"}
		_, parent, _ := strings.Cut(s.Host, ".")
		got := m.Lookup(s)
		for _, name := range []string{s.Host, "*." + parent, s.Domain} {
			g, ok := want[name]
			if !ok {
				continue
			}
			if got.Malformed != g.malformed || !g.malformed && (got.Tier != g.tier || got.Scope != g.scope) {
				t.Fatalf("%+v, want %+v of %s", got, g, name)
			}
			again, err := ParseManifest(m.extract(s), ManifestLimits{})
			if err != nil || again.Lookup(s).Rank != got.Rank || again.Lookup(s).Malformed != got.Malformed {
				t.Fatalf("the extract says %+v, %v", again.Lookup(s), err)
			}
			return
		}
		if got.Rank != NotListed {
			t.Fatalf("%+v", got)
		}
	})
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(text(item("shop.example", "2", `["body"]`))))
	f.Add([]byte(text(item("*.shop.example", "1", `[]`) + `,{"domain":7}`)))
	f.Add([]byte(`{"version":"1.0"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data, ManifestLimits{})
		if (m == nil) == (err == nil) {
			t.Fatal("neither or both")
		}
		if m == nil {
			return
		}
		if l := m.Lookup(shop); l.Rank != NotListed && !l.Malformed && l.Tier != Display && l.Tier != Full {
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

// bigManifest has n entries, a tenth of them wildcards.
func bigManifest(n int) []byte {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		star := ""
		if i%10 == 0 {
			star = "*."
		}
		b.WriteString(item(fmt.Sprintf("%spartner-%06d.example.net", star, i), fmt.Sprint(1+i%2), `["body","aesthetic","knowledge"]`))
	}
	return []byte(text(b.String()))
}

// TestReasons: an error names the member that is wrong, and why.
func TestReasons(t *testing.T) {
	const rest = `"scope":["body"],"expires":"2026-06-20T00:00:00Z"}`
	for body, want := range map[string]string{
		`{`:                                      "",
		`{"authorized":tru}`:                     "tru",
		`[]`:                                     "object is expected",
		`{"tier":2,` + rest:                      `no member "authorized"`,
		`{"authorized":1,"tier":2,` + rest:       "boolean is expected",
		`{"authorized":true,` + rest:             `no member "tier"`,
		`{"authorized":true,"tier":3}`:           "the tier is not",
		`{"authorized":true,"tier":2}`:           `no member "scope"`,
		`{"authorized":true,"tier":2,"scope":5}`: "the scope is not",
		`{"authorized":true,"tier":2,"scope":["body"]}`:           `no member "expires"`,
		`{"authorized":true,"tier":2,"scope":[],"expires":5}`:     "string is expected",
		`{"authorized":true,"tier":2,"scope":[],"expires":"now"}`: "expires is not a date",
	} {
		t.Run("ANML-12.4-13/reject-"+body, func(t *testing.T) {
			if _, err := ParseQueryResponse([]byte(body)); lookleap.CodeOf(err) != CodeQueryMalformed || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "found nothing") {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	for _, c := range []struct{ name, text, want, fix string }{
		{"long-site", text("", "brand.example", strings.Repeat("a", 5000)), "the member site is longer", ""},
		{"site-no-text", text("", `"brand.example"`, "1"), "string is expected", ""},
		{"empty-site", text("", "brand.example", ""), "the member site is empty", ""},
		{"issued", text("", "2026-05-01T00:00:00Z", "May"), "the member issued is not a usable date", "or with an offset"},
		{"expires", text("", "2026-07-01T00:00:00Z", "July"), "the member expires is not a usable date", "write it like 2026-08-01T00:00:00Z"},
		{"no-list", text("", `,"authorized-domains":[]`, ""), `no member "authorized-domains"`, ""},
		{"list-of-another-kind", text("", `:[]`, ":{}"), "array is expected", ""},
	} {
		t.Run("ANML-12.3-04/reject-"+c.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(c.text), ManifestLimits{})
			bad, ok := err.(*lookleap.Error)
			if !ok || bad.Code != CodeManifestMalformed || !strings.Contains(bad.Message, c.want) || !strings.HasSuffix(bad.Fix, c.fix) {
				t.Errorf("%+v, want %q and %q", err, c.want, c.fix)
			}
		})
	}
}

// TestEntryFindings: each malformed entry has a finding with its reason, up to a number of them.
func TestEntryFindings(t *testing.T) {
	for _, c := range []struct{ name, entry, want string }{
		{"no-object", `5`, "not an object"},
		{"no-domain", `{"tier":2,"scope":[]}`, "has no domain"},
		{"tier", item("shop.example", "3", "[]"), "tier is not the integer"},
		{"tier-first", item("shop.example", "3", `["nobody"]`), "tier is not the integer"},
		{"scope", item("shop.example", "2", "5"), "scope is not an array"},
		{"scope-of-numbers", item("shop.example", "2", "[5]"), "scope is not an array"},
		{"names-outside", item("shop.example", "2", `["body","nobody"]`), "cannot be delegated"},
		{"no-name", item("a b", "2", "[]"), "matches nothing"},
		{"suffix", item("*.co.uk", "2", "[]"), "public suffix"},
	} {
		t.Run("ANML-12.3-29/accept-"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text(c.entry)), ManifestLimits{})
			if err != nil || len(m.Findings) != 1 || !strings.Contains(m.Findings[0].Message, c.want) || strings.Contains(m.Findings[0].Message, "suffix") != (c.name == "suffix") {
				t.Errorf("%v, %v; want %q", m, err, c.want)
			}
		})
	}
	for n, want := range map[int]int{maxFindings: maxFindings, maxFindings + 1: maxFindings + 1, maxFindings + 8: maxFindings + 1} {
		m, err := ParseManifest([]byte(text(strings.Repeat("1,", n-1)+"1")), ManifestLimits{})
		if err != nil || len(m.Findings) != want {
			t.Fatalf("%d faults: %d findings, %v", n, len(m.Findings), err)
		}
		if last := m.Findings[want-1].Message; n > maxFindings && !strings.HasPrefix(last, fmt.Sprint(n-maxFindings, " more")) {
			t.Errorf("%d faults: %s", n, last)
		}
	}
}

// filledManifest has a number of JSON values, itself included.
func filledManifest(values int) []byte {
	return []byte(text("", `"version"`, `"x":[`+strings.Repeat("1,", values-8)+`1],"version"`))
}

// TestSmallestManifestLimits: 1 is a limit, and 0 is none.
func TestSmallestManifestLimits(t *testing.T) {
	one := manifestOf("", listed("a.example", "1", `"body"`)).Body
	two := manifestOf("", listed("a.example", "1", `"body"`)+","+listed("b.example", "1", `"body"`)).Body
	for _, c := range []struct {
		data   []byte
		limits ManifestLimits
		ok     bool
	}{
		{two, ManifestLimits{}, true},
		{one, ManifestLimits{Entries: 1}, true},
		{two, ManifestLimits{Entries: 1}, false},
		{two, ManifestLimits{Entries: -1, Size: -1}, true},
		{one, ManifestLimits{Size: 1}, false},
		{one, ManifestLimits{Size: len(one)}, true},
		{one, ManifestLimits{Size: len(one) - 1}, false},
		{filledManifest(64), ManifestLimits{Size: 500}, true},
		{filledManifest(65), ManifestLimits{Size: 500}, false},
	} {
		if m, err := ParseManifest(c.data, c.limits); (err == nil) != c.ok || (m != nil) != c.ok {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
}

// TestExtract: a stored verdict keeps what a manifest says about one server, in every rank.
func TestExtract(t *testing.T) {
	m, err := ParseManifest(manifestOf("", strings.Join([]string{
		listed("www.shop.example", "1", `"body"`), listed("*.shop.example", "2", `"body"`), listed("shop.example", "2", `"state"`), listed("other.example", "1", `"body"`),
	}, ",")).Body, ManifestLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string][]string{
		"www.shop.example":  {"www.shop.example", "*.shop.example", "shop.example"},
		"shop.example":      {"shop.example"},
		"a.b.shop.example":  {"shop.example"},
		"elsewhere.example": {"other.example"}, // an entry about another server, so that the list is not empty
	} {
		s := Server{Host: host, Domain: strings.TrimPrefix(strings.TrimPrefix(host, "www."), "a.b.")}
		var kept struct {
			Entries []struct{ Domain string } `json:"authorized-domains"`
		}
		if err := json.Unmarshal(m.extract(s), &kept); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range kept.Entries {
			got = append(got, e.Domain)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
		again, err := ParseManifest(m.extract(s), ManifestLimits{})
		if err != nil || again.Lookup(s) != m.Lookup(s) {
			t.Errorf("%s: %v, %v", host, again, err)
		}
	}
}
