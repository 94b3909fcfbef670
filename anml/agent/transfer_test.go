package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// crossing is a stand where a.example told a member number that b.example wants.
type crossing struct {
	*stand
	b *Page
}

func transfers(t *testing.T, confidentiality string, replies ...lookleaptest.Reply) crossing {
	st := newStand(t, replies...)
	st.user.Profile = Fields{"member": {Text: "4711-8822"}}
	st.user.Store = lookleap.NewMemoryStore()
	pageFor(t, st.net, st.session(), "https://a.example/a", `<knowledge><inform `+confidentiality+`>Member 4711-8822</inform></knowledge>`)
	return crossing{st, pageFor(t, st.net, st.session(), "https://b.example/b", booking("", askFor("member", `required="true"`, `purpose="to find your points"`)))}
}

var member = Transfer{Action: "book", Field: "member"}

func TestTransfer(t *testing.T) {
	restricted := `confidentiality="restricted"`
	t.Run("public-is-asked-about", func(t *testing.T) {
		c := transfers(t, "", lookleaptest.Refuse())
		x := c.prepares(c.b, Call{})
		if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "a.example told this, and b.example would learn it") {
			t.Fatalf("%+v", x.items)
		}
		entries := x.sends(all, `value="4711-8822" consent="explicit"`)
		equals(t, entries[0].From, "a.example")
		x.sends(none, `<refuse field="member" reason="user-denied"`, "!4711")
		// Never remembered.
		must(t, third(x.settle(all, start.Add(time.Hour))))
		equals(t, len(c.prepares(c.b, Call{}).items), 1)
	})
	t.Run("private-never", func(t *testing.T) {
		c := transfers(t, `confidentiality="private"`, lookleaptest.Approve())
		c.prepares(c.b, Call{}).sends(all, `<refuse field="member" reason="policy-violation"`, "!4711")
		hasCode(t, c.b.AuthorizeTransfer(t.Context(), member), CodePrivateContext)
	})
	t.Run("restricted-by-itself", func(t *testing.T) {
		c := transfers(t, restricted, lookleaptest.Approve())
		equals(t, brief(c.b.Decide(t.Context())[0]), "defer restricted-context")
		must(t, c.b.AuthorizeTransfer(t.Context(), member))
		asked := c.ask.Requests()
		if len(asked) != 1 || len(asked[0].Items) != 1 || asked[0].Kind != lookleap.ConsentDisclose || asked[0].Items[0].Optional {
			t.Fatalf("%+v", asked)
		}
		hasTexts(t, asked[0].Items[0].Summary, "a.example", "b.example", `the field "member" with "4711-8822"`)
		err := c.b.AuthorizeTransfer(t.Context(), member)
		if hasCode(t, err, lookleap.CodeUsage); !strings.Contains(err.Error(), "authorized already") {
			t.Error(err)
		}
		x, again := c.prepares(c.b, Call{}), c.prepares(c.b, Call{})
		if len(x.items) != 0 {
			t.Fatal(x.items)
		}
		x.sends(none, `value="4711-8822" consent="explicit"`)
		again.sends(none, `<refuse field="member"`, "!4711") // once
		equals(t, brief(c.b.Decide(t.Context())[0]), "defer restricted-context")
	})
	t.Run("for-this-value-and-service-alone", func(t *testing.T) {
		c := transfers(t, restricted, lookleaptest.Approve())
		must(t, c.b.AuthorizeTransfer(t.Context(), member))
		other := Call{Reply: &Reply{Values: map[string]Value{"member": {Text: "member 4711-8822"}}}}
		hasCode(t, second(c.prepare(c.b, other)), CodeRequiredAskOpen)
		third := pageFor(t, c.net, c.s, "https://c.example/c", booking("", askFor("member", `purpose="to find your points"`)))
		if d := third.Decide(t.Context())[0]; d.Verb != VerbDefer {
			t.Error(brief(d))
		}
	})
	t.Run("pending", func(t *testing.T) {
		c := transfers(t, restricted, lookleaptest.Pending())
		err := c.b.AuthorizeTransfer(t.Context(), member)
		pending := pendingOf(t, err)
		// Another process of the same user goes on.
		c.s = nil
		must(t, c.session().ResumeTransfer(t.Context(), pending.State, lookleaptest.Decide(pending.Request)))
		list, err := c.s.Consents(t.Context())
		if err != nil || len(list) != 1 || !list[0].Once || list[0].Recipient != "b.example" || list[0].From[0] != "a.example" {
			t.Fatal(list, err)
		}
		hasCode(t, c.s.ResumeTransfer(t.Context(), pending.State, lookleaptest.Decide(pending.Request)), lookleap.CodePlanDone)
		if _, err := c.s.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); err == nil {
			t.Error("an authorization was resumed as a call")
		}
	})
}

