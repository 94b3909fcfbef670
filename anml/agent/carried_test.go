package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestArgumentsThatCarryFields: a value of the user's is decided about whatever
// its parameter is called, and however it is spelled.
func TestArgumentsThatCarryFields(t *testing.T) {
	for name, c := range map[string]struct{ arg, value, means string }{
		"in-a-sentence":     {"q", "please write to ann@example.org soon", "email"},
		"in-a-url":          {"q", "mailto:ann@example.org", "email"},
		"in-json":           {"q", `{"tel":"+49 30 123456"}`, "tel"},
		"other-separators":  {"q", "+4930123456", "tel"},
		"full-width":        {"q", "ａｎｎ＠ｅｘａｍｐｌｅ．ｏｒｇ", "email"},
		"hidden-characters": {"q", "ann@exa\u200bmple.org", "email"},
		"case":              {"q", "ANN@EXAMPLE.ORG", "email"},
		"short-and-whole":   {"q", " DE ", "lang"},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			st := asker(t)
			p := st.page(booking("", ""))
			x := st.prepares(p, Call{Action: "find", Args: map[string]string{c.arg: c.value}})
			if len(x.items) != 1 || x.d.Tells[0].subject() != c.means {
				t.Fatalf("%+v", x.items)
			}
			must(t, st.user.Policy.Set(StandingRule{Field: c.means, Domain: "*", Effect: EffectDeny}))
			_, err := st.prepare(p, Call{Action: "find", Args: map[string]string{c.arg: c.value}})
			hasCode(t, err, CodeUserRule)
		})
	}
	for _, value := range []string{"tea", "an example", "de luxe", "1990"} {
		st := asker(t)
		if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": value}}); len(x.items) != 0 {
			t.Errorf("%q: %+v", value, x.items)
		}
	}
}

// TestOneFieldAsAnother: what is told as one field and holds another needs leave
// for both, and what is forbidden of it stays so.
func TestOneFieldAsAnother(t *testing.T) {
	doc := booking(rule("email", "none")+rule("tel", "none"), askFor("email"))
	calls := map[string]Call{
		"argument": {Action: "find", Args: map[string]string{"email": "+49 30 123456"}},
		"answer":   {Reply: &Reply{Values: map[string]Value{"email": {Text: "call +4930123456"}}}},
	}
	for name, call := range calls {
		t.Run("reject-unasked-"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*")
			x := st.prepares(st.page(doc), call)
			if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "it holds your tel") {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("accept-both-allowed-"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*").allow("tel", "*")
			if x := st.prepares(st.page(doc), call); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("reject-denied-since-"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*").allow("tel", "*")
			x := st.prepares(st.page(doc), call)
			must(t, st.user.Policy.Set(StandingRule{Field: "tel", Domain: "shop.example", Effect: EffectDeny}))
			text, _, err := x.settle(all, time.Time{})
			if name == "argument" {
				hasCode(t, err, CodeUserRule)
			} else if err != nil || !strings.Contains(text, `<refuse field="email" reason="user-denied"`) {
				t.Error(text, err)
			}
		})
	}
	t.Run("reject-demanded-of-the-other", func(t *testing.T) {
		st := asker(t).allow("*", "*")
		x := st.prepares(st.page(booking(rule("email", "none")+rule("tel", "explicit-consent"), askFor("email"))), calls["answer"])
		if len(x.items) != 1 {
			t.Errorf("%+v", x.items)
		}
	})
	t.Run("reject-sensitive-of-the-other", func(t *testing.T) {
		st := asker(t).allow("*", "*")
		st.opts.Fields = []string{"diagnosis"}
		x := st.prepares(st.page(booking(rule("email", "none"), askFor("email"))), Call{Reply: &Reply{Values: map[string]Value{"email": {Text: "hay fever"}}}})
		if len(x.items) != 1 || x.d.Tells[0].Category != CategoryHealth {
			t.Errorf("%+v", x.d)
		}
	})
	t.Run("reject-denied-in-own-words", func(t *testing.T) {
		for name, r := range map[string]*Reply{"inform": {Informs: []Told{{Text: "her number is +49 30 123456"}}}, "ask": {Asks: []Counter{{"price", "for +49 30 123456"}}}} {
			st := asker(t)
			must(t, st.user.Policy.Set(StandingRule{Field: "tel", Domain: "*", Effect: EffectDeny}))
			if _, err := st.prepare(st.page(doc), Call{Reply: r}); lookleap.CodeOf(err) != CodeUserRule {
				t.Error(name, err)
			}
		}
	})
	t.Run("accept-its-own-value", func(t *testing.T) { // also where another field has the same
		st := asker(t).allow("email", "*")
		st.user.Profile = Fields{"email": {Text: "ann@example.org"}, "url": {Text: "ann@example.org"}}
		x := st.prepares(st.page(doc), Call{Reply: &Reply{Values: map[string]Value{"email": {Text: "Ann@example.org"}}}})
		if len(x.items) != 0 {
			t.Errorf("%+v", x.items)
		}
	})
	t.Run("reject-profile-that-fails", func(t *testing.T) {
		st := asker(t)
		st.user.Profile = profileFunc(func() (Value, error) { panic("x") })
		if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": "tea"}}); len(x.items) != 1 {
			t.Errorf("%+v", x.items)
		}
	})
}

// TestOwnWordsAreAlwaysAsked: no rule of the user's or of the site's answers for
// what the agent says of itself.
func TestOwnWordsAreAlwaysAsked(t *testing.T) {
	st := newStand(t, labprompt.Deny()).allow("*", "*").allow("email", "shop.example").allow("inform", "shop.example")
	st.opts.Fields = []string{"inform"}
	st.user.Policy.InferConsentFromInitiation(true)
	for _, requires := range []string{"none", "implicit-consent"} {
		p := st.page(booking(rule("email", requires)+rule("inform", requires)+rule("tel", requires), askFor("tel")))
		x := st.prepares(p, Call{Initiated: true, Reply: &Reply{
			Informs: []Told{{Text: "likes tea"}}, Asks: []Counter{{"email", "because of my illness"}},
		}})
		if len(x.items) != 2 || x.items[0].ID != "inform-1" || x.items[1].ID != "ask-1" {
			t.Errorf("%s: %+v", requires, x.items)
		}
		x.sends(none, "!likes tea", "!illness")
	}
}
