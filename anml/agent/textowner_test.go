package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
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
