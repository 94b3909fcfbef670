package agent_test

import (
	"testing"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
)

// TestSiteRefIsNotMerged: the document of a site-ref stays one of its own.
func TestSiteRefIsNotMerged(t *testing.T) {
	open := func(t *testing.T) (referring, referred *agent.Page) {
		r := newRetail(t)
		r.serve("a.example", "/anml", allSections)
		referring = r.open(head(ref("a.example", "https://a.example/anml")))
		return referring, referring.SiteRefs()[0].Page
	}
	t.Run("ANML-12.6-12/accept-tier-3-of-a-single-site", func(t *testing.T) {
		_, p := open(t)
		if parties := p.Parties(); len(parties) != 1 || parties[0].Domain != "a.example" || !parties[0].Serving || parties[0].Tier != anmltrust.Self {
			t.Errorf("%+v", parties)
		}
		if len(p.Tools()) != 1 || len(p.Decide(t.Context())) != 2 || p.Persona("a.example").Tone.Raw() != "formal" {
			t.Error("the site does not speak for itself")
		}
	})
	t.Run("ANML-12.6-13/reject-merged", func(t *testing.T) {
		p, _ := open(t)
		if n := len(p.Tools()) + len(p.Decide(t.Context())) + len(p.Media()); n != 0 {
			t.Errorf("%d parts of the other document", n)
		}
		for _, domain := range []string{"shop.example", "a.example"} {
			if !p.Persona(domain).Tone.Empty() || p.Aesthetic(domain).Exists() {
				t.Errorf("%s has the identity of the other document", domain)
			}
		}
		if parties := p.Parties(); len(parties) != 1 || parties[0].Domain != "shop.example" {
			t.Errorf("%+v", parties)
		}
		for _, a := range p.Explain().Assertions {
			if a.Section != anmltrust.Head {
				t.Errorf("%+v", a)
			}
		}
	})
}
