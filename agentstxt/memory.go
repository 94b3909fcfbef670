package agentstxt

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// memory keeps what is known about origins, bounded by number and by octets. The
// least recently used leaves first.
type memory struct {
	mu     sync.Mutex
	lru    *simplelru.LRU[string, *held]
	octets int
	most   int
}

func newMemory(origins, octets int) *memory {
	m := &memory{most: octets}
	lru, err := simplelru.NewLRU(origins, func(_ string, h *held) { m.octets -= h.octets() })
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	m.lru = lru
	return m
}

func (h *held) octets() int {
	if h.good != nil {
		return h.good.policy.octets() // what is in force is the same file
	}
	return h.policy.octets()
}

func (m *memory) get(origin string) *held {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, _ := m.lru.Get(origin)
	return h
}

// put keeps what an attempt found out, unless a later attempt was faster: an
// older answer must not bring back what a malformed file ended.
func (m *memory) put(origin string, h *held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newer, ok := m.lru.Peek(origin); ok && newer.turn > h.turn {
		return
	}
	m.lru.Remove(origin) // an entry that is replaced does not count as evicted
	m.lru.Add(origin, h)
	m.octets += h.octets()
	for m.octets > m.most && m.lru.Len() > 1 {
		m.lru.RemoveOldest()
	}
}
