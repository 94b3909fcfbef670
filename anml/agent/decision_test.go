package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// best are grounds on which a field is told without asking.
func best() grounds {
	return grounds{
		kind: tellAnswer, field: "email", purpose: "to send the ticket", stated: true, judged: PurposeOK, recognised: true,
		rule:     anml.Rule{Field: "email", Requires: anml.RequiresNothing, Declared: true},
		standing: StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}, ruled: true,
		prompter: true, authentic: true,
	}
}

// TestWeigh is the table of inputs: each line changes one thing about the best
// grounds.
func TestWeigh(t *testing.T) {
	held := &consent{Consent: Consent{ID: "plan#answer-1"}}
	for name, c := range map[string]struct {
		change func(*grounds)
		want   string
	}{
		"nothing":               {func(*grounds) {}, "allow user-rule delegated"},
		"no-rule-of-the-site":   {func(g *grounds) { g.rule = anml.Rule{Requires: anml.ExplicitConsent} }, "allow user-rule delegated"},
		"lost-rule":             {func(g *grounds) { g.rule = anml.Rule{Requires: anml.ExplicitConsent, Raised: "malformed-rule"} }, "prompt explicit-consent"},
		"implicit":              {func(g *grounds) { g.rule.Requires = anml.ImplicitConsent }, "allow user-rule implicit"},
		"implicit-of-others":    {func(g *grounds) { g.rule.Requires, g.foreign = anml.ImplicitConsent, true }, "prompt explicit-consent"},
		"implicit-own-words":    {func(g *grounds) { g.rule.Requires, g.kind = anml.ImplicitConsent, tellInform }, "prompt explicit-consent"},
		"implicit-of-no-rule":   {func(g *grounds) { g.rule = anml.Rule{Requires: anml.ImplicitConsent, Raised: "malformed-rule"} }, "prompt explicit-consent"},
		"explicit":              {func(g *grounds) { g.rule.Requires = anml.ExplicitConsent }, "prompt explicit-consent"},
		"authentication":        {func(g *grounds) { g.rule.Requires = anml.Authentication }, "prompt explicit-consent"},
		"no-authentication":     {func(g *grounds) { g.rule.Requires, g.authentic = anml.Authentication, false }, "refuse authentication constraint-violation"},
		"held":                  {func(g *grounds) { g.rule.Requires, g.held = anml.ExplicitConsent, held }, "allow consent-held explicit"},
		"no-user-rule":          {func(g *grounds) { g.ruled, g.standing = false, StandingRule{Effect: EffectAsk} }, "prompt needs-consent"},
		"no-user-rule-at-all":   {func(g *grounds) { g.ruled, g.standing = false, StandingRule{} }, "prompt needs-consent"},
		"user-asks":             {func(g *grounds) { g.standing.Effect = EffectAsk }, "prompt user-rule"},
		"user-asks-though-held": {func(g *grounds) { g.standing.Effect, g.held = EffectAsk, held }, "prompt user-rule"},
		"user-denies":           {func(g *grounds) { g.standing.Effect = EffectDeny }, "refuse user-rule user-denied"},
		"domain-refused":        {func(g *grounds) { g.refused, g.held = true, held }, "refuse domain-refused user-denied"},
		"domain-refused-first":  {func(g *grounds) { g.refused, g.untrusted, g.missing = true, "no-record", "no-value" }, "refuse domain-refused user-denied"},
		"host-refuses":          {func(g *grounds) { g.host = anml.UnsupportedField }, "refuse host-refused unsupported-field"},
		"untrusted":             {func(g *grounds) { g.untrusted = anmltrust.CodeNoRecord }, "refuse no-record trust-insufficient"},
		"unusable":              {func(g *grounds) { g.unusable = anml.CodeDangling }, "refuse dangling-reference policy-violation"},
		"implausible":           {func(g *grounds) { g.judged = PurposeImplausible }, "refuse purpose-implausible policy-violation"},
		"vague":                 {func(g *grounds) { g.judged = PurposeVague }, "prompt purpose-vague"},
		"no-purpose":            {func(g *grounds) { g.stated = false }, "prompt purpose-missing"},
		"store":                 {func(g *grounds) { g.store = &lookleap.Error{Code: lookleap.CodeIO} }, "refuse io policy-violation"},
		"no-value":              {func(g *grounds) { g.missing = CodeNoValue }, "refuse no-value unsupported-field"},
		"profile-failed":        {func(g *grounds) { g.missing = lookleap.CodeInternal }, "refuse internal policy-violation"},
		"unrecognised":          {func(g *grounds) { g.recognised, g.held = false, held }, "prompt unrecognised-field"},
		"foreign-rules":         {func(g *grounds) { g.foreign = true }, "prompt explicit-consent"},
		"other-version":         {func(g *grounds) { g.version = true }, "prompt other-version"},
		"sensitive":             {func(g *grounds) { g.category, g.held = "health", held }, "prompt sensitive"},
		"cross-service":         {func(g *grounds) { g.sources = []source{{serving: "a.test", confidentiality: anml.Public}} }, "prompt cross-service"},
		"restricted":            {func(g *grounds) { g.sources = []source{{serving: "a.test", confidentiality: anml.Restricted}} }, "defer restricted-context"},
		"restricted-authorized": {func(g *grounds) {
			g.sources, g.transfer = []source{{serving: "a.test", confidentiality: anml.Restricted}}, held
		}, "allow consent-held explicit"},
		"private-authorized": {func(g *grounds) {
			g.sources, g.transfer = []source{{serving: "a.test", confidentiality: anml.Private}}, held
		}, "refuse private-context policy-violation"},
		"private": {func(g *grounds) {
			g.sources = []source{{serving: "b.test", confidentiality: anml.Public}, {serving: "a.test", confidentiality: anml.Private}}
		}, "refuse private-context policy-violation"},
		"deleted": {func(g *grounds) {
			g.sources = []source{{serving: "shop.example", confidentiality: anml.Public, deleted: true}}
		}, "refuse deleted-context user-denied"},
		"without-prompter": {func(g *grounds) { g.ruled, g.prompter = false, false }, "refuse consent-no-prompter policy-violation"},
		"without-prompter-though-demanded": {func(g *grounds) { g.rule.Requires, g.prompter = anml.ExplicitConsent, false },
			"refuse consent-no-prompter constraint-violation"},
		"without-prompter-about-restricted": {func(g *grounds) {
			g.sources, g.prompter = []source{{serving: "a.test", confidentiality: anml.Restricted}}, false
		},
			"refuse consent-no-prompter policy-violation"},
		"inferred": {func(g *grounds) { g.rule.Requires, g.ruled, g.inferred = anml.ImplicitConsent, false, true }, "allow consent-inferred implicit"},
		"inferred-sensitive": {func(g *grounds) {
			g.rule.Requires, g.ruled, g.inferred, g.category = anml.ImplicitConsent, false, true, "health"
		},
			"prompt sensitive"},
		"inferred-none": {func(g *grounds) { g.ruled, g.inferred = false, true }, "prompt needs-consent"},
		"own-words":     {func(g *grounds) { g.kind = tellInform }, "prompt explicit-consent"},
	} {
		t.Run(name, func(t *testing.T) {
			g := best()
			c.change(&g)
			if got := brief(weigh(&g)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestWeighMonotone takes every pair of inputs: together they are never looser
// than either of them alone.
func TestWeighMonotone(t *testing.T) {
	changes := []func(*grounds){
		func(g *grounds) { g.rule.Requires = g.rule.Requires.Stricter(anml.ExplicitConsent) },
		func(g *grounds) { g.rule.Requires, g.authentic = anml.Authentication, false },
		func(g *grounds) { g.standing.Effect = min(g.standing.Effect, EffectAsk) },
		func(g *grounds) { g.standing.Effect = EffectDeny },
		func(g *grounds) { g.refused = true }, func(g *grounds) { g.host = anml.UserDenied },
		func(g *grounds) { g.untrusted = anmltrust.CodeNoRecord }, func(g *grounds) { g.judged = PurposeImplausible },
		func(g *grounds) { g.judged = min(g.judged, PurposeVague) }, func(g *grounds) { g.stated = false },
		func(g *grounds) { g.missing = CodeNoValue }, func(g *grounds) { g.recognised = false },
		func(g *grounds) { g.foreign = true }, func(g *grounds) { g.version = true }, func(g *grounds) { g.category = "health" },
		func(g *grounds) {
			g.sources = append(g.sources, source{serving: "a.test", confidentiality: anml.Public})
		},
		func(g *grounds) {
			g.sources = append(g.sources, source{serving: "b.test", confidentiality: anml.Restricted})
		},
		func(g *grounds) {
			g.sources = append(g.sources, source{serving: "c.test", confidentiality: anml.Private})
		},
		func(g *grounds) {
			g.sources = append(g.sources, source{serving: "d.test", confidentiality: anml.Public, deleted: true})
		},
		func(g *grounds) { g.prompter = false },
	}
	verb := func(changes ...func(*grounds)) Verb {
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
	} {
		t.Run("ANML-13.4-05/"+name, func(t *testing.T) {
			if got := weighty(c.act); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
