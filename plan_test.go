package lookleap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

var planTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newPlan is a disclosure of two fields, one of them optional.
func newPlan(t *testing.T, effect string) *lookleap.Plan {
	t.Helper()
	p, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind:    lookleap.ConsentDisclose,
		Origin:  "https://shop.example",
		Summary: "tell the shop where to deliver",
		Items: []lookleap.ConsentItem{
			{ID: "address", Summary: "your address", Recipient: "https://shop.example", Digest: lookleap.Digest([]byte("1 Main Street"))},
			{ID: "phone", Summary: "your phone number", Recipient: "https://shop.example", Digest: lookleap.Digest([]byte("555")), Optional: true,
				Remote: []lookleap.RemoteText{{Source: "shop.example", Label: "purpose", Text: "\x1b[2K[y/n] y\nFrom: https://bank.example"}}},
		},
	}, []byte(effect), planTime)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestApprove(t *testing.T) {
	p := newPlan(t, "POST /deliver")
	digest := p.Request().Digest
	soon, late := planTime.Add(time.Minute), planTime.Add(lookleap.PlanLifetime)
	for _, c := range []struct {
		name     string
		decision lookleap.ConsentDecision
		at       time.Time
		want     lookleap.Code
	}{
		{"both", lookleap.ConsentDecision{Digest: digest, Approved: []string{"phone", "address"}}, soon, lookleap.CodeOK},
		{"required-only", lookleap.ConsentDecision{Digest: digest, Approved: []string{"address"}}, soon, lookleap.CodeOK},
		{"nothing", lookleap.ConsentDecision{Digest: digest}, soon, lookleap.CodeConsentRefused},
		{"zero-value", lookleap.ConsentDecision{}, soon, lookleap.CodeConsentMismatch},
		{"optional-only", lookleap.ConsentDecision{Digest: digest, Approved: []string{"phone"}}, soon, lookleap.CodeConsentRefused},
		{"something-else-too", lookleap.ConsentDecision{Digest: digest, Approved: []string{"address", "passport"}}, soon, lookleap.CodeConsentMismatch},
		{"other-digest", lookleap.ConsentDecision{Digest: newPlan(t, "POST /deliver").Request().Digest, Approved: []string{"address"}}, soon, lookleap.CodeConsentMismatch},
		{"too-late", lookleap.ConsentDecision{Digest: digest, Approved: []string{"address"}}, late, lookleap.CodePlanExpired},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := p.Approve(c.decision, c.at)
			if got := lookleap.CodeOf(err); got != c.want {
				t.Fatalf("got %s (%v), want %s", got, err, c.want)
			}
			if err != nil && (a != nil || !errors.Is(err, lookleap.ErrConsentRefused)) {
				t.Fatalf("a refusal gave %v, %v", a, err)
			}
			if err == nil && (!a.Has("address") || a.Has("phone") != (c.name == "both")) {
				t.Fatalf("wrong items: %+v", a)
			}
		})
	}
}

// TestPrompt is attack E10: every way of not saying yes is no.
func TestPrompt(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	leaving, leave := context.WithCancel(t.Context())
	for _, c := range []struct {
		name     string
		ctx      context.Context
		prompter lookleap.ConsentPrompter
		want     lookleap.Code
	}{
		{"reject-nil", t.Context(), nil, lookleap.CodeConsentNoPrompter},
		{"reject-error", t.Context(), prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, errors.New("no terminal")
		}), lookleap.CodeConsentFailed},
		{"reject-error-beside-approval", t.Context(), prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			d, _ := approveAll(ctx, r)
			return d, errors.New("but")
		}), lookleap.CodeConsentFailed},
		{"reject-panic", t.Context(), prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			panic("boom")
		}), lookleap.CodeConsentFailed},
		{"reject-cancelled", cancelled, prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			t.Error("a dialogue was opened for a caller who had left")
			return approveAll(ctx, r)
		}), lookleap.CodeCancelled},
		{"reject-cancelled-meanwhile", leaving, prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			leave()
			return approveAll(ctx, r)
		}), lookleap.CodeCancelled},
		{"reject-other-digest", t.Context(), prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			d, _ := approveAll(ctx, r)
			d.Digest = lookleap.Digest(nil)
			return d, nil
		}), lookleap.CodeConsentMismatch},
		{"reject-changed-request", t.Context(), prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			r.Digest = lookleap.Digest([]byte("mine"))
			return approveAll(ctx, r)
		}), lookleap.CodeConsentMismatch},
		{"reject-zero-decision", t.Context(), prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, nil
		}), lookleap.CodeConsentMismatch},
		{"accept-approval", t.Context(), prompterFunc(approveAll), lookleap.CodeOK},
	} {
		t.Run("E10/"+c.name, func(t *testing.T) {
			h := &lookleap.Host{Prompter: c.prompter, Now: func() time.Time { return planTime }}
			a, err := h.Ask(c.ctx, newPlan(t, "x"))
			if (a != nil) != (err == nil) {
				t.Fatalf("got %v, %v", a, err)
			}
			if err != nil && !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Errorf("not a refusal: %v", err)
			}
			if got := lookleap.CodeOf(err); got != c.want {
				t.Errorf("got %s (%v), want %s", got, err, c.want)
			}
			if c.ctx.Err() != nil { // asked before
				return
			}
			decision, err := h.PromptConsent(c.ctx, newPlan(t, "x").Request())
			if got := lookleap.CodeOf(err); got != c.want || err != nil && decision.Approved != nil {
				t.Errorf("PromptConsent alone: got %v, %v, want %s", decision, err, c.want)
			}
		})
	}
	t.Run("E10/reject-timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hangs := make(chan struct{})
			defer close(hangs)
			h := &lookleap.Host{Prompter: prompterFunc(func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				<-hangs // a dialogue that does not notice that its caller left
				return approveAll(ctx, r)
			})}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			a, err := h.Ask(ctx, newPlan(t, "x"))
			if a != nil || !errors.Is(err, lookleap.ErrConsentRefused) || !errors.Is(err, context.DeadlineExceeded) || lookleap.CodeOf(err) != lookleap.CodeTimeout {
				t.Fatalf("got %v, %v", a, err)
			}
		})
	})
}

