package agent

import (
	"slices"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestDiscloseAttacks shows attacks on what may be told.
func TestDiscloseAttacks(t *testing.T) {
	book := Call{Action: "book"}

	t.Run("K05", func(t *testing.T) {
		t.Run("reject-header-injection", func(t *testing.T) { // a value cannot leave the place that it is in
			value := "x\r\nSet-Cookie: a=b\"><answer field=\"ssn\" value=\"1\"/>"
			s := newStage(t, setting{doc: booking("", askFor("fn")), user: User{Profile: Fields{"fn": {Text: value}}}})
			s.does(book, lookleap.CodeOK)
			d, err := anml.ParseXML(s.net.Journal().Requests()[0].Body, anml.ReadOptions{})
			must(t, err)
			if a := slices.Collect(d.Knowledge().Answers()); len(a) != 1 || a[0].Value() != value {
				t.Errorf("%s", s.bodies())
			}
		})
		t.Run("reject-control", func(t *testing.T) {
			s := newStage(t, setting{doc: booking("", askFor("fn")), user: User{Profile: Fields{"fn": {Text: "a\x00b"}}}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<refuse field="fn" reason="unsupported-field"`)
		})
	})
	t.Run("K07", func(t *testing.T) {
		for name, constraints := range map[string]string{"none": rule("ssn", "none"), "wrong-case": rule("ssn", "None"), "unknown-word": rule("ssn", "whatever"), "absent": "", "implicit": rule("ssn", "implicit-consent")} {
			t.Run("reject-"+name, func(t *testing.T) {
				p := &UserPolicy{}
				must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
				s := newStage(t, setting{doc: booking(constraints, askFor("ssn")), user: User{Profile: ann, Policy: p}, replies: []labprompt.Reply{labprompt.Approve(itemAct)}})
				s.does(book, lookleap.CodeOK)
				s.wantSent(`<refuse field="ssn"`, "!078-05-1120")
			})
		}
		t.Run("reject-wrong-case-of-a-standard-field", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "*").decides(booking(rule("email", "None"), askFor("email")), "prompt explicit-consent")
			st := newStand(t, labprompt.Deny()).allow("*", "*")
			st.user.Profile = Fields{"Email": {Text: annsEmail}}
			st.decides(booking(rule("Email", "none"), askFor("Email")), "prompt unrecognised-field")
		})
		t.Run("accept-agreed", func(t *testing.T) {
			s := newStage(t, setting{doc: booking(rule("ssn", "none"), askFor("ssn")), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<answer field="ssn" value="078-05-1120" consent="explicit"`)
		})
	})
	t.Run("K08", func(t *testing.T) {
		for _, order := range []string{rule("email", "none") + rule("email", "explicit-consent"), rule("email", "explicit-consent") + rule("email", "none"), rule("email", "implicit-consent") + rule("email", "nonsense")} {
			t.Run("reject-loosest", func(t *testing.T) {
				newStand(t, labprompt.Deny()).allow("email", "*").decides(booking(order, askFor("email")), "prompt explicit-consent")
			})
		}
		t.Run("reject-two-sections", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "*").decides("<constraints>"+rule("email", "authentication")+"</constraints>"+booking(rule("email", "none"), askFor("email")), "refuse authentication constraint-violation")
		})
	})
}
