package agent

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestTransferOnceAcrossHandles: processes that share a directory use an
// authorization for one disclosure up once between them.
func TestTransferOnceAcrossHandles(t *testing.T) {
	const told = `<knowledge><inform confidentiality="restricted">Member 4711-8822</inform></knowledge>`
	asks := booking("", askFor("member", `required="true"`, `purpose="to find your points"`))
	dir := t.TempDir()
	st := newStand(t, labprompt.Approve())
	st.user.Profile = Fields{"member": {Text: "4711-8822"}}
	handle := func() *Page { // a session of its own, on a store of its own
		store, err := OpenDirStore(dir)
		must(t, err)
		t.Cleanup(func() { _ = store.Close() })
		st.user.Store, st.s = store, nil
		pageFor(t, st.net, st.session(), "https://a.example/a", told)
		return pageFor(t, st.net, st.session(), "https://b.example/b", asks)
	}
	pages := []*Page{handle(), handle(), handle(), handle()}
	spend := func(t *testing.T) int32 {
		var calls []*prepared
		for _, p := range pages {
			calls = append(calls, st.prepares(p, Call{}))
		}
		var n atomic.Int32
		var wg sync.WaitGroup
		for _, x := range calls {
			wg.Go(func() {
				if text, _, err := x.settle(none, time.Time{}); err != nil {
					t.Error(err)
				} else if strings.Contains(text, "4711") {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		return n.Load()
	}
	for _, round := range []string{"first", "again"} { // an authorization after that is another one
		t.Run("ANML-14.2-01/reject-second-use-"+round, func(t *testing.T) {
			must(t, pages[0].AuthorizeTransfer(t.Context(), member))
			if n := spend(t); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
	t.Run("ANML-14.2-01/reject-restored-record", func(t *testing.T) { // a crash left it, or somebody read it before
		must(t, pages[0].AuthorizeTransfer(t.Context(), member))
		keys, err := st.user.Store.Keys(t.Context(), keyTransfer)
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, err)
		}
		record, err := st.user.Store.Get(t.Context(), keys[0])
		must(t, err)
		if n := spend(t); n != 1 {
			t.Errorf("told %d times", n)
		}
		must(t, st.user.Store.Put(t.Context(), keys[0], record))
		for _, p := range pages {
			if d := p.Decide(t.Context())[0]; d.Verb != VerbDefer {
				t.Error(brief(d))
			}
		}
	})
	t.Run("accept-nothing-is-left", func(t *testing.T) {
		st.net.Clock().Advance(2*transferFor + time.Second)
		must(t, pages[0].AuthorizeTransfer(t.Context(), member))
		if n := spend(t); n != 1 {
			t.Errorf("told %d times", n)
		}
		for prefix, want := range map[string]int{keyTransfer: 0, keySpent: 1} {
			if keys, err := st.user.Store.Keys(t.Context(), prefix); err != nil || len(keys) != want {
				t.Error(keys, err)
			}
		}
	})
}

// TestTransferIsNotSpentUnread: a store that cannot say whether an authorization
// was used tells nothing.
func TestTransferIsNotSpentUnread(t *testing.T) {
	for fails, broken := range map[string]func(Store) Store{
		"Create":         func(s Store) Store { return &failingCreate{failingStore{Store: s, fails: "Create"}} },
		"Get":            func(s Store) Store { return &failingCreate{failingStore{Store: s, fails: "Get"}} },
		"Delete":         func(s Store) Store { return &failingCreate{failingStore{Store: s, fails: "Delete"}} },
		"Keys-of-spent":  func(s Store) Store { return &failingPrefix{s, keySpent} },
		"Keys-of-others": func(s Store) Store { return &failingPrefix{s, keySensitive} },
	} {
		c := transfers(t, `confidentiality="restricted"`, labprompt.Approve())
		must(t, c.b.AuthorizeTransfer(t.Context(), member))
		x := c.prepares(c.b, Call{})
		c.s.consents.store = broken(c.s.consents.store)
		if _, _, err := x.settle(none, time.Time{}); err == nil {
			t.Errorf("%s failed and it was told", fails)
		}
	}
}

// failingCreate is a [failingStore] that may fail to create too.
type failingCreate struct{ failingStore }

func (f *failingCreate) Create(ctx context.Context, key string, value []byte) error {
	if err := f.call("Create"); err != nil {
		return err
	}
	return f.Store.Create(ctx, key, value)
}