// TestPlanKeepsWhatWasAsked changes everything that the plan took or gave away.
func TestPlanKeepsWhatWasAsked(t *testing.T) {
	spoil := func(r *lookleap.ConsentRequest) {
		r.Items[0].Optional = true
		r.Items[0].Recipient = "https://evil.example"
		r.Items[0].Values[0].Text = "2 Side Street"
		r.Items[1].Remote[0].Text = "nothing"
		r.Verdict = nil
	}
	given := *newPlan(t, "x").Request()
	given.Verdict = &lookleap.Verdict{OK: true}
	given.Items[0].Values = []lookleap.ConsentValue{{Label: "value", Text: "1 Main Street"}}
	p, err := lookleap.NewPlan(given, []byte("x"), planTime)
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.State()
	if err != nil {
		t.Fatal(err)
	}
	unchanged := func(t *testing.T) {
		t.Helper()
		if after, err := p.State(); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the plan was changed from outside: %s, %v", after, err)
		}
	}
	t.Run("given", func(t *testing.T) {
		spoil(&given)
		unchanged(t)
	})
	t.Run("copy", func(t *testing.T) {
		spoil(p.Request())
		unchanged(t)
	})
	t.Run("prompted", func(t *testing.T) {
		h := &lookleap.Host{Now: func() time.Time { return planTime }, Prompter: prompterFunc(func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			spoil(r)
			return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{"phone"}}, nil // without what is required
		})}
		if a, err := h.Ask(t.Context(), p); a != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
			t.Errorf("a prompter made a required item optional: %v, %v", a, err)
		}
		unchanged(t)
	})
}

func TestNoApprovalPermitsNothing(t *testing.T) {
	h := &lookleap.Host{Now: func() time.Time { return planTime }}
	for name, a := range map[string]*lookleap.Approval{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			if a.Has("address") || a.Has("") || !a.Until().IsZero() || a.Plan() != nil {
				t.Error("it approves something")
			}
			err := commitTo(h, t.Context(), a, func(context.Context, []byte) error { t.Error("it ran"); return nil })
			if !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPlanStateTampered changes one thing of the state at a time.
func TestPlanStateTampered(t *testing.T) {
	p := newPlan(t, "POST /deliver")
	state, _ := p.State()
	for name, change := range map[string][2]string{
		"effect":    {`"effect":"UE9TVC`, `"effect":"UE9TVD`},
		"recipient": {`"recipient":"https://shop.example"`, `"recipient":"https://evil.example"`},
		"optional":  {`"optional":true`, `"optional":false`},
		"origin":    {`"origin":"https://shop.example"`, `"origin":"https://evil.example"`},
		"expires":   {`"expires":"2026-`, `"expires":"2036-`},
		"kind":      {`"kind":"disclose"`, `"kind":"act"`},
		"id":        {`"id":"` + p.ID(), `"id":"X` + p.ID()},
		"type":      {`version=1`, `version=2`},
		"unknown":   {`{"type"`, `{"until":"2036-01-01T00:00:00Z","type"`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(string(state), change[0], change[1], 1)
			if changed == string(state) {
				t.Fatal("nothing was changed")
			}
			if back, err := lookleap.ParsePlan(json.RawMessage(changed)); back != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
				t.Fatalf("got %v, %v", back, err)
			}
		})
	}
	for name, changed := range map[string]string{
		"effect-spare-bits": strings.Replace(string(state), `cg=="`, `ch=="`, 1),
		"effect-line-break": strings.Replace(string(state), `"effect":"`, `"effect":"\n`, 1),
		"another-object":    string(state) + `{}`,
		"another-brace":     string(state) + `}`,
		"another-member":    strings.Replace(string(state), `{"type":`, `{"type":"other","type":`, 1),
		"cut":               string(state[:len(state)-1]),
		"empty":             "",
		"null":              "null",
	} {
		t.Run(name, func(t *testing.T) {
			if back, err := lookleap.ParsePlan(json.RawMessage(changed)); back != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
				t.Fatalf("got %v, %v", back, err)
			}
		})
	}
	t.Run("rewritten-with-its-digests", func(t *testing.T) {
		forged, _ := newPlan(t, "POST /deliver?to=evil").State()
		back, err := lookleap.ParsePlan(forged)
		if err != nil {
			t.Fatal(err)
		}
		d := lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"address"}}
		if _, err := back.Approve(d, planTime); lookleap.CodeOf(err) != lookleap.CodeConsentMismatch {
			t.Fatalf("the user's word for one plan served another: %v", err)
		}
	})
}

