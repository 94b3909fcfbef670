package anmltrust_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
)

// TestClaims: what a document of one site, or an agent's response, claims.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		id      string
		trust   []anmltrust.TrustClaim
		site    string
		refused lookleap.Code
	}{
		{"A4/accept-domain", []anmltrust.TrustClaim{{Domain: "brand.example"}}, "brand.example", ""},
		{"A4/accept-domain-twice", []anmltrust.TrustClaim{{Domain: "brand.example"}, {Domain: "Brand.example."}}, "brand.example", ""},
		{"A4/accept-empty-one-before", []anmltrust.TrustClaim{{}, {Domain: "brand.example"}}, "brand.example", ""},
		{"A5/reject-other-second", []anmltrust.TrustClaim{{Domain: "brand.example"}, {Domain: "other.example"}}, "brand.example", anmltrust.CodeClaimInvalid},
		{"A5/reject-other-alias", []anmltrust.TrustClaim{{Domain: "brand.example", Site: "other.example"}}, "brand.example", anmltrust.CodeClaimInvalid},
	} {
		t.Run(c.id, func(t *testing.T) {
			for _, response := range []bool{false, true} {
				d := anmltrust.Document{URL: shopClaim.URL, Trust: c.trust, Response: response}
				claims, _ := d.Claims()
				if len(claims) != 1 || claims[0].Site != c.site || claims[0].Refused != c.refused || claims[0].Response != response || claims[0].URL != d.URL || claims[0].Form != anmltrust.TrustElement {
					t.Errorf("%+v", claims)
				}
			}
		})
	}
	t.Run("A5/reject-refused-without-a-name", func(t *testing.T) {
		_, err := anmltrust.Decide(anmltrust.Claim{URL: shopClaim.URL, Refused: anmltrust.CodeClaimInvalid}, anmltrust.Evidence{}, start)
		if v := verdictOf(t, nil, err); v.Code != anmltrust.CodeClaimInvalid || anmltrust.Row(v) != "A5" {
			t.Errorf("%s, row %s", v.Code, anmltrust.Row(v))
		}
	})
	t.Run("A2/reject-sites-of-a-response", func(t *testing.T) {
		claims, _ := anmltrust.Document{URL: shopClaim.URL, Sites: []anmltrust.SiteClaim{{Domain: "brand.example"}}, Response: true}.Claims()
		if len(claims) != 1 || !claims[0].Response {
			t.Errorf("%+v", claims)
		}
	})
}

// TestNameLength: a site's name leaves room for the record's own label.
func TestNameLength(t *testing.T) {
	parent := "." + strings.Repeat(strings.Repeat("a", 49)+".", 4) + "example"
	const longest = 253 - len("_anml.")
	for size, accepted := range map[int]bool{longest: true, longest + 1: false} {
		if _, err := anmltrust.NormalizeSite(strings.Repeat("b", size-len(parent)) + parent); (err == nil) != accepted {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestRecordSize: what a verdict stores of a padded answer or a malformed manifest is bounded.
func TestRecordSize(t *testing.T) {
	t.Run("X12/reject-malformed-answer-again", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(`{"authorized":true,"x":"` + strings.Repeat("x", 20<<10) + `"}`)
		a, err := w.ask(shopClaim)
		if again, replayed := anmltrust.Replay(verdictOf(t, a, err), start); again != nil || lookleap.CodeOf(replayed) != anmltrust.CodeQueryMalformed {
			t.Errorf("%v, %v", again, replayed)
		}
	})
	t.Run("X12/reject-malformed-manifest-again", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest("[" + strings.Repeat(" ", 500<<10) + "]")
		a, err := w.ask(shopClaim)
		v := verdictOf(t, a, err)
		if again, replayed := anmltrust.Replay(v, start); again != nil || lookleap.CodeOf(replayed) != anmltrust.CodeManifestMalformed || len(v.Record) > 100<<10 {
			t.Errorf("%v, %v, %d bytes", again, replayed, len(v.Record))
		}
	})
}

// TestWhoIsTheSite: neither a public suffix nor a name below the serving domain is the site itself.
func TestWhoIsTheSite(t *testing.T) {
	for _, c := range []struct {
		url, site string
		code      lookleap.Code // "": the site itself
	}{
		{"https://www.shop.example/x", "shop.example", ""},
		{"https://blog.shop.example/x", "blog.shop.example", ""},
		{"https://www.blog.shop.example/x", "blog.shop.example", anmltrust.CodeTrustEvidence},
		{"https://co.uk/x", "co.uk", anmltrust.CodeSiteDomainInvalid},
		{"https://github.io/x", "github.io", ""},
		{"https://www.github.io/x", "github.io", anmltrust.CodeSiteDomainInvalid},
	} {
		a, err := anmltrust.Decide(anmltrust.Claim{URL: c.url, Site: c.site}, anmltrust.Evidence{}, start)
		if c.code == "" && (err != nil || a.Tier != anmltrust.Self) || c.code != "" && (a != nil || lookleap.CodeOf(err) != c.code) {
			t.Errorf("%s for %s: %+v, %v", c.url, c.site, a, err)
		}
	}
	for _, u := range []string{"https://shop.example/a b", "https://shop.example/%zz", "https://shop.example./a b", "https://user@shop.example/"} {
		if s, err := anmltrust.ServerOf(u); err == nil {
			t.Errorf("%q is of %+v", u, s)
		}
	}
}
