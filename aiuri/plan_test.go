package aiuri_test

import (
	"bytes"
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
	t.Run("AIU-5-02/reject-no-plan", func(t *testing.T) {
		for _, state := range []string{"", "{}", "[]", "x"} {
			_, want := lookleap.ParsePlan(json.RawMessage(state))
			if v, err := client.Resume(t.Context(), json.RawMessage(state), decision); v != nil || err == nil || want == nil || err.Error() != want.Error() {
				t.Errorf("%s: got %v, %v, want %v", state, v, err, want)
			}
		}
		if v, err := new(aiuri.Client).Resume(t.Context(), pending.State, decision); v != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("got %v, %v", v, err)
		}
	})
	t.Run("AIU-5-02/reject-plan-of-another-kind", func(t *testing.T) {
		plan, err := lookleap.ParsePlan(pending.State)
		if err != nil {
			t.Fatal(err)
		}
		for kind, effect := range map[lookleap.ConsentKind][]byte{lookleap.ConsentAct: plan.Effect(), lookleap.ConsentInvoke: []byte("another effect")} {
			request := *pending.Request
			request.Kind, request.Digest, request.Verdict = kind, "", nil
			other, err := lookleap.NewPlan(request, effect, w.host.Time())
			if err != nil {
				t.Fatal(err)
			}
			state, err := other.State()
			if err != nil {
				t.Fatal(err)
			}
			yes, _ := allow(other.Request())
			w.net.Journal().Clear()
			if v, err := client.Resume(t.Context(), state, yes); v != nil || !errors.Is(err, lookleap.ErrPlanInvalid) || len(w.net.Journal().Requests()) != 0 {
				t.Errorf("%s: got %v, %v, %v", kind, v, err, w.net.Journal().Requests())
			}
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
			line, body, _ := bytes.Cut(plan.Effect(), []byte("\n"))
			var members map[string]any
			if err := json.Unmarshal(line, &members); err != nil || members[field] == nil {
				t.Fatalf("%v in %s", err, line)
			}
			members[field] = value
			changed := append(must(json.Marshal(members)), '\n')
			request := *pending.Request
			request.Digest, request.Verdict = "", nil
			other, err := lookleap.NewPlan(request, append(changed, body...), w.host.Time())
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
	t.Run("AIU-5-02/accept-reading-without-key", func(t *testing.T) { // only what has an effect must not happen twice
		for _, method := range []string{"GET", "HEAD"} {
			_, err := client.Invoke(t.Context(), aiuri.Request{URI: pay.URI, Method: method})
			var other *lookleap.PendingError
			if !errors.As(err, &other) {
				t.Fatal(err)
			}
			yes, _ := allow(other.Request)
			w.net.Journal().Clear()
			_, err = client.Resume(t.Context(), other.State, yes)
			sent := w.net.Journal().Requests("ai.example")
			if len(sent) != 1 || sent[0].Method != method || sent[0].Header.Get(lookleap.IdempotencyHeader) != "" {
				t.Errorf("%s: sent %+v, %v", method, sent, err)
			}
		}
	})
	t.Run("AIU-5-02/reject-what-the-user-refused", func(t *testing.T) {
		_, err := client.Invoke(t.Context(), aiuri.Request{URI: pay.URI, Body: []byte("[]")})
		var other *lookleap.PendingError
		if !errors.As(err, &other) {
			t.Fatal(err)
		}
		w.net.Journal().Clear()
		no := lookleap.ConsentDecision{Digest: other.Request.Digest}
		if v, err := client.Resume(t.Context(), other.State, no); v != nil || !errors.Is(err, lookleap.ErrConsentRefused) || len(w.net.Journal().Requests()) != 0 {
			t.Errorf("got %v, %v, %v", v, err, w.net.Journal().Requests())
		}
		if mark := userMarkOf(t, other); mark != "" {
			t.Errorf("without a key for marks the user is marked as %s", mark)
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
