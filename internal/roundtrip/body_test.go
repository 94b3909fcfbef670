package roundtrip_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/roundtrip"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestBodyInTime(t *testing.T) {
	page := strings.Repeat("x", 20_000)
	read := func(t *testing.T, http1 bool, o lookleap.FetcherOptions, fault lookleaptest.Fault) (code lookleap.Code, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			site := n.Site("shop.example").File("/act", "text/plain", page).Fault("/act", fault)
			if http1 {
				site.HTTP1()
			}
			host := &lookleap.Host{Fetcher: n.Fetcher(o), Resolver: n.Stub()}
			begin := time.Now()
			err := exchange(t, host, request("GET", nil))
			code, took = lookleap.CodeOf(err), time.Since(begin)
		})
		return code, took
	}
	for _, http1 := range []bool{false, true} {
		version := map[bool]string{false: "http2", true: "http1"}[http1]
		for name, test := range map[string]struct {
			options lookleap.FetcherOptions
			fault   lookleaptest.Fault
			code    lookleap.Code
			took    time.Duration
		}{
			"reject-byte-a-second":        {lookleap.FetcherOptions{}, lookleaptest.Dribble(time.Second), lookleap.CodeTooSlow, 5 * time.Second},
			"reject-stall":                {lookleap.FetcherOptions{}, lookleaptest.Stall(), lookleap.CodeTooSlow, 10 * time.Second},
			"reject-enough-but-too-long":  {lookleap.FetcherOptions{Time: 30 * time.Second}, lookleaptest.Dribble(1750 * time.Microsecond), lookleap.CodeTimeout, 30 * time.Second},
			"reject-byte-each-10-ms":      {lookleap.FetcherOptions{}, lookleaptest.Dribble(10 * time.Millisecond), lookleap.CodeTooSlow, 5 * time.Second},
			"reject-stall-without-rate":   {lookleap.FetcherOptions{Rate: -1}, lookleaptest.Stall(), lookleap.CodeTimeout, 5 * time.Minute},
			"reject-silence-without-rate": {lookleap.FetcherOptions{Rate: -1, Time: time.Second}, lookleaptest.Mute(), lookleap.CodeTimeout, time.Second},
			"accept-slow":                 {lookleap.FetcherOptions{}, lookleaptest.Dribble(time.Millisecond), lookleap.CodeOK, 20 * time.Second},
			"accept-event-stream":         {lookleap.FetcherOptions{Rate: -1, Time: -1}, lookleaptest.Dribble(time.Second), lookleap.CodeOK, 20_000 * time.Second},
		} {
			t.Run("O53/"+name+"-"+version, func(t *testing.T) {
				if code, took := read(t, http1, test.options, test.fault); code != test.code || took != test.took {
					t.Errorf("%s after %v", code, took)
				}
			})
		}
	}
	t.Run("O53/accept-reader-that-pauses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			n.Site("shop.example").File("/act", "text/plain", page)
			resp, err := n.Fetcher(lookleap.FetcherOptions{}).RoundTrip(request("GET", nil))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for left := len(page); left > 0; left -= 1000 {
				time.Sleep(20 * time.Second)
				if _, err := io.ReadFull(resp.Body, make([]byte, min(left, 1000))); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}

// script is a reader whose reads take these times and return 20 bytes each.
type script []time.Duration

func (s *script) Read([]byte) (int, error) {
	time.Sleep((*s)[0])
	*s = (*s)[1:]
	return 20, nil
}

func TestPaceTimer(t *testing.T) {
	const rate = 10 // so that a window needs 50 bytes
	for name, test := range map[string]struct {
		pause       time.Duration // before each read
		reads       script
		limit       time.Duration // 0: none
		slow, late  time.Duration // when the function is called, 0: never
		withoutRate bool
	}{
		"reject-second-window":             {reads: script{time.Second, 0, 3 * time.Second, time.Hour}, slow: 10 * time.Second},
		"reject-read-after-a-long-pause":   {pause: time.Minute, reads: script{time.Second, time.Hour}, slow: 2*time.Minute + 5*time.Second},
		"reject-read-after-a-short-pause":  {pause: time.Second, reads: script{time.Second, time.Hour}, slow: 7 * time.Second},
		"reject-slow-before-the-limit":     {pause: time.Minute, reads: script{time.Hour}, limit: 65001 * time.Millisecond, slow: 65 * time.Second},
		"reject-limit-in-a-window":         {pause: time.Minute, reads: script{time.Hour}, limit: 64 * time.Second, late: 64 * time.Second},
		"reject-limit-in-a-pause":          {pause: time.Minute, reads: script{0, 0, 0}, limit: 90 * time.Second, late: 90 * time.Second},
		"reject-limit-before-a-window":     {pause: time.Minute, reads: script{0}, limit: time.Second, late: time.Second},
		"reject-limit-without-rate":        {reads: script{time.Hour}, limit: time.Minute, late: time.Minute, withoutRate: true},
		"accept-end-before-the-limit":      {pause: time.Second, reads: script{time.Second}, limit: time.Minute},
		"accept-end-in-a-window":           {reads: script{0, 0, 4 * time.Second}},
		"accept-enough-bytes-in-each-read": {pause: time.Minute, reads: script{time.Second, time.Second, time.Second}},
	} {
		t.Run("O53/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var slow, late []time.Duration
				p := &roundtrip.Pace{Reader: &test.reads, Rate: rate, Slow: func() { slow = append(slow, time.Since(begin)) }}
				if test.withoutRate {
					p.Rate = 0
				}
				if test.limit > 0 {
					p.Start(test.limit, func() { late = append(late, time.Since(begin)) })
				}
				for len(test.reads) > 0 {
					time.Sleep(test.pause)
					_, _ = p.Read(nil)
				}
				p.Stop()
				time.Sleep(time.Hour) // nothing more may be called
				check := func(what string, got []time.Duration, want time.Duration) {
					if len(got) > 1 || len(got) == 1 && got[0] != want || len(got) == 0 && want != 0 {
						t.Errorf("%s after %v instead of %v", what, got, want)
					}
				}
				check("slow", slow, test.slow)
				check("late", late, test.late)
			})
		})
	}
}
