package agent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Entry is one decision about one field, or one action, as the ledger records it. It
// holds no value of the user, so that the record cannot leak one (section 13.2).
type Entry struct {
	Time      time.Time     `json:"time"` // UTC
	Plan      string        `json:"plan"` // id of its plan; "" for a refusal before there was a plan
	Kind      EntryKind     `json:"kind"`
	Field     string        `json:"field,omitempty"` // of an answer or a refusal
	Serving   string        `json:"serving"`         // serving domain of the document
	Owner     string        `json:"owner"`           // domain whose ask or action it is
	Endpoint  string        `json:"endpoint"`        // host that it is sent to
	Document  string        `json:"document"`        // URL of the document, without query
	Action    string        `json:"action,omitempty"`
	Basis     string        `json:"basis,omitempty"`     // explicit, implicit, delegated
	Reference string        `json:"reference,omitempty"` // evidence for the basis: digest of a consent, or a rule
	Reason    anml.Reason   `json:"reason,omitempty"`    // of a refusal
	Code      lookleap.Code `json:"code,omitempty"`
	Granted   time.Time     `json:"granted,omitzero"`
	From      string        `json:"from,omitempty"` // other services that the value came from, separated by spaces
	// ValueHash is a keyed hash of the field and its value, if the user has a LedgerKey.
	// Equal values of one field have equal hashes.
	ValueHash string `json:"valueHash,omitempty"`

	// The place in the ledger, which the ledger sets: the number of the entry from 1, and the
	// digest of the entry before it; see [Head].
	Number   int64  `json:"number,omitempty"`
	Previous string `json:"previous,omitempty"`
}

// EntryKind says what an [Entry] records.
type EntryKind string

// The kinds of entry. Disclosures and actions are written before the request is sent,
// outcomes after it.
const (
	EntryDisclosed EntryKind = "disclosed"
	EntryRefused   EntryKind = "refused"
	EntryAction    EntryKind = "action"
	EntryOutcome   EntryKind = "outcome"
)

// DisclosureLedger is the user's record of disclosures, refusals and actions (sections
// 13.2 and 14.1). It can be replaced but not switched off: what cannot be recorded is
// not sent.
//
// Append stores all entries or none, and returns after they are safe; if it returns an
// error, the call is not sent. It chains them with [Head.Extend], so that [VerifyLedger]
// finds later changes: two calls, in any process, must not extend the same head. So an
// engine needs a total order of Appends, and must not lose one that it has acknowledged.
//
// Entries yields the entries in order, with an error for
// entries that cannot be read; others may follow. Both must be safe for concurrent use.
// [Filter.Entries], [Filter.Export] and [Interaction] read any ledger.
type DisclosureLedger interface {
	Append(ctx context.Context, entries ...Entry) error
	Entries(ctx context.Context) iter.Seq2[Entry, error]
}

// NewMemoryDisclosureLedger returns a ledger in memory. [OpenDisclosureLedger] opens one
// in a file.
func NewMemoryDisclosureLedger() DisclosureLedger { return &memoryLedger{} }

type memoryLedger struct {
	mu      sync.Mutex
	entries []Entry
	head    Head
}

func (l *memoryLedger) Append(_ context.Context, entries ...Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	chained, head, err := l.head.Extend(entries...)
	if err != nil {
		return err
	}
	l.entries, l.head = append(l.entries, chained...), head
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

// Filter selects entries of a ledger. The zero value selects all.
type Filter struct {
	Domain string      // or a subdomain, as serving domain, owner, endpoint or source
	Since  time.Time   // not earlier
	Before time.Time   // earlier
	Plan   string      // id of a plan
	Kinds  []EntryKind // any of these
}

// Entries yields the selected entries in order, and all errors of the ledger.
func (f Filter) Entries(ctx context.Context, l DisclosureLedger) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		name, err := hostKey(f.Domain)
		if f.Domain != "" && err != nil {
			yield(Entry{}, err)
			return
		}
		if l == nil {
			yield(Entry{}, errNoLedger)
			return
		}
		for e, err := range l.Entries(ctx) {
			if (err != nil || f.picks(name, e)) && !yield(e, err) {
				return
			}
		}
	}
}

// errNoLedger is the error of reading a nil ledger.
var errNoLedger = missing("there is no ledger", "take it from Session.Ledger")

func (f Filter) picks(name string, e Entry) bool {
	switch {
	case name != "" && !under(name, append(strings.Fields(e.From), e.Serving, e.Owner, e.Endpoint)...),
		e.Time.Before(f.Since),
		!f.Before.IsZero() && !e.Time.Before(f.Before),
		f.Plan != "" && e.Plan != f.Plan,
		len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind):
		return false
	}
	return true
}

// Export writes the selected entries as JSON lines, and returns their number. It stops at
// the first error, since an export with gaps would look complete.
func (f Filter) Export(ctx context.Context, l DisclosureLedger, w io.Writer) (n int, err error) {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for e, err := range f.Entries(ctx, l) {
		if err != nil {
			return n, err
		}
		if err := out.Encode(e); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Disclosed is one field that was disclosed, and on what basis.
type Disclosed struct {
	Field string `json:"field"`
	Basis string `json:"basis"` // explicit, implicit, delegated
}

// Interaction returns the fields that were disclosed in the interaction with a plan's
// id, each with the basis of its consent, in order (section 14.1). It returns an error
// if an entry cannot be read, since it might belong to the interaction.
func Interaction(ctx context.Context, l DisclosureLedger, plan string) ([]Disclosed, error) {
	list := []Disclosed{}
	if l == nil {
		return nil, errNoLedger
	}
	for e, err := range l.Entries(ctx) {
		if err != nil {
			return nil, err
		}
		if e.Kind == EntryDisclosed && e.Plan == plan {
			list = append(list, Disclosed{e.Field, e.Basis})
		}
	}
	return list, nil
}

// record appends entries to the user's ledger. A panic of the ledger is an error.
func (s *Session) record(ctx context.Context, entries ...Entry) error {
	entries = slices.Clone(entries) // the call may outlive the caller
	if err := plugin.Do(ctx, s.agent.plugins.ledger, func(ctx context.Context) error { return s.user.Ledger.Append(ctx, entries...) }); err != nil {
		return fmt.Errorf("the ledger could not be written: %w", err)
	}
	return nil
}

// valueHash returns the keyed hash of a value, or "" without a key.
func (s *Session) valueHash(field, value string) string {
	if len(s.user.LedgerKey) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, s.user.LedgerKey)
	fmt.Fprintf(mac, "%d:%s%s", len(field), field, value)
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}
