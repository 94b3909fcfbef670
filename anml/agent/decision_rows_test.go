package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestDecideRows shows the rows about what is decided.
func TestDecideRows(t *testing.T) {
	free := booking(rule("email", "none"), askFor("email"))
	const secret = "ann@example.org"

	t.Run("ANML-0-02", func(t *testing.T) {
		t.Run("reject-unevaluated", func(t *testing.T) { // a rule that cannot be satisfied stops the value, however the call begins
			st := newStand(t, lookleaptest.Approve())
			x := st.prepares(st.page(booking(rule("email", "authentication"), askFor("email"))), Call{Reply: &Reply{Values: map[string]Value{"email": {Text: secret}}}})
			x.sends(all, `<refuse field="email" reason="constraint-violation"`, "!"+secret)
		})
	})
	t.Run("ANML-1.2.2-03", func(t *testing.T) {
		t.Run("accept-sections", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			p := st.page(booking(rule("email", "none"), askFor("email")) + `<state><flow><step id="a" label="A" action="book"/></flow></state><body>hello</body>`)
			d := p.Document()
			if len(p.Decide(t.Context())) != 1 || d.Body().Text() != "hello" || d.State().CurrentStep().Exists() || !slices.ContainsFunc(slices.Collect(d.State().Flow().Steps()), func(s anml.Step) bool { return s.ID() == "a" }) {
				t.Error("a section is not processed")
			}
		})
	})
	t.Run("ANML-1.2.2-04", func(t *testing.T) {
		t.Run("reject-before-consent", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking(rule("email", "explicit-consent"), askFor("email"))), Call{})
			if len(x.items) != 1 || x.e.Disclosures[0].Item == "" {
				t.Error(x.items)
			}
			x.sends(none, `<refuse field="email" reason="user-denied"`, "!"+secret)
		})
	})
	t.Run("ANML-1.2.2-06", func(t *testing.T) {
		t.Run("reject-user-first", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectDeny}))
			st.decides(free, "refuse user-rule user-denied")
		})
	})
	t.Run("ANML-3-02", func(t *testing.T) {
		t.Run("accept-opaque-principal", func(t *testing.T) { // the user is whatever the host says: two of them share nothing
			net := newLab(t)
			host := net.StubHost()
			a := New(host, Options{})
			one, err := a.NewSession(User{Profile: ann, Policy: &UserPolicy{}})
			must(t, err)
			two, err := a.NewSession(User{})
			must(t, err)
			must(t, one.user.Policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}))
			if d := pageFor(t, net, one, "https://shop.example/a", free).Decide(t.Context())[0]; d.Verb != VerbAllow {
				t.Error(brief(d))
			}
			if d := pageFor(t, net, two, "https://shop.example/b", free).Decide(t.Context())[0]; d.Verb != VerbRefuse {
				t.Error(brief(d))
			}
		})
	})
	t.Run("ANML-3-03", func(t *testing.T) {
		t.Run("accept-silence", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking("", askFor("email")+askFor("tel"))), Call{Reply: &Reply{Omit: []string{"email"}}})
			x.sends(none, "!email", `<refuse field="tel"`)
			x = st.prepares(st.page(booking("", askFor("email"))), Call{Reply: &Reply{Omit: []string{"email"}}})
			if text, entries := x.settles(none); text != "" || len(entries) != 0 {
				t.Error(text, entries)
			}
		})
	})
	t.Run("ANML-4-05", func(t *testing.T) {
		t.Run("accept-asks", func(t *testing.T) {
			d := newStand(t, lookleaptest.Refuse()).one(free)
			if d.Field != "email" || d.Ask.Purpose() != "to send the ticket" || d.Owner.Domain != "shop.example" {
				t.Errorf("%+v", d)
			}
		})
	})
	t.Run("ANML-4-06", func(t *testing.T) {
		must := booking(rule("email", "none"), askFor("email", `required="true"`))
		t.Run("reject-auto-answer", func(t *testing.T) { newStand(t, lookleaptest.Refuse()).decides(must, "prompt needs-consent") })
		t.Run("accept-refusing", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("email", "*")
			x := st.prepares(st.page(must), Call{Reply: &Reply{Refuse: map[string]anml.Reason{"email": anml.UserDenied}}})
			x.sends(all, `<refuse field="email" reason="user-denied"`, "!"+secret)
			x = st.prepares(st.page(must), Call{Reply: &Reply{Omit: []string{"email"}}})
			x.sends(all, `<refuse field="email" reason="user-denied"`, "!"+secret)
		})
	})
	t.Run("ANML-4-07", func(t *testing.T) {
		t.Run("accept-same-result", func(t *testing.T) {
			var first, reported string
			for range 8 {
				st := newStand(t, lookleaptest.Refuse()).allow("tel", "*")
				x := st.prepares(st.page(booking(rule("tel", "none"), askFor("email")+askFor("tel")+askFor("lang")+askFor("fn"))+`<zzz/><body usage="all" zzz="1"><link/></body>`), Call{})
				text, _ := x.settles(all)
				findings := fmt.Sprint(x.p.doc.Findings())
				if first == "" {
					first, reported = text, findings
				}
				if text != first || text == "" || findings != reported || len(x.p.doc.Findings()) < 3 {
					t.Fatalf("%s %s\n%s %s", text, findings, first, reported)
				}
			}
		})
	})
	t.Run("ANML-4-10", func(t *testing.T) {
		t.Run("reject-unverified", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("email", "*")
			all := st.page(`<site domain="shop.example">` + booking("", "") + `</site><site domain="other.example">` + free + `</site>`).Decide(t.Context())
			if len(all) != 1 || all[0].Verb != VerbRefuse || all[0].Reason != anml.TrustInsufficient || all[0].Owner.Domain != "other.example" {
				t.Errorf("%+v", all)
			}
		})
		t.Run("accept-self", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("email", "shop.example")
			st.decides(`<site domain="shop.example">`+free+`</site>`, "allow user-rule delegated")
		})
	})
	t.Run("ANML-4-11", func(t *testing.T) {
		t.Run("reject-recorded-deny", func(t *testing.T) {
			st := newStand(t, lookleaptest.Approve())
			must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectDeny}))
			for _, doc := range []string{free, booking(rule("email", "implicit-consent"), askFor("email", `required="true"`))} {
				x := st.prepares(st.page(doc), Call{})
				x.sends(all, `reason="user-denied"`, "!"+secret)
			}
		})
	})
	t.Run("ANML-8.4-02", func(t *testing.T) {
		t.Run("reject-args", func(t *testing.T) { // answers in the guise of query parameters
			st := newStand(t, lookleaptest.Refuse())
			p := st.page(booking(rule("email", "explicit-consent"), ""))
			for _, name := range []string{"email", "q"} { // by its name, and by its value
				x := st.prepares(p, Call{Action: "find", Args: map[string]string{name: secret}})
				if len(x.items) != 1 || x.items[0].Optional || x.e.Disclosures[0].subject() != "email" {
					t.Errorf("%s: %+v", name, x.items)
				}
				hasCode(t, third(x.settle(none, time.Time{})), lookleap.CodeConsentRefused)
			}
			must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectDeny}))
			hasCode(t, second(st.prepare(p, Call{Action: "find", Args: map[string]string{"q": secret}})), CodeUserRule)
		})
		t.Run("accept-args", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": "tea"}})
			if len(x.items) != 0 || x.e.discloses() {
				t.Error(x.items)
			}
		})
		t.Run("reject-other-document", func(t *testing.T) { // decided again where the rules changed
			st := newStand(t, lookleaptest.Refuse()).allow("email", "*")
			st.decides(free, "allow user-rule delegated")
			st.s = nil
			st.decides(booking(rule("email", "explicit-consent"), askFor("email")), "prompt explicit-consent")
		})
	})
	t.Run("ANML-8.5.3-03", func(t *testing.T) { t.Run("accept-text", conditions) })
	t.Run("ANML-8.5.3-04", func(t *testing.T) { t.Run("reject-evaluation", conditions) })
	t.Run("ANML-8.7.2-05", func(t *testing.T) {
		t.Run("accept-unknown", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			st.user.Profile = Fields{"frobnicate": {Text: "yes"}}
			st.decides(booking("", askFor("frobnicate")), "prompt unrecognised-field")
		})
		t.Run("reject-only-without-value", func(t *testing.T) { // the host's own word
			newStand(t, lookleaptest.Refuse()).decides(booking("", askFor("frobnicate")), "refuse no-value unsupported-field")
		})
	})
	t.Run("ANML-8.7.2-06", func(t *testing.T) {
		t.Run("accept-like-any", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking("", askFor("acme:tier")+askFor("email"))), Call{})
			equals(t, len(x.items), 2)
			x.sends(all, `field="acme:tier" value="gold"`, `field="email" value="`+secret)
			must(t, st.user.Policy.Set(StandingRule{Field: "*", Domain: "shop.example"}))
			x.sends(all, `<refuse field="acme:tier"`, "!gold")
		})
	})
	t.Run("ANML-8.7.2-07", func(t *testing.T) {
		t.Run("reject-none", func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("acme:tier", "*").decides(booking(rule("acme:tier", "none")+rule("acme:tier", "explicit-consent"), askFor("acme:tier")), "prompt unrecognised-field")
		})
		t.Run("reject-authentication", func(t *testing.T) {
			for _, rules := range []string{rule("acme:tier", "none") + rule("acme:tier", "authentication"), rule("acme:tier", "authentication") + rule("acme:tier", "none"),
				rule("acme:tier", "explicit-consent") + rule("acme:tier", "authentication") + rule("acme:tier", "implicit-consent")} {
				newStand(t, lookleaptest.Refuse()).decides(booking(rules, askFor("acme:tier")), "refuse authentication constraint-violation")
			}
		})
	})
	t.Run("ANML-8.7.2-08", func(t *testing.T) {
		doc := booking("", askFor("acme:tier"))
		t.Run("reject-silently", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("*", "*").allow("acme:tier", "shop.example")
			st.user.Policy.InferConsentFromInitiation(true)
			st.decides(doc, "prompt unrecognised-field")
		})
		t.Run("reject-without-prompter", func(t *testing.T) {
			newStand(t).allow("acme:tier", "*").decides(doc, "refuse consent-no-prompter policy-violation")
		})
		t.Run("accept-registered", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("acme:tier", "*")
			st.opts.Fields = []string{"acme:tier"}
			st.decides(doc, "allow user-rule delegated")
		})
	})
	t.Run("ANML-8.7.3-05", func(t *testing.T) {
		granted := anml.FormatDateTime(start)
		since := anml.FormatDateTime(start.Add(-time.Hour))
		for name, c := range map[string]struct {
			requires string
			allow    bool
			want     []string
		}{
			"accept-explicit":          {"explicit-consent", false, []string{`consent="explicit" consent-granted="` + granted}},
			"accept-implicit":          {"implicit-consent", true, []string{`consent="implicit" consent-granted="` + since}},
			"accept-delegated":         {"none", true, []string{`consent="delegated" consent-granted="` + since}},
			"reject-upgrade-to-policy": {"explicit-consent", true, []string{`consent="explicit" consent-granted="` + granted}}, // asked all the same
			"accept-prompted-implicit": {"implicit-consent", false, []string{`consent="explicit"`}},
		} {
			t.Run(name, func(t *testing.T) {
				st := newStand(t, lookleaptest.Refuse())
				if c.allow {
					st.allow("email", "shop.example")
				}
				x := st.prepares(st.page(booking(rule("email", c.requires), askFor("email"))), Call{})
				if asks := len(x.items) == 1; asks == (c.allow && c.requires != "explicit-consent") {
					t.Errorf("%d items", len(x.items))
				}
				entries := x.sends(all, c.want...)
				if len(entries) != 1 || !strings.Contains(c.want[0], `"`+entries[0].Basis+`"`) || entries[0].Reference == "" {
					t.Errorf("%+v", entries)
				}
			})
		}
	})
	t.Run("ANML-8.11-10", func(t *testing.T) {
		for _, c := range []struct {
			typ, value string
			ok, host   bool // as the profile's value, and as the host's own
		}{
			{"date", "2026-07-14", true, true}, {"date", "14.7.2026", false, false}, {"datetime", "2026-07-14T10:00:00Z", true, true}, {"datetime", "2026-07-14", false, false},
			{"boolean", "true", true, true}, {"boolean", "yes", false, false}, {"number", "1.5", true, true}, {"number", "1,5", false, true},
			{"uri", "https://a.test/", true, true}, {"uri", "a b", false, true}, {"string", "x", true, true},
		} {
			kind := map[bool]string{true: "accept-", false: "reject-"}
			doc := booking("", askFor("bday", `type="`+c.typ+`"`))
			t.Run(kind[c.ok]+c.typ, func(t *testing.T) {
				st := newStand(t, lookleaptest.Refuse())
				st.user.Profile = Fields{"bday": {Text: c.value}}
				if d := st.one(doc); (d.Verb == VerbPrompt) != c.ok || !c.ok && (d.Code != CodeValueType || d.Reason != anml.UnsupportedField) {
					t.Errorf("%q: %s", c.value, brief(d))
				}
			})
			t.Run(kind[c.host]+c.typ+"-of-the-host", func(t *testing.T) {
				st := newStand(t, lookleaptest.Refuse())
				_, err := st.prepare(st.page(doc), Call{Reply: &Reply{Values: map[string]Value{"bday": {Text: c.value}}}})
				if (err == nil) != c.host || err != nil && lookleap.CodeOf(err) != CodeValueType {
					t.Errorf("%q: %v", c.value, err)
				}
			})
		}
	})
	t.Run("ANML-9.2-03", func(t *testing.T) {

		t.Run("accept-all-agree", func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("email", "*").decides(free, "allow user-rule delegated")
		})
		t.Run("reject-strictest", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("email", "*")
			st.user.Policy.Judge = judged(PurposeImplausible)
			st.decides(booking(rule("email", "explicit-consent"), askFor("email", `purpose="health"`)), "refuse purpose-implausible policy-violation")
		})
		t.Run("reject-sensitivity", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse()).allow("email", "*")
			st.user.Policy.Classify = func(_ context.Context, s Subject) (string, error) {
				if s.Field != "email" || s.Recipient != "shop.example" || s.Owner != "shop.example" {
					t.Errorf("%+v", s)
				}
				return "private", nil
			}
			st.decides(free, "prompt sensitive")
		})
	})
	t.Run("ANML-9.4-01", func(t *testing.T) {
		t.Run("accept-four-kinds", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking("", askFor("email")+askFor("tel"))), Call{Reply: &Reply{
				Refuse: map[string]anml.Reason{"tel": anml.PolicyViolation}, Informs: []Value{{Text: "no nuts"}}, Asks: []Counter{{"price", "to compare"}},
			}})
			x.sends(all, `<answer field="email"`, `<refuse field="tel" reason="policy-violation"`, `<inform>no nuts</inform>`, `<ask field="price"`, `role="agent-response"`, "!<head", "!constraints>", "!interact")
		})
	})
	t.Run("ANML-9.5-01", func(t *testing.T) {
		t.Run("reject-unevaluated", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking(rule("email", "explicit-consent"), askFor("email"))), Call{})
			x.e.Disclosures = []disclosure{{Kind: discloseAnswer, Field: "email", Value: secret}} // no item, and nothing that it rests on
			x.sends(all, `<refuse field="email"`, "!"+secret)
		})
	})
	t.Run("ANML-9.5-02", func(t *testing.T) {
		t.Run("reject-unknown-constraint", func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("email", "*").decides(booking(rule("email", "none")+`<rate-limit per="hour"/>`, askFor("email")), "prompt explicit-consent")
		})
		t.Run("reject-unknown-constraint-alone", func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("email", "*").decides(booking(`<rate-limit per="hour"/>`, askFor("email")), "prompt explicit-consent")
		})
	})
}

// conditions: what a flow says under which conditions changes nothing.
func conditions(t *testing.T) {
	var first []string
	for _, c := range []string{`1==1`, `false`, `true`, ``} {
		st := newStand(t, lookleaptest.Refuse())
		p := st.page(booking(rule("email", "none"), askFor("email")) + `<state><context><step>a</step></context><flow><step id="a" label="A" condition="` + c + `" next="b"/><step id="b" label="B"/></flow></state>`)
		var got []string
		for _, d := range p.Decide(t.Context()) {
			got = append(got, brief(d))
		}
		steps := slices.Collect(p.Document().State().Flow().Steps())
		equals(t, steps[0].Condition(), c)
		for s := range p.Document().State().Flow().Path(steps[0]) {
			got = append(got, s.ID())
		}
		flow := p.Flow("")
		if len(flow.Steps) != 2 || flow.Steps[0].Step.Condition() != c {
			t.Errorf("the condition is shown as %+v", flow.Steps)
		}
		got = append(got, show(flow))
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%q: %v, not %v", c, got, first)
		}
	}
}

var errDown = errors.New("down")
