// Command sharedcache shows two agents that share what they found out through
// Redis: the site that both ask about is asked once.
//
//	redis-server --port 6390 --save "" &
//	go run -C examples/sharedcache . --redis localhost:6390
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisCache is a lookleap.Cache on a Redis server. Its entries carry their own
// expiry before the value, since a sealed one must come back with the time it
// was written with; Redis drops them at about the same time.
type redisCache struct {
	client *redis.Client
	prefix string
}

const expiryLen = 8

// Get returns fs.ErrNotExist for a missing key, and any other error for a
// server that does not answer, which the packages take for a miss and report.
func (c redisCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	data, err := c.client.Get(ctx, c.prefix+key).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, time.Time{}, fs.ErrNotExist
	case err != nil:
		return nil, time.Time{}, fmt.Errorf("redis: %w", err)
	case len(data) < expiryLen:
		return nil, time.Time{}, fs.ErrNotExist
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(data))).UTC()
	return data[expiryLen:], expires, nil
}

// Put keeps a value until a time. What has expired already is not written.
func (c redisCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	life := time.Until(expires)
	if life < time.Millisecond {
		return nil
	}
	data := binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))
	if err := c.client.Set(ctx, c.prefix+key, append(data, value...), life).Err(); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// Delete forgets a value; one that is not there is no error.
func (c redisCache) Delete(ctx context.Context, key string) error {
	if err := c.client.Del(ctx, c.prefix+key).Err(); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}