// TestTransferOfAnotherPlan: a call that waits for its user is not used up by being
// taken for an authorization.
func TestTransferOfAnotherPlan(t *testing.T) {
	s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Pending()}})
	_, err := s.page.Do(t.Context(), Call{Action: "book"})
	pending := pendingOf(t, err)
	approved := lookleaptest.Decide(pending.Request)
	denied := lookleap.ConsentDecision{Digest: approved.Digest}
	for _, d := range []lookleap.ConsentDecision{approved, denied} {
		hasCode(t, s.session.ResumeTransfer(t.Context(), pending.State, d), lookleap.CodePlanInvalid)
	}
	if e := entries(t, s.session.Ledger(), EntryRefused); len(e) > 0 {
		t.Errorf("refused: %+v", e)
	}
	must(t, second(s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))))
}

// TestTransferRows shows that what one service told reaches no other one unless
// the user says so.
func TestTransferRows(t *testing.T) {
	plain := Value{Text: secret}
	t.Run("ANML-14.1-08", func(t *testing.T) {
		t.Run("accept-user-said-so", func(t *testing.T) {
			s := crossed(t, "", Value{Text: secret, Provenance: ProvenanceUser})
			s.does(book, lookleap.CodeOK)
			s.wantSent(secret)
			s.hasAsked("!a.example")
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
				s := crossed(t, "", Value{Text: text}, lookleaptest.Refuse())
				s.does(book, lookleap.CodeConsentRefused)
				s.wantSent("!8822")
			})
		}
		t.Run("reject-argument", func(t *testing.T) {
			s := crossed(t, `confidentiality="private"`, plain)
			_, err := s.page.Do(t.Context(), Call{Action: "other", Args: nil, Reply: &Reply{Informs: []Value{{Text: "I am member " + secret}}}})
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
			s := crossed(t, "", plain, lookleaptest.ApproveUntil(start.Add(24*365*time.Hour)), lookleaptest.Refuse())
			s.does(book, lookleap.CodeOK)
			s.net.Journal().Clear()
			s.does(book, lookleap.CodeConsentRefused)
			s.wantSent("!" + secret)
			equals(t, len(s.user.Requests()), 2)
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
				s.hasAsked("!" + secret)
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
				user: User{Profile: ann, Policy: p, Store: lookleap.NewMemoryStore()},
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
			s := crossed(t, attrs, plain, lookleaptest.Approve())
			t.Run("reject-answer", func(t *testing.T) {
				s.does(book, lookleap.CodeOK)
				s.wantSent("!" + secret)
			})
			t.Run("reject-own-inform", func(t *testing.T) {
				_, _ = s.page.Do(t.Context(), Call{Action: "book", Reply: &Reply{Informs: []Value{{Text: "They call me " + secret + "."}}}})
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

// elsewhere opens the document of another service in the stage's session; what is
// sent is counted from then on.
func (s *stage) elsewhere(url, sections string) *Page {
	s.Helper()
	p := pageFor(s.T, s.net, s.session, url, sections)
	s.net.Journal().Clear()
	return p
}

const secret = "4711-8822"

// crossed is a stage where a.example told a member number, and the shop asks for it.
func crossed(t *testing.T, attrs string, v Value, replies ...lookleaptest.Reply) *stage {
	t.Helper()
	return crossedIn(t, CrossServiceMatch, attrs, v, replies...)
}

// crossedIn is crossed with a user who wants the mode.
func crossedIn(t *testing.T, mode CrossService, attrs string, v Value, replies ...lookleaptest.Reply) *stage {
	t.Helper()
	p := &UserPolicy{CrossService: mode}
	must(t, p.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectAllow}))
	s := newStage(t, setting{
		doc:  booking(rule("email", "none"), askFor("email", `required="true"`)),
		user: User{Profile: Fields{"email": v}, Policy: p, Store: lookleap.NewMemoryStore()}, replies: replies,
	})
	s.elsewhere("https://www.a.example/x", inform("Member "+secret, attrs))
	return s
}

// TestTransferOfArgumentsAndInforms: what one service told in confidence reaches
// another one as an argument or in the agent's own words too, after an authorization
// of its own and once.
func TestTransferOfArgumentsAndInforms(t *testing.T) {
	const number = "my number is 4711-8822"
	value := &Value{Text: number}
	restricted := `confidentiality="restricted"`
	for name, c := range map[string]struct {
		transfer Transfer
		call     Call
	}{
		"argument": {Transfer{Action: "find", Param: "q", Value: value}, Call{Action: "find", Args: map[string]string{"q": number}}},
		"inform":   {Transfer{Action: "book", Inform: true, Value: value}, Call{Action: "book", Reply: &Reply{Informs: []Value{{Text: number}}, Omit: []string{}}}},
	} {
		t.Run("ANML-14.2-03/accept-authorized-"+name, func(t *testing.T) {
			c, s := c, transfers(t, restricted, lookleaptest.Approve())
			s.b = pageFor(t, s.net, s.s, "https://b.example/c", booking("", ""))
			hasCode(t, second(s.prepare(s.b, c.call)), CodeRestrictedContext)
			must(t, s.b.AuthorizeTransfer(t.Context(), c.transfer))
			asked := s.ask.Requests()
			if len(asked) != 1 || len(asked[0].Items) != 1 || !strings.Contains(asked[0].Items[0].Summary, number) || !strings.Contains(asked[0].Items[0].Summary, "a.example told this, and b.example would learn it") {
				t.Fatalf("%+v", asked)
			}
			hasCode(t, s.b.AuthorizeTransfer(t.Context(), c.transfer), lookleap.CodeUsage)
			x, again := s.prepares(s.b, c.call), s.prepares(s.b, c.call)
			if len(x.items) != 0 {
				t.Fatalf("asked again: %+v", x.items)
			}
			disclosures, err := x.p.session.recheck(t.Context(), x.e, "plan", none, time.Time{}, start)
			entries := s.s.entries(x.e.Exchange, "plan", disclosures, start)
			if err != nil || len(disclosures) != 1 || disclosures[0].Value != number || entries[0].Kind != EntryDisclosed || entries[0].From != "a.example" || entries[0].Basis != "explicit" {
				t.Errorf("%+v, %v", entries, err)
			}
			disclosures, err = again.p.session.recheck(t.Context(), again.e, "plan", none, time.Time{}, start)
			if disclosures[0].Value != "" || !disclosures[0].refused() || (err == nil) != (name == "inform") {
				t.Errorf("told twice: %+v, %v", disclosures, err)
			}
		})
		t.Run("ANML-14.2-03/reject-authorized-for-another-"+name, func(t *testing.T) {
			s := transfers(t, restricted, lookleaptest.Approve())
			s.b = pageFor(t, s.net, s.s, "https://b.example/c", booking("", ""))
			other := c.transfer
			other.Value = &Value{Text: "their number is 4711-8822"}
			must(t, s.b.AuthorizeTransfer(t.Context(), other))
			hasCode(t, second(s.prepare(s.b, c.call)), CodeRestrictedContext)
		})
		t.Run("ANML-14.2-02/reject-private-"+name, func(t *testing.T) {
			s := transfers(t, `confidentiality="private"`, lookleaptest.Approve())
			err := s.b.AuthorizeTransfer(t.Context(), c.transfer)
			if hasCode(t, err, CodePrivateContext); !strings.Contains(err.Error(), "the "+name) {
				t.Errorf("%v does not say what is refused", err)
			}
			if len(s.ask.Requests()) != 0 {
				t.Error("the user was asked")
			}
		})
	}
	t.Run("ANML-14.2-03/accept-shown-as-it-is-sent", func(t *testing.T) {
		st := newStand(t, lookleaptest.Approve())
		pageFor(t, st.net, st.session(), "https://a.example/a", `<knowledge><inform confidentiality="restricted">You are `+annsEmail+`</inform></knowledge>`)
		p := pageFor(t, st.net, st.s, "https://b.example/b", booking("", ""))
		must(t, p.AuthorizeTransfer(t.Context(), Transfer{Action: "find", Param: "q", Value: &Value{Text: annsEmail}}))
		hasTexts(t, st.ask.Requests()[0].Items[0].Summary, `the argument "q"`, `which is your "email"`)
		if x := st.prepares(p, Call{Action: "find", Args: map[string]string{"q": annsEmail}}); len(x.items) != 0 || x.e.Disclosures[0].Code != CodeConsentHeld {
			t.Errorf("%+v", x.e)
		}
	})
	t.Run("ANML-14.2-03/reject-malformed", func(t *testing.T) {
		s := transfers(t, restricted, lookleaptest.Approve())
		for _, x := range []Transfer{
			{Action: "find", Param: "q"}, {Action: "book", Inform: true}, {Action: "find", Param: "q", Field: "member", Value: value},
			{Action: "find", Param: "q", Inform: true, Value: value}, {Action: "find", Param: "q", Value: &Value{Text: "shoes"}},
		} {
			hasCode(t, s.b.AuthorizeTransfer(t.Context(), x), lookleap.CodeUsage)
		}
		hasCode(t, s.b.AuthorizeTransfer(t.Context(), Transfer{Action: "find", Param: "nope", Value: value}), anml.CodeParamUnknown)
		hasCode(t, s.b.AuthorizeTransfer(t.Context(), Transfer{Action: "find", Field: "member"}), CodeNoBodyMethod)
	})
}
