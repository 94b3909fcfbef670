package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// planFrom is a plan of one item.
func planFrom(t *testing.T, origin, summary string) *lookleap.Plan {
	t.Helper()
	p, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentExternal, Origin: origin, Summary: summary,
		Items: []lookleap.ConsentItem{{ID: "fetch", Summary: "read a file", Recipient: origin, Digest: lookleap.Digest(nil)}},
	}, []byte(summary), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counter answers every request the same way and counts them.
type counter struct {
	shown, open, most atomic.Int32
	reply             func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)
}

func (c *counter) PromptConsent(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	c.shown.Add(1)
	c.most.Store(max(c.most.Load(), c.open.Add(1)))
	defer c.open.Add(-1)
	return c.reply(ctx, r)
}

func refuseAll(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{Digest: r.Digest}, nil
}

func leavePending(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

func TestAskedUntilTired(t *testing.T) {
	t.Run("O50", func(t *testing.T) {
		bubble := func(name string, test func(*testing.T)) {
			t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
		}
		bubble("reject-again-after-no", func(t *testing.T) {
			ui := &counter{reply: refuseAll}
			h := &lookleap.Host{Prompter: ui}
			for range 1000 {
				_, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
				if lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
					t.Fatal(err)
				}
			}
			if n := ui.shown.Load(); n != 1 {
				t.Errorf("shown %d times", n)
			}
		})
		bubble("reject-agent-by-its-name-and-with-a-fix", func(t *testing.T) {
			h := &lookleap.Host{Prompter: &counter{reply: leavePending}, Asking: lookleap.AskLimits{Prompts: 1}}
			ask := func(tool string) error {
				item := lookleap.ConsentItem{ID: "call", Summary: tool, Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest(nil)}
				p, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentTool, Origin: lookleap.RecipientAgent, Summary: tool,
					Items: []lookleap.ConsentItem{item}}, []byte(tool), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				_, err = h.Ask(t.Context(), p)
				return err
			}
			_ = ask("run a tool")
			err := ask("run another tool")
			if lookleap.CodeOf(err) != lookleap.CodeConsentTooOften || !strings.Contains(err.Error(), "the agent has asked 1 times") ||
				!strings.Contains(err.Error(), "wait before the user is asked again") {
				t.Error(err)
			}
		})
		bubble("reject-again-after-no-to-a-suspended-plan", func(t *testing.T) {
			ui := &counter{reply: leavePending}
			h := &lookleap.Host{Prompter: ui}
			_, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
			var pending *lookleap.PendingError
			if !errors.As(err, &pending) {
				t.Fatal(err)
			}
			p, err := lookleap.ParsePlan(pending.State)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: pending.Request.Digest}); lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
				t.Fatal(err)
			}
			if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it")); lookleap.CodeOf(err) != lookleap.CodeConsentRefused || ui.shown.Load() != 1 {
				t.Errorf("shown %d times, %v", ui.shown.Load(), err)
			}
		})
		bubble("reject-cheap-approval-of-a-question-that-was-repeated", func(t *testing.T) {
			ui := &counter{reply: leavePending}
			h := &lookleap.Host{Prompter: ui, Asking: lookleap.AskLimits{Prompts: 2}}
			ask := func(root, summary string) (*lookleap.Plan, error) {
				p := planFrom(t, "https://a.example", summary)
				request := *p.Request()
				request.TrustRoot = "https://a.example" + root
				p, err := lookleap.NewPlan(request, p.Effect(), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				_, err = h.Ask(t.Context(), p)
				return p, err
			}
			first, _ := ask("/owner/x", "read it")
			time.Sleep(9 * time.Minute)
			_, _ = ask("/owner/x", "read it")
			time.Sleep(2 * time.Minute)
			_, _ = ask("/owner/y", "read it") // the first question is too old to count for the owner
			approve := lookleap.ConsentDecision{Digest: first.Request().Digest, Approved: []string{"fetch"}}
			if _, err := h.Decide(t.Context(), first, approve); err != nil {
				t.Fatal(err)
			}
			ui.reply = func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{"fetch"}}, nil
			}
			if _, err := ask("/owner/x", "read that"); err != nil {
				t.Fatal(err)
			}
			if _, err := ask("/owner/x", "read more"); lookleap.CodeOf(err) != lookleap.CodeConsentTooOften {
				t.Errorf("error %v", err)
			}
		})
		bubble("accept-again-minutes-after-no", func(t *testing.T) {
			ui := &counter{reply: refuseAll}
			h := &lookleap.Host{Prompter: ui}
			for want := range int32(3) {
				_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
				if n := ui.shown.Load(); n != want+1 {
					t.Errorf("shown %d times, want %d", n, want+1)
				}
				time.Sleep(5*time.Minute - 1)
				if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it")); lookleap.CodeOf(err) != lookleap.CodeConsentRefused || ui.shown.Load() != want+1 {
					t.Errorf("shown again too early: %v", err)
				}
				time.Sleep(time.Nanosecond)
			}
		})
		bubble("accept-another-question-after-no", func(t *testing.T) {
			ui := &counter{reply: refuseAll}
			h := &lookleap.Host{Prompter: ui}
			_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
			_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read that"))
			_, _ = h.Ask(lookleap.WithUser(t.Context(), "b"), planFrom(t, "https://a.example", "read it"))
			if n := ui.shown.Load(); n != 3 {
				t.Errorf("shown %d times", n)
			}
		})
		bubble("reject-too-often-from-one-network", func(t *testing.T) {
			ui := &counter{reply: refuseAll}
			h := &lookleap.Host{Prompter: ui}
			for i := range 100 {
				_, _ = h.Ask(t.Context(), planFrom(t, fmt.Sprintf("https://[2001:db8::%x:1:1:1]", (i+1)*0x28f), fmt.Sprint("read ", i)))
			}
			_, err := h.Ask(t.Context(), planFrom(t, "https://[2001:db8:0:1::1]", "read it"))
			if n := ui.shown.Load(); n != 31 || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
				t.Errorf("shown %d times, %v", n, err)
			}
		})
		for name, c := range map[string]struct {
			reply func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)
			same  bool
			most  int32
		}{
			"different-refused":  {refuseAll, false, 30},
			"different-pending":  {leavePending, false, 30},
			"identical-pending":  {leavePending, true, 30},
			"identical-approved": {approveAll, true, 30},
			"different-approved": {approveAll, false, 300},
		} {
			bubble("reject-too-often-"+name, func(t *testing.T) {
				ui := &counter{reply: c.reply}
				var events lookleaptest.Events
				h := &lookleap.Host{Prompter: ui, Observe: events.Observe}
				ask := func(i int) error {
					summary := "read it"
					if !c.same {
						summary = fmt.Sprint("read ", i)
					}
					_, err := h.Ask(t.Context(), planFrom(t, fmt.Sprintf("https://s%d.a.example", i), summary))
					return err
				}
				var err error
				for i := range 1000 {
					if c.same {
						i = 0
					}
					err = ask(i)
				}
				if n := ui.shown.Load(); n > c.most || n < c.most-30 || lookleap.CodeOf(err) != lookleap.CodeConsentTooOften {
					t.Errorf("shown %d times, at most %d: %v", n, c.most, err)
				}
				all := events.All()
				if last := all[len(all)-1]; last.Kind != lookleap.EventConsent || last.Code != lookleap.CodeConsentTooOften {
					t.Errorf("event %+v", last)
				}
				if _, err := h.Ask(t.Context(), planFrom(t, "https://b.example", "other site")); lookleap.CodeOf(err) == lookleap.CodeConsentTooOften {
					t.Errorf("another site: %v", err)
				}
				time.Sleep(10 * time.Minute)
				if err := ask(1); lookleap.CodeOf(err) == lookleap.CodeConsentTooOften {
					t.Errorf("after the interval: %v", err)
				}
			})
		}
		// Many who share a host: how often the host may ask, and whether another one
		// there still can.
		for name, c := range map[string]struct {
			root  func(i int) string
			most  int32
			other bool
		}{
			"one-root":            {func(int) string { return "https://code.example/mallory/skills/" }, 30, true},
			"roots-of-one-owner":  {func(i int) string { return fmt.Sprintf("https://code.example/mallory/%d/", i) }, 60, true},
			"roots-below-a-group": {func(int) string { return "https://code.example/alice/mallory/" }, 30, true},
			"owners-of-one-host":  {func(i int) string { return fmt.Sprintf("https://code.example/%d", i) }, 120, false},
			"final-slash-or-not":  {func(i int) string { return "https://code.example/mallory/skills" + "/"[i%2:] }, 30, true},
			"host":                {func(int) string { return "https://code.example/" }, 30, true},
			"bad-root":            {func(int) string { return "code.example" }, 30, true},
		} {
			bubble("reject-too-often-"+name, func(t *testing.T) {
				ui := &counter{reply: refuseAll}
				h := &lookleap.Host{Prompter: ui}
				ask := func(root string, i int) error {
					p, err := lookleap.NewPlan(lookleap.ConsentRequest{
						Kind: lookleap.ConsentSkill, Origin: "https://code.example", TrustRoot: root, Summary: fmt.Sprint("read ", i),
						Items: []lookleap.ConsentItem{{ID: "fetch", Summary: "read a file", Recipient: "code.example", Digest: lookleap.Digest(nil)}},
					}, nil, time.Now())
					if err != nil {
						t.Fatal(err)
					}
					_, err = h.Ask(t.Context(), p)
					return err
				}
				for i := range 1000 {
					_ = ask(c.root(i), i)
				}
				if n := ui.shown.Load(); n != c.most {
					t.Errorf("shown %d times, want %d", n, c.most)
				}
				err := ask("https://code.example/alice/skills/", 1001)
				if silenced := lookleap.CodeOf(err) == lookleap.CodeConsentTooOften; silenced == c.other {
					t.Errorf("another trust root: %v", err)
				}
				time.Sleep(10 * time.Minute)
				if err := ask(c.root(0), 1002); lookleap.CodeOf(err) == lookleap.CodeConsentTooOften {
					t.Errorf("after the interval: %v", err)
				}
			})
		}
		bubble("accept-one-dialogue-at-a-time", func(t *testing.T) {
			ui := &counter{reply: func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				time.Sleep(time.Second)
				return approveAll(ctx, r)
			}}
			h := &lookleap.Host{Prompter: ui, Asking: lookleap.AskLimits{Prompts: -1}}
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", fmt.Sprint(i))); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if ui.shown.Load() != 50 || ui.most.Load() != 1 {
				t.Errorf("%d shown, %d at once", ui.shown.Load(), ui.most.Load())
			}
		})
		bubble("accept-users-apart", func(t *testing.T) {
			ui := &counter{reply: func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				time.Sleep(time.Hour)
				return approveAll(ctx, r)
			}}
			h := &lookleap.Host{Prompter: ui}
			start := time.Now()
			var all sync.WaitGroup
			for i := range 10 {
				ctx := lookleap.WithUser(t.Context(), fmt.Sprint(i))
				all.Go(func() {
					if _, err := h.Ask(ctx, planFrom(t, "https://a.example", "read it")); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if ui.most.Load() != 10 || time.Since(start) != time.Hour {
				t.Errorf("%d at once, %s", ui.most.Load(), time.Since(start))
			}
		})
		bubble("accept-next-after-no-caller-or-no-end", func(t *testing.T) {
			end := make(chan struct{})
			defer close(end)
			var ui *counter
			ui = &counter{reply: func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				if ui.shown.Load() < 3 {
					<-end // ignores its context
				}
				return approveAll(ctx, r)
			}}
			h := &lookleap.Host{Prompter: ui}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := h.Ask(ctx, planFrom(t, "https://a.example", "1")); lookleap.CodeOf(err) != lookleap.CodeTimeout {
				t.Error(err)
			}
			go func() { _, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "2")) }()
			synctest.Wait()
			start := time.Now()
			if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "3")); err != nil || time.Since(start) != 10*time.Minute {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
		})
		bubble("reject-a-waiting-caller-who-left", func(t *testing.T) {
			ui := &counter{reply: func(ctx context.Context, _ *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				<-ctx.Done()
				return lookleap.ConsentDecision{}, ctx.Err()
			}}
			h := &lookleap.Host{Prompter: ui}
			first, stop := context.WithCancel(t.Context())
			go func() { _, _ = h.Ask(first, planFrom(t, "https://a.example", "1")) }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := h.Ask(ctx, planFrom(t, "https://a.example", "2")); lookleap.CodeOf(err) != lookleap.CodeTimeout || ui.shown.Load() != 1 {
				t.Errorf("%v, %d shown", err, ui.shown.Load())
			}
			stop()
		})
		bubble("accept-pending-is-no-open-dialogue", func(t *testing.T) {
			h := &lookleap.Host{Prompter: &counter{reply: leavePending}}
			for i := range 5 {
				if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", fmt.Sprint(i))); !errors.Is(err, lookleap.ErrConsentPending) {
					t.Error(err)
				}
			}
		})
		bubble("reject-dialogue-within-a-dialogue", func(t *testing.T) {
			h := &lookleap.Host{}
			h.Prompter = prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				_, err := h.Ask(ctx, planFrom(t, "https://a.example", "inner"))
				return lookleap.ConsentDecision{}, err
			})
			if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "outer")); lookleap.CodeOf(err) != lookleap.CodeConsentFailed {
				t.Error(err)
			}
		})
	})
}

