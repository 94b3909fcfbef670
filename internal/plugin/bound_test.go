package plugin

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

var errOwn = errors.New("the plug-in's own error")

// newBound returns a Bound whose errors are the reasons.
func newBound(limit time.Duration, most int64) *Bound {
	return &Bound{Limit: limit, Most: most,
		Fail: func(reason string) error { return errors.New(reason) },
		Guard: func(err *error) {
			if p := recover(); p != nil {
				*err = fmt.Errorf("panic: %v", p)
			}
		}}
}

// after returns a call that ends after a time, or with its context if obeys is set.
func after(d time.Duration, obeys bool, err error) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		done := ctx.Done()
		if !obeys {
			done = nil
		}
		select {
		case <-time.After(d):
			return "value", err
		case <-done:
			return "", ctx.Err()
		}
	}
}

// TestAwait: what a caller gets, when, and whether the plug-in rests afterwards.
func TestAwait(t *testing.T) {
	const limit = 10 * time.Second
	for name, c := range map[string]struct {
		bound *Bound
		leave time.Duration // of the caller; 0: never
		call  func(context.Context) (string, error)
		value string
		err   string
		took  time.Duration
		rests bool
	}{
		"in-time":          {newBound(limit, 1), 0, after(time.Second, true, nil), "value", "", time.Second, false},
		"own-error":        {newBound(limit, 1), 0, after(time.Second, true, errOwn), "value", errOwn.Error(), time.Second, false},
		"too-late":         {newBound(limit, 1), 0, after(time.Hour, false, nil), "", "no answer within 10s", limit, true},
		"obeys-its-limit":  {newBound(limit, 1), 0, after(time.Hour, true, nil), "", "no answer within 10s", limit, true},
		"caller-leaves":    {newBound(limit, 1), time.Second, after(time.Hour, false, nil), "", "context deadline exceeded", time.Second, false},
		"caller-left":      {newBound(limit, 1), -1, func(context.Context) (string, error) { t.Error("the call was made"); return "", nil }, "", "context deadline exceeded", 0, false},
		"obeys-its-caller": {newBound(limit, 1), time.Second, after(time.Hour, true, nil), "", "context deadline exceeded", time.Second, false},
		"no-limit":         {newBound(0, 1), 0, after(time.Hour, true, nil), "value", "", time.Hour, false},
		"no-limit-leaves":  {newBound(0, 1), time.Minute, after(time.Hour, false, nil), "", "context deadline exceeded", time.Minute, false},
		"shortest-limit":   {newBound(1, 1), 0, after(time.Hour, false, nil), "", "no answer within 1ns", 1, true},
		"limits-itself":    {nil, 0, after(time.Hour, true, nil), "value", "", time.Hour, false},
		"panics":           {newBound(limit, 1), 0, func(context.Context) (string, error) { panic("boom") }, "", "panic: boom", 0, false},
		"panics-unguarded": {&Bound{Limit: limit, Most: 1, Fail: newBound(limit, 1).Fail}, 0, func(context.Context) (string, error) { panic("boom") }, "", "it panics: boom", 0, false},
		"ends-the-routine": {newBound(limit, 1), 0, func(context.Context) (string, error) { runtime.Goexit(); return "", nil }, "", "it ended its goroutine", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.leave != 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, c.leave)
					defer stop()
				}
				start := time.Now()
				value, err := Await(ctx, c.bound, c.call)
				if text := fmt.Sprint(err); value != c.value || err == nil && c.err != "" || err != nil && text != c.err {
					t.Errorf("%q, %v", value, err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("waited %v", took)
				}
				if c.bound != nil && c.bound.Resting() != c.rests {
					t.Errorf("resting: %t", !c.rests)
				}
				time.Sleep(2 * time.Hour) // calls that their callers left return
			})
		})
	}
}

// TestMost: further calls fail at once while too many have not returned, and are made again afterwards.
func TestMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBound(time.Second, 2)
		for range 3 {
			if _, err := Await(t.Context(), b, after(0, false, nil)); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if _, err := Await(t.Context(), b, after(time.Hour, false, nil)); err == nil {
				t.Error("a call that takes an hour returned")
			}
		}
		for range 3 {
			called := false
			_, err := Await(t.Context(), b, func(context.Context) (string, error) { called = true; return "", nil })
			if called || err == nil || err.Error() != "2 calls have not returned" {
				t.Errorf("%t, %v", called, err)
			}
		}
		time.Sleep(2 * time.Hour)
		for range 5 {
			if value, err := Await(t.Context(), b, after(0, false, nil)); value != "value" || err != nil {
				t.Errorf("%q, %v", value, err)
			}
		}
	})
}

// TestResting: a plug-in rests for five seconds after a call that took too long, or until one succeeds.
func TestResting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBound(time.Second, 10)
		late := func() {
			t.Helper()
			if _, err := Await(t.Context(), b, after(time.Minute, true, nil)); err == nil || !b.Resting() {
				t.Fatalf("%v, resting: %t", err, b.Resting())
			}
		}
		if b.Resting() {
			t.Error("a new plug-in rests")
		}
		late()
		time.Sleep(restTime - 1)
		if !b.Resting() {
			t.Error("it rests too short")
		}
		time.Sleep(time.Nanosecond)
		if b.Resting() {
			t.Error("it rests too long")
		}
		late()
		if _, err := Await(t.Context(), b, after(0, false, errOwn)); !errors.Is(err, errOwn) || !b.Resting() {
			t.Errorf("after a failure: %v, resting: %t", err, b.Resting())
		}
		if _, err := Await(t.Context(), b, after(0, false, nil)); err != nil || b.Resting() {
			t.Errorf("after a success: %v, resting: %t", err, b.Resting())
		}
	})
}

func TestPromptCheck(t *testing.T) {
	if err := PromptCheck(t.Context()); err != nil {
		t.Error(err)
	}
	if err := PromptCheck(WithPromptCheck(t.Context(), func() error { return errOwn })); !errors.Is(err, errOwn) {
		t.Error(err)
	}
}
