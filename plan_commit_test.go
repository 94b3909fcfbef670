package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

// approved is an approval of every item of a plan.
func approved(t *testing.T, p *lookleap.Plan, now time.Time, ids ...string) *lookleap.Approval {
	t.Helper()
	d := lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: ids}
	if ids == nil {
		d, _ = approveAll(t.Context(), p.Request())
	}
	a, err := p.Approve(d, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// commitTo commits an effect without a receipt.
func commitTo(h *lookleap.Host, ctx context.Context, a *lookleap.Approval, effect func(context.Context, []byte) error) error {
	var send func(context.Context, []byte) ([]byte, error)
	if effect != nil {
		send = func(ctx context.Context, data []byte) ([]byte, error) { return nil, effect(ctx, data) }
	}
	_, err := h.Commit(ctx, a, send)
	return err
}

func commitApproved(h *lookleap.Host, ctx context.Context, a *lookleap.Approval, effect func(context.Context, *lookleap.Approval) error) error {
	var e lookleap.Effect
	if effect != nil {
		e.Send = func(ctx context.Context, a *lookleap.Approval) ([]byte, error) { return nil, effect(ctx, a) }
	}
	_, err := h.CommitApproved(ctx, a, e)
	return err
}

func TestCommitOnlyWhatWasApproved(t *testing.T) {
	h := &lookleap.Host{Now: func() time.Time { return planTime }}
	t.Run("O55", func(t *testing.T) {
		t.Run("reject-whole-effect-of-a-part", func(t *testing.T) {
			p := newPlan(t, "address=1&phone=555")
			a := approved(t, p, planTime, "address")
			err := commitTo(h, t.Context(), a, func(context.Context, []byte) error { t.Error("it ran"); return nil })
			if lookleap.CodeOf(err) != lookleap.CodeConsentPartial || !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Error(err)
			}
			ran := false
			if err := commitApproved(h, t.Context(), a, func(context.Context, *lookleap.Approval) error { ran = true; return nil }); err != nil || !ran {
				t.Errorf("the refusal spent the plan: %v", err)
			}
		})
		t.Run("accept-the-approved-part", func(t *testing.T) {
			p := newPlan(t, "address=1&phone=555")
			err := commitApproved(h, t.Context(), approved(t, p, planTime, "address"), func(_ context.Context, a *lookleap.Approval) error {
				if !a.Has("address") || a.Has("phone") || string(a.Plan().Effect()) != "address=1&phone=555" {
					t.Error("another approval")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		t.Run("accept-all", func(t *testing.T) {
			ran := false
			if err := commitTo(h, t.Context(), approved(t, newPlan(t, "x"), planTime), func(context.Context, []byte) error { ran = true; return nil }); err != nil || !ran {
				t.Error(err)
			}
		})
	})
}

func TestCommitUsedWrongly(t *testing.T) {
	t.Run("O54", func(t *testing.T) {
		t.Run("reject-no-effect", func(t *testing.T) {
			h := &lookleap.Host{Now: func() time.Time { return planTime }}
			a := approved(t, newPlan(t, "x"), planTime)
			for _, err := range []error{commitTo(h, t.Context(), a, nil), commitApproved(h, t.Context(), a, nil)} {
				if lookleap.CodeOf(err) != lookleap.CodeUsage {
					t.Error(err)
				}
			}
			ran := false
			if err := commitTo(h, t.Context(), a, func(context.Context, []byte) error { ran = true; return nil }); err != nil || !ran {
				t.Errorf("the plan is spent: %v", err)
			}
		})
		t.Run("reject-no-plan", func(t *testing.T) {
			h := &lookleap.Host{Prompter: prompterFunc(approveAll)}
			_, ask := h.Ask(t.Context(), nil)
			_, decide := h.Decide(t.Context(), nil, lookleap.ConsentDecision{})
			_, prompt := h.PromptConsent(t.Context(), nil)
			for _, err := range []error{ask, decide, prompt} {
				if lookleap.CodeOf(err) != lookleap.CodeUsage {
					t.Error(err)
				}
			}
		})
	})
}

// bitingError panics in one of its methods, or is a typed nil pointer.
type bitingError struct{ method string }

func (b *bitingError) bite(method string) {
	if b.method == method {
		panic("boom")
	}
}

func (b *bitingError) Error() string             { b.bite("Error"); return "biting" }
func (b *bitingError) Is(error) bool             { b.bite("Is"); return false }
func (b *bitingError) Unwrap() error             { b.bite("Unwrap"); return nil }
func (b *bitingError) ReasonCode() lookleap.Code { b.bite("ReasonCode"); return "" }
func (b *bitingError) Read([]byte) (int, error)  { return 0, b }
func (b *bitingError) Close() error              { return b }

func TestErrorsThatBite(t *testing.T) {
	t.Run("O54", func(t *testing.T) {
		for name, bite := range map[string]error{
			"typed-nil": (*bitingError)(nil), "Error": &bitingError{"Error"}, "Is": &bitingError{"Is"}, "Unwrap": &bitingError{"Unwrap"}, "ReasonCode": &bitingError{"ReasonCode"},
			"below": fmt.Errorf("below: %w", &bitingError{"Unwrap"}),
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				var observed atomic.Int32
				h := &lookleap.Host{
					Fetcher:  fetcherFunc(func(*http.Request) (*http.Response, error) { return nil, bite }),
					Resolver: resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) { return nil, bite }),
					Prompter: prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
						return lookleap.ConsentDecision{}, bite
					}),
					Plans: storeFunc(func(context.Context) error { return bite }),
					Now:   func() time.Time { return planTime },
					Observe: func(_ context.Context, e lookleap.Event) {
						observed.Add(1)
						_ = e.Err.Error()
					},
				}
				defer h.Close()
				refused := func(err error, want lookleap.Code) {
					t.Helper()
					if err == nil || lookleap.CodeOf(err) != want && name != "ReasonCode" || err.Error() == "" || errors.Is(err, io.EOF) {
						t.Errorf("got %v (%s), want %s", err, lookleap.CodeOf(err), want)
					}
				}
				_, err := h.RoundTrip(mustRequest(t, "https://example.com/"))
				refused(err, lookleap.CodeFetcherFailed)
				_, err = h.Lookup(t.Context(), "example.com", lookleap.TypeA)
				refused(err, lookleap.CodeResolverFailed)
				p := newPlan(t, "x")
				_, err = h.Ask(t.Context(), p)
				refused(err, lookleap.CodeConsentFailed)
				refused(commitTo(h, t.Context(), approved(t, p, planTime), func(context.Context, []byte) error { t.Error("it ran"); return nil }), lookleap.CodeLedgerFailed)
				if n := observed.Load(); n != 4 {
					t.Errorf("%d events", n)
				}
				h2 := &lookleap.Host{Fetcher: fetcherFunc(func(*http.Request) (*http.Response, error) {
					body, _ := bite.(*bitingError)
					if body == nil {
						body = &bitingError{"Error"}
					}
					return &http.Response{StatusCode: 200, Body: body}, nil
				})}
				resp, err := h2.RoundTrip(mustRequest(t, "https://example.com/"))
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.ReadAll(resp.Body)
				refused(err, lookleap.CodeFetcherFailed)
				refused(resp.Body.Close(), lookleap.CodeFetcherFailed)
			})
		}
		t.Run("reject-code-of-anything", func(t *testing.T) {
			for _, err := range []error{(*bitingError)(nil), &bitingError{"ReasonCode"}, &bitingError{"Is"}, &bitingError{"Unwrap"}, &bitingError{}} {
				if got := lookleap.CodeOf(err); got != lookleap.CodeInternal {
					t.Errorf("got %q", got)
				}
			}
		})
	})
}

