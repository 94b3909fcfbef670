package dnssec

import (
	"time"

	"github.com/lookleap/lookleap/internal/flight"
)

// answer is a result as it is kept.
type answer struct {
	*Result
	until time.Time
}

func newAnswers(l Limits, now func() time.Time) *flight.Memo[question, answer] {
	return flight.NewSizedMemo(l.CachedAnswers, l.CachedBytes, func(q question, a answer) int { return len(q.name) + a.size() }, now)
}

func newZones(l Limits, now func() time.Time) *flight.Memo[name, *zoneState] {
	return flight.NewSizedMemo(l.CachedZones, l.CachedBytes, func(n name, z *zoneState) int { return len(n) + z.size() }, now)
}

// left is what is left of the TTL.
func (a answer) left(now time.Time) time.Duration {
	if a.until.IsZero() {
		return a.TTL
	}
	return max(0, min(a.TTL, a.until.Sub(now).Truncate(time.Second)))
}

// Sizes are estimates of the memory that values take, with what belongs to a record or a key beside its data.
const (
	resultBytes = 128
	recordBytes = 96
	keyBytes    = 160
	linkBytes   = 64
)

func (r *Result) size() int {
	size := resultBytes + len(r.Name) + chainSize(r.Chain)
	for _, record := range r.Records {
		size += recordBytes + len(record.Text)
		if record.SRV != nil {
			size += len(record.SRV.Target)
		}
	}
	return size
}

func (z *zoneState) size() int {
	size := resultBytes + len(z.zone) + chainSize(z.chain)
	for i := range z.keys {
		size += keyBytes + 2*len(z.keys[i].rdata) // as it came, and as a key
	}
	return size
}

func chainSize(chain []Link) int {
	size := 0
	for _, link := range chain {
		size += linkBytes + len(link.Zone) + len(link.Reason)
	}
	return size
}
