package dnssec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/flight"
)

// TestSizes: every text of a result counts, and the data of every key twice.
func TestSizes(t *testing.T) {
	text := strings.Repeat("x", 100)
	chain := []Link{{Zone: text, Reason: text}}
	now := func() time.Time { return time.Unix(1.7e9, 0) }
	until := now().Add(time.Hour)
	answers, zones := newAnswers(Limits{}.withDefaults(), now), newZones(Limits{}.withDefaults(), now)
	answers.Put(question{name(text), dns.TypeA}, flight.Loaded[answer]{Value: answer{&Result{}, until}, Until: until})
	zones.Put(name(text), flight.Loaded[*zoneState]{Value: &zoneState{}, Until: until})
	for what, c := range map[string]struct{ got, want int }{
		"answer": {answers.Bytes(), resultBytes + 100},
		"key":    {zones.Bytes(), resultBytes + 100},
		"name":   {(&Result{Name: text}).size(), resultBytes + 100},
		"chain":  {(&Result{Chain: chain}).size(), resultBytes + linkBytes + 200},
		"text":   {(&Result{Records: []Record{{Text: text}, {Text: text}}}).size(), resultBytes + 2*recordBytes + 200},
		"target": {(&Result{Records: []Record{{SRV: &SRV{Target: text}}}}).size(), resultBytes + recordBytes + 100},
		"zone":   {(&zoneState{zone: name(text), chain: chain}).size(), resultBytes + 100 + linkBytes + 200},
		"keys":   {(&zoneState{keys: []zoneKey{{rdata: []byte(text)}, {}}}).size(), resultBytes + 2*keyBytes + 200},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes, want %d", what, c.got, c.want)
		}
	}
}

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
