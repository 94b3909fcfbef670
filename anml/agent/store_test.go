package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// stores are the two implementations; open opens the same one again.
func stores(t *testing.T, run func(t *testing.T, open func() lookleap.Store)) {
	t.Run("memory", func(t *testing.T) {
		m := lookleap.NewMemoryStore()
		run(t, func() lookleap.Store { return m })
	})
	t.Run("directory", func(t *testing.T) {
		dir := t.TempDir()
		run(t, func() lookleap.Store {
			d, err := lookleap.OpenStore(dir)
			must(t, err)
			t.Cleanup(func() { _ = d.Close() })
			return d
		})
	})
}

// patiently repeats a call as long as other handles of the same file keep it from the lock, as they
// can on a slow disk.
func patiently(call func() error) error {
	for {
		if err := call(); !errors.Is(err, lookleap.ErrBusy) {
			return err
		}
	}
}

// failingStore fails one of its methods, and counts the calls of each.
type failingStore struct {
	lookleap.Store
	fails string
	calls map[string]int
}

var errStore = errors.New("disk on fire")

func (f *failingStore) call(method string) error {
	if f.calls == nil {
		f.calls = make(map[string]int)
	}
	if f.calls[method]++; f.fails == method {
		return errStore
	}
	return nil
}

func (f *failingStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.call("Get"); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, key)
}

func (f *failingStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if err := f.call("Put"); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, old, value, until)
}

func (f *failingStore) Delete(ctx context.Context, key string) error {
	if err := f.call("Delete"); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}

func (f *failingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := f.call("Keys"); err != nil {
		return nil, err
	}
	return f.Store.Keys(ctx, prefix)
}
