package agent

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

func TestPolicyRules(t *testing.T) {
	set := func(rules ...StandingRule) *UserPolicy {
		p := &UserPolicy{}
		for _, r := range rules {
			must(t, p.Set(r))
		}
		return p
	}
	for name, c := range map[string]struct {
		p     *UserPolicy
		field string
		hosts []string
		want  string
	}{
		"none":                {&UserPolicy{}, "email", []string{"a.example"}, "ask false"},
		"nil":                 {nil, "email", []string{"a.example"}, "ask false"},
		"same":                {set(StandingRule{"email", "a.example", EffectAllow, start}), "email", []string{"a.example"}, "allow true"},
		"below":               {set(StandingRule{"email", "a.example", EffectAllow, start}), "email", []string{"x.y.a.example"}, "allow true"},
		"above":               {set(StandingRule{"email", "x.a.example", EffectAllow, start}), "email", []string{"a.example"}, "ask false"},
		"end-of-a-name":       {set(StandingRule{"email", "a.example", EffectAllow, start}), "email", []string{"ba.example"}, "ask false"},
		"other-field":         {set(StandingRule{"email", "a.example", EffectAllow, start}), "tel", []string{"a.example"}, "ask false"},
		"case-of-a-field":     {set(StandingRule{"email", "a.example", EffectAllow, start}), "Email", []string{"a.example"}, "ask false"},
		"any-field":           {set(StandingRule{"*", "a.example", EffectAllow, start}), "tel", []string{"a.example"}, "allow true"},
		"anybody":             {set(StandingRule{"email", "*", EffectAllow, start}), "email", []string{"a.example", "b.example"}, "allow true"},
		"not-all-of-them":     {set(StandingRule{"email", "a.example", EffectAllow, start}), "email", []string{"a.example", "b.example"}, "ask false"},
		"one-denied":          {set(StandingRule{"email", "*", EffectAllow, start}, StandingRule{"email", "b.example", EffectDeny, start}), "email", []string{"a.example", "b.example"}, "deny true"},
		"deny-beats-nearer":   {set(StandingRule{"*", "*", EffectDeny, start}, StandingRule{"email", "a.example", EffectAllow, start}), "email", []string{"a.example"}, "deny true"},
		"ask-beats-allow":     {set(StandingRule{"email", "*", EffectAsk, start}, StandingRule{"email", "a.example", EffectAllow, start}), "email", []string{"a.example"}, "ask true"},
		"ask-for-one-of-them": {set(StandingRule{"email", "a.example", EffectAsk, start}), "email", []string{"a.example", "b.example"}, "ask true"},
		"nobody":              {set(StandingRule{"email", "*", EffectAllow, start}), "email", nil, "ask false"},
		"replaced":            {set(StandingRule{"email", "a.example", EffectAllow, start}, StandingRule{"email", "A.EXAMPLE.", EffectDeny, start}), "email", []string{"a.example"}, "deny true"},
		"star-is-no-host":     {set(StandingRule{"email", "*", EffectDeny, start}), "tel", []string{"a.example"}, "ask false"},
	} {
		t.Run(name, func(t *testing.T) {
			r, ruled := c.p.now().standing(c.hosts, c.field)
			if got := r.Effect.String() + map[bool]string{true: " true", false: " false"}[ruled]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("bad", func(t *testing.T) {
		p := &UserPolicy{}
		for _, r := range []StandingRule{{"", "a.example", EffectAllow, start}, {"x", "", EffectAllow, start}, {"x", "a b", EffectAllow, start}, {"x", "*.a.example", EffectAllow, start}, {"x", "a.example", EffectAllow + 1, start}} {
			if p.Set(r) == nil {
				t.Errorf("%+v", r)
			}
		}
		if p.RefuseDomain("*") == nil || p.RefuseDomain("") == nil || p.AcceptDomain("a b") == nil || p.Remove("x", "a b") == nil {
			t.Error("a name that is none was taken")
		}
		if len(p.Rules()) != 0 || len(p.RefusedDomains()) != 0 {
			t.Error("something was half applied")
		}
	})
	t.Run("listed", func(t *testing.T) {
		p := set(StandingRule{"tel", "b.example", EffectAsk, start}, StandingRule{"email", "B.example", EffectDeny, start}, StandingRule{"x", "*", EffectAllow, start})
		var got []string
		for _, r := range p.Rules() {
			got = append(got, r.name()+" "+r.Effect.String())
		}
		if strings.Join(got, ", ") != "rule x * allow, rule email b.example deny, rule tel b.example ask" {
			t.Error(got)
		}
		must(t, p.Remove("email", "b.example."))
		if len(p.Rules()) != 2 {
			t.Error(p.Rules())
		}
	})
	t.Run("zero-rule-denies", func(t *testing.T) {
		if (StandingRule{}).Effect != EffectDeny || Verb(0) != VerbRefuse || PurposeVerdict(0) != PurposeImplausible {
			t.Error("a zero value permits something")
		}
	})
}

func TestRefusedDomains(t *testing.T) {
	p := &UserPolicy{}
	must(t, p.RefuseDomain("A.example."))
	for host, want := range map[string]bool{"a.example": true, "x.a.example": true, "ba.example": false, "example": false, "b.example": false} {
		if p.now().refuses([]string{"c.example", host}) != want {
			t.Error(host)
		}
	}
	must(t, p.AcceptDomain("a.example"))
	if p.now().refuses([]string{"a.example"}) {
		t.Error("still refused")
	}
}

// TestPolicyMonotone: a further rule never loosens what the others say.
func TestPolicyMonotone(t *testing.T) {
	names := rapid.SampledFrom([]string{"a.example", "x.a.example", "b.example", "*"})
	rapid.Check(t, func(t *rapid.T) {
		p := &UserPolicy{}
		hosts := rapid.SliceOfN(rapid.SampledFrom([]string{"a.example", "x.a.example", "y.x.a.example", "b.example"}), 1, 4).Draw(t, "hosts")
		restrictive := func(w *will) Effect {
			r, _ := w.standing(hosts, "email")
			return r.Effect
		}
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			r := StandingRule{rapid.SampledFrom([]string{"email", "*", "tel"}).Draw(t, "field"), names.Draw(t, "domain"), Effect(rapid.IntRange(0, 2).Draw(t, "effect")), start}
			before, known := restrictive(p.now()), slices.ContainsFunc(p.Rules(), func(x StandingRule) bool { return x.Field == r.Field && x.Domain == r.Domain })
			if err := p.Set(r); err != nil {
				t.Fatal(err)
			}
			if after := restrictive(p.now()); !known && r.Effect != EffectAllow && after > before {
				t.Fatalf("%+v loosens %s to %s", r, before, after)
			}
		}
	})
}

// TestPolicyChangesAtOnce: a change holds for what is prepared and not yet sent,
// and from any goroutine.
func TestPolicyChangesAtOnce(t *testing.T) {
	st := newStand(t, labprompt.Deny()).allow("email", "*")
	p := st.page(booking(rule("email", "none"), askFor("email")))
	x := st.prepares(p, Call{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				_ = st.user.Policy.Set(StandingRule{Field: "tel", Domain: string(rune('a'+i)) + ".example", Effect: EffectAsk})
				_ = st.user.Policy.RefuseDomain(string(rune('a'+i)) + ".test")
				if d := p.Decide(t.Context())[0]; d.Verb != VerbAllow {
					t.Error(brief(d))
				}
			}
		})
	}
	wg.Wait()
	if len(st.user.Policy.Rules()) != 5 || len(st.user.Policy.RefusedDomains()) != 4 {
		t.Error("a change was lost")
	}
	must(t, st.user.Policy.RefuseDomain("shop.example"))
	x.sends(all, `<refuse field="email" reason="user-denied"`, "!"+annsEmail)
}

