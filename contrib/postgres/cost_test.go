package pgengine

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
//	go test -C contrib/postgres -run '^$' -bench Cost -benchtime 2000x
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
					_, err := e.pool.Exec(ctx, `INSERT INTO bare VALUES ($1, 'claimed', $2) ON CONFLICT DO NOTHING`, fmt.Sprint(n), expires)
					return err
				},
				func() error {
					_, err := plans.Claim(ctx, lookleap.PlanClaim{ID: fmt.Sprint("plan-", n), Owner: "a", Expires: expires})
					return err
				},
			},
			"take": {
				func() error {
					_, err := e.pool.Exec(ctx, `UPDATE bare SET state = $2 WHERE id = $1`, "counter", fmt.Sprint(n))
					return err
				},
				func() error {
					_, err := limits.Take(ctx, "key", lookleap.Rate{Limit: size + 1<<20, Window: time.Hour})
					return err
				},
			},
			"append": {
				func() error {
					_, err := e.pool.Exec(ctx, `INSERT INTO bare VALUES ($1, $2, now())`, fmt.Sprint("entry-", n), fmt.Sprintf("%300d", n))
					return err
				},
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
	exec := func(statement string, args ...any) {
		if _, err := e.pool.Exec(b.Context(), e.sql(statement), args...); err != nil {
			b.Fatal(err)
		}
	}
	exec(`CREATE TABLE bare (id text PRIMARY KEY, state text, at timestamptz)`)
	exec(`INSERT INTO bare VALUES ('counter')`)
	exec(`INSERT INTO lookleap.plans SELECT convert_to('filled-' || i, 'UTF8'), 'a', 'done', NULL, now(), now() FROM generate_series(1, $1) i`, size)
	exec(`INSERT INTO lookleap.limits (key, held, longest, last_n, last_at) VALUES ('key', 0, 3600000000, $1, (extract(epoch FROM now()) * 1000000)::bigint)`, size)
	exec(`INSERT INTO lookleap.uses SELECT 'key', i, (extract(epoch FROM now()) * 1000000)::bigint FROM generate_series(1, $1) i`, size)
	for from := 0; from < size; from += many {
		entries := make([]agent.Entry, many)
		for i := range entries {
			entries[i] = entry
		}
		if err := e.Ledger("ada").Append(b.Context(), entries...); err != nil {
			b.Fatal(err)
		}
	}
	exec(`ANALYZE`)
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
