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

// TestRefusalsAreKept: when there are too many refusals, those that have ended make room.
func TestRefusalsAreKept(t *testing.T) {
	now := time.Now()
	a := &asking{refused: make(map[question]refusedQuestion)}
	for i := range maxRemembered {
		until := now // which is over
		if i%2 == 0 {
			until = now.Add(1)
		}
		a.refused[question{"ann", fmt.Sprint(i)}] = refusedQuestion{until: until}
	}
	a.refuse(new(ConsentRequest), "ann", "", AskLimits{Refusal: time.Minute}, now)
	for q, no := range a.refused {
		if !no.until.After(now) {
			t.Errorf("%s is remembered", q.shown)
		}
	}
	if want := maxRemembered/2 + 1; len(a.refused) != want {
		t.Errorf("%d refusals are left, want %d", len(a.refused), want)
	}
}
