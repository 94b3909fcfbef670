package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
)

// toldOf is what an explanation says of each section of a site, one line for each.
func toldOf(e agent.Explanation, site string) string {
	var b strings.Builder
	for _, a := range e.Assertions {
		if a.Site == site {
			fmt.Fprintf(&b, "%s: %q tier %d %s %v %s %s %s\n", a.Section, a.Owner, a.Tier, a.Reason, a.Source, a.DNSSEC, a.Until.Format(time.RFC3339), a.Why)
		}
	}
	return b.String()
}

// TestExplainTold: each assertion has its owner, tier, reason, source and end.
func TestExplainTold(t *testing.T) {
	const sections = `<persona><tone value="formal"/></persona><body>x</body></site>`
	const source = `[https://brand.example/.well-known/anml-trust] indeterminate 2026-06-01T13:00:00Z `
	const nothing = `[]  0001-01-01T00:00:00Z `
	for _, c := range []struct {
		name  string
		grant func(*retail) *retail
		site  string
		want  string
	}{
		{"accept-tier-2-told", grant(2, "persona"), "brand.example",
			`persona: "brand.example" tier 2 listed ` + source + "\n" + `body: "shop.example" tier 2 listed ` + source + "not-in-scope\n"},
		{"accept-tier-1-told", grant(1, "persona", "body"), "brand.example",
			`persona: "" tier 1 listed ` + source + "not-in-scope\n" + `body: "brand.example" tier 1 listed ` + source + "\n"},
		{"accept-tier-0-told", nil, "brand.example",
			`persona: "" tier 0 no-record ` + nothing + "no-record\n" + `body: "shop.example" tier 0 no-record ` + nothing + "no-record\n"},
		{"accept-tier-3-told", nil, "shop.example",
			`persona: "shop.example" tier 3 self ` + nothing + "\n" + `body: "shop.example" tier 3 self ` + nothing + "\n"},
	} {
		t.Run("ANML-12.7-11/"+c.name, func(t *testing.T) {
			r := newRetail(t)
			if c.grant != nil {
				c.grant(r)
			}
			e := r.open(`<site domain="shop.example">` + sections + `<site domain="brand.example">` + sections).Explain()
			equals(t, toldOf(e, c.site), c.want)
			equals(t, e.Serving, "shop.example")
			equals(t, e.Document, shopURL)
		})
	}
	t.Run("ANML-12.7-11/accept-told-in-words", func(t *testing.T) {
		r := newRetail(t).grants(2, "persona")
		text := r.open(`<site domain="shop.example">` + sections + `<site domain="brand.example">` + sections).Explain().String()
		for _, line := range []string{
			"  [brand.example]: Tier 2, the site's manifest lists the server (https://brand.example/.well-known/anml-trust, DNSSEC indeterminate, until 2026-06-01T13:00:00Z)\n",
			"    persona: said by brand.example\n", "    body: shop.example's own, ",
		} {
			hasTexts(t, text, line)
		}
	})
	t.Run("ANML-12.7-11/accept-all-told-in-words", func(t *testing.T) {
		r := newRetail(t).grants(1, "aesthetic", "knowledge")
		r.serve("a.example", "/anml", head(""))
		r.net.Site("other.example").Redirect("/start", shopURL)
		withRefs := strings.Replace(everything("shop.example"), "</title>", "</title>"+ref("a.example", "https://a.example/anml")+ref("a.example", "https://a.example/none"), 1)
		r.serve("shop.example", "/anml", withRefs+everything("brand.example")+
			`<site domain="third.example"><interact><action method="POST" endpoint="/x"/></interact></site><site domain="192.0.2.1"><body>x</body></site>`)
		p, err := r.start().Open(t.Context(), "https://other.example/start")
		must(t, err)
		e := p.Explain()
		text := e.String()
		for _, line := range []string{
			"\n    persona: not used, ", "\n    knowledge: said by brand.example; 2 asks and 1 informs are beyond the tier\n",
			"; what it forbids still holds\n", "\n  not used: ", "\n  persona of shop.example\n", "\n  persona of brand.example: withheld, ",
			"\n  site-ref [a.example]: read from the site itself\n", "\n  site-ref [a.example]: unknown, ", "\n  finding: ",
		} {
			hasTexts(t, text, line)
		}
		equals(t, len(e.Unused), 1)
		for _, a := range e.Assertions {
			forbids := a.Section == anmltrust.Constraints || a.Section == anmltrust.Footer
			if want := forbids && a.Site == "brand.example"; a.Restrict != want {
				t.Errorf("%s of %s restricts: %t", a.Section, a.Site, a.Restrict)
			}
		}
	})
	t.Run("ANML-12.7-11/reject-forged-line-in-a-reason", func(t *testing.T) {
		r := newRetail(t)
		r.user.Persona.Deny = map[agent.PersonaItem]string{agent.PersonaTone: "no\nbrand.example: Tier 3"}
		text := r.open(`<persona><tone value="formal"/></persona>`).Explain().String()
		hasTexts(t, text, "!\nbrand.example", "brand.example: Tier 3")
	})
}

