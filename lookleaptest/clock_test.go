package lookleaptest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/lookleaptest"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := lookleaptest.ForTest(t).Clock()
		if got := clock.Now(); !got.Equal(time.Now()) || got.Location() != time.UTC {
			t.Error(got)
		}
		clock.Advance(-time.Hour)
		time.Sleep(time.Minute)
		if got := time.Since(clock.Now()); got != time.Hour {
			t.Error("runs behind by", got)
		}
		to := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
		clock.Set(to)
		time.Sleep(time.Second)
		if got := clock.Now(); !got.Equal(to.Add(time.Second)) {
			t.Error(got)
		}
		clock.Set(to)
		clock.Freeze()
		time.Sleep(time.Second)
		if got := clock.Now(); !got.Equal(to) {
			t.Error(got)
		}
		clock.Advance(time.Minute)
		if got := clock.Now(); !got.Equal(to.Add(time.Minute)) {
			t.Error(got)
		}
	})
}
