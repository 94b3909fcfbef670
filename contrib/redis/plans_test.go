package redisengine

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/enginetest"
)

// TestRules compares the scripts with lookleap.PlanRecord.
func TestRules(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		e := s.engine(t, "a")
		enginetest.Rules(t, e.Plans(), func(r lookleap.PlanRecord) {
			key := e.key("plan", "p", "")
			e.client.Del(t.Context(), key)
			if r.State != "" {
				e.client.HSet(t.Context(), key, "id", r.ID, "owner", r.Owner, "state", string(r.State), "expires", r.Expires.Format(time.RFC3339Nano), "at", r.At.UnixMilli())
			}
		})
	})
}
