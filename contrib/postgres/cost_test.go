package pgengine

import (
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// BenchmarkCost is described at [enginetest.Costs].
//
//	go test -C contrib/postgres -run '^$' -bench Cost -benchtime 2000x
func BenchmarkCost(b *testing.B) {
	for _, size := range []int{1e3, 1e4, 1e5, 1e6} {
		if testing.Short() && size > 1e4 {
			continue
		}
		e := startServer(b).engine(b, "cost")
		fill(b, e, size)
		run := func(statement string, args ...any) error {
			_, err := e.pool.Exec(b.Context(), statement, args...)
			return err
		}
		enginetest.Costs(b, size, e, enginetest.Bare{
			Put: func(n int) error {
				return run(`INSERT INTO bare VALUES ($1, 'claimed', $2) ON CONFLICT DO NOTHING`, fmt.Sprint(n), time.Now())
			},
			Take: func(n int) error {
				return run(`UPDATE bare SET state = $2 WHERE id = $1`, "counter", fmt.Sprint(n))
			},
			Append: func(n int) error {
				return run(`INSERT INTO bare VALUES ($1, $2, now())`, fmt.Sprint("entry-", n), fmt.Sprintf("%300d", n))
			},
		})
	}
}

// fill puts into an engine a number of plans, of uses of one key, and of ledger entries.
func fill(b *testing.B, e *Engine, size int) {
	b.Helper()
	e.must(b, `CREATE TABLE bare (id text PRIMARY KEY, state text, at timestamptz)`)
	e.must(b, `INSERT INTO bare VALUES ('counter')`)
	e.must(b, `INSERT INTO lookleap.records SELECT 'plans', '', convert_to('plan/filled-' || i, 'UTF8'), 'done', now() + interval '1 day' FROM generate_series(1, $1) i`, size)
	e.must(b, `INSERT INTO lookleap.limits (key, held, longest, last_n, last_at) VALUES ('key', 0, 3600000000, $1, (extract(epoch FROM now()) * 1000000)::bigint)`, size)
	e.must(b, `INSERT INTO lookleap.uses SELECT 'key', i, (extract(epoch FROM now()) * 1000000)::bigint FROM generate_series(1, $1) i`, size)
	enginetest.FillLedger(b, e, size)
	e.must(b, `ANALYZE`)
}
