package plugin

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// slowStore takes a minute for a Put, and lists what it likes.
type slowStore struct{ stored []byte }

func (s *slowStore) Get(context.Context, string) ([]byte, error) { return s.stored, nil }

func (s *slowStore) Put(_ context.Context, _ string, _, value []byte, _ time.Time) error {
	time.Sleep(time.Minute)
	s.stored = append([]byte{}, value...)
	return nil
}

func (s *slowStore) Delete(context.Context, string) error { panic("no") }

func (s *slowStore) Keys(context.Context, string) ([]string, error) {
	return []string{"a/1", "b/1", "a/2"}, nil
}

// TestStore: a call that outlives its caller has bytes of its own, and what is not asked for is not listed.
func TestStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowStore{}
		s := Store{slow, newBound(time.Second, 4)}
		value := []byte("value")
		if err := s.Put(t.Context(), "a/1", nil, value, time.Time{}); err == nil {
			t.Error("it waits for a minute")
		}
		value[0] = 'X'
		time.Sleep(time.Hour)
		if got, err := s.Get(t.Context(), "a/1"); string(got) != "value" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if keys, err := s.Keys(t.Context(), "a/"); !slices.Equal(keys, []string{"a/1", "a/2"}) || err != nil {
			t.Errorf("%q, %v", keys, err)
		}
		if err := s.Delete(t.Context(), "a/1"); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("a panic: %v", err)
		}
	})
}
