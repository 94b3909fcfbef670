package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

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
					if err := p.Set(agent.StandingRule{Field: "email", Domain: name, Effect: agent.EffectAllow}); err != nil {
						t.Fatal(err)
					}
				}
				r.user = agent.User{Policy: p, Profile: agent.Fields{"email": {Text: "ann@example.org"}}}
				var got []string
				for _, d := range r.open(c.doc).Decide(t.Context()) {
					got = append(got, strings.Join([]string{d.Owner.Domain, d.Verb.String(), string(d.Code)}, " "))
				}
				if !slices.Equal(got, []string{c.want}) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		}
	}
}
