package wellknown

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
)

// rate bounds how many documents one host is asked for in a minute, so that
// nobody can use an agent to flood it with probes.
type rate struct {
	perMinute int
	mu        sync.Mutex
	hosts     *lru.LRU[string, *window]
}

// window counts the questions of one minute.
type window struct {
	start time.Time
	count int
}

func newRate(perMinute, hosts int) *rate {
	cache, err := lru.NewLRU[string, *window](hosts, nil)
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return &rate{perMinute: perMinute, hosts: cache}
}

// take uses up one question and reports whether there was one left.
func (r *rate) take(host string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.hosts.Get(host)
	if !ok || now.Sub(w.start) >= time.Minute || now.Before(w.start) {
		w = &window{start: now}
		r.hosts.Add(host, w)
	}
	if w.count >= r.perMinute {
		return false
	}
	w.count++
	return true
}
