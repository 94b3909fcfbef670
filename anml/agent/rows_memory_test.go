package agent

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// elsewhere opens the document of another service in the stage's session; what is
// sent is counted from then on.
func (s *stage) elsewhere(url, sections string) *Page {
	s.Helper()
	p := pageFor(s.T, s.net, s.session, url, sections)
	s.net.Journal().Clear()
	return p
}

// asked is everything that the user was shown so far.
func (s *stage) asked() string {
	var b strings.Builder
	for _, r := range s.user.Requests() {
		b.WriteString(r.String())
		for _, item := range r.Items {
			b.WriteString("\n" + item.Summary)
		}
	}
	return b.String()
}

// wantAsked wants texts among what the user was shown, or not where they begin
// with "!".
func (s *stage) wantAsked(want ...string) {
	s.Helper()
	all := s.asked()
	for _, w := range want {
		if not, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(all, not) || !ok && !strings.Contains(all, w) {
			s.Errorf("what is shown has to have %q:\n%s", w, all)
		}
	}
}

// entries are those of the ledger of a kind.
func entries(t testing.TB, l Ledger, kinds ...EntryKind) (list []Entry) {
	t.Helper()
	for e, err := range (Filter{Kinds: kinds}).Entries(context.Background(), l) {
		must(t, err)
		list = append(list, e)
	}
	return list
}

var book = Call{Action: "book"}

// TestLedgerRows shows the rows about the record of disclosures.
func TestLedgerRows(t *testing.T) {
	doc := booking(rule("email", "explicit-consent"), askFor("email", `required="true"`)+askFor("tel")+askFor("lang"))
	profile := Fields{"email": {Text: annsEmail}, "lang": {Text: "de"}}
	allow := func(field string) *Policy {
		p := &Policy{}
		must(t, p.Set(StandingRule{Field: field, Domain: "shop.example", Effect: EffectAllow}))
		return p
	}

	t.Run("ANML-13.2-11", func(t *testing.T) {
		t.Run("accept-entries", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Policy: allow("lang")}})
			r := s.does(book, lookleap.CodeOK)
			list := entries(t, s.session.Ledger(), EntryDisclosed, EntryRefused)
			if len(list) != 3 {
				t.Fatalf("%+v", list)
			}
			for i, want := range []struct {
				kind         EntryKind
				field, basis string
			}{{EntryDisclosed, "email", "explicit"}, {EntryRefused, "tel", ""}, {EntryDisclosed, "lang", "delegated"}} {
				e := list[i]
				if e.Kind != want.kind || e.Field != want.field || e.Basis != want.basis || e.Plan != r.Plan || e.Serving != "shop.example" ||
					e.Owner != "shop.example" || e.Endpoint != "www.shop.example" || e.Document != documentURL || e.Action != "book" || e.Time.IsZero() {
					t.Errorf("%+v", e)
				}
			}
			if list[0].Reference == "" || list[2].Reference == "" || list[1].Reason != anml.UnsupportedField {
				t.Errorf("%+v", list)
			}
		})
		t.Run("reject-values", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile}})
			s.does(book, lookleap.CodeOK)
			var out bytes.Buffer
			_, err := Filter{}.Export(t.Context(), s.session.Ledger(), &out)
			must(t, err)
			if strings.Contains(out.String(), annsEmail) || strings.Contains(out.String(), "valueHash") {
				t.Error(out.String())
			}
		})
		t.Run("accept-keyed-hash", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, LedgerKey: []byte("key")}})
			s.does(book, lookleap.CodeOK)
			for _, e := range entries(t, s.session.Ledger(), EntryDisclosed) {
				if e.ValueHash != s.session.valueHash(e.Field, profile[e.Field].Text) {
					t.Errorf("%+v", e)
				}
			}
		})
	})
	t.Run("ANML-13.2-12", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: profile}})
		s.does(book, lookleap.CodeOK)
		t.Run("accept-all", func(t *testing.T) {
			var out bytes.Buffer
			n, err := Filter{Domain: "shop.example"}.Export(t.Context(), s.session.Ledger(), &out)
			if err != nil || n != 5 || strings.Count(out.String(), "\n") != 5 { // three fields, the action, its outcome
				t.Errorf("%d %v\n%s", n, err, out.String())
			}
		})
		t.Run("reject-others", func(t *testing.T) {
			if n, err := (Filter{Domain: "other.example"}).Export(t.Context(), s.session.Ledger(), &bytes.Buffer{}); n != 0 || err != nil {
				t.Error(n, err)
			}
		})
	})
	t.Run("ANML-13.2-13", func(t *testing.T) {
		for name, l := range map[string]Ledger{"failing": badLedger{}, "panicking": badLedger{panics: true}} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}})
				s.does(book, lookleap.CodeIO)
				s.sends()
			})
		}
		t.Run("accept-any-ledger", func(t *testing.T) {
			l := openLedger(t, filepath.Join(t.TempDir(), "ledger"))
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}})
			s.does(book, lookleap.CodeOK)
			if got := len(entries(t, l)); got != 5 {
				t.Error(got)
			}
		})
		t.Run("accept-retention", TestLedgerFileRetention)
	})
	t.Run("ANML-14.1-03", func(t *testing.T) {
		t.Run("accept-before-sending", func(t *testing.T) {
			l := NewMemoryLedger()
			var before int
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}, answer: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range l.Entries(context.Background()) {
					before++
				}
				w.WriteHeader(http.StatusNoContent)
			})})
			s.does(book, lookleap.CodeOK)
			if before != 4 { // two answers, a refusal, the action
				t.Error(before)
			}
		})
		t.Run("accept-after-the-session", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile}})
			s.does(book, lookleap.CodeOK)
			must(t, s.session.Close())
			if got := len(entries(t, s.session.Ledger(), EntryDisclosed)); got != 2 {
				t.Error(got)
			}
		})
		t.Run("reject-without", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile}}) // no ledger is the one in memory
			if s.session.Ledger() == nil {
				t.Error("it can be switched off")
			}
		})
	})
	t.Run("ANML-14.1-04", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: profile, Policy: allow("lang")}})
		r := s.does(book, lookleap.CodeOK)
		t.Run("accept-list", func(t *testing.T) {
			got, err := Interaction(t.Context(), s.session.Ledger(), r.Plan)
			if err != nil || !slices.Equal(got, []Disclosed{{"email", "explicit"}, {"lang", "delegated"}}) {
				t.Error(got, err)
			}
		})
		t.Run("reject-others", func(t *testing.T) {
			got, err := Interaction(t.Context(), s.session.Ledger(), "another")
			if err != nil || got == nil || len(got) != 0 {
				t.Error(got, err)
			}
		})
	})
}

