package redisengine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap"
)

// Plans returns the store of plans, for [lookleap.Host].Plans.
func (e *Engine) Plans() lookleap.Store { return records{e, "plan", ""} }

// Store returns the store of a user.
func (e *Engine) Store(user string) lookleap.Store { return records{e, "store", user} }

// records are the records of one owner: a key for each, and a sorted set of their names with the
// times at which they expire. A record ends with a mark, so that a part of one is not taken for an
// empty record.
type records struct {
	*Engine
	kind, owner string
}

const whole = "=" // ends each record

// keys returns the key of a record and that of the names.
func (r records) keys(name string) []string {
	return []string{r.key(r.kind, r.owner, name), r.key(r.kind+"-names", r.owner, "")}
}

func (r records) Get(ctx context.Context, key string) ([]byte, error) {
	stored, err := r.client.Get(ctx, r.keys(key)[0]).Result()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("there is no record %q: %w", key, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	value, ok := strings.CutSuffix(stored, whole)
	if !ok {
		return nil, fmt.Errorf("the record %q is damaged", key)
	}
	return []byte(value), nil
}

// forget removes the names of records that have expired, from the last key of a script.
const forget = `
local t = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[#KEYS], '-inf', string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)))`

var putScript = redis.NewScript(`
local stored = redis.call('GET', KEYS[1])
if ARGV[1] == '0' and stored or ARGV[1] == '1' and stored ~= ARGV[2] then return 0 end` + forget + `
if ARGV[4] == '' then
  redis.call('SET', KEYS[1], ARGV[3])
  redis.call('ZADD', KEYS[2], '+inf', ARGV[5])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PXAT', ARGV[4])
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[5])
end
return 1`)

// Put stores a record. The server drops it at until, but not within the next hour.
func (r records) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	exists, drop := "0", ""
	if old != nil {
		exists = "1"
	}
	if !until.IsZero() {
		drop = fmt.Sprint(min(max(until.UnixMilli(), time.Now().Add(time.Hour).UnixMilli()), 1<<47))
	}
	ok, err := r.run(ctx, putScript, r.keys(key), exists, string(old)+whole, string(value)+whole, drop, key).Bool()
	if err == nil && !ok {
		return lookleap.ErrConflict
	}
	return err
}

func (r records) Delete(ctx context.Context, key string) error {
	_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, r.keys(key)[0])
		p.ZRem(ctx, r.keys("")[1], key)
		return nil
	})
	return err
}

var namesScript = redis.NewScript(forget + `
return redis.call('ZRANGE', KEYS[1], 0, -1)`)

func (r records) Keys(ctx context.Context, prefix string) ([]string, error) {
	all, err := r.run(ctx, namesScript, r.keys("")[1:]).StringSlice()
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, key := range all {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
