package redisengine

import (
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/enginetest"
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
			Claim: func(n int) error {
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
			pipe.HSet(b.Context(), e.key("plan", fmt.Sprint("filled-", from+i), ""), "state", "done", "owner", "a")
			times[i] = now
		}
		pipe.RPush(b.Context(), e.key("limit", "key", "uses"), times...)
		if _, err := pipe.Exec(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	enginetest.FillLedger(b, e, size)
}
