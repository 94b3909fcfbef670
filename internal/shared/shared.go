// Package shared stores what one process found out in the cache that processes share, for
// agents.txt policies, skills and trust evidence.
//
// An entry holds what a server answered, never a decision: each process judges it by its own rules.
// Four rules are the same for all documents.
//
//   - Identity: an entry names its key. An entry that was moved to another key, that cannot be read,
//     or that was found out in the future is forged.
//   - Freshness: [lookleap.Host.SharedCache] returns no entry that has expired. A process uses what
//     it knows for [LookAgain] before it reads the cache again.
//   - Tombstones: what ends an entry stands under a key of its own, where nothing else is written.
//     It ends every entry that was asked for before it, whichever of the two is written last.
//   - Failures: a cache that fails, panics or hangs is a miss, and is reported. The Host bounds each
//     call. A write does not end with the caller who caused it.
//
// Sealing is the caller's: see [lookleap.SealedCache].
package shared

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// LookAgain is how long a process uses what it knows before it reads the shared cache again.
const LookAgain = time.Minute

// Entry is what one process found out about one question.
type Entry[V any] struct {
	Asked time.Time // when the exchange began; equal to Found where that makes no difference
	Found time.Time // when the answer was complete, by the clock of the process that found it out
	Value V
}

// Options are the choices of [New].
type Options struct {
	Prefix string        // of all keys: the document and the version of the entries' format
	Skew   time.Duration // how far the clocks of two processes may differ

	// Remembered is for how many keys the newest entry is remembered, so that an older one that is
	// put back is forged. 0 means that older entries are accepted.
	Remembered int
}

// Cache reads and writes the entries of one kind in the cache of a host. If V implements
// [encoding.BinaryMarshaler] and *V [encoding.BinaryUnmarshaler], these are used, otherwise JSON.
type Cache[V any] struct {
	host   *lookleap.Host
	o      Options
	newest *lru.Cache[string, time.Time]
}

// New returns the entries of one kind in the cache of a host.
func New[V any](host *lookleap.Host, o Options) *Cache[V] {
	c := &Cache[V]{host: host, o: o}
	if o.Remembered > 0 {
		c.newest, _ = lru.New[string, time.Time](o.Remembered) // only a size below 1 is an error
	}
	return c
}

// Active reports whether the host has a cache. Without one there are no entries, and what is
// written is dropped.
func (c *Cache[V]) Active() bool { return c.host != nil && c.host.Cache != nil }

// header is the first line of a stored entry. The value follows it.
type header struct {
	Key   string    `json:"key"`
	Asked time.Time `json:"asked"`
	Found time.Time `json:"found"`
}

// ErrForged is an entry that no process wrote in this place.
var ErrForged = coded.New(string(lookleap.CodeCacheForged), "the entry of the shared cache was not written for its key, or is damaged")

// Get returns the entry of a key. The error is [fs.ErrNotExist] if there is none. Any other error
// has been reported to the host.
func (c *Cache[V]) Get(ctx context.Context, key string) (*Entry[V], error) {
	if !c.Active() {
		return nil, fs.ErrNotExist
	}
	stored, _, err := c.host.SharedCache().Get(ctx, c.o.Prefix+key)
	if isMissing(err) {
		return nil, fs.ErrNotExist
	}
	var e *Entry[V]
	if err == nil {
		e, err = c.decode(key, stored)
	}
	if err != nil {
		c.Report(ctx, key, err)
		return nil, err
	}
	return e, nil
}

// isMissing reports whether the cache has no entry. A forged entry counts as missing in the cache
// of a host, and not here.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) && !errors.Is(err, lookleap.ErrCacheForged)
}

func (c *Cache[V]) decode(key string, stored []byte) (*Entry[V], error) {
	first, value, _ := bytes.Cut(stored, []byte{'\n'})
	var h header
	if err := strictjson.Decode(first, &h); err != nil {
		return nil, coded.Classify(ErrForged, err)
	}
	if h.Key != c.o.Prefix+key || h.Found.After(c.host.Time().Add(c.o.Skew)) {
		return nil, ErrForged
	}
	if c.newest != nil {
		if newest, _ := c.newest.Get(key); h.Found.Before(newest) {
			return nil, ErrForged
		}
	}
	e := &Entry[V]{Asked: h.Asked, Found: h.Found}
	if err := unmarshal(value, &e.Value); err != nil {
		return nil, coded.Classify(ErrForged, err)
	}
	c.remember(key, h.Found)
	return e, nil
}

