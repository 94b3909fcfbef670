package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestUnknownFieldLikeAny decides about an unregistered field and a registered one in the same
// situations: what stops the one stops the other, for the same reason.
func TestUnknownFieldLikeAny(t *testing.T) {
	const sites = `<site domain="shop.example"><head><title>Shop</title></head></site><site domain="other.example">`
	for _, field := range []string{"acme:tier", "email"} {
		for name, c := range map[string]struct {
			set  func(st *stand)
			doc  string
			want string
		}{
			"user-rule": {func(st *stand) {
				must(st, st.user.Policy.Set(StandingRule{Field: field, Domain: "*", Effect: EffectDeny}))
			}, booking("", askFor(field)), "refuse user-rule user-denied"},
			"refused-domain": {func(st *stand) { must(st, st.user.Policy.Set(StandingRule{Field: "*", Domain: "shop.example"})) },
				booking("", askFor(field)), "refuse domain-refused user-denied"},
			"authentication": {nil, booking(rule(field, "authentication"), askFor(field)), "refuse authentication constraint-violation"},
			"purpose": {func(st *stand) { st.user.Policy.Judge = judged(PurposeImplausible) },
				booking("", askFor(field)), "refuse purpose-implausible policy-violation"},
			"veto": {func(st *stand) { st.user.Policy.Veto = func(context.Context, Decision) error { return errTest } },
				booking("", askFor(field)), "refuse policy-veto policy-violation"},
			"version":     {nil, strings.Replace(service(booking("", askFor(field))), `role="service"`, `role="service" supported-versions="2.0"`, 1), "refuse version-not-offered trust-insufficient"},
			"no-prompter": {func(st *stand) { st.ask = nil }, booking(rule(field, "explicit-consent"), askFor(field)), "refuse consent-no-prompter constraint-violation"},
		} {
			for _, id := range []string{"ANML-8.7.2-06", "ANML-9.2-03"} {
				t.Run(id+"/reject-"+field+"-"+name, func(t *testing.T) {
					st := newStand(t, lookleaptest.Refuse())
					if c.set != nil {
						c.set(st)
					}
					st.decides(c.doc, c.want)
				})
			}
		}
		for _, id := range []string{"ANML-8.7.2-06", "ANML-9.2-03"} {
			t.Run(id+"/reject-"+field+"-of-an-unverified-site", func(t *testing.T) {
				st := newStand(t, lookleaptest.Refuse())
				all := st.page(sites + booking("", askFor(field)) + "</site>").Decide(t.Context())
				if len(all) != 1 || all[0].Verb != VerbRefuse || all[0].Reason != anml.TrustInsufficient {
					t.Errorf("%+v", all)
				}
			})
		}
		t.Run("ANML-8.7.2-06/reject-"+field+"-not-approved", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking("", askFor(field))), Call{})
			if len(x.items) != 1 {
				t.Error(x.items)
			}
			x.sends(none, `<refuse field="`+field+`" reason="user-denied"`, "!"+ann[field].Text)
		})
	}
	t.Run("ANML-8.7.2-08/reject-without-approval", func(t *testing.T) {
		st := newStand(t, lookleaptest.Refuse()).allow("acme:tier", "shop.example")
		x := st.prepares(st.page(booking(rule("acme:tier", "none"), askFor("acme:tier"))), Call{})
		if len(x.items) != 1 {
			t.Error(x.items)
		}
		x.sends(none, `<refuse field="acme:tier" reason="user-denied"`, "!gold")
		x.sends(all, `field="acme:tier" value="gold" consent="explicit"`)
	})
}

// TestLanguageRules: the disclosure rules of the field lang apply as those of any other field.
func TestLanguageRules(t *testing.T) {
	const persona = `<persona><language policy="native"/></persona>`
	for name, c := range map[string]struct{ requires, want string }{
		"accept-none":            {"none", "allow user-rule delegated"},
		"accept-implicit":        {"implicit-consent", "allow user-rule implicit"},
		"reject-explicit":        {"explicit-consent", "prompt explicit-consent"},
		"reject-authentication":  {"authentication", "refuse authentication constraint-violation"},
		"reject-unknown-demands": {"everything", "prompt explicit-consent"},
	} {
		t.Run("ANML-8.8.2-07/"+name, func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("lang", "shop.example").decides(booking(rule("lang", c.requires), askFor("lang"))+persona, c.want)
		})
	}
	t.Run("ANML-8.8.2-07/reject-item", func(t *testing.T) { // the user agrees to the act and not to the field
		doc := booking(rule("lang", "explicit-consent"), askFor("lang")) + persona
		s := newStage(t, setting{doc: doc, user: User{Language: "de-CH", Profile: Fields{"lang": {Text: "de-CH"}}}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct)}})
		s.does(book, lookleap.CodeOK)
		s.sends("POST /book")
		sent := s.net.Journal().Requests("www.shop.example")[0]
		if sent.Header.Get("Accept-Language") != "" || strings.Contains(string(sent.Body), "de-CH") || !strings.Contains(string(sent.Body), `<refuse field="lang"`) {
			t.Errorf("%v\n%s", sent.Header, sent.Body)
		}
	})
}
