package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestTransferRows shows that what one service told reaches no other one unless
// the user says so.
func TestTransferRows(t *testing.T) {
	plain, tagged := Value{Text: secret}, Value{Text: "another spelling", Provenance: "a.example"}

	for id, v := range map[string]Value{"ANML-14.1-07": tagged, "ANML-14.1-08": plain} {
		t.Run(id, func(t *testing.T) {
			t.Run("accept-authorized", func(t *testing.T) {
				s := crossed(t, "", v)
				s.does(book, lookleap.CodeOK)
				s.wantSent(v.Text)
				s.wantAsked("a.example", "shop.example", "email", v.Text)
				if e := entries(t, s.session.Ledger(), EntryDisclosed); len(e) != 1 || e[0].From != "a.example" || e[0].Basis != "explicit" {
					t.Errorf("%+v", e)
				}
			})
			t.Run("reject-denied", func(t *testing.T) {
				s := crossed(t, "", v, labprompt.Deny())
				s.does(book, lookleap.CodeConsentRefused)
				s.wantSent("!" + v.Text)
			})
			t.Run("reject-standing-rule", func(t *testing.T) {
				s := crossed(t, "", v)
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != CodeCrossService || !slices.Equal(d.From, []string{"a.example"}) {
					t.Error(brief(d), d.From)
				}
			})
		})
	}
	t.Run("ANML-14.1-08", func(t *testing.T) {
		t.Run("accept-user-said-so", func(t *testing.T) {
			s := crossed(t, "", Value{Text: secret, Provenance: ProvenanceUser})
			s.does(book, lookleap.CodeOK)
			s.wantSent(secret)
			s.wantAsked("!a.example")
		})
		t.Run("accept-user-said-so-before", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.session.context.Supplied("4711 8822")
			if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow {
				t.Error(brief(d))
			}
		})
		for name, text := range map[string]string{"token": "no. 4711-8822", "spelling": "４７１１.8822", "glued": "X47118822"} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := crossed(t, "", Value{Text: text}, labprompt.Deny())
				s.does(book, lookleap.CodeConsentRefused)
				s.wantSent("!8822")
			})
		}
		t.Run("reject-argument", func(t *testing.T) {
			s := crossed(t, `confidentiality="private"`, plain)
			_, err := s.page.Do(t.Context(), Call{Action: "other", Args: nil, Reply: &Reply{Informs: []Told{{Text: "I am member " + secret}}}})
			s.wantSent("!" + secret)
			_, err2 := s.page.Do(t.Context(), Call{Action: "find", Args: map[string]string{"q": "tea", "email": secret}})
			s.wantSent("!"+secret, "!find")
			if err2 == nil {
				t.Error(err, err2)
			}
		})
	})
	t.Run("ANML-14.2-01", func(t *testing.T) {
		t.Run("accept-once", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.does(book, lookleap.CodeOK)
			s.wantSent(secret)
		})
		t.Run("reject-again", func(t *testing.T) {
			s := crossed(t, "", plain, labprompt.ApproveUntil(start.Add(24*365*time.Hour)), labprompt.Deny())
			s.does(book, lookleap.CodeOK)
			s.net.Journal().Clear()
			s.does(book, lookleap.CodeConsentRefused)
			s.wantSent("!" + secret)
			if n := len(s.user.Requests()); n != 2 {
				t.Error(n, "questions")
			}
		})
		t.Run("reject-another-service", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.does(book, lookleap.CodeOK)
			c := s.elsewhere("https://c.example/x", booking(rule("email", "none"), askFor("email")))
			if d := c.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != CodeCrossService {
				t.Error(brief(d))
			}
		})
	})
	t.Run("ANML-14.2-02", func(t *testing.T) {
		for _, attrs := range []string{`confidentiality="private"`, `confidentiality="Private"`, `confidentiality="secret"`, `confidentiality="private" usage="none"`} {
			t.Run("reject-"+strings.Trim(strings.ReplaceAll(attrs, `"`, ""), "="), func(t *testing.T) {
				s := crossed(t, attrs, plain)
				s.does(book, lookleap.CodeOK)
				s.wantSent("!"+secret, "!47118822", `<refuse field="email" reason="policy-violation"`)
				s.wantAsked("!" + secret)
			})
		}
		t.Run("accept-its-own-service", func(t *testing.T) {
			s := crossed(t, `confidentiality="private"`, plain)
			p := s.elsewhere("https://shop.a.example/x", booking(rule("email", "none"), askFor("email")))
			if d := p.Decide(t.Context())[0]; d.Verb != VerbAllow {
				t.Error(brief(d))
			}
		})
	})
	t.Run("ANML-14.2-03", func(t *testing.T) {
		for attrs, want := range map[string]Verb{"": VerbPrompt, `confidentiality="public"`: VerbPrompt, `confidentiality="restricted"`: VerbDefer, `confidentiality="private"`: VerbRefuse} {
			t.Run(map[bool]string{true: "accept-", false: "reject-"}[want != VerbRefuse]+want.String()+attrs[min(len(attrs), 15):], func(t *testing.T) {
				if d := crossed(t, attrs, plain).page.Decide(t.Context())[0]; d.Verb != want {
					t.Error(brief(d))
				}
			})
		}
	})
	t.Run("ANML-14.2-04", func(t *testing.T) {
		told := func(t *testing.T, purpose string) Decision {
			p := &UserPolicy{}
			must(t, p.Set(StandingRule{Field: "bday", Domain: "*", Effect: EffectAllow}))
			x := setting{
				doc:  booking(rule("bday", "none"), askFor("bday", `purpose="`+purpose+`"`)),
				user: User{Profile: ann, Policy: p, Store: NewMemoryStore()},
			}
			s := newStage(t, x)
			s.does(book, lookleap.CodeOK)
			must(t, s.session.Close())
			s.session = s.open(Options{}, x.user)
			other := s.elsewhere("https://b.example/x", booking(rule("bday", "none"), askFor("bday", `purpose="to greet you"`)))
			return other.Decide(t.Context())[0]
		}
		t.Run("reject-standing-rule", func(t *testing.T) {
			if d := told(t, "health intake"); d.Verb != VerbPrompt || !d.Sensitive || d.Code != CodeSensitive {
				t.Error(brief(d))
			}
		})
		t.Run("accept-not-sensitive", func(t *testing.T) {
			if d := told(t, "to greet you"); d.Verb != VerbAllow || d.Sensitive {
				t.Error(brief(d))
			}
		})
	})
	t.Run("K10", func(t *testing.T) {
		for _, attrs := range []string{`confidentiality="private"`, `confidentiality="private" usage="none" ttl="1"`} {
			s := crossed(t, attrs, plain, labprompt.Approve())
			t.Run("reject-answer", func(t *testing.T) {
				s.does(book, lookleap.CodeOK)
				s.wantSent("!" + secret)
			})
			t.Run("reject-own-inform", func(t *testing.T) {
				_, _ = s.page.Do(t.Context(), Call{Action: "book", Reply: &Reply{Informs: []Told{{Text: "They call me " + secret + "."}}}})
				s.wantSent("!" + secret)
			})
			t.Run("reject-own-ask", func(t *testing.T) {
				_, _ = s.page.Do(t.Context(), Call{Action: "book", Reply: &Reply{Asks: []Counter{{Field: "points", Purpose: "of member " + secret}}}})
				s.wantSent("!" + secret)
			})
		}
	})
	t.Run("K11", func(t *testing.T) {
		for _, alias := range []string{"a.example", "A.Example.", "a.example:443", "https://www.a.example/x", "WWW.a.example"} {
			t.Run("accept-same-service-"+strings.NewReplacer("/", "_", ":", "_").Replace(alias), func(t *testing.T) {
				s := crossed(t, `confidentiality="private"`, plain)
				if got := s.session.context.taint(alias, secret); got != nil {
					t.Error(got)
				}
				own := s.elsewhere("https://shop.a.example/x", booking(rule("email", "none"), askFor("email")))
				s.session.user.Profile.(Fields)["email"] = Value{Text: secret, Provenance: alias}
				if d := own.Decide(t.Context())[0]; d.Verb != VerbAllow {
					t.Error(brief(d))
				}
			})
			t.Run("reject-other-service-"+strings.NewReplacer("/", "_", ":", "_").Replace(alias), func(t *testing.T) {
				s := crossed(t, "", Value{Text: "no token", Provenance: alias})
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || !slices.Equal(d.From, []string{"a.example"}) {
					t.Error(brief(d), d.From)
				}
			})
		}
	})
}