func TestObserveThatUsesItsHost(t *testing.T) {
	t.Run("O54", func(t *testing.T) {
		for name, with := range map[string]func(context.Context) context.Context{
			"its-context": func(ctx context.Context) context.Context { return ctx },
			"another":     func(context.Context) context.Context { return context.Background() },
		} {
			t.Run("accept-"+name, func(t *testing.T) {
				var h *lookleap.Host
				var events atomic.Int32
				aside := func(ctx context.Context) { // what a plug-in reports from a goroutine of its own
					done := make(chan struct{})
					go func() {
						defer close(done)
						h.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding})
					}()
					<-done
				}
				answer := func(ctx context.Context, _ string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
					aside(ctx)
					return &lookleap.DNSAnswer{}, nil
				}
				fetch := func(req *http.Request) (*http.Response, error) {
					aside(req.Context())
					return &http.Response{StatusCode: 204}, nil
				}
				prompt := func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					aside(ctx)
					return approveAll(ctx, r)
				}
				send := func(ctx context.Context, _ *lookleap.Approval) error {
					aside(ctx)
					return nil
				}
				h = &lookleap.Host{Resolver: resolverFunc(answer), Fetcher: fetcherFunc(fetch), Now: func() time.Time { return planTime }, Prompter: prompterFunc(prompt), Observe: func(ctx context.Context, e lookleap.Event) {
					if events.Add(1) > 100 {
						t.Fatal("it recurs")
					}
					ctx = with(ctx)
					_, _ = h.Lookup(ctx, "example.com", lookleap.TypeA)
					if a, err := h.Ask(ctx, newPlan(t, "observed")); err != nil || commitApproved(h, ctx, a, send) != nil {
						t.Error("the plan is not committed:", err)
					}
					if _, err := h.RoundTrip(mustRequest(t, "https://example.com/").WithContext(ctx)); err != nil {
						t.Error(err)
					}
					h.Report(ctx, e)
				}}
				if _, err := h.Lookup(t.Context(), "example.com", lookleap.TypeA); err != nil {
					t.Error(err)
				}
				if n := events.Load(); n != 2 { // the lookup, and the finding during it
					t.Errorf("%d events", n)
				}
			})
		}
	})
}

