package filestore

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
)

// Memory holds records like those of a [Dir] in memory. The zero Memory is empty and ready to use.
type Memory struct {
	mu      sync.RWMutex
	records map[string][]byte
}

// Get returns a record. The error for a missing one wraps fs.ErrNotExist.
func (m *Memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, ok := m.records[key]
	if !ok {
		return nil, Missing(key)
	}
	return bytes.Clone(value), nil
}

// Write writes a record unless test returns an error. Test gets the record that is there, and runs
// while no other writer can change it.
func (m *Memory) Write(key string, value []byte, test func(stored []byte, exists bool) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, exists := m.records[key]
	if err := test(stored, exists); err != nil {
		return err
	}
	if m.records == nil {
		m.records = make(map[string][]byte)
	}
	m.records[key] = append([]byte{}, value...)
	return nil
}

// Create writes a record that does not exist yet. Its error otherwise wraps fs.ErrExist.
func (m *Memory) Create(_ context.Context, key string, value []byte) error {
	return m.Write(key, value, func(_ []byte, exists bool) error {
		if exists {
			return Exists(key)
		}
		return nil
	})
}

// Delete removes a record. A missing record is not an error.
func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
	return nil
}

// Keys returns the keys that begin with a prefix, in alphabetical order.
func (m *Memory) Keys(_ context.Context, prefix string) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var keys []string
	for key := range m.records {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
