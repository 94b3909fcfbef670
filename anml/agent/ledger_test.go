package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

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
	ctx, l := t.Context(), NewMemoryDisclosureLedger()
	other := entry("p2", "tel", start.Add(time.Hour))
	other.Serving, other.Owner, other.Endpoint = "host.example", "brand.example", "host.example"
	refused := entry("p2", "bday", start.Add(2*time.Hour))
	refused.Kind, refused.Basis, refused.Reason = EntryRefused, "", anml.UserDenied
	across := entry("p3", "member", start.Add(3*time.Hour))
	across.From = "c.example a.example"
	if err := l.Append(ctx, entry("p1", "email", start), other, refused, across); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "email tel bday member"},
		{Filter{Domain: "SHOP.example."}, "email bday member"},
		{Filter{Domain: "api.shop.example:443"}, "email bday member"},
		{Filter{Domain: "brand.example"}, "tel"},
		{Filter{Domain: "a.example"}, "member"},
		{Filter{Domain: "op.example"}, ""},
		{Filter{Since: start.Add(time.Hour)}, "tel bday member"},
		{Filter{Before: start.Add(time.Hour)}, "email"},
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

func TestLedgerInteraction(t *testing.T) {
	ctx, l := t.Context(), NewMemoryDisclosureLedger()
	lang := entry("p1", "lang", start)
	lang.Basis = "implicit"
	refused := entry("p1", "tel", start)
	refused.Kind = EntryRefused
	if err := l.Append(ctx, entry("p1", "email", start), lang, refused, entry("p2", "bday", start)); err != nil {
		t.Fatal(err)
	}
	got, err := Interaction(ctx, l, "p1")
	if data, _ := json.Marshal(got); err != nil || string(data) != `[{"field":"email","basis":"explicit"},{"field":"lang","basis":"implicit"}]` {
		t.Errorf("%s %v", data, err)
	}
	got, err = Interaction(ctx, l, "none")
	if data, _ := json.Marshal(got); err != nil || string(data) != `[]` {
		t.Errorf("%s %v", data, err)
	}
	if got, err := Interaction(ctx, badLedger{}, "p1"); err == nil || got != nil {
		t.Error("a list with a hole", got, err)
	}
}

func TestLedgerExport(t *testing.T) {
	ctx, l := t.Context(), NewMemoryDisclosureLedger()
	if err := l.Append(ctx, entry("p1", "a<b", start), entry("p1", "tel", start)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if n, err := (Filter{}).Export(ctx, l, &out); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"field":"a<b"`) {
		t.Fatal(out.String())
	}
	var back Entry
	if err := json.Unmarshal([]byte(lines[0]), &back); err != nil || back != entry("p1", "a<b", start) {
		t.Error(back, err)
	}
	if _, err := (Filter{}).Export(ctx, badLedger{}, &out); !errors.Is(err, errLine) {
		t.Error(err)
	}
}

// badLedger fails at everything, or panics.
type badLedger struct{ panics bool }

func (b badLedger) Append(context.Context, ...Entry) error {
	if b.panics {
		panic("no ledger")
	}
	return errLine
}

func (badLedger) Entries(context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { yield(Entry{}, errLine) }
}

func TestLedgerGuarded(t *testing.T) {
	for _, l := range []DisclosureLedger{badLedger{}, badLedger{panics: true}} {
		s := newSession(t, newLab(t), User{Ledger: l}, Options{})
		if err := s.record(t.Context(), entry("p", "f", start)); err == nil {
			t.Errorf("%v", l)
		}
	}
}

func TestLedgerValueHash(t *testing.T) {
	net := newLab(t)
	plain := newSession(t, net, User{}, Options{})
	keyed := newSession(t, net, User{LedgerKey: []byte("secret")}, Options{})
	other := newSession(t, net, User{LedgerKey: []byte("another")}, Options{})
	if got := plain.valueHash("email", "ann@example.org"); got != "" {
		t.Error(got)
	}
	a := keyed.valueHash("email", "ann@example.org")
	if !strings.HasPrefix(a, "hmac-sha256:") || a != keyed.valueHash("email", "ann@example.org") {
		t.Error(a)
	}
	for _, b := range []string{keyed.valueHash("email", "bob@example.org"), keyed.valueHash("mail", "ann@example.org"), other.valueHash("email", "ann@example.org")} {
		if a == b {
			t.Error("another value, field or key, and the same hash")
		}
	}
}
