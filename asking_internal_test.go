package lookleap

import (
	"fmt"
	"testing"
	"time"
)

// TestRoom: a full map loses its old entries, or any one if none is old.
func TestRoom(t *testing.T) {
	now := time.Now()
	isOld := func(until time.Time) bool { return until.Before(now) }
	fill := func(old int) map[string]time.Time {
		m := make(map[string]time.Time)
		for i := range maxRemembered {
			m[fmt.Sprint(i)] = now.Add(time.Hour)
			if i < old {
				m[fmt.Sprint(i)] = now.Add(-time.Hour)
			}
		}
		return m
	}
	for _, c := range []struct{ entries, old, want int }{
		{maxRemembered, 0, maxRemembered - 1}, {maxRemembered, 1, maxRemembered - 1}, {maxRemembered, 10, maxRemembered - 10},
	} {
		if m := room(fill(c.old), isOld); len(m) != c.want {
			t.Errorf("with %d old entries: %d are left, want %d", c.old, len(m), c.want)
		}
	}
	few := map[string]time.Time{"old": now.Add(-time.Hour)}
	if m := room(few, isOld); len(m) != 1 {
		t.Errorf("%d of one entry are left although there is room", len(m))
	}
	if room[string](nil, isOld) == nil {
		t.Error("there is no map")
	}
}
