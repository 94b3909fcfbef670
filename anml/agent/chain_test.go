package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// fixedLedger returns a ledger with entries as an attacker left them.
func fixedLedger(entries []Entry) *Ledger {
	store := lookleap.NewMemoryStore()
	if data, err := json.Marshal(entries); err == nil && len(entries) > 0 {
		_ = store.Put(context.Background(), ledgerKey(entries[0].Number), nil, data, time.Time{})
	}
	return NewLedger(store)
}

// chainOf returns the entries of a ledger.
func chainOf(t *testing.T, l *Ledger) (entries []Entry) {
	t.Helper()
	for e, err := range l.Entries(t.Context()) {
		must(t, err)
		entries = append(entries, e)
	}
	return entries
}

func entryOf(n int) Entry {
	return Entry{Time: start.Add(time.Duration(n) * time.Second), Plan: fmt.Sprint("p", n), Kind: EntryDisclosed, Field: "email", Serving: "shop.example", ValueHash: "bad \xff text"}
}

func TestChain(t *testing.T) {
	l := NewLedger(lookleap.NewMemoryStore())
	for n := range 4 {
		must(t, l.Append(t.Context(), entryOf(2*n), entryOf(2*n+1)))
	}
	whole := chainOf(t, l)
	head, err := VerifyLedger(l.Entries(t.Context()), Head{}, Head{})
	if err != nil || head.Number != 8 || head != whole[7].Head() {
		t.Fatal(head, err)
	}
	broken := func(t *testing.T, from, to Head, entries ...Entry) {
		t.Helper()
		if _, err := VerifyLedger(fixedLedger(entries).Entries(t.Context()), from, to); lookleap.CodeOf(err) != CodeLedgerBroken {
			t.Errorf("got %v", err)
		}
	}
	edits := map[string]func(*Entry){
		"time": func(e *Entry) { e.Time = e.Time.Add(1) }, "plan": func(e *Entry) { e.Plan = "other" }, "kind": func(e *Entry) { e.Kind = EntryRefused },
		"field": func(e *Entry) { e.Field = "tel" }, "serving": func(e *Entry) { e.Serving = "other.example" }, "basis": func(e *Entry) { e.Basis = "implicit" },
		"hash": func(e *Entry) { e.ValueHash = "" }, "number": func(e *Entry) { e.Number++ }, "previous": func(e *Entry) { e.Previous = "" },
		"granted": func(e *Entry) { e.Granted = start }, "code": func(e *Entry) { e.Code = lookleap.CodeOK },
	}
	for at := range whole {
		for name, edit := range edits {
			if at == 0 && name == "previous" {
				continue // the first entry has no entry before it
			}
			t.Run(fmt.Sprintf("reject-edit/%s-%d", name, at), func(t *testing.T) {
				changed := slices.Clone(whole)
				edit(&changed[at])
				broken(t, Head{}, head, changed...)
			})
		}
		t.Run(fmt.Sprint("reject-drop/", at), func(t *testing.T) {
			broken(t, Head{}, head, slices.Delete(slices.Clone(whole), at, at+1)...)
		})
		t.Run(fmt.Sprint("reject-insertion/", at), func(t *testing.T) {
			broken(t, Head{}, head, slices.Insert(slices.Clone(whole), at, entryOf(99))...)
			chained, _, _ := Head{int64(at), whole[at].Previous}.extend(entryOf(99)) // numbered and chained
			broken(t, Head{}, head, slices.Insert(slices.Clone(whole), at, chained...)...)
		})
		t.Run(fmt.Sprint("reject-truncation/", at), func(t *testing.T) { broken(t, Head{}, head, whole[:at]...) })
		for other := range at {
			t.Run(fmt.Sprintf("reject-reorder/%d-%d", other, at), func(t *testing.T) {
				changed := slices.Clone(whole)
				changed[at], changed[other] = changed[other], changed[at]
				broken(t, Head{}, head, changed...)
			})
		}
		t.Run(fmt.Sprint("reject-new-chain/", at), func(t *testing.T) {
			rest := slices.Clone(whole[at:])
			rest[0].Plan = "other"
			before := Head{int64(at), whole[at].Previous}
			rest, _, _ = before.extend(rest...) // everything after it is chained again
			broken(t, Head{}, head, append(slices.Clone(whole[:at]), rest...)...)
		})
	}
	t.Run("accept-pruned", func(t *testing.T) {
		if got, err := VerifyLedger(fixedLedger(whole[3:]).Entries(t.Context()), whole[2].Head(), head); err != nil || got != head {
			t.Error(got, err)
		}
		broken(t, Head{}, head, whole[3:]...)
		for _, to := range []Head{{}, whole[2].Head()} { // no head was kept, or the one of the pruned entries
			if got, err := VerifyLedger(fixedLedger(whole[3:]).Entries(t.Context()), whole[2].Head(), to); err != nil || got != head {
				t.Error(got, err)
			}
		}
	})
	t.Run("reject-with-the-place", func(t *testing.T) {
		for want, entries := range map[string][]Entry{"entry 4": slices.Delete(slices.Clone(whole), 3, 4), "entry 6": whole[:5]} {
			_, err := VerifyLedger(fixedLedger(entries).Entries(t.Context()), Head{}, head)
			if e := new(lookleap.Error); !errors.As(err, &e) || e.Subject != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
	t.Run("reject-entries-that-no-ledger-chained", func(t *testing.T) { broken(t, Head{}, Head{}, entryOf(1)) })
}

// TestChainOfProcesses: handles of one store extend one chain, also after each was opened again.
func TestChainOfProcesses(t *testing.T) {
	stores(t, func(t *testing.T, open func() lookleap.Store) {
		var wait sync.WaitGroup
		for process := range 3 {
			l := NewLedger(open())
			wait.Go(func() {
				for n := range 30 {
					n += 1000 * process
					if err := patiently(func() error { return l.Append(t.Context(), entryOf(n), entryOf(n)) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		must(t, NewLedger(open()).Append(t.Context(), entryOf(2)))
		head, err := VerifyLedger(NewLedger(open()).Entries(t.Context()), Head{}, Head{})
		if err != nil || head.Number != 181 {
			t.Fatal(head, err)
		}
	})
}
