package redisengine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// BenchmarkCost times each operation next to the bare command of the client, in turns, so that both
// have the same server and the same load. It reports the medians and their ratio, for an engine
// that has a number of entries.
//
//	go test -C contrib/redis -run '^$' -bench Cost -benchtime 2000x
func BenchmarkCost(b *testing.B) {
	for _, size := range []int{1e3, 1e4, 1e5, 1e6} {
		if testing.Short() && size > 1e4 {
			continue
		}
		e := startServer(b).engine(b, "cost")
		ctx, plans, limits, ledger := b.Context(), e.Plans(), e.Limiter(), e.Ledger("ada")
		fill(b, e, size)
		expires, n := time.Now().Add(lookleap.PlanLifetime), 0
		for name, c := range map[string][2]func() error{
			"claim": {
				func() error {
					return e.client.SetNX(ctx, fmt.Sprint("bare:", n), "claimed", lookleap.PlanLifetime).Err()
				},
				func() error {
					_, err := plans.Claim(ctx, lookleap.PlanClaim{ID: fmt.Sprint("plan-", n), Owner: "a", Expires: expires})
					return err
				},
			},
			"take": {
				func() error { return e.client.Incr(ctx, "bare:counter").Err() },
				func() error {
					_, err := limits.Take(ctx, "key", lookleap.Rate{Limit: size + 1<<20, Window: time.Hour})
					return err
				},
			},
			"append": {
				func() error { return e.client.RPush(ctx, "bare:list", make([]byte, 300)).Err() },
				func() error {
					return ledger.Append(ctx, agent.Entry{Time: expires, Plan: "p", Kind: agent.EntryAction, Serving: "shop.example"})
				},
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) { sideBySide(b, c[0], c[1], &n) })
		}
	}
}

// fill puts into an engine a number of plans, of uses of one key, and of ledger entries.
func fill(b *testing.B, e *Engine, size int) {
	b.Helper()
	const many = 1000
	entry := agent.Entry{Time: later, Plan: "p", Kind: agent.EntryAction, Serving: "shop.example"}
	now := time.Now().UnixMicro()
	for from := 0; from < size; from += many {
		pipe := e.client.Pipeline()
		entries, times := make([]agent.Entry, many), make([]any, many)
		for i := range many {
			pipe.HSet(b.Context(), e.key("plan", fmt.Sprint("filled-", from+i), ""), "state", "done", "owner", "a")
			entries[i], times[i] = entry, now
		}
		pipe.RPush(b.Context(), e.key("limit", "key", "uses"), times...)
		if _, err := pipe.Exec(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := e.Ledger("ada").Append(b.Context(), entries...); err != nil {
			b.Fatal(err)
		}
	}
}

// sideBySide times two calls in turns.
func sideBySide(b *testing.B, bare, ours func() error, n *int) {
	var costs [2][]time.Duration
	for b.Loop() {
		*n++
		for i, call := range []func() error{bare, ours} {
			begin := time.Now()
			if err := call(); err != nil {
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
