package pgengine

import (
	"context"
	"errors"
	"testing"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// TestListen: listeners are told about each entry that is deleted or swapped.
func TestListen(t *testing.T) {
	e := startServer(t).engine(t, "a")
	c, ctx := e.Cache().(cache), t.Context()
	told := make(chan string, 10)
	listening, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- e.Listen(listening, func(key string) { told <- key }) }()
	for heard := false; !heard; { // until Listen has begun
		if err := c.Put(ctx, "k\xff", nil, enginetest.Later); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(ctx, "k\xff"); err != nil {
			t.Fatal(err)
		}
		select {
		case key := <-told:
			heard = true
			if key != "k\xff" {
				t.Errorf("told about %q", key)
			}
		default:
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if swapped, err := c.CompareAndSwap(ctx, "k", nil, []byte("v"), enginetest.Later); !swapped || err != nil {
		t.Error(swapped, err)
	}
	if err := e.Purge(ctx); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Get(ctx, "k"); err != nil {
		t.Errorf("Purge deleted what has not expired: %v", err)
	}
}
