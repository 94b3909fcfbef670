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

// TestResumeElsewhere: an approved call does not go to an endpoint that another party's document
// describes since.
func TestResumeElsewhere(t *testing.T) {
	w := newWorld(t)
	const bank, evil = "https://bank.example", "https://evil.example"
	w.bank.Body(documentPath, "application/json", documentOf("ai://bank/pay", bank))
	w.net.Site("evil.example").Body(documentPath, "application/json", documentOf("ai://bank/pay", evil)).
		Body("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey()))))
	page(w.net.Site("shop.example"), "ai://bank/pay", "")
	origins := registry{"bank": bank}
	w.options.Credentials = nil
	w.host.Prompter = prompter(func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	})
	for name, c := range map[string]struct {
		request aiuri.Request
		origin  string
		code    lookleap.Code
	}{
		"accept-same-document":  {aiuri.Request{Page: "https://shop.example/", Body: []byte("{}")}, bank, lookleap.CodeOK},
		"reject-other-document": {aiuri.Request{Page: "https://shop.example/", Body: []byte("{}")}, evil, lookleap.CodePlanInvalid},
	} {
		t.Run("AIU-5-02/"+name, func(t *testing.T) {
			origins["bank"] = bank
			w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{Registry: origins})
			client := must(aiuri.NewClient(w.host, w.options))
			_, err := client.Invoke(t.Context(), c.request)
			var pending *lookleap.PendingError
			if !errors.As(err, &pending) {
				t.Fatal(err)
			}
			decision, _ := allow(pending.Request)
			origins["bank"] = c.origin
			w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{Registry: origins})
			client = must(aiuri.NewClient(w.host, w.options))
			w.net.Journal().Clear()
			v, err := client.Resume(t.Context(), pending.State, decision)
			if (v != nil) != (c.code == lookleap.CodeOK) || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %v, %v", v, err)
			}
			for _, r := range w.net.Journal().Requests() {
				if r.Method == "POST" && c.code != lookleap.CodeOK {
					t.Errorf("%s was sent", r.Path)
				}
			}
		})
	}
}
