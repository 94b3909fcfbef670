package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// modes are those of the user's policy, with the ends of the leaves that show them.
var modes = map[CrossService]string{CrossServiceMatch: "", CrossServiceStrict: "-strict"}

// TestCrossServiceRows shows, in both modes, that what one service told reaches no other one unless
// the user says so each time.
func TestCrossServiceRows(t *testing.T) {
	plain, tagged := Value{Text: secret}, Value{Text: "another spelling", Provenance: "a.example"}
	for mode, end := range modes {
		for id, v := range map[string]Value{"ANML-14.1-07": tagged, "ANML-14.1-08": plain} {
			t.Run(id, func(t *testing.T) {
				t.Run("accept-authorized"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v)
					s.does(book, lookleap.CodeOK)
					s.wantSent(v.Text)
					s.hasAsked("a.example", "shop.example", "email", v.Text)
					if e := entries(t, s.session.Ledger(), EntryDisclosed); len(e) != 1 || e[0].From != "a.example" || e[0].Basis != "explicit" {
						t.Errorf("%+v", e)
					}
				})
				t.Run("reject-denied"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v, lookleaptest.Refuse())
					s.does(book, lookleap.CodeConsentRefused)
					s.wantSent("!" + v.Text)
				})
				t.Run("reject-standing-rule"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v)
					if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != CodeCrossService || !slices.Equal(d.From, []string{"a.example"}) {
						t.Error(brief(d), d.From)
					}
				})
				t.Run("reject-private"+end, func(t *testing.T) {
					s := crossedIn(t, mode, `confidentiality="private"`, plain)
					if d := s.page.Decide(t.Context())[0]; brief(d) != "refuse private-context policy-violation" {
						t.Error(brief(d))
					}
				})
				t.Run("reject-later-though-remembered"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v, lookleaptest.ApproveUntil(start.Add(24*365*time.Hour)), lookleaptest.Refuse())
					s.does(book, lookleap.CodeOK)
					s.net.Journal().Clear()
					s.does(book, lookleap.CodeConsentRefused)
					s.wantSent("!" + v.Text)
				})
			})
		}
		t.Run("ANML-14.1-08", func(t *testing.T) {
			t.Run("accept-labelled-as-the-users"+end, func(t *testing.T) {
				s := crossedIn(t, mode, "", Value{Text: secret, Provenance: ProvenanceUser})
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow || d.From != nil {
					t.Error(brief(d), d.From)
				}
			})
			t.Run("accept-supplied-by-the-user"+end, func(t *testing.T) {
				s := crossedIn(t, mode, "", plain)
				s.session.Context().Supplied("4711 8822")
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow || d.From != nil {
					t.Error(brief(d), d.From)
				}
			})
			t.Run(map[CrossService]string{CrossServiceMatch: "accept-paraphrase", CrossServiceStrict: "reject-paraphrase-strict"}[mode], func(t *testing.T) {
				s := crossedIn(t, mode, "", Value{Text: "the number before 4711-8823"})
				want := map[CrossService]string{CrossServiceMatch: "[]", CrossServiceStrict: "[a.example]"}[mode]
				if d := s.page.Decide(t.Context())[0]; fmt.Sprint(d.From) != want || (d.Verb == VerbPrompt) != (mode == CrossServiceStrict) {
					t.Error(brief(d), d.From)
				}
			})
		})
	}
}

// TestStrictArguments: in strict mode the user is asked about each argument of a model once another
// service was read, and about none before.
func TestStrictArguments(t *testing.T) {
	strict := func(t *testing.T) (*stand, *Page) {
		st := asker(t)
		st.user.Policy.CrossService = CrossServiceStrict
		doc := strings.Replace(booking("", ""), `<param name="q" description`, `<param name="r" default="plain"/><param name="q" description`, 1)
		return st, pageFor(t, st.net, st.session(), "https://b.example/b", doc)
	}
	tea := Call{Action: "find", Args: map[string]string{"q": "tea"}}
	t.Run("ANML-14.1-07", func(t *testing.T) {
		t.Run("reject-argument-strict", func(t *testing.T) {
			st, b := strict(t)
			pageFor(t, st.net, st.s, "https://a.example/a", titled)
			pageFor(t, st.net, st.s, "https://c.example/c", titled)
			x := st.prepares(b, tea) // but not about the default of the document
			if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "a.example and c.example may have told this, and b.example would learn it") {
				t.Errorf("%+v", x.items)
			}
			st.s.agent.host.Prompter = nil
			_, err := st.prepare(b, tea)
			hasCode(t, err, lookleap.CodeConsentNoPrompter)
		})
		t.Run("accept-argument-of-the-user-strict", func(t *testing.T) {
			st, b := strict(t)
			pageFor(t, st.net, st.s, "https://a.example/a", titled)
			call := tea
			call.Provenance = map[string]string{"q": ProvenanceUser}
			if x := st.prepares(b, call); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("accept-argument-of-one-service-strict", func(t *testing.T) {
			st, b := strict(t)
			pageFor(t, st.net, st.s, "https://www.b.example/other", titled)
			if x := st.prepares(b, tea); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("reject-service-read-since-strict", func(t *testing.T) {
			st, b := strict(t)
			x := st.prepares(b, tea)
			pageFor(t, st.net, st.s, "https://a.example/a", titled)
			_, _, err := x.settle(all, time.Time{})
			hasCode(t, err, CodeCrossService)
		})
		t.Run("reject-sent-before-strict", func(t *testing.T) { // to one service, which does not make it the user's
			st, b := strict(t)
			x := st.prepares(b, tea)
			_, _, err := x.settle(all, time.Time{})
			must(t, err)
			a := pageFor(t, st.net, st.s, "https://a.example/a", booking("", ""))
			if x := st.prepares(a, tea); len(x.items) != 1 {
				t.Errorf("%+v", x.items)
			}
		})
	})
}
