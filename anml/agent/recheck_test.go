package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestVetoIsHeardAgain: the host's veto stands between the user's word and what
// leaves, however long that was waited for.
func TestVetoIsHeardAgain(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		allow bool
	}{
		"asked":   {booking(rule("email", "explicit-consent"), askFor("email")), false},
		"allowed": {booking(rule("email", "none"), askFor("email")), true},
	} {
		for how, veto := range map[string]func(Decision) error{
			"error": func(Decision) error { return errDown }, "panic": func(Decision) error { panic("x") },
			"zero-ask": func(d Decision) error { _ = d.Ask.Purpose() + d.Ask.Field(); return errDown },
		} {
			t.Run("reject-"+name+"-"+how, func(t *testing.T) {
				st := asker(t)
				if c.allow {
					st.allow("email", "*")
				}
				var seen []Decision
				st.user.Policy.Veto = func(_ context.Context, d Decision) error {
					if seen = append(seen, d); len(seen) == 1 {
						return nil
					}
					return veto(d)
				}
				x := st.prepares(st.page(c.doc), Call{})
				must(t, third(x.settle(all, start.Add(time.Hour))))
				entries := x.sends(all, `<refuse field="email" reason="policy-violation"`, "!"+annsEmail)
				if e := entries[0]; e.Kind != EntryRefused || e.Reference != "" || !e.Granted.IsZero() {
					t.Errorf("the refusal is recorded with a consent: %+v", e)
				}
				again := seen[1]
				if again.Field != "email" || again.Owner.Domain != "shop.example" || again.Owner.Serving != seen[0].Owner.Serving || again.Verb != seen[0].Verb || again.Basis != seen[0].Basis ||
					again.Reference != seen[0].Reference || again.Rule != seen[0].Rule || again.Code != seen[0].Code {
					t.Errorf("first %+v\nthen %+v", seen[0], again)
				}
				if list, err := st.s.Consents(t.Context()); err != nil || len(list) != 0 {
					t.Error("a consent to what was vetoed is kept", list, err)
				}
			})
		}
	}
	t.Run("reject-arguments", func(t *testing.T) {
		st := asker(t)
		n := 0
		st.user.Policy.Veto = func(context.Context, Decision) error {
			if n++; n > 1 {
				return errDown
			}
			return nil
		}
		x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": annsEmail}})
		hasCode(t, third(x.settle(all, time.Time{})), CodePolicyVeto)
	})
	t.Run("reject-resumed", func(t *testing.T) { // by the policy of the process that sends
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Pending()}})
		_, err := s.page.Do(t.Context(), Call{Action: "book"})
		pending := pendingOf(t, err)
		p := &UserPolicy{Veto: func(_ context.Context, d Decision) error {
			if d.Field == "tel" {
				return errDown
			}
			return nil
		}}
		other := s.open(Options{}, User{Profile: ada, Policy: p})
		_, err = other.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
		must(t, err)
		s.wantSent("ada@example.org", `<refuse field="tel" reason="policy-violation"`, "!7946")
	})
}

