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
	for field, value := range map[string]string{
		"uri": "ai://bank.example/pay?amount=11", "recipient": "https://evil.example", "origin": "https://evil.example", "document": "https://evil.example",
	} {
		t.Run("AIU-5-02/reject-plan-with-other-"+field, func(t *testing.T) {
			plan, err := lookleap.ParsePlan(pending.State)
			if err != nil {
				t.Fatal(err)
			}
			var members map[string]any
			if err := json.Unmarshal(plan.Effect(), &members); err != nil || members[field] == nil {
				t.Fatalf("%v in %s", err, plan.Effect())
			}
			members[field] = value
			request := *pending.Request
			request.Digest, request.Verdict = "", nil
			other, err := lookleap.NewPlan(request, must(json.Marshal(members)), w.host.Time())
			if err != nil {
				t.Fatal(err)
			}
			yes, _ := allow(other.Request())
			w.net.Journal().Clear()
			if v, err := client.Resume(t.Context(), must(other.State()), yes); v != nil || lookleap.CodeOf(err) != lookleap.CodePlanInvalid {
				t.Errorf("got %v, %v", v, err)
			}
			if sent := w.net.Journal().Requests("ai.example"); len(sent) != 0 {
				t.Errorf("sent %v", sent)
			}
		})
	}
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
