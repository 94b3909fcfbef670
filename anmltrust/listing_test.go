package anmltrust

import (
	"testing"
)

// TestLookup finds entries about a server.
func TestLookup(t *testing.T) {
	b := `["body"]`
	for _, c := range []struct {
		id, name, entries string
		host              string
		rank              string
		tier              Tier
		scope             string
		malformed         bool
	}{
		{"ANML-12.3-19", "accept-normalised", item("Shop.EXAMPLE.", "2", b), "cdn.shop.example", "domain", Full, "body", false},
		{"ANML-12.3-19", "accept-unicode", item("bücher.example", "2", b), "xn--bcher-kva.example", "host", Full, "body", false},
		{"ANML-12.3-19", "reject-url", item("https://shop.example", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-port", item("shop.example:443", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-star", item("*", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-suffix", item("*.com", "2", b), "shop.com", "", 0, "", false},
		{"ANML-12.3-19", "reject-inner-star", item("a.*.example", "2", b), "a.b.example", "", 0, "", false},
		{"ANML-12.3-05", "reject-capital-tier", `{"domain":"shop.example","Tier":2,"scope":["body"]}`, "shop.example", "host", 0, "", true},
		{"ANML-12.3-05", "reject-capital-scope", `{"domain":"shop.example","tier":2,"SCOPE":["body"]}`, "shop.example", "host", 0, "", true},
		{"ANML-12.3-05", "reject-capital-domain", `{"Domain":"shop.example","tier":2,"scope":["body"]}`, "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-no-domain", `{"tier":2,"scope":["body"]}`, "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-several-in-one", item("shop.example,other.example", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-partial-star", item("s*.example", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-19", "reject-two-stars", item("*.*.example", "2", b), "a.shop.example", "", 0, "", false},
		{"ANML-12.3-19", "accept-wildcard-in-capitals", item("*.SHOP.example.", "2", b), "a.shop.example", "wildcard", Full, "body", false},
		{"ANML-12.3-20", "accept-one-label", item("*.shop.example", "2", b), "a.shop.example", "wildcard", Full, "body", false},
		{"ANML-12.3-20", "reject-apex", item("*.shop.example", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-20", "reject-two-labels", item("*.shop.example", "2", b), "a.b.shop.example", "", 0, "", false},
		{"ANML-12.3-20", "reject-no-dot", item("*.shop.example", "2", b), "xshop.example", "", 0, "", false},
		{"ANML-12.3-21", "accept-all-hosts", item("shop.example", "2", b), "a.b.c.shop.example", "domain", Full, "body", false},
		{"ANML-12.3-22", "accept-that-host", item("cdn.shop.example", "2", b), "cdn.shop.example", "host", Full, "body", false},
		{"ANML-12.3-22", "reject-others", item("cdn.shop.example", "2", b), "a.cdn.shop.example", "", 0, "", false},
		{"ANML-12.3-22", "reject-parent", item("cdn.shop.example", "2", b), "shop.example", "", 0, "", false},
		{"ANML-12.3-23", "accept-host-before-wildcard", item("*.shop.example", "2", b) + "," + item("a.shop.example", "1", `["aesthetic"]`), "a.shop.example", "host", Display, "aesthetic", false},
		{"ANML-12.3-23", "accept-wildcard-before-domain", item("shop.example", "1", b) + "," + item("*.shop.example", "2", b), "a.shop.example", "wildcard", Full, "body", false},
		{"ANML-12.3-23", "accept-lowest-of-equals", item("shop.example", "2", `["body","head"]`) + "," + item("shop.example", "1", `["body","knowledge"]`), "shop.example", "host", Display, "body", false},
		{"ANML-12.3-25", "reject-zero", item("shop.example", "0", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-three", item("shop.example", "3", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-fraction", item("shop.example", "1.5", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-2.0", item("shop.example", "2.0", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "accept-1", item("shop.example", "1", b), "shop.example", "host", Display, "body", false},
		{"ANML-12.3-25", "accept-2", item("shop.example", "2", b), "shop.example", "host", Full, "body", false},
		{"ANML-12.3-25", "reject-1.0", item("shop.example", "1.0", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-exponent", item("shop.example", "2e0", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-minus", item("shop.example", "-1", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-string", item("shop.example", `"2"`, b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-true", item("shop.example", "true", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-null", item("shop.example", "null", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-25", "reject-missing", `{"domain":"shop.example","scope":["body"]}`, "shop.example", "host", 0, "", true},
		{"ANML-12.3-26", "reject-malformed-wildcard", item("shop.example", "2", b) + "," + item("*.shop.example", "3", b), "a.shop.example", "wildcard", 0, "", true},
		{"ANML-12.3-26", "reject-first-of-two", item("shop.example", "3", b) + "," + item("shop.example", "2", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-26", "reject-second-of-two", item("shop.example", "2", b) + "," + item("shop.example", "3", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-26", "accept-better-wildcard", item("shop.example", "3", b) + "," + item("*.shop.example", "2", b), "a.shop.example", "wildcard", Full, "body", false},
		{"ANML-12.3-26", "reject-malformed-best", item("shop.example", "3", b) + "," + item("*.shop.example", "2", b), "shop.example", "host", 0, "", true},
		{"ANML-12.3-27", "reject-missing", `{"domain":"shop.example","tier":2}`, "shop.example", "host", 0, "", true},
		{"ANML-12.3-27", "reject-numbers", item("shop.example", "2", `["body",1]`), "shop.example", "host", 0, "", true},
		{"ANML-12.3-27", "reject-null", item("shop.example", "2", "null"), "shop.example", "host", 0, "", true},
		{"ANML-12.3-27", "reject-string", item("shop.example", "2", `"body"`), "shop.example", "host", 0, "", true},
		{"ANML-12.3-27", "reject-object", item("shop.example", "2", `{"body":true}`), "shop.example", "host", 0, "", true},
		{"ANML-12.3-27", "accept-eight", item("shop.example", "2", `["footer","body","constraints","interact","knowledge","aesthetic","persona","head"]`), "shop.example", "host", Full,
			"head,persona,aesthetic,knowledge,interact,constraints,body,footer", false},
		{"ANML-12.3-27", "accept-empty", item("shop.example", "2", `[]`), "shop.example", "host", Full, "", false},
		{"ANML-12.3-28", "accept-eight-only", item("shop.example", "2", `["body","state","status","Persona","x","body"]`), "shop.example", "host", Full, "body", false},
		{"H04", "reject-depth", item("*.cdn.example.com", "2", b), "a.b.cdn.example.com", "", 0, "", false},
		{"H04", "reject-apex", item("*.cdn.example.com", "2", b), "cdn.example.com", "", 0, "", false},
		{"H04", "reject-longer-label", item("*.cdn.example.com", "2", b), "xcdn.example.com", "", 0, "", false},
		{"H04", "accept-one-label", item("*.cdn.example.com", "2", b), "a.cdn.example.com", "wildcard", Full, "body", false},
		{"H05", "reject-alone", item("*", "2", b), "shop.example", "", 0, "", false},
		{"H05", "reject-top-level", item("*.example", "2", b), "shop.example", "", 0, "", false},
		{"H05", "reject-com", item("*.com", "2", b), "shop.com", "", 0, "", false},
		{"H05", "reject-without-a-dot", item("*example.com", "2", b), "shop.example.com", "", 0, "", false},
		{"H05", "reject-two", item("*.*.example.com", "2", b), "a.b.example.com", "", 0, "", false},
		{"H05", "reject-inner", item("a.*.example.com", "2", b), "a.b.example.com", "", 0, "", false},
		{"H05", "reject-suffix", item("*.co.uk", "2", b), "example.co.uk", "", 0, "", false},
		{"H05", "reject-private-suffix", item("*.github.io", "2", b) + "," + item("github.io", "2", b), "shop1.github.io", "", 0, "", false},
		{"H05", "reject-partial", item("f*.example.com", "2", b), "foo.example.com", "", 0, "", false},
		{"H05", "reject-double", item("**.example.com", "2", b), "a.example.com", "", 0, "", false},
		{"H05", "accept-final-dot", item("*.example.com.", "2", b), "a.example.com", "wildcard", Full, "body", false},
		{"H07", "accept-1", item("shop.example", "1", b), "shop.example", "host", Display, "body", false},
		{"H07", "accept-2", item("shop.example", "2", b), "shop.example", "host", Full, "body", false},
		{"H07", "reject-zero", item("shop.example", "0", b), "shop.example", "host", 0, "", true},
		{"H07", "reject-three", item("shop.example", "3", b), "shop.example", "host", 0, "", true},
		{"H07", "reject-fraction", item("shop.example", "1.5", b), "shop.example", "host", 0, "", true},
		{"H07", "reject-2.0", item("shop.example", "2.0", b), "shop.example", "host", 0, "", true},
		{"H07", "reject-2e0", item("shop.example", "2e0", b), "shop.example", "host", 0, "", true},
		{"H07", "reject-string", item("shop.example", `"2"`, b), "shop.example", "host", 0, "", true},
		{"H07", "reject-null", item("shop.example", `null`, b), "shop.example", "host", 0, "", true},
		{"H07", "reject-true", item("shop.example", `true`, b), "shop.example", "host", 0, "", true},
		{"H07", "reject-minus", item("shop.example", `-1`, b), "shop.example", "host", 0, "", true},
		{"H07", "reject-huge", item("shop.example", `9007199254740993`, b), "shop.example", "host", 0, "", true},
		{"H07", "reject-missing", `{"domain":"shop.example","scope":["body"]}`, "shop.example", "host", 0, "", true},
		{"H10", "accept-known-beside", item("shop.example", "2", `["*","body","Persona","persona "]`), "shop.example", "host", Full, "body", false},
		{"H10", "accept-none", item("shop.example", "2", `["*","Persona","interact ","trust"]`), "shop.example", "host", Full, "", false},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(text(c.entries)))
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
