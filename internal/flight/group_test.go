package flight_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/internal/flight"
)

func TestGroupCancelsWhenAllLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		cause := make(chan error, 1)
		fn := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return 0, ctx.Err()
		}
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Second)
				defer cancel()
				if _, err := g.Do(ctx, "q", fn); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
			})
		}
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		select {
		case err := <-cause:
			t.Fatalf("cancelled while one waits: %v", err)
		default:
		}
		wg.Wait()
		if err := <-cause; !errors.Is(err, flight.ErrAbandoned) {
			t.Errorf("cause %v", err)
		}
		got, err := g.Do(t.Context(), "q", func(context.Context) (int, error) { return 8, nil })
		if got != 8 || err != nil {
			t.Errorf("the next caller: %d, %v", got, err)
		}
	})
}

func TestGroupCancelledBefore(t *testing.T) {
	var g flight.Group[string, int]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.Do(ctx, "q", func(context.Context) (int, error) {
		t.Error("ran")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestGroupPanics(t *testing.T) {
	bad := errors.New("bad")
	for name, fn := range map[string]func(context.Context) (int, error){
		"panic":  func(context.Context) (int, error) { panic(bad) },
		"goexit": func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			var g flight.Group[string, int]
			_, err := g.Do(t.Context(), "q", fn)
			var p *flight.PanicError
			if !errors.As(err, &p) || (len(p.Stack) > 0) != (name == "panic") {
				t.Errorf("error %v", err)
			}
			if name == "panic" && !errors.Is(err, bad) {
				t.Errorf("the cause is lost: %v", err)
			}
			if got, err := g.Do(t.Context(), "q", func(context.Context) (int, error) { return 8, nil }); got != 8 || err != nil {
				t.Errorf("the next caller: %d, %v", got, err)
			}
		})
	}
}

func TestGroupRecursion(t *testing.T) {
	var g flight.Group[string, int]
	_, err := g.Do(t.Context(), "a", func(ctx context.Context) (int, error) {
		return g.Do(ctx, "b", func(ctx context.Context) (int, error) {
			return g.Do(ctx, "a", func(context.Context) (int, error) { return 0, nil })
		})
	})
	if !errors.Is(err, flight.ErrRecursive) {
		t.Errorf("error %v", err)
	}
}

func TestGroupForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		var wg sync.WaitGroup
		wg.Go(func() {
			got, err := g.Do(t.Context(), "q", func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil })
			if got != 1 || err != nil {
				t.Errorf("the caller before: %d, %v", got, err)
			}
		})
		synctest.Wait()
		g.Forget("q")
		if got, _ := g.Do(t.Context(), "q", func(context.Context) (int, error) { return 2, nil }); got != 2 {
			t.Errorf("the caller after: %d", got)
		}
		wg.Wait()
	})
}
