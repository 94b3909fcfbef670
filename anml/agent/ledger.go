package agent

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Entry is one decision about one field, or one action, as the ledger records
// it. It holds no value of the user's (section 13.2).
type Entry struct {
	Time      time.Time     `json:"time"`
	Plan      string        `json:"plan"`            // id of the plan that it belongs to
	Kind      EntryKind     `json:"kind"`            //
	Field     string        `json:"field,omitempty"` // of an answer or a refusal
	Serving   string        `json:"serving"`         // serving domain of the document
	Owner     string        `json:"owner"`           // domain whose ask or action it is
	Endpoint  string        `json:"endpoint"`        // host that it is sent to
	Document  string        `json:"document"`        // URL of the document, without query
	Action    string        `json:"action,omitempty"`
	Basis     string        `json:"basis,omitempty"`     // explicit, implicit, delegated
	Reference string        `json:"reference,omitempty"` // what the basis rests on: consent digest, rule
	Reason    anml.Reason   `json:"reason,omitempty"`    // of a refusal
	Code      lookleap.Code `json:"code,omitempty"`
	Granted   time.Time     `json:"granted,omitzero"`
	From      string        `json:"from,omitempty"` // domain that the value came from, across services
}

// EntryKind says what an [Entry] records.
type EntryKind string

// The kinds of entry. A disclosure is written before the request that carries
// it; Outcome tells afterwards what became of it.
const (
	EntryDisclosed EntryKind = "disclosed"
	EntryRefused   EntryKind = "refused"
	EntryAction    EntryKind = "action"
	EntryOutcome   EntryKind = "outcome"
)

// Ledger is the user's record of what was told to whom. Append returns when the
// entries are safe, all or none of them; an error stops what they are about.
// Entries yields what was appended, in order.
type Ledger interface {
	Append(ctx context.Context, entries ...Entry) error
	Entries(ctx context.Context) iter.Seq2[Entry, error]
}

// NewMemoryLedger is a ledger that ends with the process.
func NewMemoryLedger() Ledger { return &memoryLedger{} }

type memoryLedger struct {
	mu      sync.Mutex
	entries []Entry
}

func (l *memoryLedger) Append(_ context.Context, entries ...Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entries...)
	return nil
}

func (l *memoryLedger) Entries(context.Context) iter.Seq2[Entry, error] {
	l.mu.Lock()
	all := l.entries[:len(l.entries):len(l.entries)]
	l.mu.Unlock()
	return func(yield func(Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}
