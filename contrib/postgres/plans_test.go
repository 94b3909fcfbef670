package pgengine

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/enginetest"
)

// TestRules compares the statements with lookleap.PlanRecord.
func TestRules(t *testing.T) {
	e := startServer(t).engine(t, "a")
	enginetest.Rules(t, e.Plans(), func(r lookleap.PlanRecord) {
		e.must(t, `DELETE FROM lookleap.plans`)
		if r.State != "" {
			e.must(t, `INSERT INTO lookleap.plans VALUES ($1, $2, $3, NULL, $4, $5)`, []byte(r.ID), []byte(r.Owner), string(r.State), r.Expires, r.At)
		}
	})
}
