package lookleaptest

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
)

// Hung is a cache, a store and a resolver that do not answer.
type Hung struct {
	deaf  bool
	well  atomic.Bool
	end   chan struct{}
	calls atomic.Int64
}

// NewHung returns plug-ins whose calls end with their context, or, if they are
// deaf, with End.
func NewHung(deaf bool) *Hung { return &Hung{deaf: deaf, end: make(chan struct{})} }

// Recover lets all later calls answer at once.
func (h *Hung) Recover() { h.well.Store(true) }

// End ends the calls that have not returned. Call it once.
func (h *Hung) End() { close(h.end) }

// Calls returns how often a plug-in was called.
func (h *Hung) Calls() int { return int(h.calls.Load()) }

var errEnd = errors.New("lookleaptest: the end of a call that hung")

func (h *Hung) wait(ctx context.Context) error {
	h.calls.Add(1)
	if h.well.Load() {
		return nil
	}
	ended := ctx.Done()
	if h.deaf {
		ended = nil
	}
	select {
	case <-ended:
		return ctx.Err()
	case <-h.end:
		return errEnd
	}
}

// Get returns "kept" once the cache has recovered.
func (h *Hung) Get(ctx context.Context, _ string) ([]byte, time.Time, error) {
	return []byte("kept"), time.Time{}, h.wait(ctx)
}

// Put keeps nothing.
func (h *Hung) Put(ctx context.Context, _ string, _ []byte, _ time.Time) error { return h.wait(ctx) }

// Delete deletes nothing.
func (h *Hung) Delete(ctx context.Context, _ string) error { return h.wait(ctx) }

// Store returns a store that has no records.
func (h *Hung) Store() lookleap.Store { return hungStore{h} }

type hungStore struct{ hung *Hung }

func (s hungStore) Get(ctx context.Context, _ string) ([]byte, error) {
	return nil, cmp.Or(s.hung.wait(ctx), fs.ErrNotExist)
}

func (s hungStore) Put(ctx context.Context, _ string, _, _ []byte, _ time.Time) error {
	return s.hung.wait(ctx)
}

func (s hungStore) Delete(ctx context.Context, _ string) error { return s.hung.wait(ctx) }

func (s hungStore) Keys(ctx context.Context, _ string) ([]string, error) {
	return nil, s.hung.wait(ctx)
}

// Lookup finds no name.
func (h *Hung) Lookup(ctx context.Context, name string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return &lookleap.DNSAnswer{Name: name}, h.wait(ctx)
}
