package agent

import (
	"context"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// hookedStore calls a hook before each method, with its name and its key or prefix. An error of
// the hook is the method's.
type hookedStore struct {
	lookleap.Store
	hook func(call string) error
}

func (h *hookedStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := h.hook("Get " + key); err != nil {
		return nil, err
	}
	return h.Store.Get(ctx, key)
}

func (h *hookedStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if err := h.hook("Put " + key); err != nil {
		return err
	}
	return h.Store.Put(ctx, key, old, value, until)
}

func (h *hookedStore) Delete(ctx context.Context, key string) error {
	if err := h.hook("Delete " + key); err != nil {
		return err
	}
	return h.Store.Delete(ctx, key)
}

func (h *hookedStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := h.hook("Keys " + prefix); err != nil {
		return nil, err
	}
	return h.Store.Keys(ctx, prefix)
}

// failsAt returns a hook that fails with err where a call begins with a text.
func failsAt(call string, err error) func(string) error {
	return func(got string) error {
		if call != "" && strings.HasPrefix(got, call) {
			return err
		}
		return nil
	}
}
