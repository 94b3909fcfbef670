package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// spellings of "email" that a user would take for it.
var spellings = []string{
	"email", "Email", "EMAIL", "e-mail", "E_Mail", " email", "email\u00a0", "e mail", "em\u200bail", "ema\u00adil", "ｅｍａｉｌ",
	"\u0435mail", "\u0435m\u0430\u0456l", "ema\u03b9l", "emai1", "emaiI", "emàil", "\U0001d41email", "ernail", "\u202eemail",
	"ΕΜΑΙL", "ᴇᴍᴀɪʟ", "℮mail", "emɑil", "ꓰMAIL", "Ꭼmail", "emaiǀ", "εμαιl", "𝕖𝕞𝕒𝕚𝕝", "ⓔⓜⓐⓘⓛ", "ᵉᵐᵃⁱˡ", "еⅿaіⅼ", "emai|", "ɛmail", "🇪🇲🇦🇮🇱", "e\u0301mail",
	"ЕМАІL", "ЕᎷАІꓡ",
}

// TestSpellings: what the user or the document forbids holds for every spelling
// of a field, what they permit for one.
func TestSpellings(t *testing.T) {
	t.Run("ANML-4-11", func(t *testing.T) {
		for i, asked := range spellings {
			t.Run(fmt.Sprintf("reject-denied-in-spelling-%d", i), func(t *testing.T) {
				st := asker(t)
				st.opts.Fields = []string{asked}
				st.user.Profile = Fields{asked: {Text: annsEmail}}
				must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectDeny}))
				must(t, st.user.Policy.Set(StandingRule{Field: asked + "!", Domain: "*", Effect: EffectAllow}))
				st.decides(booking(rule(asked, "none"), askFor(asked)), "refuse user-rule user-denied")
			})
		}
		t.Run("accept-allowed-exactly", func(t *testing.T) {
			for asked, want := range map[string]string{"email": "allow user-rule delegated", "Email": "prompt needs-consent"} {
				st := asker(t).allow("email", "*")
				st.opts.Fields, st.user.Profile = []string{"Email"}, Fields{asked: {Text: annsEmail}}
				st.decides(booking(rule(asked, "none"), askFor(asked)), want)
			}
		})
	})
	t.Run("ANML-13.2-02", func(t *testing.T) {
		for _, rules := range []string{rule("email", "none") + rule("E-Mail", "explicit-consent"), rule("E-Mail", "explicit-consent")} {
			t.Run("reject-rule-for-another-spelling", func(t *testing.T) {
				asker(t).allow("email", "*").decides(booking(rules, askFor("email")), "prompt explicit-consent")
			})
		}
		t.Run("accept-laxer-rule-for-another-spelling", func(t *testing.T) {
			asker(t).allow("email", "*").decides(booking(rule("email", "none")+rule("E-Mail", "none"), askFor("email")), "allow user-rule delegated")
		})
		t.Run("reject-age-by-another-spelling", func(t *testing.T) {
			st := asker(t)
			doc := booking(rule("email", "explicit-consent")+`<disclosure field="E-Mail" requires="none" valid-for="60"/>`, askFor("email"))
			if _, _, err := st.prepares(st.page(doc), Call{}).settle(all, start.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			st.decides(doc, "allow consent-held explicit")
			st.net.Clock().Advance(time.Minute)
			st.decides(doc, "prompt explicit-consent")
		})
	})
	t.Run("ANML-14.2-04", func(t *testing.T) {
		t.Run("reject-sensitive-by-another-spelling", func(t *testing.T) {
			st := asker(t).allow("tel", "*")
			st.opts.Fields, st.user.Profile = []string{"Tel"}, Fields{"tel": {Text: "1"}, "Tel": {Text: "1"}}
			st.user.Store = lookleap.NewMemoryStore()
			st.prepares(st.page(booking("", askFor("Tel", `purpose="health intake"`))), Call{}).sends(all, `value="1"`)
			doc := booking(rule("tel", "none"), askFor("tel"))
			st.decides(doc, "prompt sensitive")
			st.s = nil // another session of the user
			st.decides(doc, "prompt sensitive")
			if category := st.s.consents.sensitive("T-E-L"); category != CategoryHealth {
				t.Errorf("%q", category)
			}
		})
	})
}
