package agent

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestRefusalsBeforeSending: whatever ends a call by a decision is in the ledger,
// with each field that was refused, wherever on its way the call was.
func TestRefusalsBeforeSending(t *testing.T) {
	email := map[string]string{"q": "ada@example.org"}
	deny := func(field string) *UserPolicy {
		p := &UserPolicy{}
		if err := p.Set(StandingRule{Field: field, Domain: "*"}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	searching := booking("", "")
	for name, c := range map[string]struct {
		doc    string
		user   User
		call   Call
		reply  labprompt.Reply
		host   func(*lookleap.Host)
		before func(*stage)
		want   lookleap.Code
		ledger []string
		plan   bool // one was made
	}{
		"accept-argument": {searching, User{Policy: deny("email")}, Call{Action: "find", Args: email}, nil, nil, nil,
			CodeUserRule, []string{"refused email user-rule", "refused user-rule"}, false},
		"accept-own-words": {searching, User{Policy: deny("email")}, Call{Action: "book", Reply: &Reply{Informs: []Told{{Text: "hello"}, {Text: "write to ada@example.org"}}}}, nil, nil, nil,
			CodeUserRule, []string{"refused inform user-rule", "refused user-rule"}, false},
		"accept-answers-before-it": {booking("", askFor("email")+askFor("tel")), User{Policy: deny("email")},
			Call{Action: "book", Reply: &Reply{Informs: []Told{{Text: "ada@example.org"}}}}, nil, nil, nil,
			CodeUserRule, []string{"refused email user-rule", "refused inform user-rule", "refused user-rule"}, false},
		"accept-authentication": {`<constraints>` + rule("email", "authentication") + `</constraints>` + searching, User{Authenticate: func(context.Context, string) error { return errTest }},
			Call{Action: "find", Args: email}, nil, nil, nil, CodeAuthentication, []string{"refused email authentication", "refused authentication"}, false},
		"accept-restricted": {searching, User{}, Call{Action: "find", Args: map[string]string{"q": "4711-8822"}}, nil, nil, func(s *stage) {
			s.session = s.open(Options{}, User{Profile: ada, Ledger: s.session.Ledger()})
			pageFor(s.T, s.net, s.session, "https://a.example/a", `<knowledge><inform confidentiality="restricted">Member 4711-8822</inform></knowledge>`)
			s.page = s.show(searching, false)
		}, CodeRestrictedContext, []string{"refused q restricted-context", "refused restricted-context"}, false},
		"accept-nobody-to-ask": {asking, User{}, Call{Action: "book"}, nil, func(h *lookleap.Host) { h.Prompter = nil }, nil,
			lookleap.CodeConsentNoPrompter, []string{"refused email consent-no-prompter", "refused tel consent-no-prompter", "refused consent-no-prompter"}, true},
		"accept-asking-fails": {asking, User{}, Call{Action: "book"}, labprompt.Fail(errTest), nil, nil,
			lookleap.CodeConsentFailed, []string{"refused email consent-failed", "refused tel consent-failed", "refused consent-failed"}, true},
		"accept-users-no": {asking, User{Policy: deny("tel")}, Call{Action: "book"}, labprompt.Deny(), nil, nil,
			lookleap.CodeConsentRefused, []string{"refused email consent-refused", "refused tel user-rule", "refused consent-refused"}, true},
		"accept-vetoed-act": {asking, User{Policy: &UserPolicy{VetoAct: func(context.Context, Act) error { return errTest }}}, Call{Action: "book"}, labprompt.Approve(itemAct, "answer-1"), nil, nil,
			CodePolicyVeto, []string{"refused tel consent-refused", "refused policy-veto"}, true},
		"accept-argument-at-the-end": {searching, User{}, Call{Action: "find", Args: email}, nil, nil, func(s *stage) {
			s.user.Then(func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				err := s.session.user.Policy.Set(StandingRule{Field: "email", Domain: "*"})
				return labprompt.Decide(r), err
			})
		}, CodeUserRule, []string{"refused email user-rule", "refused user-rule"}, true},
		"reject-waiting":       {asking, User{}, Call{Action: "book"}, labprompt.Pending(), nil, nil, lookleap.CodeConsentPending, nil, true},
		"reject-wrong-use":     {asking, User{}, Call{Action: "book", Args: map[string]string{"nope": "x"}}, nil, nil, nil, lookleap.CodeUsage, nil, true},
		"reject-unknown-field": {asking, User{}, Call{Action: "book", Reply: &Reply{Omit: []string{"nope"}}}, nil, nil, nil, CodeNotAsked, nil, true},
	} {
		t.Run("ANML-14.1-03/"+name, func(t *testing.T) {
			c.user.Profile, c.user.Ledger = ada, NewMemoryDisclosureLedger()
			set := setting{doc: c.doc, user: c.user, host: c.host}
			if c.reply != nil {
				set.replies = []labprompt.Reply{c.reply}
			}
			s := newStage(t, set)
			if c.before != nil {
				c.before(s)
			}
			s.does(c.call, c.want)
			s.sends()
			if got := ledgerOf(t, c.user.Ledger); !slices.Equal(got, c.ledger) {
				t.Errorf("the ledger holds %q, want %q", got, c.ledger)
			}
			for e := range c.user.Ledger.Entries(t.Context()) {
				if e.Kind != EntryRefused || e.Reason == "" || e.Action != c.call.Action || e.Serving != "shop.example" || (e.Plan != "") != c.plan {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	t.Run("ANML-14.1-03/accept-trust-lost", func(t *testing.T) {
		s := newStage(t, setting{doc: brandSite, user: User{Profile: Fields{"email": {Text: "ada@example.org"}}}, before: func(s *stage) {
			permit(s, granting(s, "interact", "knowledge"), denying)
		}})
		s.does(Call{Site: "brand.example", Action: "tell"}, anmltrust.CodeTrustRevoked)
		if got := ledgerOf(t, s.session.Ledger()); !slices.Equal(got, []string{"refused email trust-revoked", "refused trust-revoked"}) {
			t.Errorf("the ledger holds %q", got)
		}
	})
	t.Run("ANML-14.1-03/accept-over-plain-http", func(t *testing.T) {
		doc := `<head><title>x</title></head><interact><action id="find" method="GET" endpoint="http://www.shop.example/find"><param name="q"/></action></interact>`
		s := newStage(t, setting{doc: doc, user: User{Profile: ada}})
		s.does(Call{Action: "find", Args: email}, CodeInsecureEndpoint)
		if got := ledgerOf(t, s.session.Ledger()); !slices.Equal(got, []string{"refused email insecure-endpoint", "refused insecure-endpoint"}) {
			t.Errorf("the ledger holds %q", got)
		}
	})
	t.Run("ANML-13.2-13/reject-unwritten", func(t *testing.T) { // is told beside the refusal itself
		s := newStage(t, setting{doc: searching, user: User{Profile: ada, Policy: deny("email"), Ledger: &brokenLedger{DisclosureLedger: NewMemoryDisclosureLedger()}}})
		_, err := s.page.Do(t.Context(), Call{Action: "find", Args: email})
		if lookleap.CodeOf(err) != CodeUserRule || !errors.Is(err, errTest) {
			t.Errorf("%v", err)
		}
	})
	t.Run("ANML-14.1-03/accept-refused-when-resumed", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []labprompt.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		_, _ = s.session.Resume(t.Context(), pending.State, lookleap.ConsentDecision{Digest: "sha256:00", Approved: []string{itemAct}})
		if got := ledgerOf(t, s.session.Ledger()); got != nil {
			t.Errorf("a decision about something else is in the ledger: %q", got)
		}
		_, _ = s.session.Resume(t.Context(), pending.State, lookleap.ConsentDecision{Digest: pending.Request.Digest})
		if got := ledgerOf(t, s.session.Ledger()); !slices.Equal(got, []string{"refused email consent-refused", "refused tel consent-refused", "refused consent-refused"}) {
			t.Errorf("the ledger holds %q", got)
		}
	})
	t.Run("ANML-14.1-03/accept-argument-that-nobody-was-asked-about", func(t *testing.T) {
		s := newStage(t, setting{doc: searching, user: User{Profile: ada, Policy: &UserPolicy{}}})
		s.user.Then(func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			pageFor(t, s.net, s.session, "https://told.example/a", `<knowledge><inform>Your booking is 998877</inform></knowledge>`)
			return labprompt.Decide(r), nil
		})
		s.session.user.Policy.Weigh = func(context.Context, Act) Weight { return Consequential }
		s.does(Call{Action: "find", Args: map[string]string{"q": "booking 998877"}}, CodeCrossService)
		if got := ledgerOf(t, s.session.Ledger()); !slices.Equal(got, []string{"refused q cross-service", "refused cross-service"}) {
			t.Errorf("the ledger holds %q", got)
		}
	})
	t.Run("ANML-14.1-03/accept-caller-left", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		s := newStage(t, setting{doc: asking, user: User{Profile: ada, Ledger: heedfulLedger{NewMemoryDisclosureLedger()}}})
		s.user.Then(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			leave()
			return lookleap.ConsentDecision{}, ctx.Err()
		})
		_, _ = s.page.Do(ctx, Call{Action: "book"})
		if got := ledgerOf(t, s.session.Ledger()); len(got) != 3 {
			t.Errorf("the ledger holds %q", got)
		}
	})
}

// heedfulLedger writes nothing for a caller who left.
type heedfulLedger struct{ DisclosureLedger }

func (l heedfulLedger) Append(ctx context.Context, entries ...Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.DisclosureLedger.Append(ctx, entries...)
}