// TestSecondDialogue: what waits for the user's other dialogue is judged again when that is closed.
func TestSecondDialogue(t *testing.T) {
	bubble := func(name string, test func(*testing.T)) {
		t.Run("O50/"+name, func(t *testing.T) { synctest.Test(t, test) })
	}
	slowly := func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		time.Sleep(time.Minute)
		return refuseAll(ctx, r)
	}
	bubble("reject-same-request-that-waited", func(t *testing.T) {
		ui := &counter{reply: slowly}
		h := &lookleap.Host{Prompter: ui}
		var asked sync.WaitGroup
		for range 3 {
			p := planFrom(t, "https://a.example", "read it")
			asked.Go(func() {
				if a, err := h.Ask(t.Context(), p); a != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
					t.Errorf("%v, %v", a, err)
				}
			})
		}
		asked.Wait()
		if n := ui.shown.Load(); n != 1 {
			t.Errorf("shown %d times", n)
		}
		begin := time.Now()
		if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read that")); err == nil || time.Since(begin) != time.Minute {
			t.Errorf("the next dialogue ended after %v with %v", time.Since(begin), err)
		}
	})
	bubble("reject-refused-request-without-waiting", func(t *testing.T) {
		ui := &counter{reply: slowly}
		h := &lookleap.Host{Prompter: ui}
		_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
		open := planFrom(t, "https://a.example", "read that")
		var asked sync.WaitGroup
		asked.Go(func() { _, _ = h.Ask(t.Context(), open) })
		synctest.Wait()
		begin := time.Now()
		if _, err := h.Ask(t.Context(), planFrom(t, "https://a.example", "read it")); lookleap.CodeOf(err) != lookleap.CodeConsentRefused || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		asked.Wait()
	})
	bubble("reject-prompter-that-asks", func(t *testing.T) {
		h := new(lookleap.Host)
		h.Prompter = prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			if d, err := h.PromptConsent(ctx, planFrom(t, "https://b.example", "more").Request()); d.Digest != "" || lookleap.CodeOf(err) != lookleap.CodeConsentFailed {
				t.Errorf("%v, %v", d, err)
			}
			return refuseAll(ctx, r)
		})
		_, _ = h.Ask(t.Context(), planFrom(t, "https://a.example", "read it"))
	})
	bubble("accept-pending-as-pending", func(t *testing.T) {
		h := &lookleap.Host{Prompter: lookleap.SuspendingPrompter{}}
		_, err := h.PromptConsent(t.Context(), planFrom(t, "https://a.example", "read it").Request())
		if err != lookleap.ErrConsentPending {
			t.Error(err)
		}
	})
	bubble("accept-wrapped-pending-as-pending", func(t *testing.T) {
		h := &lookleap.Host{Prompter: prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, fmt.Errorf("sent by mail: %w", lookleap.ErrConsentPending)
		})}
		_, err := h.PromptConsent(t.Context(), planFrom(t, "https://a.example", "read it").Request())
		if !errors.Is(err, lookleap.ErrConsentPending) || errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(err)
		}
	})
	bubble("reject-caller-that-left", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ui := &counter{reply: refuseAll}
		_, err := (&lookleap.Host{Prompter: ui}).Ask(ctx, planFrom(t, "https://a.example", "read it"))
		if lookleap.CodeOf(err) != lookleap.CodeCancelled || ui.shown.Load() != 0 {
			t.Errorf("%v, shown %d times", err, ui.shown.Load())
		}
	})
}
