package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
)

// TestPartiesWithoutAClaim: names that no claim can be verified for are parties without authority.
func TestPartiesWithoutAClaim(t *testing.T) {
	t.Run("X4/reject-site-whose-name-is-too-long", func(t *testing.T) { // for a record: it is shown as it is written
		long := strings.Repeat("abcdefg.", 30) + "example.org" // 251 bytes
		p := newRetail(t).open(everything(long))
		if i := slices.IndexFunc(p.Parties(), func(x agent.Party) bool { return x.Domain == long }); i < 0 || p.Parties()[i].Tier != 0 || p.Parties()[i].Err == nil {
			t.Errorf("%+v", p.Parties())
		}
	})
	t.Run("X11/accept-server-by-its-domain", func(t *testing.T) {
		for _, p := range newRetail(t).openAt("https://www.shop.example/anml", bothSites).Parties() {
			if p.Serving != (p.Domain == "shop.example") {
				t.Errorf("%+v", p)
			}
		}
	})
	t.Run("X11/accept-server-that-is-not-named", func(t *testing.T) {
		p := newRetail(t).open(brandSite)
		if first := p.Parties()[0]; first.Domain != "shop.example" || !first.Serving || first.Tier != anmltrust.Self {
			t.Errorf("%+v", first)
		}
	})
	t.Run("X2/accept-server-that-is-named-last", func(t *testing.T) { // what is out of scope is still the server's
		r := newRetail(t).grants(2, "persona")
		p := r.open(everything("brand.example") + everything("shop.example"))
		r.says(p, "brand.example", "persona", "brand.example", 2)
		r.says(p, "brand.example", "head", "shop.example", 2)
	})
	t.Run("X4/reject-names-that-contradict-each-other", func(t *testing.T) { // which the document's findings say
		p := newRetail(t).open(`<head><title>T</title><trust domain="brand.example"/><trust domain="other.example"/></head>`)
		if !slices.ContainsFunc(p.Document().Findings(), func(f lookleap.Finding) bool { return f.Code == anml.CodeClaim }) {
			t.Errorf("%+v", p.Document().Findings())
		}
		for _, party := range p.Parties() {
			if party.Domain != "shop.example" && party.Tier != 0 {
				t.Errorf("%+v", party)
			}
		}
	})
}

// TestTextOfRules: a model reads the rule that the decisions use, and no authorization that has ended.
func TestTextOfRules(t *testing.T) {
	const brand = `<site domain="brand.example"><constraints><disclosure field="email" requires="none"/><disclosure field="tel" requires="authentication"/></constraints>` +
		`<interact><action id="a" method="POST" endpoint="/a"/></interact><knowledge><ask field="email" action="a" purpose="p"/><ask field="tel" action="a" purpose="p"/><inform>INFORM</inform></knowledge></site>`
	page := func(t *testing.T, asJSON bool, sections ...string) (*retail, *agent.Page) {
		r := newRetail(t).grants(2, sections...)
		r.json = asJSON
		return r, r.open(shopSite + brand)
	}
	for form, asJSON := range map[string]bool{"xml": false, "json": true} {
		t.Run("O04/accept-rule-in-scope-"+form, func(t *testing.T) {
			_, p := page(t, asJSON, "knowledge", "constraints")
			if text := p.Text(anml.TextOptions{}); !strings.Contains(text, `"email", string, rule none`) {
				t.Error(text)
			}
		})
		t.Run("O04/reject-rule-out-of-scope-"+form, func(t *testing.T) {
			_, p := page(t, asJSON, "knowledge")
			if text := p.Text(anml.TextOptions{}); !strings.Contains(text, `"email", string, rule explicit-consent`) {
				t.Error(text)
			}
		})
		t.Run("O04/accept-stricter-rule-out-of-scope-"+form, func(t *testing.T) {
			_, p := page(t, asJSON, "knowledge")
			if text := p.Text(anml.TextOptions{}); !strings.Contains(text, `"tel", string, rule authentication`) {
				t.Error(text)
			}
		})
		t.Run("O04/reject-after-the-authorization-"+form, func(t *testing.T) {
			r, p := page(t, asJSON, "knowledge")
			result := &agent.CallResult{Page: p}
			if text := result.Text(anml.TextOptions{}); !strings.Contains(text, "INFORM") || !strings.Contains(text, "It speaks for [brand.example]") {
				t.Error(text)
			}
			r.net.Clock().Advance(30 * 24 * time.Hour)
			if text := result.Text(anml.TextOptions{}); strings.Contains(text, "INFORM") || !strings.Contains(text, "[brand.example], whose authorization has ended") {
				t.Error(text)
			}
		})
	}
}

// At Tier 1 only what is public is the site's: of the rest, nothing that the site
// would permit is permitted.
func TestUsageAtTier1(t *testing.T) {
	r := newRetail(t).grants(1, "knowledge")
	r.open(`<site domain="brand.example"><knowledge><inform usage="store">public</inform><inform usage="store" confidentiality="restricted">restricted</inform></knowledge></site>`)
	want := map[string]anml.Usage{"public": anml.UsageStore, "restricted": anml.UsageDisplay}
	for i := range r.session.Context().Informs("") {
		if i.Usage != want[i.Text] {
			t.Errorf("%s: %v", i.Text, i.Usage)
		}
		delete(want, i.Text)
	}
	if len(want) > 0 {
		t.Error("not there:", want)
	}
}
