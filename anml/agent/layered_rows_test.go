package agent_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestActionsOfSites: an action and the references to it belong to one site of a document.
func TestActionsOfSites(t *testing.T) {
	const cart = `<site domain="brand.example"><interact><action id="add-to-cart" method="POST" endpoint="/brand"/></interact></site>`
	for _, c := range []struct {
		name, doc, site, action string
		code                    lookleap.Code
		sent                    string
	}{
		{"reject-action-of-another-site", shopSite + `<site domain="brand.example"><interact><action id="other" method="POST" endpoint="/brand"/></interact></site>`,
			"brand.example", "add-to-cart", anml.CodeUnknownAction, ""},
		{"accept-same-id-of-the-site", shopSite + cart, "brand.example", "add-to-cart", lookleap.CodeOK, "POST /brand"},
		{"accept-same-id-of-the-server", shopSite + cart, "shop.example", "add-to-cart", lookleap.CodeOK, "POST /cart"},
	} {
		t.Run("ANML-12.7-08/"+c.name, func(t *testing.T) {
			r := newRetail(t).grants(2, "interact")
			r.asks(labprompt.Approve())
			r.net.Site("shop.example").Status("/cart", 204).Status("/brand", 204)
			p := r.open(c.doc)
			r.net.Journal().Clear()
			if _, err := p.Do(t.Context(), agent.Call{Site: c.site, Action: c.action}); lookleap.CodeOf(err) != c.code {
				t.Error(err)
			}
			if c.sent == "" {
				r.gets("shop.example")
			} else {
				r.gets("shop.example", c.sent)
			}
		})
	}
	t.Run("ANML-12.7-08/reject-cross-site-ask", func(t *testing.T) {
		r := newRetail(t).grants(2, "interact", "knowledge")
		r.asks()
		list := r.open(shopSite + `<site domain="brand.example"><knowledge><ask field="email" action="add-to-cart" purpose="to write"/></knowledge></site>`).Decide(t.Context())
		if len(list) != 1 || list[0].Verb != agent.VerbRefuse || list[0].Code != anml.CodeDangling {
			t.Errorf("%+v", list)
		}
	})
}

// TestPersonaOfTheOwner: each party's content has the persona of that party, in every part.
func TestPersonaOfTheOwner(t *testing.T) {
	site := func(domain, tone, perspective string) string {
		return `<site domain="` + domain + `"><knowledge><inform>x</inform></knowledge><interact><action id="do" method="POST" endpoint="/do"/></interact>` +
			`<persona><tone value="` + tone + `"/><voice perspective="` + perspective + `"/></persona>` +
			`<aesthetic><display-name>` + domain + `</display-name></aesthetic></site>`
	}
	t.Run("ANML-12.7-12/accept-whole-persona", func(t *testing.T) {
		r := newRetail(t).grants(2, "persona", "aesthetic", "knowledge", "interact")
		p := r.open(site("shop.example", "formal", "first") + site("brand.example", "friendly", "third"))
		for _, want := range []struct {
			domain, tone string
			perspective  anml.Perspective
		}{{"shop.example", "formal", anml.FirstPerson}, {"brand.example", "friendly", anml.ThirdPerson}} {
			owner, _ := p.Owner(siteOf(p, want.domain), "interact")
			got := p.Persona(owner.Domain)
			if owner.Domain != want.domain || got.Tone.Raw() != want.tone || got.Perspective != want.perspective ||
				p.Aesthetic(owner.Domain).DisplayName() != want.domain {
				t.Errorf("%s: %+v", owner.Domain, got)
			}
		}
	})
	t.Run("ANML-12.7-13/reject-another-owner", func(t *testing.T) {
		r := newRetail(t).grants(2, "persona", "aesthetic", "knowledge")
		user := r.asks(labprompt.Deny())
		_, _ = r.open(bothSites).Do(t.Context(), agent.Call{Site: "shop.example", Action: "add-to-cart"})
		const want = "send a POST request to [shop.example] for an action of [shop.example]"
		if asked := user.Requests(); len(asked) != 1 || asked[0].Summary != want {
			t.Errorf("%+v", asked)
		}
	})
}
