package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// hookedStore calls a hook before each method, with its name and its key or prefix. An error of
// the hook is the method's.
type hookedStore struct {
	Store
	hook func(call string) error
}

func (h *hookedStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := h.hook("Get " + key); err != nil {
		return nil, err
	}
	return h.Store.Get(ctx, key)
}

func (h *hookedStore) Put(ctx context.Context, key string, value []byte) error {
	if err := h.hook("Put " + key); err != nil {
		return err
	}
	return h.Store.Put(ctx, key, value)
}

func (h *hookedStore) Create(ctx context.Context, key string, value []byte) error {
	if err := h.hook("Create " + key); err != nil {
		return err
	}
	return h.Store.Create(ctx, key, value)
}

func (h *hookedStore) Delete(ctx context.Context, key string) error {
	if err := h.hook("Delete " + key); err != nil {
		return err
	}
	return h.Store.Delete(ctx, key)
}

func (h *hookedStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := h.hook("Keys " + prefix); err != nil {
		return nil, err
	}
	return h.Store.Keys(ctx, prefix)
}

// failsAt returns a hook that fails with err where a call begins with a text.
func failsAt(call string, err error) func(string) error {
	return func(got string) error {
		if call != "" && strings.HasPrefix(got, call) {
			return err
		}
		return nil
	}
}

// kept is a session with consents in a store: to email, which lasts, and to member, for once.
type kept struct {
	*stand
	*consents
	store       *hookedStore
	email, once cover
	held        *consent // to member
}

func newKept(t *testing.T) *kept {
	k := &kept{stand: asker(t), store: &hookedStore{Store: NewMemoryStore(), hook: failsAt("", nil)}}
	k.user.Store = k.store
	k.consents = k.session().consents
	k.email = cover{Kind: tellAnswer, Serving: "shop.example", Owner: "shop.example", Endpoint: "shop.example", Field: "email", Value: annsEmail}
	k.once = cover{Kind: tellAnswer, Serving: "b.example", Owner: "b.example", Endpoint: "b.example", Field: "member", Value: "4711", From: []string{"a.example"}}
	must(t, k.remember(t.Context(), keyConsent, k.email.consent("plan-1#answer-1", start, start.Add(time.Hour))))
	once := k.once.consent("plan-2#answer-1", start.Add(-time.Minute), start.Add(time.Hour))
	once.Once = true
	must(t, k.remember(t.Context(), keyTransfer, once))
	k.held = &once
	must(t, k.mark(t.Context(), "tel", "health"))
	return k
}

// ids returns the ids of the consents that are still valid.
func (k *kept) ids() (ids []string) {
	k.Helper()
	list, err := k.s.Consents(k.Context())
	must(k, err)
	for _, held := range list {
		ids = append(ids, held.ID)
	}
	return ids
}

