package lookleap_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

// twoItems returns a plan with a required item and an optional one.
func twoItems(t *testing.T) *lookleap.Plan {
	t.Helper()
	p, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentAct, Origin: "https://a.example", Summary: "buy",
		Items: []lookleap.ConsentItem{
			{ID: "act", Summary: "the order", Recipient: "a.example", Digest: lookleap.Digest(nil)},
			{ID: "phone", Summary: "the phone", Recipient: "a.example", Digest: lookleap.Digest(nil), Optional: true},
		}}, []byte("two pots"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDecision: what is not a well-formed yes is a no.
func TestDecision(t *testing.T) {
	t.Run("P20", func(t *testing.T) {
		p := twoItems(t)
		digest := `"digest":"` + p.Request().Digest + `"`
		for name, answer := range map[string]string{
			"nothing":           ``,
			"null":              `null`,
			"null-approved":     `{` + digest + `,"approved":null}`,
			"none":              `"none"`,
			"list":              `[]`,
			"list-of-ids":       `["act"]`,
			"false":             `false`,
			"true":              `true`,
			"box":               `{` + digest + `,"act":false}`,
			"ticked-box":        `{` + digest + `,"act":true}`,
			"empty-approved":    `{` + digest + `,"approved":[]}`,
			"text-approved":     `{` + digest + `,"approved":"act"}`,
			"object-approved":   `{` + digest + `,"approved":{"act":true}}`,
			"number-in-list":    `{` + digest + `,"approved":["act",1]}`,
			"null-in-list":      `{` + digest + `,"approved":["act",null]}`,
			"unknown-id":        `{` + digest + `,"approved":["act","more"]}`,
			"id-in-capitals":    `{` + digest + `,"approved":["ACT"]}`,
			"id-twice":          `{` + digest + `,"approved":["act","act"]}`,
			"unknown-member":    `{` + digest + `,"approved":["act"],"confirmed":true}`,
			"member-in-capital": `{` + digest + `,"Approved":["act"]}`,
			"duplicate-member":  `{` + digest + `,"approved":[],"approved":["act"]}`,
			"duplicate-case":    `{` + digest + `,"approved":["act"],"APPROVED":[]}`,
			"null-reason":       `{` + digest + `,"approved":["act"],"reason":null}`,
			"null-until":        `{` + digest + `,"approved":["act"],"until":null}`,
			"no-digest":         `{"approved":["act"]}`,
			"empty-digest":      `{"digest":"","approved":["act"]}`,
			"two-values":        `{` + digest + `,"approved":["act"]}{}`,
			"too-large":         `{` + digest + `,"approved":["act"],"reason":"` + strings.Repeat("a", 1<<20) + `"}`,
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				d, malformed := p.Request().Decision([]byte(answer))
				if well := strings.HasPrefix(name, "empty-approved") || name == "null-approved"; well != (malformed == nil) {
					t.Errorf("%.100s: %v", answer, malformed)
				}
				if a, err := p.Approve(d, time.Now()); a != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
					t.Errorf("%.100s: %+v, %v", answer, d, err)
				}
			})
		}
		t.Run("reject-nil-slice", func(t *testing.T) {
			answer, _ := json.Marshal(lookleap.ConsentDecision{Digest: p.Request().Digest})
			if d, _ := p.Request().Decision(answer); len(d.Approved) != 0 {
				t.Errorf("%+v", d)
			}
		})
		t.Run("reject-without-a-request", func(t *testing.T) {
			if d, err := (*lookleap.ConsentRequest)(nil).Decision([]byte(`{` + digest + `,"approved":["act"]}`)); err == nil || d.Digest != "" || d.Approved != nil {
				t.Errorf("%+v", d)
			}
		})
		for name, approved := range map[string]string{"all": `["phone","act"]`, "required-only": `["act"]`} {
			t.Run("accept-"+name, func(t *testing.T) {
				d, _ := p.Request().Decision([]byte(` {` + digest + `,"approved":` + approved + `} `))
				if a, err := p.Approve(d, time.Now()); err != nil || !a.Has("act") || a.Has("phone") != (name == "all") {
					t.Errorf("%+v, %v", d, err)
				}
			})
		}
		t.Run("accept-until", func(t *testing.T) {
			want := lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"act"}, Until: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
			answer, _ := json.Marshal(want)
			if d, err := p.Request().Decision(answer); err != nil || !d.Until.Equal(want.Until) {
				t.Errorf("%+v", d)
			}
		})
	})

	t.Run("P22", func(t *testing.T) {
		t.Run("reject-answer-to-another-question", func(t *testing.T) {
			p, other := twoItems(t), twoItems(t)
			d, _ := p.Request().Decision([]byte(`{"digest":"` + other.Request().Digest + `","approved":["act"]}`))
			h := &lookleap.Host{Plans: lookleap.NewMemoryStore()}
			if _, err := h.Decide(t.Context(), p, d); lookleap.CodeOf(err) != lookleap.CodeConsentMismatch || d.Approved != nil {
				t.Errorf("%+v, %v", d, err)
			}
			if _, err := h.PlanRecord(t.Context(), p.ID()); err == nil {
				t.Error("the answer to another question spent the plan")
			}
		})
		for name, store := range map[string]func(*testing.T) lookleap.Store{
			"memory": func(*testing.T) lookleap.Store { return lookleap.NewMemoryStore() },
			"files":  func(t *testing.T) lookleap.Store { return openStore(t, t.TempDir()) },
		} {
			t.Run("reject-yes-after-no-"+name, func(t *testing.T) {
				h, p := &lookleap.Host{Plans: store(t)}, twoItems(t)
				no := lookleap.ConsentDecision{Digest: p.Request().Digest}
				yes := lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"act"}}
				for range 2 {
					if _, err := h.Decide(t.Context(), p, no); lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
						t.Fatal(err)
					}
				}
				if r, err := h.PlanRecord(t.Context(), p.ID()); err != nil || r.State != lookleap.PlanRefused {
					t.Errorf("%+v, %v", r, err)
				}
				a, err := h.Decide(t.Context(), p, yes)
				if err != nil {
					t.Fatal(err)
				}
				sent := false
				_, err = h.CommitApproved(t.Context(), a, lookleap.Effect{Send: func(_ context.Context, _ *lookleap.Approval) ([]byte, error) {
					sent = true
					return nil, nil
				}})
				if sent || lookleap.CodeOf(err) != lookleap.CodeConsentRefused || !errors.Is(err, lookleap.ErrAlreadyDone) {
					t.Errorf("sent %v, %v", sent, err)
				}
				if !strings.Contains(err.Error(), "the user refused the plan") {
					t.Errorf("the error is %v", err)
				}
			})
		}
		t.Run("reject-no-after-commit", func(t *testing.T) {
			h, p := &lookleap.Host{Plans: lookleap.NewMemoryStore()}, twoItems(t)
			a, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"act", "phone"}}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Commit(t.Context(), a, func(context.Context, []byte) ([]byte, error) { return nil, nil }); err != nil {
				t.Fatal(err)
			}
			_, err = h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest})
			if lookleap.CodeOf(err) != lookleap.CodePlanDone {
				t.Errorf("%v", err)
			}
		})
		t.Run("accept-yes-after-a-no-that-no-ledger-keeps", func(t *testing.T) {
			// The no is returned, and the fault of the ledger is reported.
			var events []lookleap.Event
			h := &lookleap.Host{Plans: (*lookleap.FileStore)(nil), Observe: func(_ context.Context, e lookleap.Event) { events = append(events, e) }}
			p := twoItems(t)
			_, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest})
			if lookleap.CodeOf(err) != lookleap.CodeConsentRefused || len(events) != 1 || events[0].Err == nil {
				t.Errorf("%v, %+v", err, events)
			}
		})
		t.Run("reject-no-plan", func(t *testing.T) {
			if _, err := new(lookleap.Host).Decide(t.Context(), nil, lookleap.ConsentDecision{}); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("%v", err)
			}
		})
	})
}

