package dvs_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestRootsOfStore: each root of a store is read, whatever the one before it is, and not more often
// than needed.
func TestRootsOfStore(t *testing.T) {
	w := newTrustWorld(t)
	for _, r := range []struct{ root, more string }{{"https://a.example/", `,"revoked":true`}, {"https://c.example/", ""}, {"https://d.example/", `,"revoked":true`}} {
		if err := w.store.Put(t.Context(), "root/"+r.root, nil, []byte(storedRoot(r.root, r.more)), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	// Another process deletes b.example between the list and the record.
	store := &faultStore{Store: listedStore{w.store, "root/https://b.example/"}}
	w.store = store
	l := w.process(dvs.Options{})
	lists := func() (n int) {
		for _, call := range store.calls {
			if strings.HasPrefix(call, "list root/") {
				n++
			}
		}
		return n
	}
	check := func(registered bool, want int) {
		t.Helper()
		if _, err := l.Load(t.Context(), trustedAt); err != nil {
			t.Fatal(err)
		}
		for host, revoked := range map[string]bool{"a.example": true, "c.example": false, "d.example": true} {
			d := l.Roots().Find(skillURL(t, "https://"+host+"/s/SKILL.md"))
			if d.Revoked != revoked || !revoked && (d.Source == dvs.ByUser) != registered {
				t.Errorf("%s: %+v", host, d)
			}
		}
		if lists() != want {
			t.Errorf("the roots were read %d times, not %d", lists(), want)
		}
	}
	check(true, 1)
	check(true, 1) // at the same time
	l.Roots().Unregister(must(dvs.ParseTrustRoot("https://c.example/", dvs.Rules{})))
	w.net.Clock().Advance(29 * time.Second)
	check(false, 1)
	w.net.Clock().Advance(time.Second)
	check(false, 2) // the program unregistered it, and the store has nothing new
}

// listedStore lists one key that is not there.
type listedStore struct {
	lookleap.Store
	key string
}

func (s listedStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.Store.Keys(ctx, prefix)
	if strings.HasPrefix(s.key, prefix) {
		keys = append(keys, s.key)
		slices.Sort(keys)
	}
	return keys, err
}
