package adaptertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// Adapter is one adapter, as the cases that every adapter runs use it. It holds the framework with
// the tools of one session, and a model that calls the tools that a case names.
type Adapter interface {
	// Call has the model call the action with these arguments, as JSON. It returns what the model is
	// told, or the question if the call waits for its user.
	Call(t testing.TB, action, args string) (told string, q *Question)
}

// Question is a call that waits for its user.
type Question struct {
	Request *lookleap.ConsentRequest // as the framework's dialogue shows it
	// Answer brings an answer back as the framework does, and returns what the model is told. An
	// adapter that takes Go values only returns false for any other answer.
	Answer func(t testing.TB, answer any) (told string, ok bool)
	// Decline refuses as the framework's dialogue does. It returns false if the framework has no
	// place for the reason.
	Decline func(t testing.TB, reason string) (told string, ok bool)
	// Forge has a client or a model change what stands next to the suspended plan, and returns what
	// the dialogue then shows. It is nil if nothing stands there.
	Forge func(t testing.TB) *lookleap.ConsentRequest
}

// calls are the arguments of a purchase that the user is asked about.
const calls = `{"trip":"t2","seats":2}`

// Cases runs the cases that hold for every adapter. Make returns the adapter for a page.
func Cases(t *testing.T, make func(t testing.TB, page *agent.Page) Adapter) {
	begin := func(t testing.TB) (*Scene, Adapter, *Question) {
		t.Helper()
		s := NewScene(t)
		a := make(t, s.Page)
		told, q := a.Call(t, "reserve", calls)
		if q == nil {
			t.Fatalf("the call does not wait, the model is told %q", told)
		}
		return s, a, q
	}
	yes := func(q *Question) lookleap.ConsentDecision { return lookleaptest.Decide(q.Request) }

	t.Run("P20", func(t *testing.T) {
		digest := func(q *Question) string { return q.Request.Digest }
		for name, answer := range map[string]func(q *Question) any{
			"null":          func(*Question) any { return nil },
			"none":          func(*Question) any { return "none" },
			"list":          func(*Question) any { return []any{} },
			"false":         func(*Question) any { return false },
			"true":          func(*Question) any { return true },
			"box":           func(*Question) any { return map[string]any{"act": false} },
			"ticked-box":    func(q *Question) any { return map[string]any{"digest": digest(q), "act": true} },
			"null-approved": func(q *Question) any { return map[string]any{"digest": digest(q), "approved": nil} },
			"text-approved": func(q *Question) any { return map[string]any{"digest": digest(q), "approved": "act"} },
			"unknown-member": func(q *Question) any {
				return map[string]any{"digest": digest(q), "approved": yes(q).Approved, "all": true}
			},
			"capital-member": func(q *Question) any { return map[string]any{"digest": digest(q), "Approved": yes(q).Approved} },
			"id-twice": func(q *Question) any {
				return map[string]any{"digest": digest(q), "approved": append(yes(q).Approved, "act")}
			},
			"unknown-id": func(q *Question) any {
				return map[string]any{"digest": digest(q), "approved": append(yes(q).Approved, "more")}
			},
			"no-digest": func(q *Question) any { return map[string]any{"approved": yes(q).Approved} },
			"nil-slice": func(q *Question) any { return lookleap.ConsentDecision{Digest: digest(q)} },
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				s, _, q := begin(t)
				told, ok := q.Answer(t, answer(q))
				if !ok {
					return
				}
				if n := len(s.Service.Bookings()); n != 0 || strings.Contains(told, "success") {
					t.Errorf("%d bookings, the model is told %q", n, told)
				}
			})
		}
		t.Run("accept-yes", func(t *testing.T) {
			s, _, q := begin(t)
			told, _ := q.Answer(t, yes(q))
			if n := len(s.Service.Bookings()); n != 1 || !strings.Contains(told, "success") {
				t.Errorf("%d bookings, the model is told %q", n, told)
			}
		})
		t.Run("accept-reason-of-a-no", func(t *testing.T) {
			_, _, q := begin(t)
			told, ok := q.Decline(t, "too expensive, look for another day")
			if ok && !strings.Contains(strings.ReplaceAll(told, `\`, ""), `the user says "too expensive, look for another day"`) {
				t.Errorf("the model is told %q", told)
			}
		})
	})

	t.Run("P22", func(t *testing.T) {
		t.Run("reject-answer-to-another-question", func(t *testing.T) {
			s, _, q := begin(t)
			other := yes(q)
			other.Digest = lookleap.Digest([]byte("another question"))
			told, _ := q.Answer(t, other)
			if n := len(s.Service.Bookings()); n != 0 {
				t.Errorf("%d bookings, the model is told %q", n, told)
			}
		})
		t.Run("reject-changed-text-next-to-the-plan", func(t *testing.T) {
			_, _, q := begin(t)
			if q.Forge == nil {
				return
			}
			if shown := q.Forge(t); shown != nil && shown.Summary != q.Request.Summary {
				t.Errorf("the user is shown %q", shown.Summary)
			}
		})
		t.Run("reject-yes-after-no", func(t *testing.T) {
			s, _, q := begin(t)
			plan, err := s.plan(q.Request.ID)
			if err == nil {
				t.Fatalf("the plan has the record %+v before the answer", plan)
			}
			q.Decline(t, "")
			if plan, err = s.plan(q.Request.ID); err != nil || plan.State != lookleap.PlanRefused {
				t.Errorf("the record of the plan is %+v, %v", plan, err)
			}
		})
	})

	t.Run("P23", func(t *testing.T) {
		t.Run("reject-asking-again-after-no", func(t *testing.T) {
			s, a, q := begin(t)
			q.Decline(t, "")
			refusals := s.refusals(t)
			if refusals == 0 {
				t.Error("the refusal is not in the ledger")
			}
			for range 4 {
				if told, q := a.Call(t, "reserve", calls); q != nil {
					t.Errorf("asked again, the model is told %q", told)
				}
			}
			if n := len(s.Service.Bookings()); n != 0 {
				t.Errorf("%d bookings", n)
			}
		})
	})

	t.Run("P25", func(t *testing.T) {
		t.Run("accept-both-of-two-open-questions", func(t *testing.T) {
			s, a, first := begin(t)
			_, second := a.Call(t, "reserve", `{"trip":"t1","seats":1}`)
			if second == nil {
				t.Fatal("the second call does not wait")
			}
			for i, q := range []*Question{first, second} {
				told, _ := q.Answer(t, yes(q))
				if n := len(s.Service.Bookings()); n != i+1 {
					t.Fatalf("%d bookings after %d answers, the model is told %q", n, i+1, told)
				}
			}
		})
	})
}

// plan returns the record of a plan.
func (s *Scene) plan(id string) (lookleap.PlanRecord, error) {
	return s.Host.PlanRecord(context.Background(), id)
}

// refusals returns how many refusals of the user the ledger holds.
func (s *Scene) refusals(t testing.TB) (n int) {
	t.Helper()
	f := agent.Filter{Kinds: []agent.EntryKind{agent.EntryRefused}}
	for e, err := range f.Entries(t.Context(), s.Page.Session().Ledger()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Code == lookleap.CodeConsentRefused {
			n++
		}
	}
	return n
}

// Values returns an answer as the values of its JSON, as frameworks hold it.
func Values(t testing.TB, answer any) (out any) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
