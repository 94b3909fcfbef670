// Package ledgerhead appends to a disclosure ledger that several processes share.
package ledgerhead

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/lookleap/lookleap/anml/agent"
)

// Head is the head of a ledger that this process saw last. The zero Head is that of an empty
// ledger. It is safe for concurrent use.
type Head struct {
	mu   sync.Mutex
	last agent.Head
}

// Append chains the entries to the ledger and stores them with swap, until no other process was
// faster. Swap stores data, which is the JSON of the chained entries, if the head of the ledger is
// from. It returns the head after the call, which is to if data was stored, now or by an earlier
// call whose response was lost.
func (h *Head) Append(ctx context.Context, entries []agent.Entry, swap func(from, to agent.Head, data []byte) (agent.Head, error)) error {
	if len(entries) == 0 {
		return ctx.Err()
	}
	h.mu.Lock()
	from := h.last
	h.mu.Unlock()
	for {
		chained, to, err := from.Extend(entries...)
		if err != nil {
			return err
		}
		data, err := json.Marshal(chained)
		if err != nil {
			return err
		}
		there, err := swap(from, to, data)
		if err != nil {
			return err
		}
		h.mu.Lock()
		h.last = there
		h.mu.Unlock()
		if there == to {
			return nil
		}
		from = there
	}
}
