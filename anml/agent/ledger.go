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
)

// Entry is one decision about one field, or one action, as the ledger records
// it. It holds no value of the user's (section 13.2): the record would become
// the leak.
type Entry struct {
	Time      time.Time     `json:"time"` // UTC
	Plan      string        `json:"plan"` // id of the plan that it belongs to; "" where a refusal came before there was one
	Kind      EntryKind     `json:"kind"`
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
	From      string        `json:"from,omitempty"` // domains that the value came from, across services, with a space between them
	// ValueHash tells equal values of one field apart from others, where the host
	// gave a key for it: see [User].LedgerKey.
	ValueHash string `json:"valueHash,omitempty"`
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

// DisclosureLedger is the user's record of what was told to whom (sections 13.2 and 14.1).
// It can be replaced and never switched off: what it cannot record is not sent.
//
// Append returns when the entries are safe, all or none of them; an error stops
// what they are about. Entries yields what was appended, in order; an error
// stands for entries that cannot be read, and others may follow it. Both are
// called from several goroutines at once. [Filter], [Interaction] and
// [Filter.Export] read any Ledger.
type DisclosureLedger interface {
	Append(ctx context.Context, entries ...Entry) error
	Entries(ctx context.Context) iter.Seq2[Entry, error]
}

// NewMemoryDisclosureLedger is a ledger that ends with the process. [OpenDisclosureLedger] is one
// that does not.
func NewMemoryDisclosureLedger() DisclosureLedger { return &memoryLedger{} }

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

// Filter picks entries of a ledger. Its zero value picks all: nothing is hidden
// from the user.
type Filter struct {
	Domain string      // as serving domain, owner, endpoint or source, with the names below it
	Since  time.Time   // not earlier
	Before time.Time   // earlier
	Plan   string      // id of a plan
	Kinds  []EntryKind // any of these
}

// Entries yields the entries that the filter picks, in order. Errors of the
// ledger are yielded whatever the filter says.
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

// errNoLedger is any reading of a nil Ledger.
var errNoLedger = missing("there is no ledger", "take it from Session.Ledger")

func (f Filter) picks(name string, e Entry) bool {
	switch {
	case name != "" && !under(name, append(strings.Fields(e.From), e.Serving, e.Owner, e.Endpoint)...),
		!f.Since.IsZero() && e.Time.Before(f.Since),
		!f.Before.IsZero() && !e.Time.Before(f.Before),
		f.Plan != "" && e.Plan != f.Plan,
		len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind):
		return false
	}
	return true
}

// Export writes the entries that the filter picks as JSON lines, one object a
// line, and gives their number. It ends at the first error of the ledger or the
// writer: an export with holes would look complete.
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

// Interaction lists the fields disclosed in one interaction, by the id of its
// plan, each with the basis of its consent, in the order in which they were told
// (section 14.1). The list is empty where nothing was. An entry that cannot be
// read is an error, since it might belong here.
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

// record appends entries to the user's ledger; a panic in it is an error.
func (s *Session) record(ctx context.Context, entries ...Entry) error {
	bound := s.agent.plugins.ledger
	if _, own := s.user.Ledger.(*memoryLedger); own {
		bound = nil
	}
	entries = slices.Clone(entries) // the call may outlive the caller
	if err := do(ctx, bound, func(ctx context.Context) error { return s.user.Ledger.Append(ctx, entries...) }); err != nil {
		return fmt.Errorf("anml/agent: the ledger could not be written, so nothing is done: %w", err)
	}
	return nil
}

// valueHash is what an entry may tell of a value: nothing, or a keyed hash.
func (s *Session) valueHash(field, value string) string {
	if len(s.user.LedgerKey) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, s.user.LedgerKey)
	fmt.Fprintf(mac, "%d:%s%s", len(field), field, value)
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}
