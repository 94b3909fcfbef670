package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// best are inputs on which a field is told without asking.
func best() inputs {
	return inputs{
		item: item{kind: discloseAnswer, field: "email", purposes: []string{"to send the ticket"}}, stated: true, judged: PurposeOK, recognised: true,
		rule:     anml.Rule{Field: "email", Requires: anml.RequiresNothing, Declared: true},
		standing: StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}, ruled: true,
		prompter: true, authentic: true,
	}
}

// TestWeighMonotone takes every pair of inputs: together they are never looser
// than either of them alone.
func TestWeighMonotone(t *testing.T) {
	changes := []func(*inputs){
		func(g *inputs) { g.rule.Requires = g.rule.Requires.Stricter(anml.ExplicitConsent) },
		func(g *inputs) { g.rule.Requires, g.authentic = anml.Authentication, false },
		func(g *inputs) { g.standing.Effect = min(g.standing.Effect, EffectAsk) },
		func(g *inputs) { g.standing.Effect = EffectDeny },
		func(g *inputs) { g.refuse = anml.UserDenied },
		func(g *inputs) { g.untrusted = anmltrust.CodeNoRecord }, func(g *inputs) { g.judged = PurposeImplausible },
		func(g *inputs) { g.judged = min(g.judged, PurposeVague) }, func(g *inputs) { g.stated = false },
		func(g *inputs) { g.missing = CodeNoValue }, func(g *inputs) { g.recognised = false },
		func(g *inputs) { g.foreign = true }, func(g *inputs) { g.version = true }, func(g *inputs) { g.category = "health" },
		func(g *inputs) {
			g.services = append(g.services, source{serving: "a.test", confidentiality: anml.Public})
		},
		func(g *inputs) {
			g.services = append(g.services, source{serving: "b.test", confidentiality: anml.Restricted})
		},
		func(g *inputs) {
			g.services = append(g.services, source{serving: "c.test", confidentiality: anml.Private})
		},
		func(g *inputs) {
			g.services = append(g.services, source{serving: "d.test", confidentiality: anml.Public, deleted: true})
		},
		func(g *inputs) { g.prompter = false },
	}
	verb := func(changes ...func(*inputs)) Verb {
		g := best()
		for _, change := range changes {
			change(&g)
		}
		return weigh(&g).Verb
	}
	for i, a := range changes {
		for j, b := range changes {
			if both := verb(a, b); both > min(verb(a), verb(b)) {
				t.Errorf("%d and %d together %s, alone %s and %s", i, j, both, verb(a), verb(b))
			}
		}
	}
}

func TestVetoIsLastAndOnlyDenies(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email"))
	for name, veto := range map[string]func(context.Context, Decision) error{
		"error": func(_ context.Context, d Decision) error {
			if d.Verb != VerbAllow {
				t.Error("the veto saw", d.Verb)
			}
			return errors.New("no")
		},
		"panic": func(context.Context, Decision) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			st := asker(t).allow("email", "shop.example")
			st.user.Policy.Veto = veto
			if d := st.one(doc); brief(d) != "refuse policy-veto policy-violation" || d.Basis != anml.ConsentUnstated || d.Reference != "" {
				t.Errorf("%s, basis %v, reference %q", brief(d), d.Basis, d.Reference)
			}
		})
	}
	t.Run("not-asked-about-a-refusal", func(t *testing.T) {
		st := asker(t)
		must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectDeny}))
		st.user.Policy.Veto = func(_ context.Context, d Decision) error { t.Error("the veto saw", d.Verb); return nil }
		st.decides(doc, "refuse user-rule user-denied")
	})
	t.Run("silent", func(t *testing.T) {
		st := asker(t)
		st.user.Policy.Veto = func(context.Context, Decision) error { return nil }
		st.decides(doc, "prompt needs-consent")
	})
}

type profileFunc func() (Value, error)

func (f profileFunc) Value(context.Context, Question) (Value, error) { return f() }

// TestWeighty shows which names of an action say that it costs or destroys something.
func TestWeighty(t *testing.T) {
	for name, c := range map[string]struct {
		act  Act
		want bool
	}{
		"reject-id":                    {Act{ID: "buy"}, true},
		"reject-id-of-words":           {Act{ID: "seat-BUY2"}, true},
		"reject-camel-case":            {Act{ID: "seatBuyNow"}, true},
		"reject-path":                  {Act{URL: "https://shop.example/cart/checkout?x=1"}, true},
		"reject-unreadable-address":    {Act{URL: "https:// shop.example/checkout"}, true},
		"reject-description":           {Act{Description: "Pay for the seats"}, true},
		"reject-description-of-a-word": {Act{Description: "Pay!"}, true},
		"accept-later-in-description":  {Act{Description: "Trips that you can book"}, false},
		"accept-no-text":               {Act{}, false},
		"accept-no-letters":            {Act{ID: "1", Description: "…", URL: "https://shop.example/2"}, false},
		"accept-longer-word":           {Act{ID: "bookish", URL: "https://shop.example/orderly"}, false},
		"accept-query":                 {Act{URL: "https://shop.example/list?sort=order"}, false},
		"accept-host":                  {Act{URL: "https://book.example/list"}, false},
	} {
		t.Run("ANML-13.4-05/"+name, func(t *testing.T) {
			if got := weighty(c.act); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
