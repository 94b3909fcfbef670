package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

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
			equals(t, [...]string{"deny", "ask", "allow"}[r.Effect]+map[bool]string{true: " true", false: " false"}[ruled], c.want)
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
			sameList(t, s.session.RefusedDomains(), []string{"shop.example"})
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
					equals(t, e.Reason, anml.UserDenied)
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

// TestRequiresRows shows the rows about what each word of a rule demands.
func TestRequiresRows(t *testing.T) {
	book := Call{Action: "book"}

	t.Run("ANML-16.6-02", func(t *testing.T) {
		open := booking(rule("email", "none"), askFor("email"))
		t.Run("accept-standing", func(t *testing.T) {
			p := &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}
			must(t, p.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}))
			s := newStage(t, setting{doc: open, user: User{Profile: ann, Policy: p}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`consent="delegated"`)
			for _, r := range s.user.Requests() {
				if slices.ContainsFunc(r.Items, func(i lookleap.ConsentItem) bool { return strings.HasPrefix(i.ID, "answer") }) {
					t.Error("the user was asked about the field")
				}
			}
		})
		t.Run("reject-without", func(t *testing.T) { newStand(t, lookleaptest.Refuse()).decides(open, "prompt needs-consent") })
	})
	t.Run("ANML-16.6-03", func(t *testing.T) {
		implicit := booking(rule("email", "implicit-consent"), askFor("email"))
		sensitive := booking(rule("email", "implicit-consent"), askFor("email", `purpose="health intake"`))
		for _, c := range []struct {
			name          string
			doc           string
			option, began bool
			want          lookleap.Code
		}{
			{"accept-initiated", implicit, true, true, CodeConsentInferred}, {"reject-by-default", implicit, false, true, lookleap.CodeNeedsConsent},
			{"reject-not-initiated", implicit, true, false, lookleap.CodeNeedsConsent}, {"reject-sensitive", sensitive, true, true, CodeSensitive},
			{"reject-other-rule", booking(rule("email", "none"), askFor("email")), true, true, lookleap.CodeNeedsConsent},
			{"reject-explicit-consent", booking(rule("email", "explicit-consent"), askFor("email")), true, true, CodeExplicitConsent},
			{"reject-no-rule", booking("", askFor("email")), true, true, lookleap.CodeNeedsConsent},
		} {
			t.Run(c.name, func(t *testing.T) {
				st := newStand(t, lookleaptest.Refuse())
				st.user.Policy.InferConsentFromInitiation(c.option)
				x := st.prepares(st.page(c.doc), Call{Initiated: c.began})
				if got := x.e.Disclosures[0]; got.Code != c.want || (got.Item == "") != (c.want == CodeConsentInferred) {
					t.Errorf("%+v", got)
				}
				if c.want == CodeConsentInferred {
					x.sends(none, `consent="implicit"`)
					st.user.Policy.InferConsentFromInitiation(false)
					x.sends(none, "<refuse", "!"+annsEmail)
				}
			})
		}
	})
	t.Run("ANML-16.6-04", func(t *testing.T) {
		two := booking(rule("email", "explicit-consent")+rule("tel", "explicit-consent"), askFor("email")+askFor("tel"))
		t.Run("accept-per-field", func(t *testing.T) {
			s := newStage(t, setting{doc: two, user: User{Profile: ann}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct, "answer-2")}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<refuse field="email" reason="user-denied"`, `<answer field="tel"`)
			items := s.user.Requests()[0].Items
			if len(items) != 3 || items[1].Digest == items[2].Digest || !items[1].Optional {
				t.Errorf("%+v", items)
			}
		})
		t.Run("accept-reuse", func(t *testing.T) { reuse(t) })
		t.Run("reject-standing-rule", func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("*", "*").decides(booking(rule("email", "explicit-consent"), askFor("email")), "prompt explicit-consent")
		})
	})
	t.Run("ANML-16.6-05", func(t *testing.T) {
		strict := booking(rule("email", "authentication"), askFor("email"))
		t.Run("accept-both", func(t *testing.T) {
			order := ""
			s := newStage(t, setting{doc: strict, user: User{Profile: ann, Authenticate: func(context.Context, string) error { order += "authenticated "; return nil }},
				replies: []lookleaptest.Reply{func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					order += "asked"
					return lookleaptest.Decide(r), nil
				}}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<answer field="email"`, `consent="explicit"`)
			equals(t, order, "authenticated asked")
		})
		t.Run("reject-without-consent", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			st.user.Authenticate = func(context.Context, string) error { return nil }
			st.prepares(st.page(strict), Call{}).sends(none, `reason="user-denied"`, "!"+annsEmail)
		})
		for name, f := range map[string]func(context.Context, string) error{"missing": nil, "failing": func(context.Context, string) error { return errDown }, "panicking": func(context.Context, string) error { panic("x") }} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: strict, user: User{Profile: ann, Authenticate: f}})
				s.does(book, lookleap.CodeOK)
				s.wantSent(`<refuse field="email" reason="constraint-violation" constraint="email"`, "!"+annsEmail)
				for _, r := range s.user.Requests() {
					equals(t, len(r.Items), 1)
				}
			})
		}
		t.Run("reject-long-ago", func(t *testing.T) { // the plan waited: the user is authenticated again
			st := newStand(t, lookleaptest.Refuse())
			n := 0
			st.user.Authenticate = func(context.Context, string) error {
				if n++; n > 1 {
					return errDown
				}
				return nil
			}
			x := st.prepares(st.page(strict), Call{})
			x.sends(all, `<answer field="email"`)
			st.net.Clock().Advance(5*time.Minute + time.Second)
			x.sends(all, `<refuse field="email" reason="constraint-violation"`, "!"+annsEmail)
			equals(t, n, 2)
		})
	})
}

// TestRelationshipRows shows that an unknown relationship is like none.
func TestRelationshipRows(t *testing.T) {
	refs := func(t *testing.T, relationship string) string {
		net := newLab(t)
		s := newSession(t, net, User{}, Options{})
		net.Site("maker.example").File("/anml", anml.MediaTypeXML, service(`<head><title>Maker</title></head>`))
		p := pageFor(t, net, s, "https://shop.example/a", `<head><title>Shop</title><site-ref domain="maker.example" canonical="https://maker.example/anml" `+relationship+`/></head>`)
		var b strings.Builder
		for _, r := range p.refs {
			b.WriteString(r.Domain)
			if r.Page != nil {
				b.WriteString(" " + r.Page.Document().Head().Title())
			}
		}
		return b.String() + " " + strings.Join(net.Journal().Paths("maker.example"), " ")
	}
	t.Run("ANML-17.1-03", func(t *testing.T) {
		without := refs(t, "")
		t.Run("accept-unknown", func(t *testing.T) {
			equals(t, refs(t, `relationship="Owner"`), without)
		})
		t.Run("reject-unknown", func(t *testing.T) {
			for _, word := range []string{"Owner", "affiliate ", "AFFILIATE", ""} {
				if anml.Relationship(word).Known() {
					t.Errorf("%q is known", word)
				}
			}
		})
	})
}