func (c *Cache[V]) remember(key string, found time.Time) {
	if c.newest != nil {
		c.newest.Add(key, found)
	}
}

// Newest returns the newest entry of several keys, and nil if there is none. It is how tombstones
// are read. The error is that of the first entry that could not be read.
func (c *Cache[V]) Newest(ctx context.Context, keys ...string) (newest *Entry[V], err error) {
	for _, key := range keys {
		e, failed := c.Get(ctx, key)
		switch {
		case failed != nil && !isMissing(failed) && err == nil:
			err = failed
		case failed == nil && (newest == nil || e.Found.After(newest.Found)):
			newest = e
		}
	}
	return newest, err
}

// Ends reports whether a tombstone ends what was asked for at a time: the answer may be from before
// the tombstone was found, as far as the clocks tell. A nil tombstone ends nothing.
func (c *Cache[V]) Ends(tombstone *Entry[V], asked time.Time) bool {
	return tombstone != nil && !asked.After(tombstone.Found.Add(c.o.Skew))
}

// Put writes the entry of a key and reports whether it is stored. A failure is reported to the
// host.
func (c *Cache[V]) Put(ctx context.Context, key string, e Entry[V], until time.Time) bool {
	if !c.Active() {
		return false
	}
	stored, err := c.encode(key, e)
	if err == nil {
		err = c.host.SharedCache().Put(context.WithoutCancel(ctx), c.o.Prefix+key, stored, until)
	}
	if err != nil {
		c.Report(ctx, key, err)
	}
	return err == nil
}

// PutNewest is Put, unless the entry of the key was found later. It is how tombstones are written:
// of two that end different answers, the one that ends more must stay, whichever process is slow.
func (c *Cache[V]) PutNewest(ctx context.Context, key string, e Entry[V], until time.Time) {
	if !c.Active() {
		return
	}
	stored, err := c.encode(key, e)
	if err == nil {
		err = c.host.UpdateCache(ctx, c.o.Prefix+key, func(old []byte) ([]byte, time.Time, bool) {
			if there, err := c.decode(key, old); err == nil && there.Found.After(e.Found) {
				return nil, time.Time{}, false
			}
			return stored, until, true
		})
	}
	if err != nil {
		c.Report(ctx, key, err)
	}
}

// encode returns the stored form of an entry.
func (c *Cache[V]) encode(key string, e Entry[V]) ([]byte, error) {
	c.remember(key, e.Found)
	first, err := json.Marshal(header{c.o.Prefix + key, e.Asked, e.Found})
	if err != nil {
		return nil, err
	}
	value, err := marshal(e.Value)
	return append(append(first, '\n'), value...), err
}

// Delete removes the entry of a key. A failure is reported to the host.
func (c *Cache[V]) Delete(ctx context.Context, key string) {
	if !c.Active() {
		return
	}
	if err := c.host.SharedCache().Delete(context.WithoutCancel(ctx), c.o.Prefix+key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Report(ctx, key, err)
	}
}

// Report reports an entry that cannot be used, or a cache that failed.
func (c *Cache[V]) Report(ctx context.Context, key string, err error) {
	f := lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeIO, Message: "the shared cache failed: " + err.Error()}
	if errors.Is(err, ErrForged) || errors.Is(err, lookleap.ErrCacheForged) {
		f.Code, f.Message = lookleap.CodeCacheForged, "an entry of the shared cache is not usable: "+err.Error()
		f.Fix = "seal the cache with lookleap.SealedCache, and find out who writes to it"
	}
	c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: domain.Redact(key), Finding: &f, Err: err})
}

func marshal(v any) ([]byte, error) {
	if m, ok := v.(encoding.BinaryMarshaler); ok {
		return m.MarshalBinary()
	}
	return json.Marshal(v)
}

func unmarshal(data []byte, v any) error {
	if u, ok := v.(encoding.BinaryUnmarshaler); ok {
		return u.UnmarshalBinary(data)
	}
	return strictjson.Decode(data, v)
}
