package dnssec

import (
	"context"
	"sync"
	"time"
)

// flights lets one goroutine do what several ask for at the same time. The work outlives the caller that began it and
// ends early only when nobody waits for it any more.
type flights[K comparable, V any] struct {
	mu      sync.Mutex
	running map[K]*flight[V]
}

type flight[V any] struct {
	done    chan struct{}
	value   V
	err     error
	waiting int
	cancel  context.CancelFunc
}

// do returns the work's result, or the caller's own context error. joined says that another caller began the work.
func (f *flights[K, V]) do(ctx context.Context, key K, limit time.Duration, work func(context.Context) (V, error)) (value V, joined bool, err error) {
	f.mu.Lock()
	if f.running == nil {
		f.running = map[K]*flight[V]{}
	}
	fl, joined := f.running[key]
	if !joined {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		fl = &flight[V]{done: make(chan struct{}), cancel: cancel}
		f.running[key] = fl
		go func() {
			defer cancel()
			fl.value, fl.err = work(detached)
			f.forget(key, fl)
			close(fl.done)
		}()
	}
	fl.waiting++
	f.mu.Unlock()

	select {
	case <-fl.done:
		return fl.value, joined, fl.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	fl.waiting--
	abandoned := fl.waiting == 0
	if abandoned && f.running[key] == fl {
		delete(f.running, key)
	}
	f.mu.Unlock()
	if abandoned {
		fl.cancel()
	}
	return value, joined, context.Cause(ctx)
}

func (f *flights[K, V]) forget(key K, fl *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[key] == fl {
		delete(f.running, key)
	}
}

// ahead begins work at once and returns a function that waits for its result.
func ahead[V any](work func() (V, error)) func() (V, error) {
	var value V
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = work()
	}()
	return func() (V, error) {
		<-done
		return value, err
	}
}
