package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
)

// TestLedger tests an implementation of [agent.DisclosureLedger]: Append stores all of its
// entries in order or none, nothing that was acknowledged is lost, and entries that cannot
// be read are reported.
func TestLedger(t *testing.T, e Engine[agent.DisclosureLedger]) {
	t.Helper()
	testContract(t, e, ledgerPromises)
}

var ledgerPromises = []promise[agent.DisclosureLedger]{
	{
		name:   "empty",
		text:   "a new ledger has no entries, and appending nothing adds none",
		verify: ledgerEmpty,
	}, {
		name:   "order",
		text:   "Entries yields the entries in the order in which they were appended, also equal ones and ones with earlier times",
		verify: ledgerOrder,
	}, {
		name:   "whole-entries",
		text:   "each member of an entry is read as it was appended",
		verify: ledgerWhole,
	}, {
		name:   "sizes",
		text:   "an Append of 500 entries, more than a thousand entries, and entries of 64 KiB are stored whole",
		verify: ledgerSizes,
	}, {
		name:   "append-is-atomic",
		text:   "concurrent calls of Append are safe, and the entries of one call stay together",
		verify: ledgerConcurrent,
	}, {
		name:   "chain",
		text:   "each entry has its number and the digest of the entry before it, whatever the caller set, so that agent.VerifyLedger accepts the ledger",
		verify: ledgerChain,
	}, {
		name:   "caller-owns-its-entries",
		text:   "changing the slice after Append does not change the ledger",
		verify: ledgerAliasing,
	}, {
		name:   "reading-can-stop",
		text:   "a caller may stop reading, append while it reads, and read again",
		verify: ledgerStop,
	}, {
		name:   "cancellation",
		text:   "a call whose context has ended returns; Append stores all of its entries or none, and Entries yields all of them or an error",
		verify: ledgerCancelled,
	}, {
		name:   "restart",
		needs:  needsSharing,
		text:   "what was acknowledged is there after a restart, each handle sees the entries of the others, and the chain goes on",
		verify: ledgerRestart,
	}, {
		name:   "shared-data",
		needs:  needsSharing,
		text:   "concurrent calls of Append through several handles extend one chain, and the entries of one call stay together",
		verify: func(r *ledgerTrial) { s := openLedger(r); s.together8(s.ledger, r.open()) },
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, Append returns an error by the deadline of its context, and Entries yields an error",
		verify: ledgerHangs,
	}, {
		name:   "damaged-data",
		needs:  needsDamage,
		text:   "after damage, Entries yields an error or all entries unchanged, never fewer or other entries without an error",
		verify: ledgerDamaged,
	},
}

type ledgerTrial = trial[agent.DisclosureLedger]

// ledgerScript are the calls of one handle.
type ledgerScript struct {
	*ledgerTrial
	ledger agent.DisclosureLedger
}

func openLedger(r *ledgerTrial) ledgerScript {
	r.Helper()
	return ledgerScript{r, r.open()}
}

func (s ledgerScript) append(entries ...agent.Entry) {
	s.Helper()
	err := s.attempt(func(ctx context.Context) error { return s.ledger.Append(ctx, entries...) })
	s.must(err, "Append")
}

// read returns all entries and the first error.
func (s ledgerScript) read() (entries []agent.Entry, err error) {
	err = s.attempt(func(ctx context.Context) error {
		var failed error
		for e, err := range s.ledger.Entries(ctx) {
			if err != nil && failed == nil {
				failed = err
			} else if err == nil {
				entries = append(entries, e)
			}
		}
		return failed
	})
	return entries, err
}

// holds checks that the ledger has exactly these entries.
func (s ledgerScript) holds(want []agent.Entry) {
	s.Helper()
	got, err := s.read()
	s.must(err, "Entries")
	if len(got) != len(want) {
		s.broken("Entries yielded %d entries instead of %d", len(got), len(want))
	}
	for i := range want {
		if !sameEntry(got[i], want[i]) {
			s.broken("entry %d was read as %+v instead of %+v", i, got[i], want[i])
		}
	}
}

