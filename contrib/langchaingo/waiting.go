package lookleaplangchain

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// maxWaiting is the number of calls that wait for the user at once.
const maxWaiting = 100

// waiting is the calls that wait for the user, and what was decided about them.
type waiting struct {
	mu      sync.Mutex
	calls   map[string]string   // by the id of a request: the call that waits for it
	decided map[string]decision // by the call
}

// decision is what the user decided about a call.
type decision struct {
	state json.RawMessage
	lookleap.ConsentDecision
}

// Decide keeps the user's decision for the next run. It is used once.
func (w *waiting) Decide(pending *lookleap.PendingError, d lookleap.ConsentDecision) {
	request, err := adapter.Request(pending.State)
	if err != nil {
		return // no call waits for it
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if call, ok := w.calls[request.ID]; ok {
		delete(w.calls, request.ID)
		if w.decided == nil {
			w.decided = map[string]decision{}
		}
		w.decided[call] = decision{pending.State, d}
	}
}

// take returns what was decided about a call, once.
func (w *waiting) take(call string) (d decision, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, ok = w.decided[call]
	delete(w.decided, call)
	return d, ok
}

// suspend notes that a call waits for a request.
func (w *waiting) suspend(id, call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil || len(w.calls) >= maxWaiting {
		w.calls = map[string]string{}
	}
	w.calls[id] = call
}

// run makes a call, or goes on with what was decided about the same one. An error is text for the model;
// a *lookleap.PendingError ends the run.
func run[R any](ctx context.Context, w *waiting, call string, begin func() (R, error), resume adapter.Resumer[R], text func(R, error) string) (string, error) {
	var result R
	var err error
	if d, decided := w.take(call); decided {
		result, err = adapter.Resume(ctx, resume, d.state, d.ConsentDecision)
	} else {
		result, err = begin()
	}
	var pending *lookleap.PendingError
	if errors.As(err, &pending) {
		w.suspend(pending.Request.ID, call)
		return "", pending
	}
	return text(result, err), nil
}
