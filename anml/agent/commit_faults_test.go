package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestFailuresBeforeSending shows that a call is not sent when something fails after the user agreed,
// and that only a decision is recorded as a refusal.
func TestFailuresBeforeSending(t *testing.T) {
	for _, method := range []string{"Keys " + keySensitive, "Put " + keySensitive} {
		t.Run("ANML-13.2-01/reject-store-fails-"+method, func(t *testing.T) {
			store := &hookedStore{Store: lookleap.NewMemoryStore(), hook: failsAt("", nil)}
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
		store := &hookedStore{Store: lookleap.NewMemoryStore(), hook: failsAt("Put "+keyConsent, errTest)}
		st.user.Store = store
		x := st.prepares(st.page(booking(rule("email", "explicit-consent"), askFor("email"))), Call{})
		if _, _, err := x.settle(all, start.Add(time.Hour)); !errors.Is(err, errTest) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("ANML-13.4-12/reject-taken-meanwhile", func(t *testing.T) { // by a call at the same time
		s := newStage(t, setting{doc: gettable, options: Options{Limits: Limits{Burst: 1}}})
		s.session.user.Policy.VetoAct = func(ctx context.Context, _ Act) error {
			return s.session.gate.take(ctx, gateKey{origin: "https://www.shop.example", document: "https://www.shop.example"})
		}
		s.does(Call{Action: "a"}, CodeTooManyActions)
		s.sends()
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
}

// brokenPlans is a store in which no plan can be claimed.
type brokenPlans struct{ lookleap.Store }

func (brokenPlans) Put(context.Context, string, []byte, []byte, time.Time) error { return errTest }

// TestLedgerThatCannotBeRead: what is not read is not verified.
func TestLedgerThatCannotBeRead(t *testing.T) {
	store := &hookedStore{Store: lookleap.NewMemoryStore(), hook: failsAt("", nil)}
	l := NewLedger(store)
	must(t, l.Append(t.Context(), entryOf(0)))
	must(t, l.Append(t.Context(), entryOf(1), entryOf(2)))
	store.hook = failsAt("Get "+ledgerKey(1), errTest)
	unread := l
	for name, err := range map[string]error{
		"verify":    second(VerifyLedger(t.Context(), unread, Head{}, Head{})),
		"export":    second(Filter{}.Export(t.Context(), unread, new(strings.Builder))),
		"filtered":  second(Filter{Domain: "other.example"}.Export(t.Context(), unread, new(strings.Builder))),
		"no-ledger": second(VerifyLedger(t.Context(), nil, Head{}, Head{})),
	} {
		t.Run("ANML-14.1-03/reject-"+name, func(t *testing.T) {
			if err == nil || !errors.Is(err, errTest) && !errors.Is(err, errNoLedger) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// second returns the error of a call.
func second[V any](_ V, err error) error { return err }
