package pgengine

import (
	"testing"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// TestContracts damages what has a form: the expiry of the cache. A record of a store and a use of a
// limit are any bytes and any number to this package; the checksums of PostgreSQL protect them.
func TestContracts(t *testing.T) {
	s := startServer(t)
	enginetest.Contracts(t, enginetest.Server{
		Open: func(t testing.TB, name string) enginetest.Engine { return s.engine(t, name) },
		Hang: s.hang,
		Damage: map[string]func(testing.TB, string){
			"Cache": s.damage,
		},
	})
}
