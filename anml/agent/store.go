package agent

import (
	"context"
	"io/fs"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plugin"
)

// store returns the user's store, with calls that end, or one that keeps nothing.
func (s *Session) store() lookleap.Store {
	if s.user.Store == nil {
		return noStore{}
	}
	return plugin.Store{Store: s.user.Store, Bound: s.agent.plugins.store}
}

// keeps reports whether the user has a store.
func (s *Session) keeps() bool { return s.user.Store != nil }

// put writes a record, whatever is there.
func put(ctx context.Context, s lookleap.Store, key string, value []byte) error {
	return lookleap.UpdateRecord(ctx, s, key, time.Time{}, func([]byte) ([]byte, error) { return value, nil })
}

type noStore struct{}

func (noStore) Get(context.Context, string) ([]byte, error)                  { return nil, fs.ErrNotExist }
func (noStore) Put(context.Context, string, []byte, []byte, time.Time) error { return nil }
func (noStore) Delete(context.Context, string) error                         { return nil }
func (noStore) Keys(context.Context, string) (keys []string, err error)      { return nil, nil }
