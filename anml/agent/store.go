package agent

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"

	"github.com/lookleap/lookleap"
)

// put writes a record, whatever is there.
func put(ctx context.Context, s lookleap.Store, key string, value []byte) error {
	return lookleap.UpdateRecord(ctx, s, key, time.Time{}, func([]byte) ([]byte, error) { return value, nil })
}

// record is a record of the user's store.
type record struct {
	key  string
	data []byte
}

// records yields the records whose keys begin with a prefix, without those that disappear
// meanwhile. After an error others may follow.
func records(ctx context.Context, s lookleap.Store, prefix string) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		keys, err := s.Keys(ctx, prefix)
		if err != nil && !yield(record{}, err) {
			return
		}
		for _, key := range keys {
			data, err := s.Get(ctx, key)
			if !errors.Is(err, fs.ErrNotExist) && !yield(record{key, data}, err) {
				return
			}
		}
	}
}

// storeFailed returns the error of the user's store, nil if there is none.
func storeFailed(err error) error {
	if err == nil {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodeIO, Message: "what is remembered of the user could not be read or written", Err: err}
}
