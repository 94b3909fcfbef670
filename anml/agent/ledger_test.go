package agent

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// entry is one for tests, told apart by its field.
func entry(plan, field string, at time.Time) Entry {
	return Entry{
		Time: at.UTC(), Plan: plan, Kind: EntryDisclosed, Field: field, Serving: "shop.example", Owner: "shop.example",
		Endpoint: "api.shop.example", Document: "https://www.shop.example/a", Action: "book", Basis: "explicit",
	}
}

// fields lists the fields of entries, and how many errors came with them.
func fields(entries iter.Seq2[Entry, error]) (names string, bad int) {
	var list []string
	for e, err := range entries {
		if err != nil {
			bad++
			continue
		}
		list = append(list, e.Field)
	}
	return strings.Join(list, " "), bad
}

func TestLedgerFilter(t *testing.T) {
	ctx, l := t.Context(), NewLedger(lookleap.NewMemoryStore())
	other := entry("p2", "tel", start.Add(time.Hour))
	other.Serving, other.Owner, other.Endpoint = "host.example", "brand.example", "host.example"
	refused := entry("p2", "bday", start.Add(2*time.Hour))
	refused.Kind, refused.Basis, refused.Reason = EntryRefused, "", anml.UserDenied
	across := entry("p3", "member", start.Add(3*time.Hour))
	across.From = "c.example a.example"
	nowhere := entry("p4", "pin", start.Add(4*time.Hour)) // of which no domain is known
	nowhere.Serving, nowhere.Owner, nowhere.Endpoint = "", "", ""
	apart := entry("p5", "geo", start.Add(5*time.Hour))
	apart.Serving, apart.Endpoint = "serving.example", "end.example"
	must(t, l.Append(ctx, entry("p1", "email", start), other, refused, across, nowhere, apart))
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "email tel bday member pin geo"},
		{Filter{Domain: "SHOP.example."}, "email bday member geo"},
		{Filter{Domain: "api.shop.example:443"}, "email bday member"},
		{Filter{Domain: "brand.example"}, "tel"},
		{Filter{Domain: "a.example"}, "member"},
		{Filter{Domain: "c.example"}, "member"},
		{Filter{Domain: "serving.example"}, "geo"},
		{Filter{Domain: "end.example"}, "geo"},
		{Filter{Domain: "op.example"}, ""},
		{Filter{Since: start.Add(time.Hour)}, "tel bday member pin geo"},
		{Filter{Before: start.Add(time.Hour)}, "email"},
		{Filter{Since: start.Add(time.Hour), Before: start.Add(3 * time.Hour)}, "tel bday"},
		{Filter{Plan: "p2"}, "tel bday"},
		{Filter{Kinds: []EntryKind{EntryRefused}}, "bday"},
		{Filter{Plan: "p2", Kinds: []EntryKind{EntryDisclosed}}, "tel"},
	} {
		if got, bad := fields(c.filter.Entries(ctx, l)); got != c.want || bad > 0 {
			t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
		}
	}
	for _, name := range []string{"not a domain", "example"} {
		if _, bad := fields(Filter{Domain: name}.Entries(ctx, l)); bad != 1 {
			t.Error("a filter of no domain picks nothing in silence")
		}
	}
}

