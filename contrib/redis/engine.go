package redisengine

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap"
)

// Options configure an [Engine]. The zero value is safe and works.
type Options struct {
	// Prefix begins the keys of this fleet; "" is "lookleap:". Fleets with different prefixes
	// share nothing.
	Prefix string
}

// Engine is a Redis or Valkey server. Its methods may be called from several goroutines at once.
type Engine struct {
	client redis.UniversalClient
	prefix string
}

// Open returns the engine at a URL like redis://user:password@host:6379/0. It does not connect
// yet. Close it after use.
func Open(url string, o Options) (*Engine, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the URL of the Redis server is malformed",
			Err: err, Fix: "use redis://user:password@host:port/database"}
	}
	options.ContextTimeoutEnabled = true
	return New(redis.NewClient(options), o), nil
}

// New returns an engine that uses a client of the caller. The client must have
// ContextTimeoutEnabled, so that a call ends with its context.
func New(client redis.UniversalClient, o Options) *Engine {
	if o.Prefix == "" {
		o.Prefix = "lookleap:"
	}
	return &Engine{client, o.Prefix}
}

// Close closes the client.
func (e *Engine) Close() error { return e.client.Close() }

// key returns the key of a thing. The braces put what belongs to it into one hash slot.
func (e *Engine) key(kind, name, part string) string {
	return fmt.Sprintf("%s%s:{%d:%s}%s", e.prefix, kind, len(name), name, part)
}

// run runs a script, as EVALSHA if the server knows it.
func (e *Engine) run(ctx context.Context, s *redis.Script, keys []string, args ...any) *redis.Cmd {
	return s.Run(ctx, e.client, keys, args...)
}