// sameEntry compares two entries, but not their places; times are equal if they are the same
// moment.
func sameEntry(a, b agent.Entry) bool {
	if !a.Time.Equal(b.Time) || !a.Granted.Equal(b.Granted) {
		return false
	}
	a.Time = b.Time
	a.Granted = b.Granted
	a.Number = b.Number
	a.Previous = b.Previous
	return reflect.DeepEqual(a, b)
}

// entry returns an entry that names its number.
func entry(n int) agent.Entry {
	return agent.Entry{
		Time: time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second),
		Plan: fmt.Sprint("plan-", n), Kind: agent.EntryDisclosed, Field: "email",
		Serving: "shop.example", Owner: "shop.example", Endpoint: "shop.example", Document: "https://shop.example/",
	}
}

func entriesFrom(first, n int) (entries []agent.Entry) {
	for i := range n {
		entries = append(entries, entry(first+i))
	}
	return entries
}

func ledgerEmpty(r *ledgerTrial) {
	s := openLedger(r)
	s.holds(nil)
	s.append()
	s.holds(nil)
}

func ledgerOrder(r *ledgerTrial) {
	s := openLedger(r)
	want := entriesFrom(0, 60)
	for i := 0; i < 60; i += i%5 + 1 {
		s.append(want[i:min(60, i+i%5+1)]...)
	}
	s.holds(want)
	for _, e := range []agent.Entry{entry(30), entry(30), entry(5)} {
		s.append(e)
		want = append(want, e)
	}
	s.holds(want)
}

func ledgerWhole(r *ledgerTrial) {
	s := openLedger(r)
	full := agent.Entry{
		Time: time.Date(2031, 5, 1, 9, 0, 0, 123456789, time.UTC), Plan: "PLAN", Kind: agent.EntryRefused, Field: "tel",
		Serving: "a.example", Owner: "b.example", Endpoint: "c.example", Document: "https://a.example/d?e=\u2028\"\\<>&",
		Action: "book", Basis: "explicit", Reference: lookleap.Digest(nil), Reason: anml.UserDenied,
		Code: agent.CodeNoValue, Granted: time.Date(2031, 5, 1, 8, 0, 0, 1, time.UTC), From: "d.example e.example",
		ValueHash: "hmac-sha256:00",
	}
	want := []agent.Entry{full, {Kind: agent.EntryAction}, entry(1)}
	s.append(want...)
	s.holds(want)
}

func ledgerSizes(r *ledgerTrial) {
	s := openLedger(r)
	want := entriesFrom(0, 1500)
	for i := 0; i < len(want); i += 500 {
		s.append(want[i : i+500]...)
	}
	long := entry(1500)
	long.Document = "https://shop.example/" + longText(64<<10)
	s.append(long)
	s.holds(append(want, long))
}

func longText(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return string(text)
}

func ledgerConcurrent(r *ledgerTrial) {
	s := openLedger(r)
	s.together8(s.ledger)
}

