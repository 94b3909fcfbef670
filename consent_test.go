package lookleap_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestNothingApproved: a decision that approves no item is a "no", also if every item is optional.
func TestNothingApproved(t *testing.T) {
	t.Run("E10", func(t *testing.T) {
		p, err := lookleap.NewPlan(request(lookleap.ConsentDisclose, "https://shop.example", "tell the shop",
			item("phone", "your phone number", "https://shop.example", optional)), []byte("x"), planTime)
		if err != nil {
			t.Fatal(err)
		}
		for name, ids := range map[string][]string{"reject-nothing": nil, "reject-empty-list": {}, "accept-one": {"phone"}} {
			t.Run(name, func(t *testing.T) {
				a, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: ids}, planTime)
				if want := len(ids) > 0; (a != nil) != want || (err == nil) != want || !want && lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
					t.Errorf("%v, %v", a, err)
				}
			})
		}
	})
}

// TestSuspendingPrompter: each request waits for its user, and nothing is approved meanwhile.
func TestSuspendingPrompter(t *testing.T) {
	h := &lookleap.Host{Prompter: lookleap.SuspendingPrompter{}, Now: func() time.Time { return planTime }}
	a, err := h.Ask(t.Context(), newPlan(t, "x"))
	var pending *lookleap.PendingError
	if a != nil || !errors.As(err, &pending) || len(pending.State) == 0 {
		t.Errorf("%v, %v", a, err)
	}
}

// TestPlanWithoutParts: what is missing is an error, and never an approval or a record.
func TestPlanWithoutParts(t *testing.T) {
	var nothing *lookleap.Plan
	if a, err := nothing.Approve(lookleap.ConsentDecision{}, planTime); a != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Errorf("%v, %v", a, err)
	}
	closed := new(lookleap.Host)
	_ = closed.Close()
	for name, h := range map[string]*lookleap.Host{"nil": nil, "closed": closed} {
		if _, err := h.PlanRecord(t.Context(), "x"); err == nil {
			t.Errorf("a %s host has a record", name)
		}
	}
	year10000 := time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)
	if p, err := lookleap.NewPlan(*newPlan(t, "x").Request(), nil, year10000); p != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
		t.Errorf("%v, %v", p, err)
	}
}

// TestCommitWithoutClock: the error says that the clock failed.
func TestCommitWithoutClock(t *testing.T) {
	a := approved(t, newPlan(t, "x"), planTime, "address", "phone")
	h := &lookleap.Host{Now: func() time.Time { panic("broken clock") }}
	_, err := h.Commit(t.Context(), a, func(context.Context, []byte) ([]byte, error) {
		t.Error("the effect ran")
		return nil, nil
	})
	if lookleap.CodeOf(err) != lookleap.CodePlanExpired || !strings.Contains(err.Error(), "clock") {
		t.Error(err)
	}
}

// TestDecideWithoutClock: a suspended plan is not approved without a clock.
func TestDecideWithoutClock(t *testing.T) {
	p := newPlan(t, "x")
	h := &lookleap.Host{Now: func() time.Time { panic("broken clock") }}
	a, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"address", "phone"}})
	if a != nil || lookleap.CodeOf(err) != lookleap.CodePlanExpired || !strings.Contains(err.Error(), "clock") {
		t.Errorf("%v, %v", a, err)
	}
}
