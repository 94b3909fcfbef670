package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lookleap/lookleap/anml"
)

// meeting is a store on which two sessions look for a salt before either has one.
type meeting struct {
	Store
	looked *sync.WaitGroup
	first  *atomic.Int32
}

func (m meeting) Get(ctx context.Context, key string) ([]byte, error) {
	data, err := m.Store.Get(ctx, key)
	if key == keySalt && m.first.Add(1) <= 2 {
		m.looked.Done()
		m.looked.Wait()
	}
	return data, err
}

// Sessions that begin at the same moment agree on a salt: what one deletes, the
// other knows by its hashes.
func TestContextOneSalt(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		net := newLab(t)
		looked := new(sync.WaitGroup)
		looked.Add(2)
		first := new(atomic.Int32)
		var begun [2]*Session
		var errs [2]error
		var all sync.WaitGroup
		for n := range begun {
			store := meeting{open(), looked, first}
			all.Go(func() { begun[n], errs[n] = New(net.Host(), Options{}).NewSession(User{Store: store}) })
		}
		all.Wait()
		must(t, errors.Join(errs[:]...))
		a, b := begun[0], begun[1]
		if a.context.index.salt != b.context.index.salt {
			t.Fatal("two salts")
		}
		pageFor(t, net, a, "https://a.example/x", inform("Member 4711-8822", `usage="none"`))
		_, err := a.Forget(t.Context(), "a.example")
		must(t, err)
		must(t, b.context.refresh(t.Context()))
		if got := domains(sourcesOf(b, "b.example", "4711-8822")); got != "-a.example" {
			t.Error(got)
		}
	})
}

// A caller who leaves while records are deleted is told that the rest is still there.
func TestContextLeftWhileDeleting(t *testing.T) {
	for name, c := range map[string]struct{ deleted, left int }{"reject-after-the-first": {1, 1}, "accept-after-the-last": {2, 0}} {
		t.Run("O01/"+name, func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", `<knowledge><inform usage="store">x</inform><inform usage="store">y</inform></knowledge>`, false)
			keys, err := m.store.Keys(t.Context(), keyInform)
			must(t, err)
			n := 0
			leaving := &probed{t.Context(), func() error {
				if n++; n < c.deleted {
					return nil
				}
				return context.Canceled
			}}
			if err := m.s.context.store(leaving, nil, keys); errors.Is(err, context.Canceled) != (c.left > 0) || m.stored() != c.left {
				t.Errorf("%v, and %d are left", err, m.stored())
			}
		})
	}
}

// An error of the store is an error of what needed it.
func TestContextStoreFails(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{Store: failing{NewMemoryStore(), keyInform}}, Options{})
	net.Site("a.example").Body("/x", anml.MediaTypeXML, service(inform("x", `usage="store"`)))
	if p, err := s.Open(t.Context(), "https://a.example/x"); err == nil || p != nil {
		t.Error("an inform that could not be stored", err)
	}
	for _, bad := range []map[string]string{
		{keySalt: "short"},
		{keyDeleted + "a.example/x": "no JSON"},
		{keyDeleted + "a.example/x": "{}"},
		{keyDeleted + "a.example/x": `{"domain":"b.example","time":"2026-06-01T12:00:00Z"}`},
		{keyDeleted + "a.example/x": `{"domain":"a.example"}`},
		{keyDeleted + "a.example/x": `{"domain":"a.example","time":"2026-06-01T12:00:00Z","hashes":"AAAA"}`},
		{keyRefused + "no domain": ""},
	} {
		store := NewMemoryStore()
		for key, value := range bad {
			must(t, store.Put(t.Context(), key, []byte(value)))
		}
		if _, err := New(net.Host(), Options{}).NewSession(User{Store: store}); err == nil {
			t.Errorf("a session on %v", bad)
		}
	}
	// Invalid informs, and informs of another party, are dropped: nothing rests on them.
	store := NewMemoryStore()
	other, err := json.Marshal(Inform{Text: "x", Serving: "a.example", Usage: anml.UsageStore})
	must(t, err)
	must(t, store.Put(t.Context(), keyInform+"a", []byte("no JSON")))
	must(t, store.Put(t.Context(), keyInform+"b", other))
	s = newSession(t, net, User{Store: store}, Options{})
	if keys, _ := store.Keys(t.Context(), keyInform); len(keys) != 0 || texts(s.context, "") != "" {
		t.Error(keys)
	}
}

// failing is a store that cannot write below a prefix.
type failing struct {
	Store
	prefix string
}

func (f failing) Put(ctx context.Context, key string, value []byte) error {
	if strings.HasPrefix(key, f.prefix) {
		return errTest
	}
	return f.Store.Put(ctx, key, value)
}