// TestRefusalReason: the user's reason reaches the model as the user's words.
func TestRefusalReason(t *testing.T) {
	refuse := func(t *testing.T, reason string) error {
		t.Helper()
		p := twoItems(t)
		_, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Reason: reason}, time.Now())
		if lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
			t.Fatalf("%v", err)
		}
		return err
	}
	t.Run("P20", func(t *testing.T) {
		t.Run("accept-reason", func(t *testing.T) {
			if err := refuse(t, "too expensive, look for another day"); !strings.Contains(err.Error(), `the user says "too expensive, look for another day"`) {
				t.Error(err)
			}
		})
		t.Run("accept-reason-without-a-required-item", func(t *testing.T) {
			p := twoItems(t)
			_, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"phone"}, Reason: "not today"}, time.Now())
			if err == nil || !strings.Contains(err.Error(), `which is required; the user says "not today"`) {
				t.Error(err)
			}
		})
		t.Run("accept-no-reason", func(t *testing.T) {
			if err := refuse(t, " \n"); strings.Contains(err.Error(), "says") {
				t.Error(err)
			}
		})
		t.Run("reject-long-reason", func(t *testing.T) {
			if err := refuse(t, strings.Repeat("long ", 1000)); len(err.Error()) > lookleap.MaxReason+100 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
		t.Run("reject-controls-in-a-reason", func(t *testing.T) {
			if err := refuse(t, "no\"\n\x1b[2J\u202eyes"); strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
				t.Errorf("%q", err)
			}
		})
		t.Run("accept-reason-for-the-same-question", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, p := &lookleap.Host{Prompter: lookleap.SuspendingPrompter{}, Plans: lookleap.NewMemoryStore()}, twoItems(t)
				_, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest, Reason: "not today"})
				if err == nil {
					t.Fatal("a refusal is no error")
				}
				if _, err := h.Ask(t.Context(), twoItems(t)); lookleap.CodeOf(err) != lookleap.CodeConsentRefused || !strings.Contains(err.Error(), `"not today"`) {
					t.Error(err)
				}
			})
		})
	})
}

