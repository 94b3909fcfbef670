package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plugin"
)

// TestWhatCountsAsAnswer: what prompters and callers do that is neither a plain yes nor a plain no.
func TestWhatCountsAsAnswer(t *testing.T) {
	bubble := func(name string, test func(*testing.T)) {
		t.Run("O50/"+name, func(t *testing.T) { synctest.Test(t, test) })
	}
	bubble("reject-same-items-with-another-effect", func(t *testing.T) {
		ui := &counter{reply: refuseAll}
		h := &lookleap.Host{Prompter: ui}
		for i := range 3 {
			req := planFrom(t, "https://a.example", "read it").Request()
			p, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: req.Kind, Origin: req.Origin, Summary: req.Summary, Items: req.Items}, []byte{byte(i)}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Ask(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
				t.Error(err)
			}
		}
		if n := ui.shown.Load(); n != 1 {
			t.Errorf("shown %d times", n)
		}
	})
	bubble("accept-again-after-an-error", func(t *testing.T) {
		ui := &counter{reply: func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: r.Digest}, errors.New("the window could not be opened")
		}}
		h := &lookleap.Host{Prompter: ui}
		for range 2 {
			if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it")); lookleap.CodeOf(err) != lookleap.CodeConsentFailed {
				t.Error(err)
			}
		}
		if n := ui.shown.Load(); n != 2 {
			t.Errorf("shown %d times", n)
		}
	})
	bubble("accept-again-after-the-answer-to-another-request", func(t *testing.T) {
		ui := &counter{reply: func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: lookleap.Digest(nil)}, nil
		}}
		h := &lookleap.Host{Prompter: ui}
		for range 2 {
			p := planFrom(t, "https://a.example", "read it")
			if _, err := h.Ask(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodeConsentMismatch {
				t.Error(err)
			}
			if _, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: lookleap.Digest(nil)}); lookleap.CodeOf(err) != lookleap.CodeConsentMismatch {
				t.Error(err)
			}
		}
		if n := ui.shown.Load(); n != 2 {
			t.Errorf("shown %d times", n)
		}
	})
	bubble("accept-wrapped-pending-as-pending", func(t *testing.T) {
		h := &lookleap.Host{Prompter: &counter{reply: func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, fmt.Errorf("sent by mail: %w", lookleap.ErrConsentPending)
		}}}
		p := planFrom(t, "https://a.example", "read it")
		_, err := h.Ask(t.Context(), p)
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) || pending.Request.Digest != p.Request().Digest {
			t.Error(err)
		}
	})
	bubble("reject-what-its-caller-no-longer-needs", func(t *testing.T) {
		ui := &counter{reply: approveAll}
		h := &lookleap.Host{Prompter: ui}
		settled := errors.New("another answer has settled it")
		ctx := plugin.WithPromptCheck(t.Context(), func() error { return settled })
		if _, err := h.Ask(ctx, planFrom(t, "https://a.example", "read it")); !errors.Is(err, settled) || ui.shown.Load() != 0 {
			t.Errorf("%v, shown %d times", err, ui.shown.Load())
		}
		if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it")); err != nil {
			t.Error("the dialogue was not closed:", err)
		}
	})
	bubble("accept-next-dialogue-after-the-shortest-time", func(t *testing.T) {
		ui := &counter{reply: func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			time.Sleep(time.Hour)
			return approveAll(ctx, r)
		}}
		h := &lookleap.Host{Prompter: ui, Asking: lookleap.AskLimits{Dialogue: 1}}
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() { _, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", fmt.Sprint(i))) })
		}
		all.Wait()
		if ui.most.Load() != 3 {
			t.Errorf("%d dialogues at once", ui.most.Load())
		}
	})
	bubble("accept-dialogue-without-end", func(t *testing.T) {
		ui := &counter{reply: func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			time.Sleep(time.Hour)
			return approveAll(ctx, r)
		}}
		h := &lookleap.Host{Prompter: ui, Asking: lookleap.AskLimits{Dialogue: -1}}
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() { _, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", fmt.Sprint(i))) })
		}
		all.Wait()
		if ui.most.Load() != 1 {
			t.Errorf("%d dialogues at once", ui.most.Load())
		}
	})
	bubble("accept-when-the-clock-was-set-back", func(t *testing.T) {
		ui := &counter{reply: refuseAll}
		ahead := time.Hour
		h := &lookleap.Host{Prompter: ui, Now: func() time.Time { return time.Now().Add(ahead) }}
		_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
		ahead = 0
		_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
		if n := ui.shown.Load(); n != 2 {
			t.Errorf("shown %d times: the refusal lasts longer than it was meant to", n)
		}
	})
	bubble("accept-no-memory-of-refusals", func(t *testing.T) {
		ui := &counter{reply: refuseAll}
		h := &lookleap.Host{Prompter: ui, Asking: lookleap.AskLimits{Refusal: -1}}
		for range 3 {
			_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
		}
		if n := ui.shown.Load(); n != 3 {
			t.Errorf("shown %d times", n)
		}
	})
	bubble("accept-another-IPv4-address", func(t *testing.T) {
		ui := &counter{reply: refuseAll}
		h := &lookleap.Host{Prompter: ui}
		for i := range 200 {
			_, _ = h.Ask(t.Context(), planFrom(t, "https://203.0.113.1", fmt.Sprint("read ", i)))
		}
		before := ui.shown.Load()
		_, _ = h.Ask(t.Context(), planFrom(t, "https://203.0.113.2", "read it"))
		if n := ui.shown.Load(); before != 30 || n != before+1 {
			t.Errorf("shown %d and %d times", before, n)
		}
	})
	bubble("accept-many-sites", func(t *testing.T) {
		ui := &counter{reply: refuseAll}
		h := &lookleap.Host{Prompter: ui}
		for i := range 4000 { // three askers each, which is more than a Host remembers
			_, _ = h.Ask(t.Context(), planFrom(t, fmt.Sprintf("https://s%d.example", i), "read it"))
		}
		if n := ui.shown.Load(); n != 4000 {
			t.Errorf("shown %d times", n)
		}
	})
}
