package pgengine

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

// TestTrustStore: of concurrent changes one succeeds, and a user sees their own records only.
func TestTrustStore(t *testing.T) {
	s := startServer(t)
	ctx, ada, bob := t.Context(), s.engine(t, "a").TrustStore("ada"), s.engine(t, "a").TrustStore("bob")
	again := s.engine(t, "a").TrustStore("ada")
	if _, err := ada.Get(ctx, "root/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, step := range []struct {
		store      dvs.TrustStore
		old, value []byte
		want       error
	}{
		{ada, []byte{}, []byte("1"), dvs.ErrTrustConflict},
		{ada, nil, []byte("1"), nil},
		{again, nil, []byte("2"), dvs.ErrTrustConflict},
		{again, []byte("2"), []byte("3"), dvs.ErrTrustConflict},
		{again, []byte("1"), []byte{}, nil},
		{ada, []byte("1"), []byte("4"), dvs.ErrTrustConflict},
		{ada, []byte{}, []byte("5"), nil},
	} {
		if err := step.store.Put(ctx, "root/x", step.old, step.value); !errors.Is(err, step.want) {
			t.Errorf("from %q to %q: %v", step.old, step.value, err)
		}
	}
	if value, err := again.Get(ctx, "root/x"); string(value) != "5" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
	if err := ada.Put(ctx, "skill/y", nil, nil); err != nil {
		t.Fatal(err)
	}
	if keys, err := ada.List(ctx, "root/"); !slices.Equal(keys, []string{"root/x"}) || err != nil {
		t.Error(keys, err)
	}
	if keys, err := bob.List(ctx, ""); len(keys) != 0 || err != nil {
		t.Error(keys, err)
	}
	if err := errors.Join(ada.Delete(ctx, "root/x"), ada.Delete(ctx, "root/x")); err != nil {
		t.Error(err)
	}
	if _, err := again.Get(ctx, "root/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestSwap: an entry is replaced only if it is unchanged, and listeners are told.
func TestSwap(t *testing.T) {
	e := startServer(t).engine(t, "a")
	c, ctx := e.Cache().(cache), t.Context()
	swap := func(old, value string, want bool) {
		t.Helper()
		var before []byte
		if old != "" {
			before = []byte(old)
		}
		if got, err := c.CompareAndSwap(ctx, "k", before, []byte(value), later); got != want || err != nil {
			t.Errorf("from %q to %q: %v, %v", old, value, got, err)
		}
	}
	swap("x", "a", false)
	swap("", "a", true)
	swap("", "c", false)
	swap("b", "c", false)
	swap("a", "c", true)
	if value, expires, err := c.Get(ctx, "k"); string(value) != "c" || !expires.Equal(later) || err != nil {
		t.Errorf("%q, %v, %v", value, expires, err)
	}
	told := make(chan string, 10)
	listening, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- e.Listen(listening, func(key string) { told <- key }) }()
	for heard := false; !heard; { // until Listen has begun
		if err := c.Put(ctx, "k\xff", nil, later); err != nil {
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
	if err := e.Purge(ctx); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Get(ctx, "k"); err != nil {
		t.Errorf("Purge deleted what has not expired: %v", err)
	}
}
