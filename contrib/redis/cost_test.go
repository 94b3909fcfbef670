package redisengine

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// BenchmarkCost is described at [enginetest.Costs].
//
//	go test -C contrib/redis -run '^$' -bench Cost -benchtime 2000x
func BenchmarkCost(b *testing.B) {
	for _, size := range []int{1e3, 1e4, 1e5, 1e6} {
		if testing.Short() && size > 1e4 {
			continue
		}
		e := startServer(b, installed(b)[0]).engine(b, "cost")
		ctx := b.Context()
		fill(b, e, size)
		enginetest.Costs(b, size, e, enginetest.Bare{
			Put: func(n int) error {
				return e.client.SetNX(ctx, fmt.Sprint("bare:", n), "claimed", lookleap.PlanLifetime).Err()
			},
			Take:   func(int) error { return e.client.Incr(ctx, "bare:counter").Err() },
			Append: func(int) error { return e.client.RPush(ctx, "bare:list", make([]byte, 300)).Err() },
		})
	}
}

// fill puts into an engine a number of plans, of uses of one key, and of ledger entries.
func fill(b *testing.B, e *Engine, size int) {
	b.Helper()
	const many = 1000
	now := time.Now().UnixMicro()
	for from := 0; from < size; from += many {
		pipe := e.client.Pipeline()
		times := make([]any, many)
		for i := range times {
			keys := records{e, "plan", ""}.keys(fmt.Sprint("plan/filled-", from+i))
			pipe.Set(b.Context(), keys[0], "done"+whole, lookleap.PlanLifetime)
			pipe.ZAdd(b.Context(), keys[1], redis.Z{Score: float64(now/1000 + 1e8), Member: fmt.Sprint("plan/filled-", from+i)})
			times[i] = now
		}
		pipe.RPush(b.Context(), e.key("limit", "key", "uses"), times...)
		if _, err := pipe.Exec(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	enginetest.FillLedger(b, e, size)
}
