package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestRecord: Record hears of each decided plan before and after its effect, and stops what it cannot record.
func TestRecord(t *testing.T) {
	type heard struct {
		host   *lookleap.Host
		list   []string
		fail   map[lookleap.PlanState]error
		events []lookleap.Event
	}
	open := func() *heard {
		h := &heard{fail: map[lookleap.PlanState]error{}}
		h.host = &lookleap.Host{Plans: lookleap.NewMemoryStore(), Now: func() time.Time { return planTime }, Prompter: prompterFunc(approveAll), Record: func(_ context.Context, o lookleap.PlanOutcome) error {
			h.list = append(h.list, fmt.Sprintf("%s %s %q %v", o.State, o.User, o.Receipt, o.Approved))
			return h.fail[o.State]
		}, Observe: func(_ context.Context, e lookleap.Event) { h.events = append(h.events, e) }}
		return h
	}
	commit := func(t *testing.T, h *heard, e lookleap.Effect) error {
		ctx := lookleap.WithUser(t.Context(), "kim")
		a, err := h.host.Ask(ctx, newPlan(t, "address=1&phone=555"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.host.CommitApproved(ctx, a, e)
		return err
	}
	sends := func(err error) lookleap.Effect {
		return lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) { return []byte("paid"), err }}
	}
	for name, c := range map[string]struct {
		effect lookleap.Effect
		want   []string
	}{
		"accept-done":         {sends(nil), []string{`sent kim "" [address phone]`, `done kim "paid" [address phone]`}},
		"accept-unknown":      {sends(errors.New("cut")), []string{`sent kim "" [address phone]`, `unknown kim "" [address phone]`}},
		"accept-nothing-sent": {sends(lookleap.NothingSent(errors.New("shut"))), []string{`sent kim "" [address phone]`, `failed kim "" [address phone]`}},
		"accept-not-prepared": {lookleap.Effect{Prepare: func(context.Context, *lookleap.Approval) error { return errors.New("no") }, Send: sends(nil).Send}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := open()
			_ = commit(t, h, c.effect)
			if !slices.Equal(h.list, c.want) {
				t.Errorf("%q", h.list)
			}
		})
	}
	t.Run("reject-what-is-not-recorded", func(t *testing.T) {
		h, ran := open(), false
		h.fail[lookleap.PlanSent] = errors.New("full")
		effect := lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) { ran = true; return nil, nil }}
		if err := commit(t, h, effect); lookleap.CodeOf(err) != lookleap.CodeLedgerFailed || ran || len(h.list) != 1 {
			t.Errorf("%v, %v, %q", err, ran, h.list)
		}
	})
	t.Run("accept-again-what-was-not-recorded", func(t *testing.T) {
		h := open()
		a, err := h.host.Ask(t.Context(), newPlan(t, "address=1&phone=555"))
		if err != nil {
			t.Fatal(err)
		}
		h.fail[lookleap.PlanSent] = errors.New("full")
		_, first := h.host.CommitApproved(t.Context(), a, sends(nil))
		h.fail[lookleap.PlanSent] = nil
		if _, second := h.host.CommitApproved(t.Context(), a, sends(nil)); first == nil || second != nil {
			t.Errorf("%v, %v", first, second)
		}
	})
	t.Run("reject-what-the-store-does-not-take", func(t *testing.T) {
		h := open()
		h.host.Plans = &fullStore{Store: h.host.Plans, left: 1}
		if err := commit(t, h, sends(nil)); err == nil || !slices.Equal(h.list, []string{`sent kim "" [address phone]`, `failed kim "" [address phone]`}) {
			t.Errorf("%v, %q", err, h.list)
		}
	})
	t.Run("accept-caller-who-left", func(t *testing.T) {
		h := open()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		a, err := h.host.Ask(ctx, newPlan(t, "address=1&phone=555"))
		if err == nil {
			_, err = h.host.CommitApproved(ctx, a, lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) { leave(); return nil, nil }})
		}
		if err != nil || len(h.list) != 2 {
			t.Errorf("%v, %q", err, h.list)
		}
	})
	t.Run("accept-what-is-not-recorded-after-it", func(t *testing.T) {
		h := open()
		h.fail[lookleap.PlanDone] = errors.New("full")
		if err := commit(t, h, sends(nil)); err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(h.events, func(e lookleap.Event) bool {
			return e.Kind == lookleap.EventFinding && e.Code == lookleap.CodeLedgerFailed && strings.HasPrefix(e.Shown, "sha256:")
		}) {
			t.Errorf("%+v", h.events)
		}
	})
	t.Run("reject-panic", func(t *testing.T) {
		h := open()
		h.host.Record = func(context.Context, lookleap.PlanOutcome) error { panic("no") }
		if err := commit(t, h, sends(nil)); lookleap.CodeOf(err) != lookleap.CodeLedgerFailed {
			t.Error(err)
		}
	})
	t.Run("accept-events-name-what-was-shown", func(t *testing.T) {
		h := open()
		if err := commit(t, h, sends(nil)); err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, e := range h.events {
			if e.Kind == lookleap.EventConsent || e.Kind == lookleap.EventPlan {
				shown = append(shown, e.Shown)
			}
		}
		if len(shown) != 2 || shown[0] != shown[1] || !strings.HasPrefix(shown[0], "sha256:") {
			t.Errorf("%q", shown)
		}
	})
}

// fullStore is a store that takes a number of records, and no more.
type fullStore struct {
	lookleap.Store
	left int
}

func (f *fullStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if f.left--; f.left < 0 {
		return errors.New("full")
	}
	return f.Store.Put(ctx, key, old, value, until)
}
