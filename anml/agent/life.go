package agent

import (
	"context"
	"sync"
)

// life is how long a session lasts. When end returns, the context of everything
// that the session does has ended: a [context.AfterFunc] would end it a moment
// later, when what the user agreed to meanwhile is already sent.
type life struct {
	mu      sync.Mutex
	over    bool
	running map[*context.CancelCauseFunc]bool // how each thing that the session does is ended
}

func newLife() *life { return &life{running: make(map[*context.CancelCauseFunc]bool)} }

// during gives a context that ends with the life too; done frees it. Nothing begins
// when the life is over.
func (l *life) during(ctx context.Context) (_ context.Context, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, nil, closedError("")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l.running[&cancel] = true
	return ctx, func() { l.forget(&cancel); cancel(nil) }, nil
}

func (l *life) forget(cancel *context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, cancel)
}

// end ends it. A second time does nothing.
func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for cancel := range l.running {
		(*cancel)(errClosed)
	}
	clear(l.running)
}

func (l *life) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}
