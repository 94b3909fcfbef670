// Package enginetest tests what the engines below contrib have in common, each against a real
// server that its tests start. The promises themselves are in package lookleaptest.
package enginetest

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// Engine is what an engine module has.
type Engine interface {
	Cache() lookleap.Cache
	Plans() lookleap.Store
	Limiter() lookleap.Limiter
	Store(user string) lookleap.Store
}

// Server is a running server.
type Server struct {
	Open func(t testing.TB, name string) Engine
	// Damage holds, by the name of the part, how its data is damaged. A part without an entry
	// stores nothing that its code could find damaged.
	Damage map[string]func(t testing.TB, name string)
	Hang   func(t testing.TB) (resume func())
}

// Contracts runs the contract test of each part.
func Contracts(t *testing.T, s Server) {
	t.Run("Cache", func(t *testing.T) {
		lookleaptest.TestCache(t, part(s, "Cache", Engine.Cache))
	})
	t.Run("Plans", func(t *testing.T) {
		lookleaptest.TestStore(t, part(s, "Plans", Engine.Plans))
	})
	t.Run("Limiter", func(t *testing.T) {
		lookleaptest.TestLimiter(t, part(s, "Limiter", Engine.Limiter))
	})
	t.Run("Store", func(t *testing.T) {
		lookleaptest.TestStore(t, part(s, "Store", func(e Engine) lookleap.Store { return e.Store("ada") }))
	})
	t.Run("Ledger", func(t *testing.T) { shareLedger(t, s.Open(t, "ledger"), s.Open(t, "ledger")) })
	t.Run("users", func(t *testing.T) { separateUsers(t, s.Open(t, "users")) })
}

func part[T any](s Server, name string, of func(Engine) T) lookleaptest.Engine[T] {
	return lookleaptest.Engine[T]{
		Open:   func(t testing.TB, name string) T { return of(s.Open(t, name)) },
		Damage: s.Damage[name], Hang: s.Hang, Patience: 4 * time.Second,
	}
}

// separateUsers tests that a user sees only their own records.
func separateUsers(t *testing.T, e Engine) {
	ctx := t.Context()
	ada, bob := e.Store("ada"), e.Store("bob")
	if err := errors.Join(ada.Put(ctx, "k", nil, []byte("v"), time.Time{}), e.Plans().Put(ctx, "k", nil, []byte("v"), time.Time{})); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Get(ctx, "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another user's store: %v", err)
	}
	if keys, err := bob.Keys(ctx, ""); len(keys) != 0 || err != nil {
		t.Errorf("another user's store has %q, %v", keys, err)
	}
	if keys, err := ada.Keys(ctx, ""); len(keys) != 1 || err != nil {
		t.Errorf("the store has %q, %v: plans must not be among them", keys, err)
	}
}

// shareLedger tests that processes which append to the ledger of one user at the same moment make one chain.
func shareLedger(t *testing.T, processes ...Engine) {
	const callers, each = 8, 10
	var all sync.WaitGroup
	for i := range callers {
		ledger := agent.NewLedger(processes[i%len(processes)].Store("ada"))
		all.Go(func() {
			for n := range each {
				own := entry
				own.Plan = fmt.Sprint(i, "-", n)
				if err := ledger.Append(t.Context(), own, own); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	head, err := agent.VerifyLedger(agent.NewLedger(processes[0].Store("ada")).Entries(t.Context()), agent.Head{}, agent.Head{})
	if err != nil || head.Number != 2*callers*each {
		t.Errorf("the ledger ends with %d, %v", head.Number, err)
	}
}

// Later is an expiry that no test reaches.
var Later = time.Date(2091, 5, 1, 9, 0, 0, 0, time.UTC)
