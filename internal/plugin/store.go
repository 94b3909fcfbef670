package plugin

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"
)

// records are the methods of a store of the host.
type records interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, old, value []byte, until time.Time) error
	Delete(ctx context.Context, key string) error
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// Store is a store with bounded calls.
type Store struct {
	Store records
	Bound *Bound
}

// Get calls Get.
func (s Store) Get(ctx context.Context, key string) ([]byte, error) {
	return Await(ctx, s.Bound, func(ctx context.Context) ([]byte, error) { return s.Store.Get(ctx, key) })
}

// Put calls Put with bytes of its own, since the call may outlive the caller.
func (s Store) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if s.Bound != nil {
		old, value = bytes.Clone(old), bytes.Clone(value)
	}
	return Do(ctx, s.Bound, func(ctx context.Context) error { return s.Store.Put(ctx, key, old, value, until) })
}

// Delete calls Delete.
func (s Store) Delete(ctx context.Context, key string) error {
	return Do(ctx, s.Bound, func(ctx context.Context) error { return s.Store.Delete(ctx, key) })
}

// Keys calls Keys. What is listed may be deleted, so a foreign key must not be among it.
func (s Store) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := Await(ctx, s.Bound, func(ctx context.Context) ([]string, error) { return s.Store.Keys(ctx, prefix) })
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, prefix) }), nil
}

// Do is [Await] for a call that returns an error alone.
func Do(ctx context.Context, b *Bound, call func(context.Context) error) error {
	_, err := Await(ctx, b, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}
