package redisengine

import (
	"testing"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// TestContracts runs on each of redis-server and valkey-server that is installed.
func TestContracts(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		damage := map[string]func(testing.TB, string){}
		for _, part := range []string{"Cache", "Plans", "Limiter", "Store"} {
			damage[part] = s.damage
		}
		enginetest.Contracts(t, enginetest.Server{
			Open:   func(t testing.TB, name string) enginetest.Engine { return s.engine(t, name) },
			Damage: damage, Hang: s.hang,
		})
	})
}
