package dnssec

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// cache keeps values until a time. It is bounded, and safe for concurrent use.
type cache[K comparable, V any] struct {
	entries *lru.Cache[K, entry[V]]
}

type entry[V any] struct {
	value         V
	stored, until time.Time
}

func newCache[K comparable, V any](size int) *cache[K, V] {
	entries, err := lru.New[K, entry[V]](size)
	if err != nil {
		panic(err) // only for a size below 1, which Limits rules out
	}
	return &cache[K, V]{entries}
}

// get finds a value that holds now. A clock that went back behind the time of storing makes every entry doubtful.
func (c *cache[K, V]) get(key K, now time.Time) (value V, until time.Time, ok bool) {
	e, ok := c.entries.Get(key)
	if !ok || now.Before(e.stored) || !now.Before(e.until) {
		return value, until, false
	}
	return e.value, e.until, true
}

func (c *cache[K, V]) put(key K, value V, now, until time.Time) {
	if until.After(now) {
		c.entries.Add(key, entry[V]{value, now, until})
	}
}
