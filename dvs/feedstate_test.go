package dvs

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

var feedNow = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)

// TestFeedAge judges copies of a feed by their age. A feed is read every 15 minutes, and a copy
// counts for 30 minutes or for what the options say, if that is longer.
func TestFeedAge(t *testing.T) {
	for name, c := range map[string]struct {
		fetched time.Duration // before now
		stale   time.Duration // of the options
		want    bool          // it is too old
	}{
		"accept-new":                      {},
		"accept-30-minutes":               {fetched: 30 * time.Minute},
		"reject-over-30-minutes":          {fetched: 30*time.Minute + 1, want: true},
		"accept-30-minutes-at-the-least":  {fetched: 30 * time.Minute, stale: time.Minute},
		"accept-as-long-as-the-options":   {fetched: 24 * time.Hour, stale: 24 * time.Hour},
		"reject-longer-than-the-options":  {fetched: 24*time.Hour + 1, stale: 24 * time.Hour, want: true},
		"accept-clock-a-minute-back":      {fetched: -time.Minute},
		"reject-clock-over-a-minute-back": {fetched: -time.Minute - 1, stale: 24 * time.Hour, want: true},
	} {
		t.Run("DVS-7-03/"+name, func(t *testing.T) {
			f := &feed{options: FeedOptions{Stale: c.stale}, state: feedState{Fetched: feedNow.Add(-c.fetched)}}
			if f.stale(feedNow) != c.want {
				t.Errorf("too old: %v", !c.want)
			}
		})
	}
	t.Run("DVS-7-03/reject-never-fetched", func(t *testing.T) {
		if !(&feed{options: FeedOptions{Stale: 1<<63 - 1}}).stale(feedNow) {
			t.Error("a feed that was never read counts")
		}
	})
}

// TestFeedDue asks when a feed is fetched again.
func TestFeedDue(t *testing.T) {
	for name, c := range map[string]struct {
		tried, fetched time.Duration // before now
		never          bool
		want           bool
	}{
		"accept-never-tried":                {never: true, want: true},
		"reject-before-15-minutes":          {tried: 15*time.Minute - 1, fetched: 15*time.Minute - 1},
		"accept-after-15-minutes":           {tried: 15 * time.Minute, fetched: 15 * time.Minute, want: true},
		"accept-clock-15-minutes-back":      {tried: -15 * time.Minute, fetched: 0, want: true},
		"reject-too-old-and-tried-just-now": {tried: feedRetry - 1, fetched: time.Hour},
		"accept-too-old-and-tried-before":   {tried: feedRetry, fetched: time.Hour, want: true},
		"reject-new-and-tried-before":       {tried: feedRetry, fetched: feedRetry},
	} {
		t.Run("DVS-7-03/"+name, func(t *testing.T) {
			f := &feed{state: feedState{Fetched: feedNow.Add(-c.fetched)}}
			if !c.never {
				f.state.Tried = feedNow.Add(-c.tried)
			}
			if f.due(feedNow) != c.want {
				t.Errorf("due: %v", !c.want)
			}
		})
	}
}

// TestFeedLater compares the times of two copies, of which a clock that was set back can leave one
// in the future.
func TestFeedLater(t *testing.T) {
	at := func(d time.Duration) time.Time { return feedNow.Add(d) }
	for name, c := range map[string]struct {
		a, b time.Time
		want bool
	}{
		"accept-later":                     {at(-time.Hour), at(-2 * time.Hour), true},
		"reject-earlier":                   {at(-2 * time.Hour), at(-time.Hour), false},
		"reject-equal":                     {at(-time.Hour), at(-time.Hour), false},
		"accept-later-than-never":          {at(-time.Hour), time.Time{}, true},
		"reject-never":                     {time.Time{}, at(-time.Hour), false},
		"accept-a-minute-ahead":            {at(time.Minute), at(-time.Hour), true},
		"reject-over-a-minute-ahead":       {at(time.Minute + 1), at(-time.Hour), false},
		"accept-past-instead-of-future":    {at(-time.Hour), at(time.Minute + 1), true},
		"reject-past-instead-of-a-minute":  {at(-time.Hour), at(time.Minute), false},
		"reject-never-instead-of-future":   {time.Time{}, at(time.Hour), false},
		"reject-future-instead-of-further": {at(time.Hour), at(2 * time.Hour), false},
	} {
		t.Run("DVS-7-03/"+name, func(t *testing.T) {
			if later(c.a, c.b, feedNow) != c.want {
				t.Errorf("later: %v", !c.want)
			}
		})
	}
}

