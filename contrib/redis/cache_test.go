package redisengine

import (
	"testing"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// TestSwapOfDamage: an entry that is damaged is replaced as a missing one.
func TestSwapOfDamage(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		e := s.engine(t, "a")
		c, ctx := e.Cache().(cache), t.Context()
		swap := func(old, value string, want bool) {
			t.Helper()
			var before []byte
			if old != "" {
				before = []byte(old)
			}
			if got, err := c.CompareAndSwap(ctx, "k", before, []byte(value), enginetest.Later); got != want || err != nil {
				t.Errorf("from %q to %q: %v, %v", old, value, got, err)
			}
		}
		swap("", "a\nb", true) // an entry with the byte that ends its head
		swap("a", "c", false)
		swap("a\nb", "c", true)
		e.client.Set(ctx, c.key("cache", "k", ""), "damaged", 0)
		swap("c", "d", false)
		swap("", "d", true)
	})
}
