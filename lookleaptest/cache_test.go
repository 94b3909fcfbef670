package lookleaptest

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestOurCaches(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestCache(t, Engine[lookleap.Cache]{
			Open:    func(testing.TB, string) lookleap.Cache { return lookleap.NewMemoryCache(512) },
			Private: true,
		})
	})
	t.Run("sealed-and-shared", func(t *testing.T) {
		accepts(t, sharedCaches(func(c *backEnd) lookleap.Cache {
			sealed, err := lookleap.SealedCache(c, bytes.Repeat([]byte{7}, lookleap.MinKeyLen))
			if err != nil {
				t.Fatal(err)
			}
			return sealed
		}), cachePromises)
	})
	t.Run("of-a-host", func(t *testing.T) {
		accepts(t, func() Engine[lookleap.Cache] {
			e := sharedCaches(func(c *backEnd) lookleap.Cache { return (&lookleap.Host{Cache: c}).SharedCache() })()
			e.Hang = nil // a Host lets a cache rest for some seconds after a call that hung
			return e
		}, cachePromises)
	})
}

func TestBrokenCaches(t *testing.T) {
	all := map[string]func(c *backEnd) lookleap.Cache{
		"missing-entry":            func(c *backEnd) lookleap.Cache { return nilForMissing{c} },
		"get-returns-what-was-put": func(c *backEnd) lookleap.Cache { return keepsLonger{c} },
		"sizes":                    func(c *backEnd) lookleap.Cache { return cutsAt64K{c} },
		"keys-with-each-byte":      func(c *backEnd) lookleap.Cache { return foldsKeys{c} },
		"delete":                   func(c *backEnd) lookleap.Cache { return emptyOnDelete{c} },
		"caller-owns-its-bytes":    func(*backEnd) lookleap.Cache { return &sharesSlices{} },
		"expiry":                   func(c *backEnd) lookleap.Cache { return refusesPast{c} },
		"concurrent-use":           func(*backEnd) lookleap.Cache { return &tornEntries{} },
		"compare-and-swap":         func(c *backEnd) lookleap.Cache { return looksThenSwaps{c} },
		"compare-and-swap-shared":  func(c *backEnd) lookleap.Cache { return &swapsAlone{looksThenSwaps{c}, make(chan struct{}, 1)} },
		"cancellation":             func(c *backEnd) lookleap.Cache { return deletesFirst{c} },
		"shared-data":              func(c *backEnd) lookleap.Cache { return &readsAhead{backEnd: c} },
		"back-end-hangs":           func(c *backEnd) lookleap.Cache { return missesWhenDown{c} },
		"damaged-data":             func(c *backEnd) lookleap.Cache { return stuckOnDamage{c} },
	}
	covers(t, cachePromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedCaches(broken), cachePromises, promise) })
	}
	t.Run("no-deadline", func(t *testing.T) {
		rejects(t, sharedCaches(func(c *backEnd) lookleap.Cache { return ignoresContext{c} }), cachePromises, "back-end-hangs")
	})
}

// sharedCaches makes the engine of caches over one back end for each name.
func sharedCaches(open func(*backEnd) lookleap.Cache) func() Engine[lookleap.Cache] {
	return func() Engine[lookleap.Cache] {
		backs := newBackEnds()
		return Engine[lookleap.Cache]{
			Open:   func(_ testing.TB, name string) lookleap.Cache { return open(backs.get(name)) },
			Damage: backs.damage, Hang: backs.stop,
		}
	}
}

// backEnds are the data of each name, on one server that can be stopped.
type backEnds struct {
	named map[string]*backEnd
	hang  chan chan struct{} // holds what each call waits for
}

func newBackEnds() *backEnds {
	b := &backEnds{map[string]*backEnd{}, make(chan chan struct{}, 1)}
	b.hang <- nil
	return b
}

func (b *backEnds) get(name string) *backEnd {
	if b.named[name] == nil {
		b.named[name] = &backEnd{entries: map[string]backEntry{}, hang: b.hang}
	}
	return b.named[name]
}

func (b *backEnds) damage(_ testing.TB, name string) {
	for key, e := range b.get(name).entries {
		e.value = append([]byte("damaged"), e.value...)
		b.get(name).entries[key] = e
	}
}

func (b *backEnds) stop(testing.TB) (resume func()) {
	<-b.hang
	until := make(chan struct{})
	b.hang <- until
	return func() {
		<-b.hang
		b.hang <- nil
		close(until)
	}
}

// backEnd is a correct cache whose calls can be made to hang.
type backEnd struct {
	mu      sync.Mutex
	entries map[string]backEntry
	hang    chan chan struct{} // holds what to wait for
}

type backEntry struct {
	value   []byte
	expires time.Time
}

func (b *backEnd) wait(ctx context.Context) error {
	until := <-b.hang
	b.hang <- until
	if until == nil {
		return ctx.Err()
	}
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *backEnd) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if err := b.wait(ctx); err != nil {
		return nil, time.Time{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.entries[key]
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return bytes.Clone(e.value), e.expires, nil
}

func (b *backEnd) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if err := b.wait(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries[key] = backEntry{bytes.Clone(value), expires}
	return nil
}

func (b *backEnd) Delete(ctx context.Context, key string) error {
	if err := b.wait(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, key)
	return nil
}

// nilForMissing returns no error for a missing entry.
type nilForMissing struct{ *backEnd }

func (c nilForMissing) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	value, expires, _ := c.backEnd.Get(ctx, key)
	return value, expires, nil
}

