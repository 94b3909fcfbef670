package dnssec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/flight"
)

// TestCachesAreBounded: large answers, and zones with many keys, leave room for others.
func TestCachesAreBounded(t *testing.T) {
	now := func() time.Time { return time.Unix(1.7e9, 0) }
	until := now().Add(time.Hour)
	limits := Limits{CachedBytes: 256 << 10}.withDefaults()
	key := zoneKey{rdata: make([]byte, 516)}
	t.Run("O61", func(t *testing.T) {
		t.Run("accept-answers-within-the-limit", func(t *testing.T) {
			m := newAnswers(limits, now)
			for i := range 100 {
				r := &Result{Records: []Record{{Text: strings.Repeat("x", 16<<10)}}}
				m.Put(question{name(fmt.Sprint(i)), dns.TypeTXT}, flight.Loaded[answer]{Value: answer{r, until}, Until: until})
			}
			if got := m.Bytes(); got > limits.CachedBytes || got < limits.CachedBytes/2 {
				t.Errorf("%d bytes in %d answers", got, m.Len())
			}
		})
		t.Run("accept-zones-within-the-limit", func(t *testing.T) {
			m := newZones(limits, now)
			for i := range 100 {
				z := &zoneState{keys: make([]zoneKey, 64)}
				for j := range z.keys {
					z.keys[j] = key
				}
				m.Put(name(fmt.Sprint(i)), flight.Loaded[*zoneState]{Value: z, Until: until})
			}
			if got := m.Bytes(); got > limits.CachedBytes || got < limits.CachedBytes/2 {
				t.Errorf("%d bytes in %d zones", got, m.Len())
			}
		})
	})
}