// TestPlainArgumentsAreLookedAtAgain: no one was asked about them, so they are not
// sent once there is a reason to ask.
func TestPlainArgumentsAreLookedAtAgain(t *testing.T) {
	call := Call{Action: "find", Args: map[string]string{"q": "booking 998877"}}
	const says = `<knowledge><inform>Your booking is 998877</inform></knowledge>`
	prepare := func(t *testing.T, st *stand) *prepared {
		x := st.prepares(st.page(booking("", "")), call)
		if len(x.items) != 0 || x.e.discloses() {
			t.Fatalf("%+v", x.items)
		}
		must(t, third(x.settle(none, time.Time{})))
		return x
	}
	t.Run("reject-deleted-since", func(t *testing.T) {
		st := asker(t)
		pageFor(t, st.net, st.session(), "https://shop.example/told", says)
		x := prepare(t, st)
		_, err := st.s.Forget(t.Context(), "shop.example")
		must(t, err)
		_, _, err = x.settle(all, time.Time{})
		hasCode(t, err, CodeDeletedContext)
	})
	t.Run("reject-told-by-its-provenance", func(t *testing.T) { // so sending it once does not make it the user's
		st := asker(t)
		x := st.prepares(st.page(booking("", askFor("acme:tier"))), Call{Reply: &Reply{Values: map[string]Value{"acme:tier": {Text: "9876-5432", Provenance: "a.example"}}}})
		x.sends(all, `value="9876-5432"`)
		pageFor(t, st.net, st.s, "https://a.example/told", inform("Member 9876-5432", ""))
		equals(t, domains(sourcesOf(st.s, "shop.example", "9876-5432")), "a.example")
	})
	t.Run("reject-learned-since", func(t *testing.T) {
		st := asker(t)
		x := prepare(t, st)
		pageFor(t, st.net, st.s, "https://a.example/told", says)
		hasCode(t, third(x.settle(all, time.Time{})), CodeCrossService)
	})
	t.Run("accept-a-rule-that-does-not-name-it", func(t *testing.T) {
		st := asker(t)
		x := prepare(t, st)
		must(t, st.user.Policy.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectDeny}))
		must(t, third(x.settle(none, time.Time{})))
	})
	t.Run("reject-learned-since-though-a-rule-names-it", func(t *testing.T) {
		st := asker(t)
		x := prepare(t, st)
		must(t, st.user.Policy.Set(StandingRule{Field: "q", Domain: "*", Effect: EffectAllow}))
		pageFor(t, st.net, st.s, "https://a.example/told", says)
		hasCode(t, third(x.settle(all, time.Time{})), CodeCrossService)
	})
}

// TestToldAgainMoreStrictly: the user was asked about what one service told to
// everybody; since then it tells it in confidence.
func TestToldAgainMoreStrictly(t *testing.T) {
	for confidentiality, reason := range map[string]anml.Reason{"restricted": anml.UserDenied, "private": anml.PolicyViolation} {
		c := transfers(t, "", lookleaptest.Refuse())
		x := c.prepares(c.b, Call{})
		pageFor(t, c.net, c.s, "https://a.example/again", `<knowledge><inform confidentiality="`+confidentiality+`">Member 4711-8822</inform></knowledge>`)
		x.sends(all, `<refuse field="member" reason="`+string(reason)+`"`, "!4711")
	}
}

// TestSensitiveSince: a standing rule no longer tells what was told for a
// sensitive purpose meanwhile, in whichever session.
func TestSensitiveSince(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		st := asker(t).allow("tel", "*")
		st.user.Store = lookleap.NewMemoryStore()
		plain := booking(rule("tel", "none"), askFor("tel"))
		p := st.page(plain)
		x := st.prepares(p, Call{})
		s := st.s
		if elsewhere {
			st.s = nil
		}
		st.prepares(pageFor(t, st.net, st.session(), "https://shop.example/health", strings.Replace(plain, "to send the ticket", "health intake", 1)), Call{}).sends(all, `field="tel" value`)
		x.p.session = s
		x.sends(none, `<refuse field="tel" reason="user-denied"`, "!123456")
	}
}

