package agent

import (
	"context"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
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
				return lookleaptest.Decide(r), nil
			})
			s.does(book, lookleap.CodeIO)
			s.sends()
			if got := ledgerOf(t, s.session.Ledger()); got != nil {
				t.Errorf("the ledger holds %q", got)
			}
		})
	}
}
