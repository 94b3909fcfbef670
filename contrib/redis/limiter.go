package redisengine

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap"
)

// Limiter returns the limiter. The times of uses are a list, by the clock of the server in
// microseconds. If a response is lost and the client repeats Take, the use is counted twice.
func (e *Engine) Limiter() lookleap.Limiter { return limiter{e} }

type limiter struct{ *Engine }

// takeScript looks at the use that must have left the window. If the clock was set back, it goes on
// from the last use, so that no window ends early. The keys live for up to two windows, so that most
// calls write only the use.
var takeScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local limit, window, count = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local kept = redis.call('HMGET', KEYS[2], 'until', 'window')
local wait = math.max((tonumber(kept[1]) or 0) - now, 0)
if limit > 0 and window > 0 then
  local last = tonumber(redis.call('LINDEX', KEYS[1], -1))
  if last and last > now then now = last end
  local use = tonumber(redis.call('LINDEX', KEYS[1], -limit))
  if use and use > now - window then wait = math.max(wait, use + window - now) end
  if wait == 0 and count then
    local longest = math.max(tonumber(kept[2]) or 0, window)
    local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
    while oldest and oldest <= now - longest do
      redis.call('LPOP', KEYS[1])
      oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
    end
    redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
    if tonumber(kept[2]) ~= longest then redis.call('HSET', KEYS[2], 'window', string.format('%.0f', longest)) end
    local ms = math.ceil(longest / 1000) + 1
    for i = 1, 2 do
      if redis.call('PTTL', KEYS[i]) < ms then redis.call('PEXPIRE', KEYS[i], string.format('%.0f', 2 * ms)) end
    end
  end
end
return string.format('%.0f', wait)`)

var holdScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local to = now + tonumber(ARGV[1])
if to > (tonumber(redis.call('HGET', KEYS[1], 'until')) or 0) then
  redis.call('HSET', KEYS[1], 'until', string.format('%.0f', to))
  local ms = math.ceil(tonumber(ARGV[1]) / 1000) + 1
  if redis.call('PTTL', KEYS[1]) < ms then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ms)) end
end
return 1`)

func (l limiter) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.use(ctx, key, r, "1")
}

func (l limiter) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.use(ctx, key, r, "0")
}

func (l limiter) use(ctx context.Context, key string, r lookleap.Rate, count string) (time.Duration, error) {
	keys := []string{l.key("limit", key, "uses"), l.key("limit", key, "state")}
	wait, err := l.run(ctx, takeScript, keys, max(r.Limit, 0), ceil(r.Window), count).Int64()
	return time.Duration(wait) * time.Microsecond, err
}

func (l limiter) Hold(ctx context.Context, key string, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	return l.run(ctx, holdScript, []string{l.key("limit", key, "state")}, ceil(d)).Err()
}

// ceil returns a duration in microseconds, rounded up.
func ceil(d time.Duration) int64 { return int64((max(d, 0) + time.Microsecond - 1) / time.Microsecond) }
