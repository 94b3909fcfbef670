package flight_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap/internal/flight"
)

// TestTurns: one caller at a time works on a key, and nothing is kept of a key without callers.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns flight.Turns[string]
		wait := func(ctx context.Context, key string) func() {
			t.Helper()
			leave, err := turns.Wait(ctx, key)
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		first := wait(t.Context(), "a")
		other := wait(t.Context(), "b") // does not wait for a
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.Wait(gone, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left: %v", err)
		}
		second := make(chan func(), 1)
		go func() { second <- wait(t.Context(), "a") }()
		synctest.Wait()
		if len(second) != 0 {
			t.Fatal("two callers work on one key")
		}
		first()
		first() // does not end the turn of the second caller
		leave := <-second
		if n := turns.Len(); n != 2 {
			t.Errorf("%d keys are worked on, want 2", n)
		}
		if _, err := turns.Wait(gone, "a"); err == nil {
			t.Error("leaving twice ended the turn of another caller")
		}
		leave()
		other()
		if n := turns.Len(); n != 0 {
			t.Errorf("%d keys without callers are kept", n)
		}
	})
}
