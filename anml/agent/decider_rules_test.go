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
			if order != "authenticated asked" {
				t.Error(order)
			}
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
					if len(r.Items) != 1 {
						t.Errorf("the user was asked: %+v", r.Items)
					}
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
			if n != 2 {
				t.Errorf("authenticated %d times", n)
			}
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
			if got := refs(t, `relationship="Owner"`); got != without {
				t.Errorf("%q, without %q", got, without)
			}
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