// TestRefusalsBeforeSending: whatever ends a call by a decision is in the ledger,
// with each field that was refused, wherever on its way the call was.
func TestRefusalsBeforeSending(t *testing.T) {
	email := map[string]string{"q": "ada@example.org"}
	deny := func(field string) *UserPolicy {
		p := &UserPolicy{}
		must(t, p.Set(StandingRule{Field: field, Domain: "*"}))
		return p
	}
	searching := booking("", "")
	for name, c := range map[string]struct {
		doc    string
		user   User
		call   Call
		reply  lookleaptest.Reply
		host   func(*lookleap.Host)
		before func(*stage)
		want   lookleap.Code
		ledger []string
		plan   bool // one was made
	}{
		"accept-argument": {searching, User{Policy: deny("email")}, Call{Action: "find", Args: email}, nil, nil, nil,
			CodeUserRule, []string{"refused email user-rule", "refused user-rule"}, false},
		"accept-own-words": {searching, User{Policy: deny("email")}, Call{Action: "book", Reply: &Reply{Informs: []Value{{Text: "hello"}, {Text: "write to ada@example.org"}}}}, nil, nil, nil,
			CodeUserRule, []string{"refused inform user-rule", "refused user-rule"}, false},
		"accept-answers-before-it": {booking("", askFor("email")+askFor("tel")), User{Policy: deny("email")},
			Call{Action: "book", Reply: &Reply{Informs: []Value{{Text: "ada@example.org"}}}}, nil, nil, nil,
			CodeUserRule, []string{"refused email user-rule", "refused inform user-rule", "refused user-rule"}, false},
		"accept-authentication": {`<constraints>` + rule("email", "authentication") + `</constraints>` + searching, User{Authenticate: func(context.Context, string) error { return errTest }},
			Call{Action: "find", Args: email}, nil, nil, nil, CodeAuthentication, []string{"refused email authentication", "refused authentication"}, false},
		"accept-without-prompter": {asking, User{}, Call{Action: "book"}, nil, func(h *lookleap.Host) { h.Prompter = nil }, nil,
			lookleap.CodeConsentNoPrompter, []string{"refused email consent-no-prompter", "refused tel consent-no-prompter", "refused consent-no-prompter"}, true},
		"accept-asking-fails": {asking, User{}, Call{Action: "book"}, lookleaptest.Fail(errTest), nil, nil,
			lookleap.CodeConsentFailed, []string{"refused email consent-failed", "refused tel consent-failed", "refused consent-failed"}, true},
		"accept-users-no": {asking, User{Policy: deny("tel")}, Call{Action: "book"}, lookleaptest.Refuse(), nil, nil,
			lookleap.CodeConsentRefused, []string{"refused email consent-refused", "refused tel user-rule", "refused consent-refused"}, true},
		"accept-vetoed-act": {asking, User{Policy: &UserPolicy{VetoAct: func(context.Context, Act) error { return errTest }}}, Call{Action: "book"}, lookleaptest.Approve(itemAct, "answer-1"), nil, nil,
			CodePolicyVeto, []string{"refused tel consent-refused", "refused policy-veto"}, true},
		"reject-waiting":       {asking, User{}, Call{Action: "book"}, lookleaptest.Pending(), nil, nil, lookleap.CodeConsentPending, nil, true},
		"reject-wrong-use":     {asking, User{}, Call{Action: "book", Args: map[string]string{"nope": "x"}}, nil, nil, nil, lookleap.CodeUsage, nil, true},
		"reject-unknown-field": {asking, User{}, Call{Action: "book", Reply: &Reply{Omit: []string{"nope"}}}, nil, nil, nil, CodeNotAsked, nil, true},
	} {
		t.Run("ANML-14.1-03/"+name, func(t *testing.T) {
			c.user.Profile, c.user.Ledger = ada, lookleap.NewMemoryStore()
			set := setting{doc: c.doc, user: c.user, host: c.host}
			if c.reply != nil {
				set.replies = []lookleaptest.Reply{c.reply}
			}
			s := newStage(t, set)
			if c.before != nil {
				c.before(s)
			}
			s.does(c.call, c.want)
			s.sends()
			sameList(t, ledgerOf(t, c.user.Ledger), c.ledger)
			for e := range NewLedger(c.user.Ledger).Entries(t.Context()) {
				if e.Kind != EntryRefused || e.Reason == "" || e.Action != c.call.Action || e.Serving != "shop.example" || (e.Plan != "") != c.plan ||
					e.Field != "" && e.Code == CodeUserRule && e.Reason != anml.UserDenied {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	t.Run("ANML-13.2-13/reject-unwritten", func(t *testing.T) { // is reported with the refusal itself
		s := newStage(t, setting{doc: searching, user: User{Profile: ada, Policy: deny("email"), Ledger: brokenLedger(false)}})
		_, err := s.page.Do(t.Context(), Call{Action: "find", Args: email})
		hasCode(t, err, CodeUserRule)
		isError(t, err, errTest)
	})
	t.Run("ANML-14.1-03/accept-caller-left", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}})
		s.user.Then(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			leave()
			return lookleap.ConsentDecision{}, ctx.Err()
		})
		_, _ = s.page.Do(ctx, Call{Action: "book"})
		equals(t, len(ledgerOf(t, s.session.Ledger())), 3)
	})
}
