package anmltrust_test

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
)

// TestTimes shows what past, odd and far times come to (attack H14).
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		id, name string
		test     func(*testing.T)
	}{
		{"H14", "reject-expired", sourceRow("M16", "expired")},
		{"H14", "reject-not-yet-issued", sourceRow("M15", "future")},
		{"H14", "accept-long-lived-with-finding", sourceRow("M17", "long-lived")},
		{"H14", "reject-query-expired", sourceRow("Q4", "expired")},
		{"H14", "accept-query-far-away", func(t *testing.T) {
			a := newWorld(t, queryOnly).query(answer(2, "9999-12-31T23:59:59Z", "body")).granted(anmltrust.CodeQueryAuthorized)
			if !a.Expires.Equal(start.Add(90 * 24 * time.Hour)) {
				t.Error(a.Expires)
			}
		}},
	} {
		t.Run(c.id+"/"+c.name, c.test)
	}
}
