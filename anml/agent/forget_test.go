package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestForgetRows shows that deleted context is told to no one any more.
func TestForgetRows(t *testing.T) {
	plain := Value{Text: secret}
	t.Run("ANML-14.2-05", func(t *testing.T) {
		for _, name := range []string{"a.example", "www.a.example", "A.example.", "https://a.example/"} {
			t.Run("accept-"+strings.Trim(strings.NewReplacer("/", "", ":", "").Replace(name), "."), func(t *testing.T) {
				s := crossed(t, `usage="store"`, plain)
				p := pageFor(t, s.net, s.session, "https://www.a.example/kept", `<head ttl="600"><title>A</title></head><persona><tone>kind</tone></persona>`+inform("more", `usage="store"`))
				if p.opened.limited {
					s.session.pages.keep(p.url, p, nil, s.session.pages.begin())
				}
				f, err := s.session.Forget(t.Context(), name)
				must(t, err)
				equals(t, f.Informs, 2)
				equals(t, texts(s.session.context, ""), "")
				if keys, _ := s.session.store.Keys(t.Context(), keyInform); len(keys) != 0 {
					t.Error(keys)
				}
			})
		}
		t.Run("accept-owner-site", func(t *testing.T) {
			s := crossed(t, "", plain)
			s.elsewhere("https://host.example/x", `<site domain="brand.example">`+inform("Points 9876-5432", "")+`</site>`)
			if f, err := s.session.Forget(t.Context(), "brand.example"); err != nil || f.Informs != 0 { // it was not kept
				t.Errorf("%+v %v", f, err)
			}
			if got := sourcesOf(s.session, "b.example", "9876-5432"); len(got) != 1 || !got[0].deleted {
				t.Error(got)
			}
		})
		t.Run("accept-consents", func(t *testing.T) {
			s := newStage(t, setting{
				doc: booking(rule("email", "none"), askFor("email")), user: User{Profile: ann, Store: lookleap.NewMemoryStore()},
				replies: []lookleaptest.Reply{lookleaptest.ApproveUntil(time.Now().Add(time.Hour))},
			})
			s.does(book, lookleap.CodeOK)
			f, err := s.session.Forget(t.Context(), "shop.example")
			must(t, err)
			equals(t, f.Consents, 1)
		})
		t.Run("accept-what-another-session-stored", func(t *testing.T) {
			m := newMemo(t)
			other := newSession(t, m.net, User{Store: m.store}, Options{})
			pageFor(t, m.net, other, "https://a.example/x", inform("Member "+secret, `usage="store"`))
			if f, err := m.s.Forget(t.Context(), "a.example"); err != nil || f.Informs != 1 || m.stored() != 0 {
				t.Errorf("%+v %v, in the store: %d", f, err, m.stored())
			}
			if got := sourcesOf(m.s, "b.example", secret); len(got) != 1 || !got[0].deleted {
				t.Error(got)
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
			equals(t, texts(s.session.context, "a.example"), "Member "+secret)
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
			s.hasAsked("!" + secret)
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
			for from, want := range map[string]string{"www.a.example:443": "-a.example", "b.example": "b.example"} {
				for _, text := range []string{"anything", "?!"} { // the second has nothing that a service could have told
					equals(t, domains(s.sources("c.example", Value{Text: text, Provenance: from})), want)
				}
			}
			hears(s, "c.example", "4711-8822 told by another one")
			hears(s, "a.example", "---")
			for _, text := range []string{"4711-8822", "?!"} {
				equals(t, domains(s.sources("c.example", Value{Text: text, Provenance: "a.example"})), "-a.example")
			}
		})
		t.Run("reject-to-itself", func(t *testing.T) {
			s := crossed(t, "", plain)
			own := s.elsewhere("https://shop.a.example/x", booking(rule("email", "none"), askFor("email")))
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			if d := own.Decide(t.Context())[0]; d.Verb != VerbRefuse || d.Code != CodeDeletedContext {
				t.Error(brief(d))
			}
		})
		t.Run("reject-while-prepared", func(t *testing.T) {
			s := crossed(t, "", plain, lookleaptest.Pending())
			pending := s.suspended(book)
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			_, err = s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
			must(t, err)
			s.wantSent("!"+secret, `reason="user-denied"`)
		})
		t.Run("reject-while-prepared-elsewhere", func(t *testing.T) {
			for _, v := range []Value{plain, {Text: "other", Provenance: "a.example"}} {
				s := crossed(t, "", v, lookleaptest.Pending())
				pending := s.suspended(book)
				other := s.open(Options{}, User{Store: s.session.user.Store})
				pageFor(t, s.net, other, "https://www.a.example/x", inform("Member "+secret, ""))
				_, err := other.Forget(t.Context(), "a.example")
				must(t, err)
				s.net.Journal().Clear()
				_, err = s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
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
				equals(t, texts(s.session.context, ""), "")
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
			must(t, store.Put(t.Context(), keys[0], nil, kept, time.Time{}))
			again := s.open(Options{}, s.session.user)
			equals(t, texts(again.context, ""), "")
		})
		t.Run("reject-on-its-way", func(t *testing.T) {
			// The answer came before the deletion, and is taken up after it.
			m := newMemo(t)
			p := m.tells("https://a.example/x", inform("Member "+secret, `usage="store"`), false)
			m.net.Clock().Advance(time.Second)
			_, err := m.s.Forget(t.Context(), "a.example")
			must(t, err)
			must(t, m.s.context.receive(t.Context(), p))
			m.has("")
			if got := sourcesOf(m.s, "b.example", secret); len(got) != 1 || !got[0].deleted || m.stored() != 0 {
				t.Error(got, m.stored())
			}
		})
		t.Run("accept-told-again", func(t *testing.T) {
			s := crossed(t, "", plain)
			_, err := s.session.Forget(t.Context(), "a.example")
			must(t, err)
			s.elsewhere("https://www.a.example/new", inform("Member "+secret, ""))
			if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != CodeCrossService {
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
			s.session.store = failing{s.session.user.Store, keyDeleted}
			if _, err := s.session.Forget(t.Context(), "a.example"); !errors.Is(err, errTest) || lookleap.CodeOf(err) != lookleap.CodeIO {
				t.Error(err)
			}
			if d := s.page.Decide(t.Context())[0]; d.Code != CodeDeletedContext {
				t.Error(brief(d))
			}
			// Once it works again, the deletion is on record as it was.
			s.session.store = s.session.user.Store
			must(t, s.session.Close())
			s.session = s.open(Options{}, s.session.user)
			equals(t, domains(sourcesOf(s.session, "b.example", secret)), "-a.example")
		})
	})
}

// forgetting is a profile that keeps what services told.
type forgetting struct {
	Fields
	gone *[]string
}

func (f forgetting) Forget(_ context.Context, domain string) (int, error) {
	*f.gone = append(*f.gone, domain)
	return 3, nil
}

// TestForgottenParties: what a domain had a part in is deleted, and nothing of others.
func TestForgottenParties(t *testing.T) {
	for name, c := range map[string]struct {
		held Consent
		gone bool
	}{
		"accept-consent-of-its-document":  {Consent{Serving: "a.example", Owner: "b.example", Recipient: "b.example"}, true},
		"accept-consent-of-its-ask":       {Consent{Serving: "b.example", Owner: "a.example", Recipient: "b.example"}, true},
		"accept-consent-of-its-endpoint":  {Consent{Serving: "b.example", Owner: "b.example", Recipient: "www.a.example"}, true},
		"accept-consent-of-what-it-told":  {Consent{Serving: "b.example", Owner: "b.example", Recipient: "b.example", From: []string{"c.example", "a.example"}}, true},
		"reject-consent-of-other-parties": {Consent{Serving: "b.example", Owner: "xa.example", Recipient: "a.example.net", From: []string{"ba.example"}}, false},
	} {
		t.Run("ANML-14.2-05/"+name, func(t *testing.T) {
			m := newMemo(t)
			c.held.ID, c.held.Field, c.held.Granted, c.held.Until = "x", "email", m.s.now(), m.s.now().Add(time.Hour)
			must(t, m.s.consents.remember(t.Context(), keyConsent, consent{Consent: c.held}))
			f, err := m.s.Forget(t.Context(), "a.example")
			list, lerr := m.s.Consents(t.Context())
			if err != nil || lerr != nil || f.Consents != map[bool]int{true: 1}[c.gone] || len(list)+f.Consents != 1 {
				t.Errorf("%+v %v, left %v %v", f, err, list, lerr)
			}
		})
	}
	const persona = `<persona><tone value="formal"/></persona>`
	for name, c := range map[string]struct {
		url, doc string
		pages    int
	}{
		"accept-page-of-the-domain":   {"https://a.example/x", persona, 1},
		"accept-page-below-it":        {"https://www.a.example/x", "", 1},
		"accept-page-that-names-it":   {"https://b.example/x", `<head><title>T</title><trust domain="a.example"/></head>` + persona, 1},
		"accept-page-with-its-site":   {"https://b.example/x", `<site domain="b.example">` + persona + `</site><site domain="a.example">` + persona + `</site>`, 1},
		"reject-page-of-another":      {"https://xa.example/x", persona, 0},
		"reject-page-of-another-name": {"https://a.example.net/x", persona, 0},
	} {
		t.Run("ANML-14.2-05/"+name, func(t *testing.T) {
			m := newMemo(t)
			m.tells(c.url, c.doc, false, "Cache-Control", "max-age=600")
			if f, err := m.s.Forget(t.Context(), "a.example"); err != nil || f.Pages != c.pages {
				t.Errorf("%+v %v", f, err)
			}
			m.net.Journal().Clear()
			_, err := m.s.Open(t.Context(), c.url)
			must(t, err)
			if n := len(m.net.Journal().Requests()); (n > 0) != (c.pages > 0) {
				t.Errorf("%d requests", n)
			}
		})
	}
}
