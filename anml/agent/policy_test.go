package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
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
		"without-user":        {set(StandingRule{"email", "*", EffectAllow, start}), "email", nil, "ask false"},
		"replaced":            {set(StandingRule{"email", "a.example", EffectAllow, start}, StandingRule{"email", "A.EXAMPLE.", EffectDeny, start}), "email", []string{"a.example"}, "deny true"},
		"star-is-no-host":     {set(StandingRule{"email", "*", EffectDeny, start}), "tel", []string{"a.example"}, "ask false"},
	} {
		t.Run(name, func(t *testing.T) {
			r, ruled := c.p.now().standing(c.hosts, c.field)
			if got := [...]string{"deny", "ask", "allow"}[r.Effect] + map[bool]string{true: " true", false: " false"}[ruled]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("zero-rule-denies", func(t *testing.T) {
		if (StandingRule{}).Effect != EffectDeny || Verb(0) != VerbRefuse || PurposeVerdict(0) != PurposeImplausible {
			t.Error("a zero value permits something")
		}
	})
}

// TestRefuseRows shows that the user's word about a domain is above everything.
func TestRefuseRows(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email", `required="true"`)+askFor("lang"))
	set := func() setting {
		p := &UserPolicy{}
		must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
		return setting{doc: doc, user: User{Profile: ann, Policy: p, Store: lookleap.NewMemoryStore()}}
	}
	refused := func(s *stage) {
		s.Helper()
		for _, d := range s.page.Decide(s.Context()) {
			if d.Verb != VerbRefuse || d.Reason != anml.UserDenied || d.Code != CodeDomainRefused {
				s.Errorf("%s: %s", d.Field, brief(d))
			}
		}
	}
	t.Run("ANML-14.1-05", func(t *testing.T) {
		t.Run("accept-at-once", func(t *testing.T) {
			s := newStage(t, set())
			must(t, s.session.RefuseDomain(t.Context(), "shop.example"))
			refused(s)
			if got := s.session.RefusedDomains(); !slices.Equal(got, []string{"shop.example"}) {
				t.Error(got)
			}
		})
		t.Run("accept-in-later-sessions", func(t *testing.T) {
			x := set()
			s := newStage(t, x)
			must(t, s.session.RefuseDomain(t.Context(), "SHOP.example."))
			must(t, s.session.Close())
			s.session = s.open(Options{}, User{Profile: ann, Store: x.user.Store})
			s.page = s.show(doc, false)
			refused(s)
		})
		t.Run("accept-in-other-sessions-when-sent", func(t *testing.T) {
			x := set()
			x.replies = []lookleaptest.Reply{lookleaptest.Pending()}
			x.user.Policy = nil
			s := newStage(t, x)
			pending := s.suspended(book)
			other := s.open(Options{}, User{Store: x.user.Store})
			must(t, other.RefuseDomain(t.Context(), "www.shop.example"))
			_, err := s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
			must(t, err)
			s.wantSent("!"+annsEmail, `reason="user-denied"`)
			must(t, other.AllowDomain(t.Context(), "www.shop.example"))
			must(t, s.session.context.refresh(t.Context()))
			if got := s.session.RefusedDomains(); len(got) > 0 {
				t.Error("still refused:", got)
			}
		})
		t.Run("accept-undone", func(t *testing.T) {
			x := set()
			s := newStage(t, x)
			must(t, s.session.RefuseDomain(t.Context(), "shop.example"))
			must(t, s.session.AllowDomain(t.Context(), "shop.example"))
			if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow {
				t.Error(brief(d))
			}
			if keys, _ := x.user.Store.Keys(t.Context(), keyRefused); len(keys) != 0 {
				t.Error(keys)
			}
		})
		t.Run("reject-no-domain", func(t *testing.T) {
			s := newStage(t, set())
			for _, err := range []error{s.session.RefuseDomain(t.Context(), "no domain"), s.session.AllowDomain(t.Context(), "no domain")} {
				if err == nil || !strings.Contains(err.Error(), `" "`) { // what is wrong with the name
					t.Errorf("got %v", err)
				}
			}
		})
	})
	t.Run("ANML-14.1-06", func(t *testing.T) {
		for name, domain := range map[string]string{"serving-host": "www.shop.example", "domain": "shop.example"} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, set())
				must(t, s.session.RefuseDomain(t.Context(), domain))
				s.does(book, lookleap.CodeOK)
				s.wantSent("!"+annsEmail, `<refuse field="email" reason="user-denied"`, `<refuse field="lang" reason="user-denied"`)
				s.hasAsked("!"+annsEmail, "!email")
				for _, e := range entries(t, s.session.Ledger(), EntryRefused) {
					if e.Reason != anml.UserDenied {
						t.Errorf("%+v", e)
					}
				}
			})
		}
		t.Run("reject-endpoint", func(t *testing.T) {
			x := set()
			x.doc = strings.Replace(doc, `endpoint="/book"`, `endpoint="https://pay.shop.example/book"`, 1)
			s := newStage(t, x)
			must(t, s.session.RefuseDomain(t.Context(), "pay.shop.example"))
			refused(s)
		})
		t.Run("accept-others", func(t *testing.T) {
			s := newStage(t, set())
			must(t, s.session.RefuseDomain(t.Context(), "other.example"))
			must(t, s.session.RefuseDomain(t.Context(), "hop.example"))
			must(t, s.session.RefuseDomain(t.Context(), "a.www.shop.example"))
			s.does(book, lookleap.CodeOK)
			s.wantSent(annsEmail)
		})
	})
}