// TestRefuseRows shows that the user's word about a domain is above everything.
func TestRefuseRows(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email", `required="true"`)+askFor("lang"))
	set := func() setting {
		p := &Policy{}
		must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
		return setting{doc: doc, user: User{Profile: ann, Policy: p, Store: NewMemoryStore()}}
	}
	refused := func(s *stage) {
		s.Helper()
		for _, d := range s.page.Decide(s.Context()) {
			if d.Verb != VerbRefuse || d.Reason != anml.UserDenied || d.Code != lookleap.CodeDomainRefused {
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

const secret = "4711-8822"

// crossed is a stage where a.example told a member number, and the shop asks for it.
func crossed(t *testing.T, attrs string, v Value, replies ...labprompt.Reply) *stage {
	t.Helper()
	p := &Policy{}
	must(t, p.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectAllow}))
	s := newStage(t, setting{
		doc:  booking(rule("email", "none"), askFor("email", `required="true"`)),
		user: User{Profile: Fields{"email": v}, Policy: p, Store: NewMemoryStore()}, replies: replies,
	})
	s.elsewhere("https://www.a.example/x", inform("Member "+secret, attrs))
	return s
}

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
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != lookleap.CodeCrossService || !slices.Equal(d.From, []string{"a.example"}) {
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
			if d := c.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != lookleap.CodeCrossService {
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
			p := &Policy{}
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
			if d := told(t, "health intake"); d.Verb != VerbPrompt || !d.Sensitive || d.Code != lookleap.CodeSensitive {
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

// TestForgetRows shows that deleted context is told to nobody any more.
func TestForgetRows(t *testing.T) {
	plain := Value{Text: secret}
	t.Run("ANML-14.2-05", func(t *testing.T) {
		for _, name := range []string{"a.example", "www.a.example", "A.example.", "https://a.example/"} {
			t.Run("accept-"+strings.Trim(strings.NewReplacer("/", "", ":", "").Replace(name), "."), func(t *testing.T) {
				s := crossed(t, `usage="store"`, plain)
				p := pageFor(t, s.net, s.session, "https://www.a.example/kept", `<head ttl="600"><title>A</title></head><persona><tone>kind</tone></persona>`+inform("more", `usage="store"`))
				if p.opened.limited {
					s.session.pages.keep(p.url, p, nil, 0)
				}
				f, err := s.session.Forget(t.Context(), name)
				if err != nil || f.Informs != 2 {
					t.Errorf("%+v %v", f, err)
				}
				if got := texts(s.session.context, ""); got != "" {
					t.Error(got)
				}
				if keys, _ := s.session.store().Keys(t.Context(), keyInform); len(keys) != 0 {
					t.Error(keys)
				}
			})
		}
		t.Run("accept-owner-site", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.elsewhere("https://host.example/x", `<site domain="brand.example">`+inform("Points 9876-5432", "")+`</site>`)
			if f, err := s.session.Forget(t.Context(), "brand.example"); err != nil || f.Informs != 1 {
				t.Errorf("%+v %v", f, err)
			}
			if got := s.session.context.taint("b.example", "9876-5432"); len(got) != 1 || !got[0].Deleted {
				t.Error(got)
			}
		})
		t.Run("accept-consents", func(t *testing.T) {
			s := newStage(t, setting{
				doc: booking(rule("email", "none"), askFor("email")), user: User{Profile: ann, Store: NewMemoryStore()},
				replies: []labprompt.Reply{labprompt.ApproveUntil(time.Now().Add(time.Hour))},
			})
			s.does(book, lookleap.CodeOK)
			f, err := s.session.context.Delete(t.Context(), "shop.example")
			if err != nil || f.Consents != 1 {
				t.Errorf("%+v %v", f, err)
			}
		})
		t.Run("accept-values", func(t *testing.T) {
			net := newLab(t)
			profile := forgetting{gone: new([]string)}
			f, err := newSession(t, net, User{Profile: profile}, Options{}).Forget(t.Context(), "a.example")
			if err != nil || f.Values != 3 || !slices.Equal(*profile.gone, []string{"a.example"}) {
				t.Errorf("%+v %v", f, err)
			}
		})
		t.Run("reject-others", func(t *testing.T) {
			s := crossed(t, `usage="store"`, plain)
			for _, name := range []string{"b.example", "shop.a.example", "xa.example"} {
				if f, err := s.session.Forget(t.Context(), name); err != nil || f.Informs != 0 {
					t.Errorf("%+v %v", f, err)
				}
			}
			if got := texts(s.session.context, "a.example"); got != "Member "+secret {
				t.Error(got)
			}
			if _, err := s.session.Forget(t.Context(), "no domain"); err == nil {
				t.Error("what was forgotten?")
			}
		})
	})
	t.Run("ANML-14.2-06", func(t *testing.T) {
		gone := func(s *stage) {
			s.Helper()
			_, err := s.session.Forget(s.Context(), "a.example")
			must(s, err)
			s.net.Journal().Clear()
			s.does(book, lookleap.CodeOK)
			s.wantSent("!"+secret, `reason="user-denied"`)
			s.wantAsked("!" + secret)
		}
		for _, v := range []Value{plain, {Text: secret, Provenance: "a.example"}, {Text: "another spelling", Provenance: "www.a.example"}} {
			t.Run("reject-answer-from-"+v.Provenance, func(t *testing.T) { gone(crossed(t, "", v)) })
		}
		t.Run("reject-provenance-without-a-store", func(t *testing.T) {
			s := newSession(t, newLab(t), User{}, Options{})
			if s.context.forgotten("a.example", "anything") {
				t.Error("before")
			}
			_, err := s.Forget(t.Context(), "a.example")
			must(t, err)
			if !s.context.forgotten("www.a.example:443", "anything") || s.context.forgotten("b.example", "anything") {
				t.Error("after")
			}
		})
		t.Run("reject-to-itself", func(t *testing.T) {
			s := crossed(t, "", plain)
			own := s.elsewhere("https://shop.a.example/x", booking(rule("email", "none"), askFor("email")))
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			if d := own.Decide(t.Context())[0]; d.Verb != VerbRefuse || d.Code != lookleap.CodeDeletedContext {
				t.Error(brief(d))
			}
		})
		t.Run("reject-while-prepared", func(t *testing.T) {
			s := crossed(t, "", plain, labprompt.Pending())
			pending := s.suspended(book)
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			_, err = s.session.Resume(t.Context(), pending.State, labprompt.Decide(pending.Request))
			must(t, err)
			s.wantSent("!"+secret, `reason="user-denied"`)
		})
		t.Run("reject-while-prepared-elsewhere", func(t *testing.T) {
			for _, v := range []Value{plain, {Text: "other", Provenance: "a.example"}} {
				s := crossed(t, "", v, labprompt.Pending())
				pending := s.suspended(book)
				other := s.open(Options{}, User{Store: s.session.user.Store})
				pageFor(t, s.net, other, "https://www.a.example/x", inform("Member "+secret, ""))
				_, err := other.Forget(t.Context(), "a.example")
				must(t, err)
				s.net.Journal().Clear()
				_, err = s.session.Resume(t.Context(), pending.State, labprompt.Decide(pending.Request))
				must(t, err)
				s.wantSent("!"+v.Text, `reason="user-denied"`)
			}
		})
		t.Run("reject-after-restart", func(t *testing.T) {
			for _, usage := range []string{"display", "cache", "store"} {
				s := crossed(t, `ttl="600" usage="`+usage+`"`, plain)
				_, err := s.session.Forget(t.Context(), "a.example")
				must(t, err)
				must(t, s.session.Close())
				s.session = s.open(Options{}, s.session.user)
				s.page = s.show(booking(rule("email", "none"), askFor("email")), false)
				if got := texts(s.session.context, ""); got != "" {
					t.Error(got)
				}
				s.does(book, lookleap.CodeOK)
				s.wantSent("!"+secret, `reason="user-denied"`)
			}
		})
		t.Run("reject-crash-while-deleting", func(t *testing.T) {
			// The deletion is on record and the inform is still there.
			s := crossed(t, `usage="store"`, plain)
			store := s.session.user.Store
			keys, _ := store.Keys(t.Context(), keyInform)
			kept, err := store.Get(t.Context(), keys[0])
			must(t, err)
			_, err = s.session.Forget(t.Context(), "a.example")
			must(t, err)
			must(t, store.Put(t.Context(), keys[0], kept))
			again := s.open(Options{}, s.session.user)
			if got := texts(again.context, ""); got != "" {
				t.Error(got)
			}
		})
		t.Run("accept-told-again", func(t *testing.T) {
			s := crossed(t, "", plain)
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			s.elsewhere("https://www.a.example/new", inform("Member "+secret, ""))
			if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != lookleap.CodeCrossService {
				t.Error(brief(d))
			}
		})
		t.Run("accept-told-by-another", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.elsewhere("https://c.example/x", inform(secret, ""))
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || !slices.Equal(d.From, []string{"c.example"}) {
				t.Error(brief(d), d.From)
			}
		})
		t.Run("accept-the-users-own", func(t *testing.T) {
			s := crossed(t, "", Value{Text: secret, Provenance: ProvenanceUser})
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow {
				t.Error(brief(d))
			}
		})
		t.Run("reject-store-that-fails", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.session.user.Store = failing{s.session.user.Store, keyDeleted}
			if _, err := s.session.Forget(t.Context(), "a.example"); !errors.Is(err, errTest) || lookleap.CodeOf(err) != lookleap.CodeIO {
				t.Error(err)
			}
			if d := s.page.Decide(t.Context())[0]; d.Code != lookleap.CodeDeletedContext {
				t.Error(brief(d))
			}
		})
	})
}

// forgetting is a profile that keeps what services told.
type forgetting struct {
	NoProfile
	gone *[]string
}

func (f forgetting) Forget(_ context.Context, domain string) (int, error) {
	*f.gone = append(*f.gone, domain)
	return 3, nil
}

var levels = []string{"none", "display", "cache", "store", "train"}

// TestUsageRows shows the rows about what content may be used for.
func TestUsageRows(t *testing.T) {
	// uses are what an inform with these attributes in a document with these rights
	// may be put to: a letter for each of display, cache, store, train.
	uses := func(t *testing.T, attrs, more string, consent bool) (letters string) {
		m := newMemo(t)
		m.s.user.Policy.SetTrainingConsent(consent)
		for _, asJSON := range []bool{false, true} {
			p := m.tells("https://a.example/x", inform("x", attrs)+more, asJSON, "Cache-Control", "max-age=600")
			var got strings.Builder
			for site := range p.Document().Containers() {
				for n := range site.Knowledge().Informs() {
					for use := anml.UsageNone; use <= anml.UsageTrain; use++ {
						err := p.Allowed(site, anmltrust.Knowledge, n.Node, use)
						if err != nil && !errors.Is(err, ErrUsage) {
							t.Error(err)
						}
						if err == nil {
							got.WriteByte("ndcst"[use])
						}
					}
				}
			}
			if asJSON && got.String() != letters {
				t.Errorf("in JSON %q, in XML %q", got.String(), letters)
			}
			letters = got.String()
		}
		return letters
	}
	matrix := map[string]string{"none": "n", "display": "nd", "cache": "ndc", "store": "ndcs", "train": "ndcst"}
	for id, levels := range map[string][]string{
		"ANML-8.12.1-02": levels, "ANML-14.4-01": levels, "ANML-16.5-07": levels,
		"ANML-16.5-02": {"none"}, "ANML-16.5-03": {"display"}, "ANML-16.5-04": {"cache"}, "ANML-16.5-05": {"store"}, "ANML-16.5-06": {"train"},
	} {
		for _, level := range levels {
			t.Run(id+"/accept-"+level, func(t *testing.T) {
				if got := uses(t, `usage="`+level+`"`, "", true); got != matrix[level] {
					t.Errorf("%s: %s, want %s", level, got, matrix[level])
				}
			})
		}
		t.Run(id+"/reject-unknown", func(t *testing.T) {
			if got := uses(t, `usage="Train"`, "", true); got != "n" {
				t.Error(got)
			}
		})
	}
	right := func(attrs string) string { return `<footer><rights ` + attrs + `>all</rights></footer>` }
	for _, c := range []struct{ name, attrs, more, want string }{
		{"ANML-8.12.1-04/accept-nothing-declared", "", "", "ndc"},
		{"ANML-8.12.1-04/reject-rights-without-usage", `usage="train"`, right(""), "n"},
		{"ANML-8.12.1-04/accept-lowest", `usage="store"`, right(`usage="cache"`), "ndc"},
		{"ANML-16.5-11/accept-lowest", `usage="store"`, right(`usage="cache"`), "ndc"},
		{"ANML-16.5-11/reject-widening", `usage="cache"`, right(`usage="train"`), "ndc"},
		{"ANML-16.5-11/accept-other-scope", `usage="store"`, `<body><section id="s">text</section></body>` + right(`scope="s"`), "ndcs"},
		{"ANML-16.5-12/accept-like-cache", ``, "", "ndc"},
		{"ANML-16.5-12/reject-store", `ttl="5"`, "", "ndc"},
		{"ANML-16.5-13/reject-unknown-scope", `usage="store"`, right(`usage="display" scope="nowhere"`), "nd"},
		{"ANML-16.5-13/accept-known-scope", `usage="store"`, `<body><section id="s">text</section></body>` + right(`usage="display" scope="s"`), "ndcs"},
		{"K22/reject-rights-none", `usage="train"`, right(`usage="none"`), "n"},
		{"K22/reject-unknown", `usage="everything"`, right(`usage="train"`), "n"},
		{"K22/reject-unknown-rights", `usage="train"`, right(`usage="everything"`), "n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := uses(t, c.attrs, c.more, true); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("ANML-16.5-02/reject-kept", func(t *testing.T) {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="none"`), false)
		m.has("")
	})
	for id, c := range map[string]struct {
		usage, attrs, at, next string
	}{
		"ANML-14.4-02": {"none", `ttl="600"`, "", ""},
		"ANML-14.4-03": {"display", `ttl="600"`, "x", ""},
		"ANML-14.4-04": {"cache", `ttl="600"`, "x", "x"},
		"ANML-14.4-06": {"store", ``, "x", "x"},
	} {
		t.Run(id+"/accept-session", func(t *testing.T) {
			m := newMemo(t)
			p := m.tells("https://a.example/x", inform("x", `usage="`+c.usage+`" `+c.attrs), false)
			m.has(c.at)
			for n := range p.Document().Knowledge().Informs() { // always readable now
				if n.Text() != "x" {
					t.Error(n.Text())
				}
			}
		})
		t.Run(id+"/reject-beyond", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="`+c.usage+`" `+c.attrs), false)
			m.again()
			m.has(c.next)
			if got := m.stored() > 0; got != (c.next != "") {
				t.Error("in the store:", got)
			}
			if c.next == "" {
				return
			}
			if _, err := m.s.Forget(t.Context(), "a.example"); err != nil || m.stored() > 0 {
				t.Error("the user's deletion is above it", err)
			}
		})
	}
	t.Run("ANML-14.4-02/reject-document-cache", func(t *testing.T) {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="none"`), false, "Cache-Control", "max-age=600")
		m.net.Journal().Clear()
		if _, err := m.s.Open(t.Context(), "https://a.example/x"); err != nil || len(m.net.Journal().Paths("a.example")) == 0 {
			t.Error("kept as a whole", err)
		}
	})
	t.Run("ANML-14.4-05", func(t *testing.T) {
		t.Run("accept-until-then", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="cache" ttl="600"`), false)
			m.net.Clock().Advance(599 * time.Second)
			m.again()
			m.has("x")
		})
		t.Run("reject-after", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="cache" ttl="600"`), false)
			m.net.Clock().Advance(600 * time.Second)
			m.has("")
			m.again()
			m.has("")
			if m.stored() > 0 {
				t.Error("still in the store")
			}
		})
	})
	t.Run("ANML-14.4-07", func(t *testing.T) {
		t.Run("accept-with-consent", func(t *testing.T) {
			if got := uses(t, `usage="train"`, "", true); got != "ndcst" {
				t.Error(got)
			}
		})
		t.Run("reject-without-consent", func(t *testing.T) {
			if got := uses(t, `usage="train"`, "", false); got != "ndcs" {
				t.Error(got)
			}
		})
	})
	t.Run("ANML-14.4-08", func(t *testing.T) {
		t.Run("reject-permission-of-a-foreign-site", TestContextOfAForeignSite)
		t.Run("accept-restriction-of-anybody", func(t *testing.T) {
			m := newMemo(t)
			p := m.tells("https://a.example/x", `<site domain="brand.example">`+inform("x", `usage="store"`)+`<footer><rights usage="none">mine</rights></footer></site>`, false)
			for site := range p.Document().Sites() {
				for n := range site.Knowledge().Informs() {
					if got := p.EffectiveUsage(site, anmltrust.Knowledge, n.Node); got != anml.UsageNone {
						t.Error(got)
					}
				}
			}
			m.has("")
		})
		t.Run("reject-permission-over-http", func(t *testing.T) {
			net := newLab(t)
			s := newSession(t, net, User{Store: NewMemoryStore()}, Options{InsecureHTTP: true})
			site := net.Site("a.example")
			site.Plain().Ports(443, 80).Body("/x", anml.MediaTypeXML, service(inform("x", `usage="store"`)))
			if _, err := s.Open(t.Context(), "http://a.example/x"); err != nil {
				t.Skip("documents over http cannot be read here: ", err)
			}
			for i := range s.context.Informs("") {
				if i.Usage > anml.UsageDisplay {
					t.Errorf("%+v", i)
				}
			}
		})
	})
	t.Run("ANML-16.5-08", func(t *testing.T) {
		m := newMemo(t)
		m.s.user.Policy.SetTrainingConsent(true)
		m.tells("https://a.example/x", `<knowledge><inform usage="cache" ttl="600">c</inform><inform usage="store">s</inform><inform usage="train">t</inform></knowledge>`, false)
		t.Run("reject-storing-cache", func(t *testing.T) {
			for i := range m.s.context.Informs("") {
				late := m.s.Allowed(i, anml.UsageCache, start.Add(600*time.Second))
				store := m.s.Allowed(i, anml.UsageStore, start)
				if (i.Text == "c") != errors.Is(late, ErrUsage) || (i.Text == "c") != errors.Is(store, ErrUsage) {
					t.Error(i.Text, late, store)
				}
			}
		})
		t.Run("reject-training-on-store", func(t *testing.T) {
			for i := range m.s.context.Training() {
				if i.Text != "t" {
					t.Error(i.Text)
				}
			}
		})
		t.Run("accept-train", func(t *testing.T) {
			n := 0
			for range m.s.context.Training() {
				n++
			}
			if n != 1 {
				t.Error(n)
			}
		})
	})
	t.Run("ANML-16.5-09", func(t *testing.T) {
		t.Run("reject-switch", func(t *testing.T) {
			// Whatever options a host sets, none is above what the service permits.
			net := newLab(t)
			s := newSession(t, net, User{Store: NewMemoryStore()}, Options{SharedCache: true, NeverSiteRefs: true})
			pageFor(t, net, s, "https://a.example/x", inform("x", `usage="none"`))
			if got := texts(s.context, ""); got != "" {
				t.Error(got)
			}
		})
		t.Run("accept-permitted", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="display"`), false)
			m.has("x")
		})
	})
	t.Run("ANML-8.7.1-02", func(t *testing.T) {
		for name, c := range map[string]struct {
			attrs, header string
			life          time.Duration
		}{
			"own": {`ttl="60"`, "", 60}, "smallest-http": {`ttl="600"`, "max-age=60", 60}, "smallest-own": {`ttl="60"`, "max-age=600", 60},
		} {
			var header []string
			if c.header != "" {
				header = []string{"Cache-Control", c.header}
			}
			t.Run("accept-"+name, func(t *testing.T) {
				m := newMemo(t)
				m.tells("https://a.example/x", inform("x", c.attrs), false, header...)
				m.net.Clock().Advance(c.life*time.Second - time.Second)
				m.has("x")
			})
			t.Run("reject-"+name, func(t *testing.T) {
				m := newMemo(t)
				m.tells("https://a.example/x", inform("x", c.attrs), false, header...)
				m.net.Clock().Advance(c.life * time.Second)
				m.has("")
			})
		}
		t.Run("reject-no-store", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `ttl="60"`), false, "Cache-Control", "no-store")
			m.has("")
		})
		t.Run("accept-document-ttl", func(t *testing.T) {
			m := newMemo(t)
			doc := strings.Replace(service(inform("x", `ttl="600"`)), `role="service"`, `role="service" ttl="60"`, 1)
			pageFor(t, m.net, m.s, "https://a.example/x", doc)
			m.net.Clock().Advance(time.Minute)
			m.has("")
		})
	})
}

// TestRelationshipRows shows that an unknown relationship is like none.
func TestRelationshipRows(t *testing.T) {
	refs := func(t *testing.T, relationship string) string {
		net := newLab(t)
		s := newSession(t, net, User{}, Options{})
		net.Site("maker.example").Body("/anml", anml.MediaTypeXML, service(`<head><title>Maker</title></head>`))
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
