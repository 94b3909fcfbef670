package agent_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

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
		t.Run("ANML-8.2-04/reject-contents-before-verification-"+form, func(t *testing.T) {
			r := newRetail(t) // nothing authorizes the shop
			r.json = asJSON
			p := r.open(shopSite + brand)
			text := p.Text(anml.TextOptions{})
			for _, part := range []string{"INFORM", `"email"`, `"tel"`, anml.ToolName("brand.example", "a")} {
				hasTexts(t, text, "!"+part)
			}
			equals(t, r.informs(), "")
		})
		t.Run("ANML-8.2-04/accept-contents-after-verification-"+form, func(t *testing.T) {
			r, p := page(t, asJSON, "knowledge", "constraints", "interact")
			text := p.Text(anml.TextOptions{})
			for _, part := range []string{"INFORM", `"email"`, `"tel"`, anml.ToolName("brand.example", "a")} {
				hasTexts(t, text, part)
			}
			equals(t, r.informs(), "brand.example: INFORM\n")
		})
		t.Run("O04/accept-rule-in-scope-"+form, func(t *testing.T) {
			_, p := page(t, asJSON, "knowledge", "constraints")
			hasTexts(t, p.Text(anml.TextOptions{}), `"email", string, rule none`)
		})
		t.Run("O04/reject-rule-out-of-scope-"+form, func(t *testing.T) {
			_, p := page(t, asJSON, "knowledge")
			hasTexts(t, p.Text(anml.TextOptions{}), `"email", string, rule explicit-consent`)
		})
		t.Run("O04/accept-stricter-rule-out-of-scope-"+form, func(t *testing.T) {
			_, p := page(t, asJSON, "knowledge")
			hasTexts(t, p.Text(anml.TextOptions{}), `"tel", string, rule authentication`)
		})
	}
}

// TestCertificateOfAnotherSite: the connection that a document came by says nothing about other sites.
func TestCertificateOfAnotherSite(t *testing.T) {
	const site = "shared-name.example"
	for name, doc := range map[string]string{
		"reject-certificate-of-the-document":               everything(site),
		"reject-certificate-of-the-document-and-own-site":  shopSite + everything(site),
		"reject-certificate-of-a-document-of-another-form": `<head><title>T</title><trust domain="` + site + `"/></head><persona><tone value="formal"/></persona>`,
	} {
		t.Run("ANML-12-01/"+name, func(t *testing.T) {
			r := newRetail(t)
			r.net.Site("shop.example").Certificate(lookleaptest.CertificateSharedName)
			p := r.open(doc)
			r.says(p, site, "persona", "", 0)
			if !p.Persona(site).Tone.Empty() || p.ServingDomain() != "shop.example" {
				t.Errorf("%s speaks for it", p.ServingDomain())
			}
			for _, party := range p.Parties() {
				if party.Domain == site && (party.Tier != anmltrust.Unlisted || party.Serving) {
					t.Errorf("%+v", party)
				}
			}
		})
	}
}

// TestRefusedParties: a refused domain gets no answer, whatever its part in the exchange is.
func TestRefusedParties(t *testing.T) {
	const doc = `<interact><action id="do" method="POST" endpoint="%"/></interact><knowledge><ask field="email" action="do" purpose="to write"/></knowledge>`
	const trust = `<head><title>T</title><trust domain="brand.example"/></head>`
	for name, c := range map[string]struct {
		url, endpoint, refused string
		scope                  string // of the brand's grant, "" for a document without a claim
		others                 bool   // the refused domain has no part in the exchange
	}{
		"reject-server-host":        {url: "https://www.shop.example/anml", endpoint: "https://api.shop.example/do", refused: "www.shop.example"},
		"reject-endpoint-host":      {url: shopURL, endpoint: "https://api.shop.example/do", refused: "api.shop.example"},
		"reject-below-endpoint":     {url: shopURL, endpoint: "https://v1.api.shop.example/do", refused: "api.shop.example"},
		"reject-site-that-asks":     {url: shopURL, endpoint: "/do", refused: "brand.example", scope: "knowledge"},
		"reject-owner-of-action":    {url: shopURL, endpoint: "/do", refused: "brand.example", scope: "interact"},
		"accept-below-the-endpoint": {url: shopURL, endpoint: "https://api.shop.example/do", refused: "v1.api.shop.example", others: true},
		"accept-end-of-the-name":    {url: shopURL, endpoint: "/do", refused: "op.example", others: true},
		"accept-site-without-grant": {url: shopURL, endpoint: "/do", refused: "brand.example", scope: "body", others: true},
	} {
		t.Run("ANML-14.1-06/"+name, func(t *testing.T) {
			r := newRetail(t)
			sections := head("")
			if c.scope != "" {
				r.grants(2, c.scope)
				sections = trust
			}
			r.user.Profile = agent.Fields{"email": {Text: "u@example.com"}}
			r.asks()
			must(t, r.start().RefuseDomain(t.Context(), c.refused))
			list := r.openAt(c.url, sections+strings.Replace(doc, "%", c.endpoint, 1)).Decide(t.Context())
			equals(t, len(list), 1)
			d := list[0]
			if refused := d.Verb == agent.VerbRefuse && d.Reason == anml.UserDenied && d.Code == agent.CodeDomainRefused; refused == c.others {
				t.Errorf("%s %s %s", d.Verb, d.Reason, d.Code)
			}
		})
	}
}