// keepsLonger rounds the expiry up to a full hour.
type keepsLonger struct{ *backEnd }

func (c keepsLonger) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return c.backEnd.Put(ctx, key, value, expires.Truncate(time.Hour).Add(time.Hour))
}

// cutsAt64K stores the beginning of a large value.
type cutsAt64K struct{ *backEnd }

func (c cutsAt64K) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return c.backEnd.Put(ctx, key, value[:min(len(value), 65535)], expires)
}

// foldsKeys ends a key at its first NUL, as a C library would.
type foldsKeys struct{ *backEnd }

func (c foldsKeys) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	key, _, _ = strings.Cut(key, "\x00")
	return c.backEnd.Get(ctx, key)
}

func (c foldsKeys) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	key, _, _ = strings.Cut(key, "\x00")
	return c.backEnd.Put(ctx, key, value, expires)
}

// emptyOnDelete leaves an empty entry where one was deleted.
type emptyOnDelete struct{ *backEnd }

func (c emptyOnDelete) Delete(ctx context.Context, key string) error {
	return c.Put(ctx, key, nil, distant)
}

// sharesSlices stores the slice of its caller.
type sharesSlices struct{ entries sync.Map }

func (c *sharesSlices) Get(_ context.Context, key string) ([]byte, time.Time, error) {
	e, ok := c.entries.Load(key)
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return e.(backEntry).value, e.(backEntry).expires, nil
}

func (c *sharesSlices) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	c.entries.Store(key, backEntry{value, expires})
	return nil
}

func (c *sharesSlices) Delete(_ context.Context, key string) error {
	c.entries.Delete(key)
	return nil
}

// refusesPast keeps the previous entry where the new one has expired already.
type refusesPast struct{ *backEnd }

func (c refusesPast) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if expires.Before(time.Now()) {
		return nil
	}
	return c.backEnd.Put(ctx, key, value, expires)
}

// tornEntries stores value and expiry in two steps.
type tornEntries struct{ values, times sync.Map }

func (c *tornEntries) Get(_ context.Context, key string) ([]byte, time.Time, error) {
	value, ok := c.values.Load(key)
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	time.Sleep(time.Microsecond)
	expires, _ := c.times.Load(key)
	return bytes.Clone(value.([]byte)), expires.(time.Time), nil
}

func (c *tornEntries) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	c.times.Store(key, expires)
	time.Sleep(time.Microsecond)
	c.values.Store(key, bytes.Clone(value))
	return nil
}

func (c *tornEntries) Delete(_ context.Context, key string) error {
	c.values.Delete(key)
	return nil
}

// deletesFirst loses the entry if the second of its two steps is cancelled.
type deletesFirst struct{ *backEnd }

func (c deletesFirst) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if err := c.Delete(context.WithoutCancel(ctx), key); err != nil {
		return err
	}
	return c.backEnd.Put(ctx, key, value, expires)
}

// readsAhead answers from a copy of its own.
type readsAhead struct {
	*backEnd
	own sharesSlices
}

func (c *readsAhead) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if value, expires, err := c.own.Get(ctx, key); err == nil {
		return value, expires, nil
	}
	return c.backEnd.Get(ctx, key)
}

func (c *readsAhead) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_ = c.own.Put(ctx, key, bytes.Clone(value), expires)
	return c.backEnd.Put(ctx, key, value, expires)
}

func (c *readsAhead) Delete(ctx context.Context, key string) error {
	_ = c.own.Delete(ctx, key)
	return c.backEnd.Delete(ctx, key)
}

// missesWhenDown reports a failure of the back end as a missing entry.
type missesWhenDown struct{ *backEnd }

func (c missesWhenDown) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	value, expires, err := c.backEnd.Get(ctx, key)
	if err != nil {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return value, expires, nil
}

// ignoresContext waits for the back end as long as it takes.
type ignoresContext struct{ *backEnd }

func (c ignoresContext) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	return c.backEnd.Get(context.WithoutCancel(ctx), key)
}

// stuckOnDamage refuses to replace an entry that it cannot read.
type stuckOnDamage struct{ *backEnd }

func (c stuckOnDamage) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if old, _, err := c.backEnd.Get(ctx, key); err == nil && bytes.HasPrefix(old, []byte("damaged")) {
		return fs.ErrInvalid
	}
	return c.backEnd.Put(ctx, key, value, expires)
}

// looksThenSwaps compares and writes in two steps.
type looksThenSwaps struct{ *backEnd }

func (c looksThenSwaps) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	stored, _, err := c.Get(ctx, key)
	if (err == nil) != (old != nil) || !bytes.Equal(stored, old) {
		return false, nil
	}
	time.Sleep(time.Microsecond)
	return true, c.Put(ctx, key, value, expires)
}
