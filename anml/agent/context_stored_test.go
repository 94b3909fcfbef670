package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// meeting is a store on which two sessions look for a salt before either has one.
type meeting struct {
	lookleap.Store
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
	stores(t, func(t *testing.T, open func() lookleap.Store) {
		net := newLab(t)
		looked := new(sync.WaitGroup)
		looked.Add(2)
		first := new(atomic.Int32)
		var begun [2]*Session
		var errs [2]error
		var all sync.WaitGroup
		for n := range begun {
			store := meeting{open(), looked, first}
			all.Go(func() { begun[n], errs[n] = New(net.StubHost(), Options{}).NewSession(User{Store: store}) })
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

// failing is a store that cannot write below a prefix.
type failing struct {
	lookleap.Store
	prefix string
}

func (f failing) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if strings.HasPrefix(key, f.prefix) {
		return errTest
	}
	return f.Store.Put(ctx, key, old, value, until)
}
