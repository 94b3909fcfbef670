package aiuri_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

func TestResume(t *testing.T) {
	w := newWorld(t)
	w.host.Prompter = prompter(func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	})
	client := must(aiuri.NewClient(w.host, w.options))
	_, err := client.Invoke(t.Context(), pay)
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	decision, _ := allow(pending.Request)
	t.Run("AIU-5-02/reject-changed-state", func(t *testing.T) {
		changed := json.RawMessage(strings.Replace(string(pending.State), "invoke the", "invoke a", 1))
		if v, err := client.Resume(t.Context(), changed, decision); v != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
			t.Errorf("got %v, %v", v, err)
		}
	})
	t.Run("AIU-5-02/accept-resumed", func(t *testing.T) {
		if v, err := client.Resume(t.Context(), pending.State, decision); err != nil || v == nil {
			t.Error(err)
		}
		plan, _ := lookleap.ParsePlan(pending.State)
		if r, err := w.host.PlanRecord(t.Context(), plan.ID()); err != nil || r.State != lookleap.PlanDone || !strings.Contains(string(r.Receipt), `"payload":"sha256:`) {
			t.Errorf("the ledger has %s, %s, %v", r.State, r.Receipt, err)
		}
		posts := 0
		for _, r := range w.net.Journal().Requests() {
			if r.Method == "POST" {
				posts++
				if got := r.Header.Get(lookleap.IdempotencyHeader); got != plan.IdempotencyKey() {
					t.Errorf("the call has the key %s", got)
				}
			}
		}
		if posts != 1 {
			t.Errorf("%d calls", posts)
		}
	})
	t.Run("AIU-5-02/reject-twice", func(t *testing.T) {
		if v, err := client.Resume(t.Context(), pending.State, decision); v != nil || !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("got %v, %v", v, err)
		}
	})
}