// TestLedgerRows shows the rows about the record of disclosures.
func TestLedgerRows(t *testing.T) {
	doc := booking(rule("email", "explicit-consent"), askFor("email", `required="true"`)+askFor("tel")+askFor("lang"))
	profile := Fields{"email": {Text: annsEmail}, "lang": {Text: "de"}}
	allow := func(field string) *UserPolicy {
		p := &UserPolicy{}
		must(t, p.Set(StandingRule{Field: field, Domain: "shop.example", Effect: EffectAllow}))
		return p
	}

	t.Run("ANML-13.2-11", func(t *testing.T) {
		t.Run("accept-entries", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Policy: allow("lang")}})
			s.net.Clock().Freeze()
			now := s.net.Clock().Now()
			r := s.does(book, lookleap.CodeOK)
			list := entries(t, s.session.Ledger(), EntryDisclosed, EntryRefused)
			equals(t, len(list), 3)
			for i, want := range []struct {
				kind         EntryKind
				field, basis string
			}{{EntryDisclosed, "email", "explicit"}, {EntryRefused, "tel", ""}, {EntryDisclosed, "lang", "delegated"}} {
				e := list[i]
				if e.Kind != want.kind || e.Field != want.field || e.Basis != want.basis || e.Plan != r.Plan || e.Serving != "shop.example" ||
					e.Owner != "shop.example" || e.Endpoint != "www.shop.example" || e.Document != documentURL || e.Action != "book" || !e.Time.Equal(now) {
					t.Errorf("%+v", e)
				}
			}
			if list[0].Reference == "" || list[2].Reference == "" || list[1].Reason != anml.UnsupportedField {
				t.Errorf("%+v", list)
			}
		})
		t.Run("reject-values", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile}})
			s.does(book, lookleap.CodeOK)
			var out bytes.Buffer
			_, err := Filter{}.Export(t.Context(), s.session.Ledger(), &out)
			must(t, err)
			hasTexts(t, out.String(), "!"+annsEmail, "!valueHash")
		})
		t.Run("accept-keyed-hash", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, LedgerKey: []byte("key")}})
			s.does(book, lookleap.CodeOK)
			for _, e := range entries(t, s.session.Ledger(), EntryDisclosed) {
				mac := hmac.New(sha256.New, []byte("key"))
				fmt.Fprintf(mac, "%d:%s%s", len(e.Field), e.Field, profile[e.Field].Text)
				equals(t, e.ValueHash, fmt.Sprintf("hmac-sha256:%x", mac.Sum(nil)))
			}
		})
	})
	t.Run("ANML-13.2-12", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: profile}})
		s.does(book, lookleap.CodeOK)
		t.Run("accept-all", func(t *testing.T) {
			var out bytes.Buffer
			n, err := Filter{Domain: "shop.example"}.Export(t.Context(), s.session.Ledger(), &out)
			if err != nil || n != 5 || strings.Count(out.String(), "\n") != 5 { // three fields, the action, its outcome
				t.Errorf("%d %v\n%s", n, err, out.String())
			}
		})
		t.Run("reject-others", func(t *testing.T) {
			if n, err := (Filter{Domain: "other.example"}).Export(t.Context(), s.session.Ledger(), &bytes.Buffer{}); n != 0 || err != nil {
				t.Error(n, err)
			}
		})
	})
	t.Run("ANML-13.2-13", func(t *testing.T) {
		for name, l := range map[string]lookleap.Store{"failing": brokenLedger(false), "panicking": brokenLedger(true)} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}})
				s.does(book, lookleap.CodeIO)
				s.sends()
			})
		}
		t.Run("accept-any-ledger", func(t *testing.T) {
			l := openStore(t, t.TempDir())
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}})
			s.does(book, lookleap.CodeOK)
			equals(t, len(entries(t, l)), 5)
		})
		t.Run("accept-retention", testRetention)
	})
	t.Run("ANML-14.1-03", func(t *testing.T) {
		t.Run("accept-before-sending", func(t *testing.T) {
			l := lookleap.NewMemoryStore()
			var before int
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}, answer: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range NewLedger(l).Entries(context.Background()) {
					before++
				}
				w.WriteHeader(http.StatusNoContent)
			})})
			s.does(book, lookleap.CodeOK)
			if before != 4 { // two answers, a refusal, the action
				t.Error(before)
			}
		})
		t.Run("accept-after-the-session", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile}})
			s.does(book, lookleap.CodeOK)
			must(t, s.session.Close())
			equals(t, len(entries(t, s.session.Ledger(), EntryDisclosed)), 2)
		})
		t.Run("reject-without", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile}}) // no ledger is the one in memory
			if s.session.Ledger() == nil {
				t.Error("it can be switched off")
			}
		})
	})
	t.Run("ANML-14.1-04", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: profile, Policy: allow("lang")}})
		r := s.does(book, lookleap.CodeOK)
		t.Run("accept-list", func(t *testing.T) {
			sameList(t, fieldsOf(t, s.session.Ledger(), r.Plan), []string{"email explicit", "lang delegated"})
		})
		t.Run("reject-others", func(t *testing.T) {
			sameList(t, fieldsOf(t, s.session.Ledger(), "another"), nil)
		})
	})
}

// fieldsOf returns the fields that were disclosed in an interaction, each with the basis of its consent.
func fieldsOf(t *testing.T, l *Ledger, plan string) (list []string) {
	for e, err := range (Filter{Plan: plan, Kinds: []EntryKind{EntryDisclosed}}).Entries(t.Context(), l) {
		must(t, err)
		list = append(list, e.Field+" "+e.Basis)
	}
	return list
}