// TestRefusedDomainIsAnyOfThem: who served the document, who asks, who receives.
func TestRefusedDomainIsAnyOfThem(t *testing.T) {
	doc := strings.Replace(booking(rule("email", "none"), askFor("email")), `"/book"`, `"https://api.shop.example/book"`, 1)
	for _, refused := range []string{"shop.example", "www.shop.example", "api.shop.example"} {
		st := newStand(t, labprompt.Approve()).allow("email", "*")
		p := pageFor(t, st.net, st.session(), "https://www.shop.example/a", doc)
		x := st.prepares(p, Call{})
		must(t, st.user.Policy.RefuseDomain(refused))
		if d := p.Decide(t.Context())[0]; brief(d) != "refuse domain-refused user-denied" {
			t.Errorf("%s: %s", refused, brief(d))
		}
		x.sends(all, `reason="user-denied"`, "!"+annsEmail)
	}
	st := newStand(t, labprompt.Approve()).allow("email", "*")
	must(t, st.user.Policy.RefuseDomain("cdn.shop.example"))
	if d := pageFor(t, st.net, st.session(), "https://www.shop.example/a", doc).Decide(t.Context())[0]; d.Verb != VerbAllow {
		t.Error(brief(d))
	}
}

func TestTrainingConsent(t *testing.T) {
	p := &UserPolicy{}
	if p.TrainingConsent() {
		t.Error("it is the default")
	}
	p.SetTrainingConsent(true)
	if !p.TrainingConsent() || (*UserPolicy)(nil).now().training {
		t.Error("it does not hold")
	}
}
