package agent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestFailuresBeforeSending shows that a call is not sent when something fails after the user agreed,
// and that only a decision is recorded as a refusal.
func TestFailuresBeforeSending(t *testing.T) {
	for _, method := range []string{"Keys " + keySensitive, "Put " + keySensitive} {
		t.Run("ANML-13.2-01/reject-store-fails-"+method, func(t *testing.T) {
			store := &hookedStore{Store: NewMemoryStore(), hook: failsAt("", nil)}
			s := newStage(t, setting{doc: booking("", askFor("email", `purpose="payment"`)), user: User{Profile: ada, Store: store}})
			s.user.Then(func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				store.hook = failsAt(method, errTest)
				return labprompt.Decide(r), nil
			})
			s.does(book, lookleap.CodeIO)
			s.sends()
			if got := ledgerOf(t, s.session.Ledger()); got != nil {
				t.Errorf("the ledger holds %q", got)
			}
		})
	}
	t.Run("ANML-13.2-01/reject-lasting-consent-not-kept", func(t *testing.T) {
		st := asker(t)
		store := &hookedStore{Store: NewMemoryStore(), hook: failsAt("Put "+keyConsent, errTest)}
		st.user.Store = store
		x := st.prepares(st.page(booking(rule("email", "explicit-consent"), askFor("email"))), Call{})
		if _, _, err := x.settle(all, start.Add(time.Hour)); !errors.Is(err, errTest) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("ANML-13.2-01/accept-store-is-not-needed", func(t *testing.T) { // nothing of the user is sent
		st := asker(t)
		store := &hookedStore{Store: NewMemoryStore(), hook: failsAt("", nil)}
		st.user.Store = store
		x := st.prepares(st.page(booking("", "")), Call{Action: "other"})
		store.hook = func(string) error { return errTest }
		if _, _, err := x.settle(none, time.Time{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("accept-not-sensitive", func(t *testing.T) {
		st := asker(t)
		st.user.Store = NewMemoryStore()
		st.prepares(st.page(booking("", askFor("email"))), Call{}).sends(all, annsEmail)
		if keys, err := st.user.Store.Keys(t.Context(), keySensitive); err != nil || len(keys) != 0 {
			t.Error(keys, err)
		}
	})
	t.Run("ANML-13.4-12/reject-taken-meanwhile", func(t *testing.T) { // by a call at the same time
		s := newStage(t, setting{doc: gettable, options: Options{Limits: Limits{Burst: 1}}})
		s.session.user.Policy.VetoAct = func(ctx context.Context, _ Act) error {
			return s.session.gate.count(gateKey{origin: "https://www.shop.example", document: "https://www.shop.example"}, s.session.now())
		}
		s.does(Call{Action: "a"}, CodeTooManyActions)
		s.sends()
	})
	t.Run("ANML-13.4-12/reject-shared-taken-meanwhile", func(t *testing.T) {
		s := newStage(t, setting{doc: gettable})
		p := gateKey{action: "GET x", origin: "https://www.shop.example", document: "https://www.shop.example"}
		s.session.hold(t.Context(), limitHold+p.origin, p.origin, time.Minute)
		for range 10 { // more than the session's own burst
			hasCode(t, s.session.gate.take(t.Context(), p), CodeTooSoon)
		}
		s.net.Clock().Advance(time.Minute)
		must(t, s.session.gate.take(t.Context(), p))
	})
	t.Run("ANML-13.4-12/accept-too-fast-is-no-refusal", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, options: Options{Limits: Limits{Burst: 1}}, replies: []labprompt.Reply{pendingReply}})
		pending := s.suspended(book)
		must(t, s.session.gate.take(t.Context(), gateKey{origin: "https://www.shop.example", document: "https://www.shop.example"}))
		_, err := s.session.Resume(t.Context(), pending.State, labprompt.Decide(pending.Request))
		hasCode(t, err, CodeTooManyActions)
		if got := ledgerOf(t, s.session.Ledger()); got != nil {
			t.Errorf("the ledger holds %q", got)
		}
	})
	t.Run("ANML-13.4-10/reject-plan-that-stays-usable", func(t *testing.T) { // two plans would do the action twice
		s := newStage(t, setting{doc: brandShown, before: func(s *stage) { permit(s, granting(s, "body"), denying) },
			host: func(h *lookleap.Host) { h.Plans = brokenPlans{h.Plans} }})
		s.does(Call{Action: "buy"}, lookleap.CodeLedgerFailed)
		s.sends()
		if n := len(s.user.Requests()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
	t.Run("ANML-9.2-01/reject-unreadable-state", func(t *testing.T) {
		s := newStage(t, setting{doc: asking})
		_, want := lookleap.ParsePlan([]byte("{}"))
		_, err := s.session.Resume(t.Context(), []byte("{}"), lookleap.ConsentDecision{})
		if err == nil || err.Error() != want.Error() {
			t.Errorf("got %v, want %v", err, want)
		}
	})
	t.Run("ANML-13.2-13/accept-outcome-that-is-not-written", func(t *testing.T) { // the call is over: it is reported
		var events lab.Events
		s := newStage(t, setting{doc: asking, user: User{Profile: ada, Ledger: &brokenLedger{DisclosureLedger: NewMemoryDisclosureLedger(), after: 1}},
			host: func(h *lookleap.Host) { h.Observe = events.Observe }})
		r := s.does(book, lookleap.CodeOK)
		if all := events.All(); !slices.ContainsFunc(all, func(e lookleap.Event) bool {
			return e.Kind == lookleap.EventFinding && e.Code == lookleap.CodeIO && e.Subject == r.Plan && errors.Is(e.Err, errTest)
		}) {
			t.Errorf("it is not reported: %v", all)
		}
	})
	t.Run("ANML-13.2-13/accept-outcome-that-is-written", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, host: func(h *lookleap.Host) {
			h.Observe = func(_ context.Context, e lookleap.Event) {
				if e.Kind == lookleap.EventFinding {
					t.Errorf("%+v", e)
				}
			}
		}})
		s.does(book, lookleap.CodeOK)
	})
	t.Run("ANML-14.1-03/accept-reasons", func(t *testing.T) { // the user refuses, or no one could be asked
		for want, reply := range map[anml.Reason]labprompt.Reply{anml.UserDenied: labprompt.Deny(), anml.PolicyViolation: labprompt.Fail(errTest)} {
			s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []labprompt.Reply{reply}})
			_, err := s.page.Do(t.Context(), book)
			if err == nil {
				t.Error("it was sent")
			}
			n := 0
			for e := range s.session.Ledger().Entries(t.Context()) {
				if n++; e.Reason != want {
					t.Errorf("%s: the reason is %s, want %s", e.Code, e.Reason, want)
				}
			}
			if n != 3 {
				t.Errorf("%d entries", n)
			}
		}
	})
}

