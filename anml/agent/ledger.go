package agent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/strictjson"
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

// Ledger is the user's record of disclosures, refusals and actions (sections 13.2 and 14.1). It
// can be kept in any [lookleap.Store] but not switched off: what cannot be recorded is not sent.
// Each entry is chained to the one before it, so [VerifyLedger] finds later changes. Several
// processes may use one store. [Filter] reads a ledger: its disclosures with the plan of an
// interaction, each with the basis of its consent, say what was told in it.
type Ledger struct {
	store lookleap.Store

	mu   sync.Mutex
	last Head // that this process knows of
}

// NewLedger returns the ledger in a store, which may hold other records of the user, too.
func NewLedger(store lookleap.Store) *Ledger { return &Ledger{store: store} }

const (
	keyLedger       = "ledger/"        // and the number of the first entry in 16 digits: the entries of one Append
	keyLedgerPruned = "ledger-pruned/" // the head of what was removed
	keyLedgerNear   = "ledger-near/"   // the key of a record among the last ones
)

// nearEntries is after how many entries the ledger notes again which record is near its end.
const nearEntries = 16

// maxAppend is the longest record of one Append in bytes, far above that of any plan.
const maxAppend = 8 << 20

func ledgerKey(number int64) string { return fmt.Sprintf("%s%016d", keyLedger, number) }

// Append stores all entries or none, and returns when they are safe; if it returns an error, the
// call is not sent.
func (l *Ledger) Append(ctx context.Context, entries ...Entry) error {
	if err := l.ready(); err != nil {
		return err
	}
	if len(entries) == 0 {
		return ctx.Err()
	}
	head, err := l.end(ctx)
	if err != nil {
		return err
	}
	for {
		chained, next, err := head.extend(entries...)
		if err != nil {
			return err
		}
		data, err := json.Marshal(chained)
		if err != nil {
			return err
		}
		if len(data) > maxAppend {
			return fmt.Errorf("%d entries take %d bytes; the limit is %d", len(entries), len(data), maxAppend)
		}
		switch err = l.store.Put(ctx, ledgerKey(head.Number+1), nil, data, time.Time{}); {
		case err == nil:
			pruned, err := l.pruned(ctx)
			if err != nil || pruned.Number <= head.Number {
				l.advance(next)
				l.note(ctx, head, next)
				return err
			}
			// Another process appended and pruned since this one knew the head.
			if err := l.store.Delete(ctx, ledgerKey(head.Number+1)); err != nil {
				return err
			}
			head = pruned
			continue
		case !errors.Is(err, lookleap.ErrConflict):
			return err
		}
		if head, err = l.after(ctx, ledgerKey(head.Number+1)); err != nil || head == next { // an earlier response was lost
			return err
		}
	}
}

// end returns the head that this process knows, or that of a record among the last ones: Append finds
// those after it.
func (l *Ledger) end(ctx context.Context) (Head, error) {
	l.mu.Lock()
	head := l.last
	l.mu.Unlock()
	if head.Number > 0 {
		return head, nil
	}
	near, err := l.store.Get(ctx, keyLedgerNear)
	if err == nil {
		head, err = l.after(ctx, string(near))
	}
	for errors.Is(err, fs.ErrNotExist) { // none was noted, or it was pruned
		var keys []string
		if keys, err = l.keys(ctx); err == nil && len(keys) > 0 {
			head, err = l.after(ctx, keys[len(keys)-1])
		}
	}
	return head, err
}

// note stores, once in a while, which record is near the end. An error is not one of the entries,
// which are safe: a process that begins only has more to read.
func (l *Ledger) note(ctx context.Context, from, to Head) {
	if from.Number/nearEntries != to.Number/nearEntries {
		_ = put(ctx, l.store, keyLedgerNear, []byte(ledgerKey(from.Number+1)))
	}
}

// after returns the head after a record.
func (l *Ledger) after(ctx context.Context, key string) (Head, error) {
	entries, err := l.read(ctx, key)
	if err != nil {
		return Head{}, err
	}
	return l.advance(entries[len(entries)-1].Head()), nil
}

// advance notes a head, and returns it.
func (l *Ledger) advance(to Head) Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to.Number > l.last.Number {
		l.last = to
	}
	return to
}

// pruned returns the head of what was removed, zero if nothing was.
func (l *Ledger) pruned(ctx context.Context) (head Head, err error) {
	data, err := l.store.Get(ctx, keyLedgerPruned)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, nil
	}
	if err == nil {
		err = strictjson.Decode(data, &head)
	}
	return head, err
}

// read returns the entries of a record, at least one.
func (l *Ledger) read(ctx context.Context, key string) (entries []Entry, err error) {
	data, err := l.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if strictjson.Decode(data, &entries) != nil || len(entries) == 0 || ledgerKey(entries[0].Number) != key {
		return nil, &lookleap.Error{Code: CodeLedgerBroken, Subject: key, Message: "the record of the ledger is damaged",
			Fix: "restore the ledger from a copy"}
	}
	return entries, nil
}

// Entries yields the entries in order, with an error for those that cannot be read; others may
// follow.
func (l *Ledger) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		keys, err := l.keys(ctx)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, key := range keys {
			entries, err := l.read(ctx, key)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was pruned meanwhile
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil && !yield(Entry{}, err) || ctx.Err() != nil {
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (l *Ledger) keys(ctx context.Context) ([]string, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	keys, err := l.store.Keys(ctx, keyLedger)
	slices.Sort(keys)
	return keys, err
}

// Prune removes the records of the oldest entries up to the first one with an entry from a time or
// later. It returns the head of what was removed before what is left, for [VerifyLedger]: zero if
// nothing was ever removed.
func (l *Ledger) Prune(ctx context.Context, before time.Time) (Head, error) {
	keys, err := l.keys(ctx)
	if err != nil || len(keys) == 0 {
		return Head{}, err
	}
	var gone []string
	var first Entry
	for _, key := range keys {
		entries, err := l.read(ctx, key)
		if err != nil {
			return Head{}, err
		}
		first = entries[0]
		if key == keys[len(keys)-1] || slices.ContainsFunc(entries, func(e Entry) bool { return !e.Time.Before(before) }) {
			break // the last record stays: it holds the head
		}
		gone = append(gone, key)
	}
	head := Head{first.Number - 1, first.Previous}
	if len(gone) > 0 {
		var data []byte
		if data, err = json.Marshal(head); err == nil {
			err = put(ctx, l.store, keyLedgerPruned, data) // before anything is deleted: see Append
		}
	}
	for _, key := range gone {
		if err == nil {
			err = l.store.Delete(ctx, key)
		}
	}
	return head, err
}

// ready returns an error for a ledger without a store.
func (l *Ledger) ready() error {
	if l == nil || l.store == nil {
		return errNoLedger
	}
	return nil
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
func (f Filter) Entries(ctx context.Context, l *Ledger) iter.Seq2[Entry, error] {
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
func (f Filter) Export(ctx context.Context, l *Ledger, w io.Writer) (n int, err error) {
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

// record appends entries to the user's ledger.
func (s *Session) record(ctx context.Context, entries ...Entry) error {
	if err := s.ledger.Append(ctx, entries...); err != nil {
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
