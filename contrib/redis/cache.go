package redisengine

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap"
)

// Cache returns the cache. It is a [lookleap.CompareAndSwapper].
func (e *Engine) Cache() lookleap.Cache { return cache{e} }

type cache struct{ *Engine }

var errDamaged = errors.New("the entry is damaged")

// slack is how long an entry stays after its expiry, because the clocks of the readers decide.
const slack = time.Hour

// encode returns the stored form of an entry: its expiry, a line feed and the value.
func encode(value []byte, expires time.Time) []byte {
	return append(append(expires.UTC().AppendFormat(nil, time.RFC3339Nano), '\n'), value...)
}

func (c cache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	stored, err := c.client.Get(ctx, c.key("cache", key, "")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, time.Time{}, fs.ErrNotExist
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	head, value, ok := bytes.Cut(stored, []byte{'\n'})
	expires, err := time.Parse(time.RFC3339Nano, string(head))
	if !ok || err != nil {
		return nil, time.Time{}, errDamaged
	}
	return value, expires, nil
}

// lifetime returns how long the server keeps an entry, 0 if it has expired.
func lifetime(expires time.Time) time.Duration {
	if left := time.Until(expires); left > -slack {
		return min(left, 10*365*24*time.Hour) + slack
	}
	return 0
}

func (c cache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	left := lifetime(expires)
	if left <= 0 {
		return c.Delete(ctx, key)
	}
	return c.client.Set(ctx, c.key("cache", key, ""), encode(value, expires), left).Err()
}

func (c cache) Delete(ctx context.Context, key string) error {
	return c.client.Del(ctx, c.key("cache", key, "")).Err()
}

var swapScript = redis.NewScript(`
local stored = redis.call('GET', KEYS[1])
local value = nil
if stored then
  local at = string.find(stored, '\n', 1, true)
  if at then value = string.sub(stored, at + 1) end
end
if ARGV[1] == '0' and value or ARGV[1] == '1' and value ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1`)

// CompareAndSwap replaces an entry that is unchanged. A damaged entry counts as none.
func (c cache) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	exists := "0"
	if old != nil {
		exists = "1"
	}
	left := max(lifetime(expires), time.Millisecond)
	return c.run(ctx, swapScript, []string{c.key("cache", key, "")}, exists, old, encode(value, expires), left.Milliseconds()).Bool()
}
