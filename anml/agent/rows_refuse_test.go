package agent

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestRefuseRows shows that the user's word about a domain is above everything.
func TestRefuseRows(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email", `required="true"`)+askFor("lang"))
	set := func() setting {
		p := &UserPolicy{}
		must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
		return setting{doc: doc, user: User{Profile: ann, Policy: p, Store: NewMemoryStore()}}
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
			x.replies = []labprompt.Reply{labprompt.Pending()}
			x.user.Policy = nil
			s := newStage(t, x)
			pending := s.suspended(book)
			other := s.open(Options{}, User{Store: x.user.Store})
			must(t, other.RefuseDomain(t.Context(), "www.shop.example"))
			_, err := s.session.Resume(t.Context(), pending.State, labprompt.Decide(pending.Request))
			must(t, err)
			s.wantSent("!"+annsEmail, `reason="user-denied"`)
			must(t, other.AllowDomain(t.Context(), "www.shop.example"))
			must(t, s.session.context.refresh(t.Context()))
			if got := s.session.RefusedDomains(); len(got) > 0 {
				t.Error("still refused:", got)
			}
		})
		t.Run("accept-while-the-store-is-read", func(t *testing.T) {
			x := set()
			s := newStage(t, x)
			for _, before := range []bool{false, true} {
				if before { // refused once, and taken back by another session at the same moment
					must(t, x.user.Store.Delete(t.Context(), keyRefused+"shop.example"))
				}
				s.session.user.Store = listing{x.user.Store, func() { must(t, s.session.RefuseDomain(t.Context(), "shop.example")) }}
				must(t, s.session.context.refresh(t.Context()))
				if got := s.session.RefusedDomains(); !slices.Equal(got, []string{"shop.example"}) {
					t.Error("a refusal is lost:", got)
				}
				s.session.user.Store = x.user.Store
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
			if s.session.RefuseDomain(t.Context(), "no domain") == nil || s.session.AllowDomain(t.Context(), "") == nil {
				t.Error("what was refused?")
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
				s.wantAsked("!"+annsEmail, "!email")
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

// listing is a store where something happens after the refused domains are listed.
type listing struct {
	Store
	then func()
}

func (l listing) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := l.Store.Keys(ctx, prefix)
	if prefix == keyRefused {
		l.then()
	}
	return keys, err
}