// brokenPlans is a plan ledger in which no plan can be claimed.
type brokenPlans struct{ lookleap.PlanLedger }

func (brokenPlans) Claim(context.Context, lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	return lookleap.PlanRecord{}, errTest
}

// TestRevokedWithoutDisclosure: a call that tells nothing has nothing to revoke or refuse.
func TestRevokedWithoutDisclosure(t *testing.T) {
	s := asker(t).session()
	if code := s.revoked(exchange{}, nil); code != "" {
		t.Error(code)
	}
	if list := s.refusals(exchange{}, "", nil); list != nil {
		t.Error(list)
	}
}

// TestLedgerThatCannotBeRead: what is not read is not verified.
func TestLedgerThatCannotBeRead(t *testing.T) {
	l := NewMemoryDisclosureLedger()
	must(t, l.Append(t.Context(), entryOf(1), entryOf(2)))
	whole := chainOf(t, l)
	head := whole[1].Head()
	unread := unreadLedger{l}
	for name, err := range map[string]error{
		"verify":         second(VerifyLedger(t.Context(), unread, Head{}, Head{})),
		"receipt":        second(NewReceipt(t.Context(), unread, 1, head)),
		"interaction":    second(Interaction(t.Context(), unread, "p1")),
		"export":         second(Filter{}.Export(t.Context(), unread, new(strings.Builder))),
		"filtered":       second(Filter{Domain: "other.example"}.Export(t.Context(), unread, new(strings.Builder))),
		"no-ledger":      second(VerifyLedger(t.Context(), nil, Head{}, Head{})),
		"receipt-of-nil": second(NewReceipt(t.Context(), nil, 1, head)),
	} {
		t.Run("ANML-14.1-03/reject-"+name, func(t *testing.T) {
			if err == nil || !errors.Is(err, errTest) && !errors.Is(err, errNoLedger) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("ANML-14.1-03/reject-entry-without-a-text", func(t *testing.T) {
		if err := l.Append(t.Context(), Entry{Time: start.AddDate(9000, 0, 0)}); err == nil {
			t.Error("an entry is appended that cannot be read again")
		}
		if got := chainOf(t, l); len(got) != 2 {
			t.Errorf("%d entries", len(got))
		}
	})
	t.Run("ANML-14.1-03/reject-entries-of-no-ledger", func(t *testing.T) {
		n := 0
		for _, err := range (Filter{}).Entries(t.Context(), nil) {
			if n++; !errors.Is(err, errNoLedger) {
				t.Errorf("got %v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d errors", n)
		}
	})
	t.Run("ANML-14.1-03/reject-export-that-is-not-written", func(t *testing.T) {
		if n, err := (Filter{}).Export(t.Context(), l, closedWriter{}); n != 0 || !errors.Is(err, errTest) {
			t.Errorf("%d entries, %v", n, err)
		}
	})
	t.Run("accept-no-head", func(t *testing.T) {
		if got := entryOf(1).Head(); got != (Head{}) {
			t.Errorf("an entry outside of a ledger has the head %v", got)
		}
	})
}

// closedWriter is a file that can no longer be written.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, errTest }

// unreadLedger is a ledger with an entry that cannot be read, before the others.
type unreadLedger struct{ DisclosureLedger }

func (l unreadLedger) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if !yield(Entry{}, errTest) {
			return
		}
		for e, err := range l.DisclosureLedger.Entries(ctx) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// second returns the error of a call.
func second[V any](_ V, err error) error { return err }