func TestCommitOnce(t *testing.T) {
	now := planTime
	h := &lookleap.Host{Now: func() time.Time { return now }, Prompter: prompterFunc(approveAll)}
	a, err := h.Ask(t.Context(), newPlan(t, "POST /deliver"))
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("connection reset")
	calls := 0
	effect := func(_ context.Context, bytes []byte) error {
		calls++
		if string(bytes) != "POST /deliver" {
			t.Errorf("other bytes: %q", bytes)
		}
		return failure
	}
	if err := commitTo(h, t.Context(), a, effect); !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if err := commitTo(h, t.Context(), a, effect); !errors.Is(err, lookleap.ErrAlreadyDone) || calls != 1 {
		t.Fatalf("it is not known how much of a failed effect happened, so it must not run again: %v after %d calls", err, calls)
	}

	late, err := h.Ask(t.Context(), newPlan(t, "late"))
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(lookleap.PlanLifetime)
	if err := commitTo(h, t.Context(), late, effect); lookleap.CodeOf(err) != lookleap.CodePlanExpired || calls != 1 {
		t.Fatalf("an expired plan: %v after %d calls", err, calls)
	}
}

// TestCommitOnceAmongMany commits one plan from many goroutines at once, through
// one Host and through two that share a directory.
func TestCommitOnceAmongMany(t *testing.T) {
	now := func() time.Time { return planTime }
	one, dir := &lookleap.Host{Now: now}, t.TempDir()
	shared := func() *lookleap.Host { return &lookleap.Host{Now: now, Plans: openStore(t, dir)} }
	for name, hosts := range map[string][2]*lookleap.Host{"memory": {one, one}, "directory": {shared(), shared()}} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, "POST /deliver")
			a, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"address", "phone"}}, planTime)
			if err != nil {
				t.Fatal(err)
			}
			var effects, refused atomic.Int32
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					err := commitTo(hosts[i%2], t.Context(), a, func(context.Context, []byte) error { effects.Add(1); return nil })
					if errors.Is(err, lookleap.ErrAlreadyDone) {
						refused.Add(1)
					}
				})
			}
			all.Wait()
			if effects.Load() != 1 || refused.Load() != 99 {
				t.Errorf("%d effects, %d refusals", effects.Load(), refused.Load())
			}
		})
	}
}

// storeFunc is a store that is empty and whose calls return an error.
type storeFunc func(context.Context) error

func (f storeFunc) Get(context.Context, string) ([]byte, error) { return nil, fs.ErrNotExist }
func (f storeFunc) Put(ctx context.Context, _ string, _, _ []byte, _ time.Time) error {
	return f(ctx)
}
func (f storeFunc) Delete(ctx context.Context, _ string) error           { return f(ctx) }
func (f storeFunc) Keys(ctx context.Context, _ string) ([]string, error) { return nil, f(ctx) }

// TestConsentRequestString covers E04, E05 and E08 where the prompt is a terminal.
func TestConsentRequestString(t *testing.T) {
	shown := newPlan(t, "x").Request().String()
	for _, id := range []string{"E04", "E05"} {
		t.Run(id+"/reject-raw", func(t *testing.T) {
			if strings.Contains(shown, "\x1b") || strings.Contains(shown, "\nFrom: https://bank.example") {
				t.Fatalf("remote text reached the terminal raw:\n%s", shown)
			}
		})
	}
	t.Run("E08/accept-origin-first", func(t *testing.T) {
		if !strings.HasPrefix(shown, "[shop.example] wants this agent to tell the shop where to deliver\n") {
			t.Fatalf("the origin does not stand first:\n%s", shown)
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	one, two := newPlan(t, "x"), newPlan(t, "x")
	state, err := one.State()
	if err != nil {
		t.Fatal(err)
	}
	again, err := lookleap.ParsePlan(state)
	if err != nil {
		t.Fatal(err)
	}
	key := one.IdempotencyKey()
	if key != again.IdempotencyKey() || key == two.IdempotencyKey() || len(key) != 34 || key[0] != '"' || key[33] != '"' || strings.Contains(key, one.ID()) {
		t.Errorf("%s, %s, %s", key, again.IdempotencyKey(), two.IdempotencyKey())
	}
	if (*lookleap.Plan)(nil).IdempotencyKey() != "" {
		t.Error("a nil plan has a key")
	}
}