// TestAgain: after an unknown outcome the user may send the same bytes again, under the same key.
func TestAgain(t *testing.T) {
	yes := func(t *testing.T, p *lookleap.Plan) *lookleap.Approval {
		t.Helper()
		a, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"act", "phone"}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	commit := func(t *testing.T, h *lookleap.Host, p *lookleap.Plan, outcome error) (sent []byte) {
		t.Helper()
		_, err := h.Commit(t.Context(), yes(t, p), func(_ context.Context, effect []byte) ([]byte, error) {
			sent = effect
			return nil, outcome
		})
		if !errors.Is(err, outcome) {
			t.Fatal(err)
		}
		return sent
	}
	lost := errors.New("the connection was lost")
	t.Run("P38", func(t *testing.T) {
		t.Run("accept-same-bytes-and-key", func(t *testing.T) {
			h, p := &lookleap.Host{Plans: lookleap.NewMemoryStore()}, twoItems(t)
			first := commit(t, h, p, lost)
			again := p
			for range 2 {
				before := again
				var err error
				if again, err = h.Again(t.Context(), before); err != nil {
					t.Fatal(err)
				}
				state, err := again.State()
				if err != nil {
					t.Fatal(err)
				}
				if again, err = lookleap.ParsePlan(state); err != nil {
					t.Fatal(err)
				}
				r := again.Request()
				if again.ID() == before.ID() || r.Again != p.ID() || again.IdempotencyKey() != p.IdempotencyKey() ||
					r.Summary != "once more, although the first time may have worked: buy" {
					t.Errorf("%+v", r)
				}
				if sent := commit(t, h, again, lost); string(sent) != string(first) {
					t.Errorf("sent %q, then %q", first, sent)
				}
			}
		})
		for name, outcome := range map[string]error{"done": nil, "nothing-sent": lookleap.NothingSent(lost)} {
			t.Run("reject-after-"+name, func(t *testing.T) {
				h, p := &lookleap.Host{Plans: lookleap.NewMemoryStore()}, twoItems(t)
				commit(t, h, p, outcome)
				if _, err := h.Again(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodeUsage {
					t.Error(err)
				}
			})
		}
		t.Run("reject-before-a-commit", func(t *testing.T) {
			h := &lookleap.Host{Plans: lookleap.NewMemoryStore()}
			for _, p := range []*lookleap.Plan{nil, twoItems(t)} {
				if _, err := h.Again(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodeUsage {
					t.Error(err)
				}
			}
		})
		t.Run("reject-after-a-no", func(t *testing.T) {
			h, p := &lookleap.Host{Plans: lookleap.NewMemoryStore()}, twoItems(t)
			_, _ = h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest})
			if _, err := h.Again(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Error(err)
			}
		})
		for name, age := range map[string]time.Duration{"reject-while-another-worker-sends": 0, "accept-after-the-lease": lookleap.PlanLease} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h, p := &lookleap.Host{Plans: lookleap.NewMemoryStore()}, twoItems(t)
					a, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"act", "phone"}})
					if err != nil {
						t.Fatal(err)
					}
					_ = commitTo(h, t.Context(), a, func(context.Context, []byte) error {
						time.Sleep(age) // of the bubble
						if _, err := h.Again(t.Context(), p); (err == nil) != (age > 0) {
							t.Error(err)
						}
						return nil
					})
				})
			})
		}
		t.Run("reject-a-changed-mark", func(t *testing.T) {
			h, p := &lookleap.Host{Plans: lookleap.NewMemoryStore()}, twoItems(t)
			commit(t, h, p, lost)
			again, err := h.Again(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			state, _ := again.State()
			changed := strings.Replace(string(state), p.ID(), "other", 1)
			if _, err := lookleap.ParsePlan([]byte(changed)); !errors.Is(err, lookleap.ErrPlanInvalid) {
				t.Error(err)
			}
		})
	})
}

// TestPrompterEnds: a prompter whose goroutine ends has failed, and the next dialogue opens.
func TestPrompterEnds(t *testing.T) {
	t.Run("P20", func(t *testing.T) {
		t.Run("reject-prompter-that-ends-its-goroutine", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &lookleap.Host{Prompter: prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					runtime.Goexit()
					return lookleap.ConsentDecision{}, nil
				})}
				begin := time.Now()
				for range 2 {
					if _, err := h.Ask(t.Context(), twoItems(t)); lookleap.CodeOf(err) != lookleap.CodeConsentFailed {
						t.Error(err)
					}
				}
				if waited := time.Since(begin); waited != 0 { // of the bubble's clock
					t.Errorf("waited %v", waited)
				}
			})
		})
	})
}
