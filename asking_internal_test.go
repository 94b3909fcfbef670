package lookleap

import (
	"fmt"
	"testing"
	"time"
)

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
	a.refuse(questionOf("ann", new(ConsentRequest)), "", AskLimits{Refusal: time.Minute}, now)
	for q, no := range a.refused {
		if !no.until.After(now) {
			t.Errorf("%s is remembered", q.shown)
		}
	}
	if want := maxRemembered/2 + 1; len(a.refused) != want {
		t.Errorf("%d refusals are left, want %d", len(a.refused), want)
	}
}
