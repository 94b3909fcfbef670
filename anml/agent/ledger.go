package agent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/chain"
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
type Ledger struct{ log chain.Log }

// NewLedger returns the ledger in a store, which may hold other records of the user, too.
func NewLedger(store lookleap.Store) *Ledger {
	return &Ledger{chain.Log{Store: store, Name: "ledger", End: func(key string, record []byte) (chain.Head, error) {
		entries, err := parseRecord(key, record)
		if err != nil {
			return chain.Head{}, err
		}
		return chain.Head(entries[len(entries)-1].Head()), nil
	}}}
}

// maxAppend is the longest record of one Append in bytes, far above that of any plan.
const maxAppend = 8 << 20

// Append stores all entries or none, and returns when they are safe; if it returns an error, the
// call is not sent.
func (l *Ledger) Append(ctx context.Context, entries ...Entry) error {
	if err := l.ready(); err != nil {
		return err
	}
	if len(entries) == 0 {
		return ctx.Err()
	}
	return l.log.Append(ctx, func(head chain.Head) ([]byte, chain.Head, error) {
		chained, next, err := Head(head).extend(entries...)
		if err != nil {
			return nil, chain.Head{}, err
		}
		data, err := json.Marshal(chained)
		if err == nil && len(data) > maxAppend {
			err = fmt.Errorf("%d entries take %d bytes; the limit is %d", len(entries), len(data), maxAppend)
		}
		return data, chain.Head(next), err
	})
}

// read returns the entries of a record, at least one.
func (l *Ledger) read(ctx context.Context, key string) ([]Entry, error) {
	data, err := l.log.Store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return parseRecord(key, data)
}

// parseRecord parses the entries of a record. The place of the first one is that of the record.
func parseRecord(key string, data []byte) (entries []Entry, err error) {
	if strictjson.Decode(data, &entries) != nil || len(entries) == 0 || !strings.HasSuffix(key, fmt.Sprintf("/%016d", entries[0].Number)) {
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
	return l.log.Keys(ctx)
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
	return head, l.log.Prune(ctx, chain.Head(head), gone)
}

// ready returns an error for a ledger without a store.
func (l *Ledger) ready() error {
	if l == nil || l.log.Store == nil {
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
			picked := err != nil ||
				(name == "" || under(name, append(strings.Fields(e.From), e.Serving, e.Owner, e.Endpoint)...)) &&
					!e.Time.Before(f.Since) && (f.Before.IsZero() || e.Time.Before(f.Before)) &&
					(f.Plan == "" || e.Plan == f.Plan) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind))
			if picked && !yield(e, err) {
				return
			}
		}
	}
}

// errNoLedger is the error of reading a nil ledger.
var errNoLedger = missing("there is no ledger", "take it from Session.Ledger")

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

// Head identifies the content of a ledger up to an entry. A reader who keeps a head outside of
// the ledger can tell later whether an entry before it was changed. The zero Head is that of
// an empty ledger.
//
// The digest of entry n is the SHA-256 of a label, the digest of entry n-1, n in 8 bytes,
// and the SHA-256 of the entry as JSON without the members number and previous.
type Head struct {
	Number int64  `json:"number"` // of the last entry, from 1
	Digest string `json:"digest"` // of the last entry and all before it, in hexadecimal
}

const chainLabel = "lookleap disclosure ledger 1\n"

// extend numbers and chains entries that follow the head, and returns them with the next
// head.
func (h Head) extend(entries ...Entry) ([]Entry, Head, error) {
	chained := make([]Entry, len(entries))
	for i, e := range entries {
		e.Number, e.Previous = h.Number+1, h.Digest
		data, err := json.Marshal(e)
		if err == nil {
			err = strictjson.Decode(data, &chained[i]) // the digest is that of the entry as it is read again
		}
		if err != nil {
			return nil, Head{}, err
		}
		h = chained[i].Head()
	}
	return chained, h, nil
}

// Head returns the head of the ledger after this entry, zero for an entry that a ledger has
// not chained.
func (e Entry) Head() Head {
	if e.Number == 0 {
		return Head{}
	}
	label := chainLabel + e.Previous
	number := binary.BigEndian.AppendUint64(nil, uint64(e.Number))
	e.Number, e.Previous = 0, "" // the content is the entry without its place in the chain
	data, _ := json.Marshal(e)   // an Entry has only texts and times, and extend has marshalled it before
	content := sha256.Sum256(data)
	digest := sha256.Sum256(slices.Concat([]byte(label), number, content[:]))
	return Head{int64(binary.BigEndian.Uint64(number)), hex.EncodeToString(digest[:])}
}

// VerifyLedger verifies the entries of a ledger, such as those of [Ledger.Entries] or of an export of all,
// and returns their head. It returns an [*lookleap.Error] with
// [CodeLedgerBroken] if an entry between the two heads was changed, removed, inserted or
// moved, or the ledger ends before the second one.
//
// From is the head of the entries that were pruned, zero if there are none. To is a head
// that was kept outside of the ledger. Without one, the end of the ledger may be missing.
func VerifyLedger(entries iter.Seq2[Entry, error], from, to Head) (Head, error) {
	if entries == nil {
		return Head{}, errNoLedger
	}
	head := from
	reached := to == Head{} || to == from
	for e, err := range entries {
		if err != nil {
			return Head{}, err
		}
		if e.Number != head.Number+1 || e.Previous != head.Digest {
			return Head{}, broken(head.Number+1, "it does not follow the entry before it")
		}
		head = e.Head()
		if head.Number == to.Number {
			if head != to {
				return Head{}, broken(head.Number, "it does not have the digest of the head")
			}
			reached = true
		}
	}
	if !reached {
		return Head{}, broken(head.Number+1, "the ledger ends before the head")
	}
	return head, nil
}

func broken(number int64, why string) error {
	return &lookleap.Error{Code: CodeLedgerBroken, Subject: fmt.Sprintf("entry %d", number), Message: why,
		Fix: "restore the ledger from a copy, and find out who can write to it"}
}
