package lookleaptest

import (
	"context"
	"slices"
	"sync"

	"github.com/lookleap/lookleap"
)

// Events keeps what hosts report, for tests to look at. A Host calls its Observe from
// several goroutines.
type Events struct {
	mu   sync.Mutex
	list []lookleap.Event
}

// Observe is for [lookleap.Host].Observe.
func (e *Events) Observe(_ context.Context, event lookleap.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
}

// Take returns the events since the last call, in the order in which they were reported.
func (e *Events) Take() []lookleap.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.list
	e.list = nil
	return taken
}

// All returns the events since the last [Events.Take], and keeps them.
func (e *Events) All() []lookleap.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}

// Has reports whether one of the events since the last [Events.Take] has a code.
func (e *Events) Has(code lookleap.Code) bool {
	return slices.ContainsFunc(e.All(), func(event lookleap.Event) bool { return event.Code == code })
}
