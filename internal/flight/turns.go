package flight

import (
	"context"
	"sync"
)

// Turns let one caller at a time work on a key; the others wait. The zero value is ready. Turns
// are safe for concurrent use and must not be copied.
type Turns[K comparable] struct {
	mu   sync.Mutex
	keys map[K]*turn
}

// turn is a key that is being worked on.
type turn struct {
	taken   chan struct{} // holds a token while a caller works on the key
	callers int           // who work or wait; the last one removes the key
}

// Wait waits until no other caller works on the key. The caller calls leave when it is done; a
// second call of leave does nothing. The error is that of a ctx that ended before.
func (t *Turns[K]) Wait(ctx context.Context, key K) (leave func(), err error) {
	t.mu.Lock()
	if t.keys == nil {
		t.keys = make(map[K]*turn)
	}
	at := t.keys[key]
	if at == nil {
		at = &turn{taken: make(chan struct{}, 1)}
		t.keys[key] = at
	}
	at.callers++
	t.mu.Unlock()
	select {
	case at.taken <- struct{}{}:
		return sync.OnceFunc(func() {
			<-at.taken
			t.forget(key, at)
		}), nil
	case <-ctx.Done():
		t.forget(key, at)
		return nil, ctx.Err()
	}
}

func (t *Turns[K]) forget(key K, at *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at.callers--
	if at.callers == 0 {
		delete(t.keys, key)
	}
}

// Len returns the number of keys that callers work on or wait for.
func (t *Turns[K]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.keys)
}