// TestExplainDropped: a section that is not used is explained.
func TestExplainDropped(t *testing.T) {
	for _, c := range []struct {
		id, doc string
		grant   func(*retail) *retail
		dropped []anmltrust.Section
		why     lookleap.Code
	}{
		{"ANML-12.1-10", everything("brand.example"), nil,
			[]anmltrust.Section{anmltrust.Persona, anmltrust.Aesthetic, anmltrust.Knowledge, anmltrust.Interact, anmltrust.Constraints}, anmltrust.CodeNoRecord},
		{"ANML-12.5-20", `<head><title>T</title><trust domain="brand.example"/></head>` + strings.TrimPrefix(allSections, `<head><title>T</title></head>`), grant(2, "body"),
			[]anmltrust.Section{anmltrust.Persona, anmltrust.Aesthetic}, agent.CodeNotInScope},
	} {
		t.Run(c.id+"/reject-explained", func(t *testing.T) {
			r := newRetail(t)
			if c.grant != nil {
				c.grant(r)
			}
			p := r.open(c.doc)
			var dropped []anmltrust.Section
			for _, a := range p.Explain().Assertions {
				if a.Site != "brand.example" || a.Applied {
					continue
				}
				if dropped = append(dropped, a.Section); a.Owner != "" || a.Why != c.why {
					t.Errorf("%+v", a)
				}
			}
			slices.Sort(dropped)
			slices.Sort(c.dropped)
			sameList(t, dropped, c.dropped)
			if got := p.Persona("brand.example"); got.Report.Withheld != c.why || !got.Tone.Empty() || p.Aesthetic("brand.example").Exists() {
				t.Errorf("%+v", got.Report)
			}
		})
	}
}

// TestTier1Knowledge: at Tier 1 only public informs are the site's.
func TestTier1Knowledge(t *testing.T) {
	for tier, want := range map[int]string{1: "2 asks and 1 informs are beyond the tier", 2: ""} {
		t.Run(fmt.Sprint("ANML-12.1-12/reject-asks-and-informs-at-", tier), func(t *testing.T) {
			r := newRetail(t).grants(tier, "knowledge", "interact")
			p := r.open(shopSite + everything("brand.example"))
			if got := r.informs(); strings.Contains(got, "brand.example: restricted\n") != (tier == 2) || !strings.Contains(got, "brand.example: public\n") ||
				strings.Contains(got, "shop.example") {
				t.Error(got)
			}
			for _, a := range p.Explain().Assertions {
				if a.Site == "brand.example" && a.Section == anmltrust.Knowledge && (a.Note != want || a.Owner != "brand.example") {
					t.Errorf("%+v", a)
				}
			}
			for _, d := range p.Decide(t.Context()) {
				if (d.Code == agent.CodeTrustUnverified) != (tier == 1) {
					t.Errorf("%s: %s", d.Field, d.Code)
				}
			}
		})
	}
}