// TestConsentsOfAFailingStore: an operation of the store that fails is an error, so nothing is sent.
func TestConsentsOfAFailingStore(t *testing.T) {
	find := func(ctx context.Context, k *kept) error {
		held, err := k.find(ctx, keyConsent, k.email, anml.Rule{})
		if held != nil {
			k.Error("there is a consent")
		}
		return err
	}
	findOnce := func(ctx context.Context, k *kept) error {
		held, err := k.find(ctx, keyTransfer, k.once, anml.Rule{})
		if held != nil {
			k.Error("there is an authorization")
		}
		return err
	}
	remember := func(ctx context.Context, k *kept) error {
		return k.remember(ctx, keyConsent, k.email.consent("plan-3#answer-1", start, start.Add(time.Hour)))
	}
	spend := func(ctx context.Context, k *kept) error {
		must(k, k.store.Store.Put(ctx, keySpent+"old", []byte("2020-01-01T00:00:00Z")))
		_, err := k.spend(ctx, k.held, start)
		return err
	}
	forget := func(ctx context.Context, k *kept) error { _, err := k.forget(ctx, "shop.example"); return err }
	begin := func(_ context.Context, k *kept) error {
		_, err := New(k.net.Host(), Options{}).NewSession(k.user)
		return err
	}
	list := func(ctx context.Context, k *kept) error { _, err := k.s.Consents(ctx); return err }
	later := func(f func(context.Context, *kept) error, by time.Duration) func(context.Context, *kept) error {
		return func(ctx context.Context, k *kept) error {
			k.net.Clock().Advance(by)
			k.s.now()
			return f(ctx, k)
		}
	}
	for name, c := range map[string]struct {
		fails string
		do    func(context.Context, *kept) error
	}{
		"find":             {"Get " + keyConsent, find},
		"find-expired":     {"Delete " + keyConsent, later(find, 2*time.Hour)},
		"find-used":        {"Get " + keySpent, findOnce},
		"find-clock-back":  {"Keys " + keyConsent, later(find, -time.Hour)},
		"remember":         {"Put " + keyConsent, remember},
		"remember-back":    {"Delete " + keyConsent, later(remember, -time.Hour)},
		"spend":            {"Create " + keySpent, spend},
		"spend-sweep":      {"Keys " + keySpent, spend},
		"spend-sweep-old":  {"Delete " + keySpent, spend},
		"spend-record":     {"Delete " + keyTransfer, spend},
		"mark":             {"Put " + keySensitive, func(ctx context.Context, k *kept) error { return k.mark(ctx, "email", "health") }},
		"begin":            {"Keys " + keySensitive, begin},
		"begin-read":       {"Get " + keySensitive, begin},
		"forget":           {"Keys " + keyConsent, forget},
		"forget-transfers": {"Keys " + keyTransfer, forget},
		"forget-read":      {"Get " + keyConsent, forget},
		"forget-delete":    {"Delete " + keyConsent, forget},
		"list":             {"Keys " + keyTransfer, list},
		"list-clock-back":  {"Delete " + keyTransfer, later(list, -time.Hour)},
		"withdraw": {"Delete " + keyConsent, func(ctx context.Context, k *kept) error {
			_, err := k.s.Withdraw(ctx, "plan-1#answer-1")
			return err
		}},
	} {
		t.Run("ANML-13.2-01/reject-"+name, func(t *testing.T) {
			k := newKept(t)
			k.store.hook = failsAt(c.fails, errTest)
			if err := c.do(t.Context(), k); lookleap.CodeOf(err) != lookleap.CodeIO || !errors.Is(err, errTest) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("ANML-13.2-01/reject-end-without-a-text", func(t *testing.T) { // JSON has no year above 9999
		k := newKept(t)
		if err := k.remember(t.Context(), keyConsent, k.email.consent("plan-4#answer-1", start, start.AddDate(9000, 0, 0))); err == nil {
			t.Error("it is remembered")
		}
	})
}

// TestConsentsOfABusyStore: a record that another process deleted meanwhile or damaged does not
// count, and does not stop the others.
func TestConsentsOfABusyStore(t *testing.T) {
	both := []string{"plan-2#answer-1", "plan-1#answer-1"} // in the order in which they were granted
	t.Run("accept-order", func(t *testing.T) {
		k := newKept(t)
		same := k.email
		same.Field = "bday"
		must(t, k.remember(t.Context(), keyConsent, same.consent("plan-0#answer-1", start, start.Add(time.Hour))))
		if got := k.ids(); !slices.Equal(got, []string{"plan-2#answer-1", "plan-0#answer-1", "plan-1#answer-1"}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("ANML-13.2-01/accept-only-the-withdrawn-ends", func(t *testing.T) {
		k := newKept(t)
		if ok, err := k.s.Withdraw(t.Context(), "plan-9#answer-1"); ok || err != nil {
			t.Error(ok, err)
		}
		if got := k.ids(); !slices.Equal(got, both) {
			t.Errorf("%q", got)
		}
		if ok, err := k.s.Withdraw(t.Context(), "plan-1#answer-1"); !ok || err != nil {
			t.Error(ok, err)
		}
		if got := k.ids(); !slices.Equal(got, both[:1]) {
			t.Errorf("%q", got)
		}
		if n, err := k.forget(t.Context(), "other.example"); n != 0 || err != nil {
			t.Error(n, err)
		}
		if n, err := k.forget(t.Context(), "a.example"); n != 1 || err != nil { // it came from there
			t.Error(n, err)
		}
	})
	t.Run("ANML-13.2-01/reject-expired", func(t *testing.T) {
		k := newKept(t)
		k.net.Clock().Advance(time.Hour)
		if got := k.ids(); got != nil {
			t.Errorf("%q", got)
		}
		if held, err := k.find(t.Context(), keyConsent, k.email, anml.Rule{}); held != nil || err != nil {
			t.Error(held, err)
		}
		if keys, err := k.store.Keys(t.Context(), keyConsent); err != nil || len(keys) != 0 {
			t.Error("it is kept", keys, err)
		}
	})
	t.Run("ANML-13.2-01/reject-damaged", func(t *testing.T) {
		k := newKept(t)
		keys, err := k.store.Keys(t.Context(), keyConsent)
		must(t, err)
		must(t, k.store.Put(t.Context(), keys[0], []byte("{")))
		if held, err := k.find(t.Context(), keyConsent, k.email, anml.Rule{}); held != nil || err != nil {
			t.Error(held, err)
		}
		must(t, k.store.Put(t.Context(), keyConsent+"x", []byte("{")))
		if got := k.ids(); !slices.Equal(got, both[:1]) {
			t.Errorf("%q", got)
		}
		if keys, err := k.store.Keys(t.Context(), keyConsent); err != nil || len(keys) != 0 {
			t.Error("it is kept", keys, err)
		}
	})
	t.Run("accept-deleted-meanwhile", func(t *testing.T) {
		k := newKept(t)
		k.store.hook = failsAt("Get "+keyConsent, fs.ErrNotExist)
		if got := k.ids(); !slices.Equal(got, both[:1]) {
			t.Errorf("%q", got)
		}
		bday := k.email
		bday.Field = "bday"
		must(t, k.remember(t.Context(), keyConsent, bday.consent("plan-3#answer-1", start, start.Add(time.Hour))))
		read := 0
		k.store.hook = func(call string) error { // the first record, whichever that is
			if strings.HasPrefix(call, "Get "+keyConsent) {
				if read++; read == 1 {
					return fmt.Errorf("the store: %w", fs.ErrNotExist)
				}
			}
			return nil
		}
		if got := k.ids(); len(got) != 2 {
			t.Errorf("%q", got)
		}
		k.store.hook = failsAt("Get "+keySensitive, fs.ErrNotExist)
		k.s = nil
		if c := k.session().consents; c.sensitive("tel") != "" {
			t.Error("it is sensitive")
		}
		k.store.hook = failsAt("Get "+keySpent, fs.ErrNotExist)
		must(t, k.store.Store.Put(t.Context(), keySpent+"old", []byte("2020-01-01T00:00:00Z")))
		if ok, err := k.spend(t.Context(), k.held, start); !ok || err != nil {
			t.Error(ok, err)
		}
	})
	t.Run("ANML-13.2-01/accept-lasting-however-often-it-is-used", func(t *testing.T) { // no record of use is read
		k := newKept(t)
		k.store.hook = failsAt("Get "+keySpent, errTest)
		for range 2 {
			if held, err := k.find(t.Context(), keyConsent, k.email, anml.Rule{}); held == nil || err != nil {
				t.Error(held, err)
			}
		}
	})
	t.Run("ANML-14.2-01/reject-used", func(t *testing.T) {
		k := newKept(t)
		if held, err := k.find(t.Context(), keyTransfer, k.once, anml.Rule{}); held == nil || err != nil {
			t.Fatal(held, err)
		}
		must(t, k.store.Create(t.Context(), spentKey(k.held.ID), []byte("2026-06-01T13:00:00Z")))
		if held, err := k.find(t.Context(), keyTransfer, k.once, anml.Rule{}); held != nil || err != nil {
			t.Error(held, err)
		}
		if ok, err := k.spend(t.Context(), k.held, start); ok || err != nil {
			t.Error(ok, err)
		}
	})
	t.Run("accept-sweep", func(t *testing.T) {
		k := newKept(t)
		for key, until := range map[string]string{"over": "2026-06-01T10:59:59Z", "at": "2026-06-01T11:00:00Z", "damaged": "soon"} {
			must(t, k.store.Put(t.Context(), keySpent+key, []byte(until)))
		}
		must(t, k.sweep(t.Context(), start.Add(-time.Hour)))
		keys, err := k.store.Keys(t.Context(), keySpent)
		slices.Sort(keys)
		if err != nil || !slices.Equal(keys, []string{keySpent + "at", keySpent + "damaged"}) {
			t.Error(keys, err)
		}
	})
	t.Run("ANML-13.2-01/reject-first-category-stays", func(t *testing.T) {
		k := newKept(t)
		must(t, k.mark(t.Context(), "TEL", "payment"))
		if got := k.sensitive("tel"); got != "health" {
			t.Errorf("%q", got)
		}
		if keys, err := k.store.Keys(t.Context(), keySensitive); err != nil || len(keys) != 1 {
			t.Error(keys, err)
		}
	})
	t.Run("accept-damaged-key", func(t *testing.T) {
		k := newKept(t)
		must(t, k.store.Put(t.Context(), keySensitive+"%zz", []byte("health")))
		k.s = nil
		if c := k.session().consents; c.sensitive("") != "" || c.sensitive("tel") != "health" {
			t.Error("the key names a field")
		}
	})
	t.Run("reject-no-session", func(t *testing.T) {
		s := new(Session)
		if list, err := s.Consents(t.Context()); err == nil || list != nil {
			t.Error(list, err)
		}
		if ok, err := s.Withdraw(t.Context(), "plan-1#answer-1"); err == nil || ok {
			t.Error(ok, err)
		}
	})
}
