package enginetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// Bare are the bare commands of a client that correspond to an operation. N is another number in
// each call.
type Bare struct {
	Put, Take, Append func(n int) error
}

// Costs times each operation next to the bare command of the client, in turns, so that both have
// the same server and the same load. It reports the medians and their ratio, for an engine that has
// a number of plans, of uses of the key "key", and of entries of the user "ada".
func Costs(b *testing.B, size int, e Engine, bare Bare) {
	plans, limits, ledger := e.Plans(), e.Limiter(), agent.NewLedger(e.Store("ada"))
	until, n := time.Now().Add(lookleap.PlanLifetime), 0
	for _, c := range []struct {
		name string
		bare func(int) error
		ours func(int) error
	}{
		{"put", bare.Put, func(n int) error {
			return plans.Put(b.Context(), fmt.Sprint("plan/", n), nil, []byte("claimed"), until)
		}},
		{"take", bare.Take, func(int) error {
			_, err := limits.Take(b.Context(), "key", lookleap.Rate{Limit: size + 1<<20, Window: time.Hour})
			return err
		}},
		{"append", bare.Append, func(int) error {
			return ledger.Append(b.Context(), entry)
		}},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.name, size), func(b *testing.B) { sideBySide(b, c.bare, c.ours, &n) })
	}
}

var entry = agent.Entry{Time: Later, Plan: "p", Kind: agent.EntryAction, Serving: "shop.example"}

// FillLedger appends a number of entries to the ledger of the user "ada".
func FillLedger(b *testing.B, e Engine, size int) {
	b.Helper()
	const many = 1000
	for range size / many {
		if err := agent.NewLedger(e.Store("ada")).Append(b.Context(), slices.Repeat([]agent.Entry{entry}, many)...); err != nil {
			b.Fatal(err)
		}
	}
}

func sideBySide(b *testing.B, bare, ours func(int) error, n *int) {
	var costs [2][]time.Duration
	for b.Loop() {
		*n++
		for i, call := range []func(int) error{bare, ours} {
			begin := time.Now()
			if err := call(*n); err != nil {
				b.Fatal(err)
			}
			costs[i] = append(costs[i], time.Since(begin))
		}
	}
	var median [2]float64
	for i := range costs {
		slices.Sort(costs[i])
		median[i] = float64(costs[i][len(costs[i])/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(median[0], "bare-µs")
	b.ReportMetric(median[1], "µs")
	b.ReportMetric(median[1]/median[0], "x-bare")
}