// TestFeedMerged merges what two processes know of one feed. Entries are only added.
func TestFeedMerged(t *testing.T) {
	entry := func(value string) Withdrawal {
		return Withdrawal{Kind: WithdrawnKey, Value: value, Reason: "r", Time: feedNow}
	}
	ours := feedState{Sequence: 5, Entries: []Withdrawal{entry("a")}, Fetched: feedNow.Add(-time.Minute), Tried: feedNow.Add(-time.Minute)}
	for name, c := range map[string]struct {
		theirs            feedState
		want              string // the values
		sequence          int64
		fetched, reported int // minutes before now, findings
	}{
		"accept-nothing-new":    {feedState{Sequence: 5, Entries: []Withdrawal{entry("a")}, Fetched: feedNow.Add(-time.Hour)}, "a", 5, 1, 0},
		"accept-one-more":       {feedState{Sequence: 6, Entries: []Withdrawal{entry("a"), entry("b")}, Fetched: feedNow, Tried: feedNow}, "a b", 6, 0, 1},
		"accept-older-and-less": {feedState{Sequence: 4, Fetched: feedNow.Add(-time.Hour)}, "a", 5, 1, 0},
		"reject-invalid-entry":  {feedState{Sequence: 6, Entries: []Withdrawal{entry(""), entry("c")}, Fetched: feedNow, Tried: feedNow}, "a c", 6, 0, 1},
	} {
		t.Run("DVS-7-03/"+name, func(t *testing.T) {
			reported := 0
			l := NewLoader(&lookleap.Host{Observe: func(_ context.Context, e lookleap.Event) {
				if e.Code == CodeWithdrawn {
					reported++
				}
			}}, Options{Feeds: []FeedOptions{{URL: "https://feed.example/w.json"}}})
			f := l.feeds.feeds[0]
			f.state = ours
			l.mergeFeed(t.Context(), f, c.theirs, feedNow)
			var values []string
			for _, e := range f.state.Entries {
				values = append(values, e.Value)
			}
			fetched := feedNow.Add(-time.Duration(c.fetched) * time.Minute)
			if got := strings.Join(values, " "); got != c.want || f.state.Sequence != c.sequence || !f.state.Fetched.Equal(fetched) || !f.state.Tried.Equal(fetched) || reported != c.reported {
				t.Errorf("got %+v, and %d findings", f.state, reported)
			}
		})
	}
}

// TestSandboxConfines compares the sandbox that runs a script with the one that the user was shown.
func TestSandboxConfines(t *testing.T) {
	full := Sandbox{Name: "cage", NoNetwork: true, ReadOnlyFS: true, WorkDir: true, Bounded: true}
	for name, loosen := range map[string]func(*Sandbox){
		"network": func(s *Sandbox) { s.NoNetwork = false },
		"files":   func(s *Sandbox) { s.ReadOnlyFS = false },
		"reading": func(s *Sandbox) { s.WorkDir = false },
		"bounds":  func(s *Sandbox) { s.Bounded = false },
	} {
		less := full
		loosen(&less)
		t.Run("DVS-7-01/reject-less-"+name, func(t *testing.T) {
			if less.confines(full) {
				t.Errorf("%+v counts as %+v", less, full)
			}
		})
		t.Run("DVS-7-01/accept-more-"+name, func(t *testing.T) {
			if !full.confines(less) || !less.confines(less) || len(less.Gaps()) != 1 {
				t.Errorf("%+v does not count as %+v", full, less)
			}
		})
	}
	t.Run("DVS-7-01/reject-other-name", func(t *testing.T) {
		other := full
		other.Name = "box"
		if other.confines(full) {
			t.Error("another runner counts")
		}
	})
}
