package agent

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
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
	ctx, l := t.Context(), NewMemoryDisclosureLedger()
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
	if err := l.Append(ctx, entry("p1", "email", start), other, refused, across, nowhere, apart); err != nil {
		t.Fatal(err)
	}
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
			if len(list) != 3 {
				t.Fatalf("%+v", list)
			}
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
			if strings.Contains(out.String(), annsEmail) || strings.Contains(out.String(), "valueHash") {
				t.Error(out.String())
			}
		})
		t.Run("accept-keyed-hash", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, LedgerKey: []byte("key")}})
			s.does(book, lookleap.CodeOK)
			for _, e := range entries(t, s.session.Ledger(), EntryDisclosed) {
				mac := hmac.New(sha256.New, []byte("key"))
				fmt.Fprintf(mac, "%d:%s%s", len(e.Field), e.Field, profile[e.Field].Text)
				if e.ValueHash != fmt.Sprintf("hmac-sha256:%x", mac.Sum(nil)) {
					t.Errorf("%+v", e)
				}
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
		for name, l := range map[string]DisclosureLedger{"failing": badLedger{}, "panicking": badLedger{panics: true}} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}})
				s.does(book, lookleap.CodeIO)
				s.sends()
			})
		}
		t.Run("accept-any-ledger", func(t *testing.T) {
			l := openLedger(t, filepath.Join(t.TempDir(), "ledger"))
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}})
			s.does(book, lookleap.CodeOK)
			if got := len(entries(t, l)); got != 5 {
				t.Error(got)
			}
		})
		t.Run("accept-retention", TestLedgerFileRetention)
	})
	t.Run("ANML-14.1-03", func(t *testing.T) {
		t.Run("accept-before-sending", func(t *testing.T) {
			l := NewMemoryDisclosureLedger()
			var before int
			s := newStage(t, setting{doc: doc, user: User{Profile: profile, Ledger: l}, answer: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range l.Entries(context.Background()) {
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
			if got := len(entries(t, s.session.Ledger(), EntryDisclosed)); got != 2 {
				t.Error(got)
			}
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
			got, err := Interaction(t.Context(), s.session.Ledger(), r.Plan)
			if err != nil || !slices.Equal(got, []Disclosed{{"email", "explicit"}, {"lang", "delegated"}}) {
				t.Error(got, err)
			}
		})
		t.Run("reject-others", func(t *testing.T) {
			got, err := Interaction(t.Context(), s.session.Ledger(), "another")
			if err != nil || got == nil || len(got) != 0 {
				t.Error(got, err)
			}
		})
	})
}