func openStore(t testing.TB, dir string) *lookleap.FileStore {
	t.Helper()
	s, err := lookleap.OpenStore(dir)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func appendAll(t testing.TB, l *Ledger, entries ...Entry) {
	t.Helper()
	must(t, l.Append(t.Context(), entries...))
}

// testRetention: what is old is removed from the beginning, and what is left can be verified and goes on.
func testRetention(t *testing.T) {
	store := lookleap.NewMemoryStore()
	l, other, late := NewLedger(store), NewLedger(store), NewLedger(store)
	for n := range 100 {
		by := l
		if n == 0 {
			by = late // it knows the first record, and sleeps
		}
		appendAll(t, by, entry("p", fmt.Sprint(2*n), start.Add(time.Duration(n)*time.Hour)), entry("p", fmt.Sprint(2*n+1), start.Add(time.Duration(n)*time.Hour)))
	}
	whole := entries(t, l)
	for _, hours := range []int{-1, 0, 40, 40, 98, 500} {
		before, err := other.Prune(t.Context(), start.Add(time.Duration(hours)*time.Hour))
		must(t, err)
		kept := whole[2*min(max(hours, 0), 99):] // the last record stays
		if before.Number != kept[0].Number-1 || before.Digest != kept[0].Previous || !slices.Equal(entries(t, other), kept) {
			t.Errorf("pruned before hour %d: %+v", hours, before)
		}
		if head, err := VerifyLedger(l.Entries(t.Context()), before, Head{}); err != nil || head != whole[199].Head() {
			t.Errorf("%+v, %v", head, err)
		}
	}
	appendAll(t, NewLedger(store), entry("p", "last", start)) // of a process that begins
	appendAll(t, late, entry("p", "later", start))            // whose next record was pruned
	if got := entries(t, l); got[len(got)-1].Number != 202 || got[len(got)-2].Number != 201 || got[len(got)-2].Previous != whole[199].Head().Digest {
		t.Errorf("%+v", got)
	}
	must(t, second(VerifyLedger(l.Entries(t.Context()), whole[197].Head(), Head{})))
}

// TestLedgerBegins: what a process that begins asks of the store does not grow with the ledger.
func TestLedgerBegins(t *testing.T) {
	t.Run("O51/accept-a-process-that-begins", func(t *testing.T) {
		var calls []string
		store := &hookedStore{Store: lookleap.NewMemoryStore(), hook: func(call string) error {
			calls = append(calls, call)
			return nil
		}}
		l, most := NewLedger(store), 0
		for n := range 300 {
			appendAll(t, l, entryOf(n), entryOf(n))
			if n < 16 {
				continue
			}
			calls = nil
			appendAll(t, NewLedger(store), entryOf(n))
			most = max(most, len(calls))
			if slices.Contains(calls, "Keys "+keyLedger) {
				t.Fatalf("after %d entries: %q", 3*n, calls)
			}
		}
		if most > 32 {
			t.Errorf("it takes %d calls", most)
		}
		must(t, second(VerifyLedger(l.Entries(t.Context()), Head{}, Head{})))
	})
	t.Run("O51/accept-what-was-noted-is-gone", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		for n := range 32 {
			appendAll(t, NewLedger(store), entryOf(n))
		}
		for n, near := range []string{ledgerKey(1), ledgerKey(99), "other"} { // an old one, and two that are not there
			must(t, put(t.Context(), store, "ledger-near/", []byte(near)))
			appendAll(t, NewLedger(store), entryOf(100+n))
		}
		head, err := VerifyLedger(NewLedger(store).Entries(t.Context()), Head{}, Head{})
		must(t, err)
		equals(t, head.Number, 35)
	})
}

// TestLedgerInStore: what a store returns that no ledger has written is an error, and nothing is
// appended to it.
func TestLedgerInStore(t *testing.T) {
	for name, c := range map[string]struct {
		key, value string
		appends    bool // an old record does not stop what is new
	}{
		"reject-damaged-record":       {ledgerKey(1), "damaged", true},
		"reject-record-of-another":    {ledgerKey(1), `[{"time":"2026-01-01T00:00:00Z","plan":"","kind":"action","serving":"","owner":"","endpoint":"","document":"","number":2}]`, true},
		"reject-record-without-entry": {ledgerKey(1), "[]", true},
		"reject-damaged-last-record":  {ledgerKey(129), "{}", false},
	} {
		t.Run("ANML-13.2-13/"+name, func(t *testing.T) {
			store := lookleap.NewMemoryStore()
			l := NewLedger(store)
			for n := range 129 {
				appendAll(t, l, entryOf(n))
			}
			must(t, put(t.Context(), store, c.key, []byte(c.value)))
			equals(t, (NewLedger(store).Append(t.Context(), entryOf(1)) == nil), c.appends)
			bad := 0
			for e, err := range l.Entries(t.Context()) {
				if err != nil {
					hasCode(t, err, CodeLedgerBroken)
					bad++
				} else if bad > 0 && c.appends && e.Number < 2 {
					t.Errorf("%+v", e)
				}
			}
			equals(t, bad, 1)
			if _, err := VerifyLedger(l.Entries(t.Context()), Head{}, Head{}); err == nil {
				t.Error("it is verified")
			}
		})
	}
}

const keyLedger = "ledger/" // begins the keys of the records

func ledgerKey(number int64) string { return fmt.Sprintf("%s%016d", keyLedger, number) }

// asLedger returns a ledger, or the one in a store.
func asLedger(l any) *Ledger {
	if store, ok := l.(lookleap.Store); ok {
		return NewLedger(store)
	}
	return l.(*Ledger)
}

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
		hasCode(t, second(VerifyLedger(fixedLedger(entries).Entries(t.Context()), from, to)), CodeLedgerBroken)
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
					must(t, patiently(func() error { return l.Append(t.Context(), entryOf(n), entryOf(n)) }))
				}
			})
		}
		wait.Wait()
		must(t, NewLedger(open()).Append(t.Context(), entryOf(2)))
		head, err := VerifyLedger(NewLedger(open()).Entries(t.Context()), Head{}, Head{})
		must(t, err)
		equals(t, head.Number, 181)
	})
}
