package anmltrust_test

import (
	"context"
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

// TestOrderOfRecords: the order of an answer decides nothing, and one URI in two spellings is one.
func TestOrderOfRecords(t *testing.T) {
	t.Run("ANML-12.2.1-12/accept-any-order", func(t *testing.T) {
		const a, b = "v=anml1;query=https://trust.example/a", "v=anml1;query=https://trust.example/b"
		for _, texts := range [][]string{{a, b}, {b, a}} {
			w := newWorld(t, "").setRecord(texts...)
			w.trust.Body("/a", "application/json", authorized).Body("/b", "application/json", authorized)
			got := strings.Join(w.granted(anmltrust.CodeQueryAuthorized).Sources, " ")
			if want := "https://trust.example/a https://trust.example/b"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		const c, d = "v=anml1;manifest=https://brand.example/c", "v=anml1;manifest=https://brand.example/d"
		for _, texts := range [][]string{{c, d}, {d, c}} {
			w := newWorld(t, "").setRecord(texts...)
			w.brand.Body("/c", anmltrust.ManifestMediaType, manifest(listed)).Body("/d", anmltrust.ManifestMediaType, manifest(listed))
			got := strings.Join(w.granted(anmltrust.CodeListed).Sources, " ")
			if want := "https://brand.example/c https://brand.example/d"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
	t.Run("ANML-12.2.1-12/accept-two-spellings", func(t *testing.T) {
		w := newWorld(t, "").setRecord(manifestOnly, "v=anml1;manifest=https://BRAND.example:443"+manifestPath).willing()
		if a := w.granted(anmltrust.CodeListed); len(a.Sources) != 1 {
			t.Errorf("%v", a.Sources)
		}
		w.traffic(1, 0, 1)
	})
}

// TestReplayOfUnlisted: a stored verdict tells an empty manifest from one about others.
func TestReplayOfUnlisted(t *testing.T) {
	for name, c := range map[string]struct{ entries, row string }{
		"empty":    {"", "L1"},
		"other":    {entry("other.example", 2, "body"), "L2"},
		"wildcard": {entry("*.other.example", 2, "body"), "L2"},
	} {
		t.Run("X12/accept-"+name, func(t *testing.T) {
			w := newWorld(t, manifestOnly).manifest(manifest(c.entries))
			a, err := w.ask(shopClaim)
			v := verdictOf(t, a, err)
			again, replayed := anmltrust.Replay(v, start)
			if got := anmltrust.Row(v); got != c.row {
				t.Errorf("row %s, want %s", got, c.row)
			}
			if got := anmltrust.Row(verdictOf(t, again, replayed)); got != c.row {
				t.Errorf("replayed as row %s, want %s", got, c.row)
			}
		})
	}
}

// TestRecordSize: what a verdict stores of a padded answer or a malformed manifest is bounded.
func TestRecordSize(t *testing.T) {
	t.Run("X12/accept-padded-answer", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(strings.TrimSuffix(authorized, "}") + `,"x":"` + strings.Repeat("x", 20<<10) + `"}`)
		v := w.granted(anmltrust.CodeQueryAuthorized).Verdict
		if len(v.Record) > 4<<10 {
			t.Errorf("%d bytes are stored", len(v.Record))
		}
		if again, err := anmltrust.Replay(v, start); err != nil || again.Scope.String() != "persona,body" {
			t.Errorf("%v, %v", again, err)
		}
	})
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

// TestStandingAnswerIsOfPlainClaims: a grant that stands does not answer a claim that is invalid by
// itself, or a caller who left.
func TestStandingAnswerIsOfPlainClaims(t *testing.T) {
	w := newWorld(t, queryOnly).query(authorized)
	w.granted(anmltrust.CodeQueryAuthorized)
	for _, c := range []struct {
		change func(*anmltrust.Claim)
		code   lookleap.Code
	}{
		{func(c *anmltrust.Claim) { c.Response = true }, anmltrust.CodeNotServed},
		{func(c *anmltrust.Claim) { c.Refused = anmltrust.CodeClaimDuplicate }, anmltrust.CodeClaimDuplicate},
		{func(c *anmltrust.Claim) { c.Refused = anmltrust.CodeClaimInvalid }, anmltrust.CodeClaimInvalid},
	} {
		claim := shopClaim
		c.change(&claim)
		a, err := w.ask(claim)
		w.wants(a, err, anmltrust.Unlisted, c.code)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := w.v.Verify(left, shopClaim); a != nil || err == nil {
		t.Errorf("%+v, %v", a, err)
	}
	w.granted(anmltrust.CodeQueryAuthorized)
}