// TestWhoAsks: what the authority over each section makes of an ask with the most
// permissive rule, in a document of shop.example that claims brand.example.
func TestWhoAsks(t *testing.T) {
	sections := `<constraints><disclosure field="email" requires="none"/></constraints><interact><action id="a" method="POST" endpoint="/a"/></interact>` +
		`<knowledge><ask field="email" action="a" purpose="to send the ticket"/></knowledge>`
	site := `<site domain="shop.example"></site><site domain="brand.example">` + sections + `</site>`
	claim := `<head><title>T</title><trust domain="brand.example"/></head>` + sections
	for _, c := range []struct {
		name, doc string
		tier      int // 0: no authorization
		scope     []string
		allowed   []string // domains that the user lets know everything
		want      string   // of the ask: owner, verb, code
	}{
		{"accept-full", site, 2, []string{"knowledge", "interact", "constraints"}, []string{"shop.example", "brand.example"}, "brand.example allow user-rule"},
		{"reject-owner-allowed-alone", site, 2, []string{"knowledge", "interact", "constraints"}, []string{"brand.example"}, "brand.example prompt needs-consent"},
		{"reject-server-allowed-alone", site, 2, []string{"knowledge", "interact", "constraints"}, []string{"shop.example"}, "brand.example prompt needs-consent"},
		{"reject-rules-out-of-scope", site, 2, []string{"knowledge", "interact"}, []string{"*"}, "brand.example prompt explicit-consent"},
		{"reject-actions-out-of-scope", site, 2, []string{"knowledge", "constraints"}, []string{"*"}, "brand.example refuse trust-unverified"},
		{"reject-asks-out-of-scope", site, 2, []string{"interact", "constraints"}, []string{"*"}, "brand.example refuse trust-unverified"},
		{"reject-display-tier", site, 1, []string{"knowledge", "interact", "constraints"}, []string{"*"}, "brand.example refuse trust-unverified"},
		{"reject-unverified", site, 0, nil, []string{"*"}, "brand.example refuse no-record"},
		{"accept-claim", claim, 2, []string{"knowledge", "interact", "constraints"}, []string{"shop.example", "brand.example"}, "brand.example allow user-rule"},
		{"accept-claim-unverified", claim, 0, nil, []string{"shop.example"}, "shop.example allow user-rule"}, // the server's own words
		{"reject-claim-rules-of-another", claim, 2, []string{"knowledge", "interact"}, []string{"*"}, "brand.example prompt explicit-consent"},
		{"reject-claim-asks-of-another", claim, 2, []string{"constraints", "interact"}, []string{"*"}, "shop.example prompt explicit-consent"},
	} {
		for _, json := range []bool{false, true} {
			t.Run(c.name+map[bool]string{true: "-json"}[json], func(t *testing.T) {
				r := newRetail(t)
				r.json = json
				r.asks(lookleaptest.Refuse())
				if c.tier > 0 {
					r.grants(c.tier, c.scope...)
				}
				p := &agent.UserPolicy{}
				for _, name := range c.allowed {
					must(t, p.Set(agent.StandingRule{Field: "email", Domain: name, Effect: agent.EffectAllow}))
				}
				r.user = agent.User{Policy: p, Profile: agent.Fields{"email": {Text: "ann@example.org"}}}
				var got []string
				for _, d := range r.open(c.doc).Decide(t.Context()) {
					got = append(got, strings.Join([]string{d.Owner.Domain, d.Verb.String(), string(d.Code)}, " "))
				}
				sameList(t, got, []string{c.want})
			})
		}
	}
}