func TestLedgerThatForgets(t *testing.T) {
	t.Run("O51", func(t *testing.T) {
		hosts := map[string]func(t *testing.T) (one, two *lookleap.Host, now *time.Time){
			"memory": func(t *testing.T) (one, two *lookleap.Host, now *time.Time) {
				now = new(time.Time)
				clock := func() time.Time {
					if now.IsZero() {
						panic("no clock")
					}
					return *now
				}
				return &lookleap.Host{Now: clock}, &lookleap.Host{Now: clock}, now
			},
			"directory": func(t *testing.T) (one, two *lookleap.Host, now *time.Time) {
				now = new(time.Time)
				dir := t.TempDir()
				host := func() *lookleap.Host {
					return &lookleap.Host{Plans: openStore(t, dir), Now: func() time.Time {
						if now.IsZero() {
							panic("no clock")
						}
						return *now
					}}
				}
				return host(), host(), now
			},
		}
		for name, make := range hosts {
			one, two, now := make(t)
			*now = planTime
			a := approved(t, newPlan(t, "x"), planTime)
			other := func() { // another plan is claimed meanwhile
				_ = commitTo(one, t.Context(), approved(t, newPlan(t, "y"), planTime), func(context.Context, []byte) error { return nil })
			}
			runs := 0
			effect := func(context.Context, []byte) error { runs++; return nil }
			if err := commitTo(one, t.Context(), a, effect); err != nil {
				t.Fatal(err)
			}
			for step, at := range map[string]time.Time{"clock-panics": {}, "clock-25h-ahead": planTime.Add(25 * time.Hour), "clock-in-2099": planTime.AddDate(73, 0, 0), "clock-25h-back": planTime.Add(-25 * time.Hour)} {
				t.Run("reject-again-"+name+"-"+step, func(t *testing.T) {
					*now = at
					other()
					*now = planTime
					other()
					for _, h := range []*lookleap.Host{one, two} {
						if err := commitTo(h, t.Context(), a, effect); !errors.Is(err, lookleap.ErrAlreadyDone) || runs != 1 {
							t.Errorf("%v after %d runs", err, runs)
						}
					}
				})
			}
		}
		t.Run("reject-again-days-later", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				start := now
				h := &lookleap.Host{Now: func() time.Time { return now }}
				a := approved(t, planFrom(t, "https://a.example", "x"), now)
				runs := 0
				effect := func(context.Context, []byte) error { runs++; return nil }
				if err := commitTo(h, t.Context(), a, effect); err != nil {
					t.Fatal(err)
				}
				for range 10 {
					time.Sleep(12 * time.Hour)
					now = time.Now()
					if err := commitTo(h, t.Context(), approved(t, planFrom(t, "https://a.example", "y"), now), func(context.Context, []byte) error { return nil }); err != nil {
						t.Fatal(err)
					}
				}
				now = start // the clock is set back to a time at which the plan is good
				if err := commitTo(h, t.Context(), a, effect); !errors.Is(err, lookleap.ErrAlreadyDone) || runs != 1 {
					t.Errorf("%v after %d runs", err, runs)
				}
			})
		})
	})
}
