package pgengine

import (
	"context"
	"time"

	"github.com/lookleap/lookleap"
)

// Limiter returns the limiter, on the clock of the server in microseconds.
func (e *Engine) Limiter() lookleap.Limiter { return limiter{e} }

type limiter struct{ *Engine }

func (l limiter) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.use(ctx, key, r, true)
}

func (l limiter) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.use(ctx, key, r, false)
}

func (l limiter) use(ctx context.Context, key string, r lookleap.Rate, count bool) (time.Duration, error) {
	var wait int64
	err := l.pool.QueryRow(ctx, l.sql(`SELECT lookleap.take($1, $2, $3, $4)`), []byte(key), int64(max(r.Limit, 0)),
		ceil(r.Window), count).Scan(&wait)
	return time.Duration(wait) * time.Microsecond, err
}

func (l limiter) Hold(ctx context.Context, key string, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	_, err := l.pool.Exec(ctx, l.sql(`INSERT INTO lookleap.limits AS l (key, held) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2)
		ON CONFLICT (key) DO UPDATE SET held = greatest(l.held, EXCLUDED.held)`), []byte(key), ceil(d))
	return err
}

// ceil returns a duration in microseconds, rounded up.
func ceil(d time.Duration) int64 { return int64((max(d, 0) + time.Microsecond - 1) / time.Microsecond) }
