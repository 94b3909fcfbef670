package agentstxt

import (
	"net/url"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// originCache holds the origins of recent URLs, because checking a host takes longer than
// a decision from the cache.
type originCache struct {
	mu  sync.Mutex
	lru *simplelru.LRU[originKey, origin]
}

// originKey is what decides the origin of a URL, as it is written.
type originKey struct{ scheme, host string }

func newOriginCache(origins int) *originCache {
	lru, err := simplelru.NewLRU[originKey, origin](origins, nil)
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return &originCache{lru: lru}
}

// originOf is [originOf] with a cache.
func (c *Client) originOf(u *url.URL) (origin, error) {
	if u == nil || u.Opaque != "" {
		return originOf(u)
	}
	return c.originAt(u.Scheme, u.Host)
}

// originAt is originOf for the scheme and the host of a URL.
func (c *Client) originAt(scheme, host string) (origin, error) {
	if len(host) > maxHost {
		return originAt(scheme, host)
	}
	key := originKey{scheme, host}
	c.origins.mu.Lock()
	o, ok := c.origins.lru.Get(key)
	c.origins.mu.Unlock()
	if ok {
		return o, nil
	}
	o, err := originAt(scheme, host)
	if err == nil {
		c.origins.mu.Lock()
		c.origins.lru.Add(key, o)
		c.origins.mu.Unlock()
	}
	return o, err
}

// maxHost is the length of the longest host with a port that is cached, in bytes.
const maxHost = 300

// policyCache holds what is known about origins, bounded by number and by bytes. It
// evicts the least recently used entry first.
type policyCache struct {
	mu       sync.Mutex
	lru      *simplelru.LRU[string, *cachedPolicy]
	bytes    int
	maxBytes int
}

func newPolicyCache(origins, maxBytes int) *policyCache {
	c := &policyCache{maxBytes: maxBytes}
	lru, err := simplelru.NewLRU(origins, func(_ string, e *cachedPolicy) { c.bytes -= e.size() })
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	c.lru = lru
	return c
}

// size estimates the memory of an entry.
func (e *cachedPolicy) size() int {
	p := e.policy
	if e.good != nil {
		p = e.good.policy // the policy in force is the same file
	}
	return 512 + len(p.text) + 12*len(p.rules) + 8*len(p.conditions) + 4*len(p.index.slots)
}

func (c *policyCache) get(origin string) *cachedPolicy {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ := c.lru.Get(origin)
	return e
}

// put stores an entry unless the result of a later attempt is there: an older answer
// must not replace a malformed file.
func (c *policyCache) put(origin string, e *cachedPolicy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, ok := c.lru.Peek(origin); ok && newer.attempt > e.attempt {
		return
	}
	c.lru.Remove(origin) // an entry that is replaced does not count as evicted
	c.lru.Add(origin, e)
	c.bytes += e.size()
	for c.bytes > c.maxBytes && c.lru.Len() > 1 {
		c.lru.RemoveOldest()
	}
}