// together8 lets eight callers append five calls of three entries each through the handles.
func (s ledgerScript) together8(handles ...agent.DisclosureLedger) {
	s.Helper()
	for i, err := range s.together(8, func(ctx context.Context, i int) error {
		for n := range 5 {
			if err := handles[i%len(handles)].Append(ctx, entriesFrom(i*1000+n*3, 3)...); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			s.broken("caller %d of 8 returned the error %q", i, err)
		}
	}
	s.chained(8 * 5 * 3)
	got, err := s.read()
	s.must(err, "Entries")
	if len(got) != 8*5*3 {
		s.broken("Entries yielded %d entries instead of %d", len(got), 8*5*3)
	}
	next := map[int]int{}
	for i := 0; i < len(got); i += 3 {
		var first int
		_, _ = fmt.Sscanf(got[i].Plan, "plan-%d", &first)
		caller := first / 1000
		if first%1000 != next[caller] {
			s.broken("an entry of caller %d is out of its order: %s", caller, got[i].Plan)
		}
		next[caller] += 3
		for j := range 3 {
			if !sameEntry(got[i+j], entry(first+j)) {
				s.broken("the entries of one Append were separated at %s", got[i+j].Plan)
			}
		}
	}
}

// chained checks that the ledger is one chain of n entries.
func (s ledgerScript) chained(n int64) {
	s.Helper()
	var head agent.Head
	err := s.attempt(func(ctx context.Context) (err error) {
		head, err = agent.VerifyLedger(ctx, s.ledger, agent.Head{}, agent.Head{})
		return err
	})
	if err != nil || head.Number != n {
		s.broken("VerifyLedger returned the number %d and the error %v for %d entries", head.Number, err, n)
	}
}

func ledgerChain(r *ledgerTrial) {
	s := openLedger(r)
	for i := range 5 {
		s.append(entriesFrom(3*i, 3)...)
	}
	s.chained(15)
	placed := entry(15)
	placed.Number, placed.Previous = 99, "previous"
	s.append(placed)
	s.chained(16)
}

func ledgerAliasing(r *ledgerTrial) {
	s := openLedger(r)
	entries := entriesFrom(0, 2)
	s.append(entries...)
	entries[0].Plan = "changed"
	s.holds(entriesFrom(0, 2))
}

func ledgerStop(r *ledgerTrial) {
	s := openLedger(r)
	s.append(entriesFrom(0, 5)...)
	err := s.attempt(func(ctx context.Context) error {
		for e, err := range s.ledger.Entries(ctx) {
			if err != nil {
				return err
			}
			if !sameEntry(e, entry(0)) {
				return errors.New("the first entry is another one")
			}
			return s.ledger.Append(ctx, entry(5))
		}
		return errors.New("there are no entries")
	})
	s.must(err, "Append while reading")
	s.holds(entriesFrom(0, 6))
}

func ledgerCancelled(r *ledgerTrial) {
	s := openLedger(r)
	s.append(entry(0))
	err := r.attemptIn(cancelled(), func(ctx context.Context) error { return s.ledger.Append(ctx, entriesFrom(1, 3)...) })
	if errors.Is(err, errHung) {
		s.broken("%v", err)
	}
	got, readErr := s.read()
	s.must(readErr, "Entries")
	if len(got) != 1 && len(got) != 4 || err == nil && len(got) != 4 {
		s.broken("Append returned %v, and %d of 3 entries were stored", err, len(got)-1)
	}
	yielded := 0
	err = r.attemptIn(cancelled(), func(ctx context.Context) error {
		for _, err := range s.ledger.Entries(ctx) {
			if err != nil {
				return err
			}
			yielded++
		}
		return nil
	})
	if errors.Is(err, errHung) || err == nil && yielded != len(got) {
		s.broken("Entries yielded %d of %d entries and the error %v", yielded, len(got), err)
	}
}

func ledgerRestart(r *ledgerTrial) {
	s := openLedger(r)
	s.append(entriesFrom(0, 10)...)
	after := openLedger(r)
	after.holds(entriesFrom(0, 10))
	after.append(entriesFrom(10, 3)...)
	s.append(entry(13))
	s.holds(entriesFrom(0, 14))
	openLedger(r).holds(entriesFrom(0, 14))
	s.chained(14)
}

func ledgerHangs(r *ledgerTrial) {
	s := openLedger(r)
	s.append(entry(0))
	resume := r.engine.Hang(r.TB)
	err := s.attempt(func(ctx context.Context) error { return s.ledger.Append(ctx, entriesFrom(1, 2)...) })
	_, readErr := s.read()
	resume()
	if err == nil || errors.Is(err, errHung) {
		s.broken("Append returned %v", err)
	}
	if readErr == nil || errors.Is(readErr, errHung) {
		s.broken("Entries yielded the error %v", readErr)
	}
	s.append(entry(9))
	got, err := s.read()
	s.must(err, "Entries after the back end answered again")
	if n := len(got); n != 2 && n != 4 || !sameEntry(got[n-1], entry(9)) {
		s.broken("Entries yielded %d entries", n)
	}
}

func ledgerDamaged(r *ledgerTrial) {
	s := openLedger(r)
	want := entriesFrom(0, 6)
	for _, e := range want {
		s.append(e)
	}
	r.engine.Damage(r.TB, r.data)
	got, err := s.read()
	if errors.Is(err, errHung) {
		s.broken("%v", err)
	}
	if err != nil {
		return
	}
	if len(got) != len(want) {
		s.broken("Entries yielded %d of %d entries and no error", len(got), len(want))
	}
	for i := range want {
		if !sameEntry(got[i], want[i]) {
			s.broken("entry %d was changed to %+v, and there is no error", i, got[i])
		}
	}
}
