package redisengine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
)

// records are the records of a user: a hash, so that they are deleted together. A record ends
// with a mark, so that a part of one is not taken for an empty record.
type records struct {
	*Engine
	name string
}

const whole = "=" // ends each record

func (r records) Get(ctx context.Context, key string) ([]byte, error) {
	stored, err := r.client.HGet(ctx, r.name, key).Result()
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

func (r records) Delete(ctx context.Context, key string) error {
	return r.client.HDel(ctx, r.name, key).Err()
}

// list returns the keys with a prefix.
func (r records) list(ctx context.Context, prefix string) ([]string, error) {
	all, err := r.client.HKeys(ctx, r.name).Result()
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

// Store returns the store of a user.
func (e *Engine) Store(user string) agent.Store { return store{records{e, e.key("store", user, "")}} }

type store struct{ records }

func (s store) Put(ctx context.Context, key string, value []byte) error {
	return s.client.HSet(ctx, s.name, key, string(value)+whole).Err()
}

func (s store) Create(ctx context.Context, key string, value []byte) error {
	created, err := s.client.HSetNX(ctx, s.name, key, string(value)+whole).Result()
	if err == nil && !created {
		return fmt.Errorf("there already is a record %q: %w", key, fs.ErrExist)
	}
	return err
}

func (s store) Keys(ctx context.Context, prefix string) ([]string, error) { return s.list(ctx, prefix) }

// TrustStore returns the trust store of a user.
func (e *Engine) TrustStore(user string) dvs.TrustStore {
	return trustStore{records{e, e.key("trust", user, "")}}
}

type trustStore struct{ records }

var replaceScript = redis.NewScript(`
local stored = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] == '0' and stored or ARGV[2] == '1' and stored ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
return 1`)

func (t trustStore) Put(ctx context.Context, key string, old, value []byte) error {
	exists := "0"
	if old != nil {
		exists = "1"
	}
	ok, err := t.run(ctx, replaceScript, []string{t.name}, key, exists, string(old)+whole, string(value)+whole).Bool()
	if err == nil && !ok {
		return dvs.ErrTrustConflict
	}
	return err
}

func (t trustStore) List(ctx context.Context, prefix string) ([]string, error) {
	return t.list(ctx, prefix)
}
