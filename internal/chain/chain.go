// Package chain keeps records in a store so that each one follows the one before it. Several processes
// may append: no two of them can follow the same record.
package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Head is the end of a chain: the number of the last entry, from 1, and the digest of that entry and all
// before it. The zero Head is that of an empty chain.
type Head struct {
	Number int64  `json:"number"`
	Digest string `json:"digest"`
}

// Log is a chain in a store. A record holds one entry or several, under the number of the first one.
type Log struct {
	Store lookleap.Store
	Name  string // of the records; what is stored begins with it

	// End returns the head after a record, or an error for one that this chain cannot have written.
	End func(key string, record []byte) (Head, error)

	mu   sync.Mutex
	last Head // that this process knows of
}

// nearEntries is after how many entries a Log notes again which record is near its end.
const nearEntries = 16

// Key returns the key of the record whose first entry has a number.
func (l *Log) Key(number int64) string { return fmt.Sprintf("%s/%016d", l.Name, number) }

func (l *Log) keyPruned() string { return l.Name + "-pruned/" } // the head of what was removed
func (l *Log) keyNear() string   { return l.Name + "-near/" }   // the key of a record among the last ones

// Append stores a record after the last one. Follow makes it, and the head after it, from the head before
// it; it is called again if another process was faster.
func (l *Log) Append(ctx context.Context, follow func(Head) (record []byte, next Head, err error)) error {
	head, err := l.end(ctx)
	if err != nil {
		return err
	}
	for {
		data, next, err := follow(head)
		if err != nil {
			return err
		}
		key := l.Key(head.Number + 1)
		switch err = l.Store.Put(ctx, key, nil, data, time.Time{}); {
		case err == nil:
			pruned, err := l.pruned(ctx)
			if err != nil || pruned.Number <= head.Number {
				l.advance(next)
				l.note(ctx, head, next)
				return err
			}
			// Another process appended and pruned since this one knew the head.
			if err := l.Store.Delete(ctx, key); err != nil {
				return err
			}
			head = pruned
			continue
		case !errors.Is(err, lookleap.ErrConflict):
			return err
		}
		if head, err = l.after(ctx, key); err != nil || head == next { // an earlier response was lost
			return err
		}
	}
}

// end returns the head that this process knows, or that of a record among the last ones: Append finds
// those after it.
func (l *Log) end(ctx context.Context) (Head, error) {
	l.mu.Lock()
	head := l.last
	l.mu.Unlock()
	if head.Number > 0 {
		return head, nil
	}
	near, err := l.Store.Get(ctx, l.keyNear())
	if err == nil {
		head, err = l.after(ctx, string(near))
	}
	for errors.Is(err, fs.ErrNotExist) { // none was noted, or it was pruned
		var keys []string
		if keys, err = l.Keys(ctx); err == nil && len(keys) > 0 {
			head, err = l.after(ctx, keys[len(keys)-1])
		}
	}
	return head, err
}

// note stores, once in a while, which record is near the end. An error is not one of the entries,
// which are safe: a process that begins only has more to read.
func (l *Log) note(ctx context.Context, from, to Head) {
	if from.Number/nearEntries != to.Number/nearEntries {
		_ = l.put(ctx, l.keyNear(), []byte(l.Key(from.Number+1)))
	}
}

// after returns the head after a record.
func (l *Log) after(ctx context.Context, key string) (Head, error) {
	data, err := l.Store.Get(ctx, key)
	if err != nil {
		return Head{}, err
	}
	head, err := l.End(key, data)
	if err == nil {
		l.advance(head)
	}
	return head, err
}

// advance notes a head that this process knows.
func (l *Log) advance(to Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to.Number > l.last.Number {
		l.last = to
	}
}

// Keys returns the keys of the records in order.
func (l *Log) Keys(ctx context.Context) ([]string, error) {
	keys, err := l.Store.Keys(ctx, l.Name+"/")
	slices.Sort(keys)
	return keys, err
}

// Prune removes the first records. The head is that of the last entry in them. The last record of a
// chain has to stay, since it holds the end.
func (l *Log) Prune(ctx context.Context, head Head, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	data, err := json.Marshal(head)
	if err == nil {
		err = l.put(ctx, l.keyPruned(), data) // before anything is deleted: see Append
	}
	for _, key := range keys {
		if err == nil {
			err = l.Store.Delete(ctx, key)
		}
	}
	return err
}

// pruned returns the head of what was removed, zero if nothing was.
func (l *Log) pruned(ctx context.Context) (head Head, err error) {
	data, err := l.Store.Get(ctx, l.keyPruned())
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, nil
	}
	if err == nil {
		err = strictjson.Decode(data, &head)
	}
	return head, err
}

func (l *Log) put(ctx context.Context, key string, value []byte) error {
	return lookleap.UpdateRecord(ctx, l.Store, key, time.Time{}, func([]byte) ([]byte, error) { return value, nil })
}
