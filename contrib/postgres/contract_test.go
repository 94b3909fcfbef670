package pgengine

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// contract returns the engine of a contract test on a server. A value of the cache, the limiter
// or a store has no form that damage could break; PostgreSQL has checksums for that.
func contract[T any](s *server, part func(*Engine) T) lookleaptest.Engine[T] {
	return lookleaptest.Engine[T]{
		Open: func(t testing.TB, name string) T { return part(s.engine(t, name)) },
		Hang: s.hang, Patience: 4 * time.Second,
	}
}

func TestContracts(t *testing.T) {
	s := startServer(t)
	t.Run("Cache", func(t *testing.T) {
		lookleaptest.TestCache(t, contract(s, func(e *Engine) lookleap.Cache { return e.Cache() }))
	})
	t.Run("PlanLedger", func(t *testing.T) {
		engine := contract(s, func(e *Engine) lookleap.PlanLedger { return e.Plans() })
		engine.Damage = s.damage
		lookleaptest.TestPlanLedger(t, engine)
	})
	t.Run("Limiter", func(t *testing.T) {
		lookleaptest.TestLimiter(t, contract(s, func(e *Engine) lookleap.Limiter { return e.Limiter() }))
	})
	t.Run("Store", func(t *testing.T) {
		lookleaptest.TestStore(t, contract(s, func(e *Engine) agent.Store { return e.Store("ada") }))
	})
	t.Run("Ledger", func(t *testing.T) {
		engine := contract(s, func(e *Engine) agent.DisclosureLedger { return e.Ledger("ada") })
		engine.Damage = s.damage
		lookleaptest.TestLedger(t, engine)
	})
}
