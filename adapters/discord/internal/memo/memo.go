// Package memo caches values by key, in a bounded amount of memory.
package memo

import "sync"

// Memo caches values by key. When it reaches its limit, it forgets all of them. It is safe for concurrent use.
type Memo[V any] struct {
	limit int

	mu     sync.Mutex
	values map[string]V
}

// New makes an empty Memo for at most limit values.
func New[V any](limit int) *Memo[V] { return &Memo[V]{limit: limit, values: map[string]V{}} }

// Get returns the value of a key; ok is false if there is none.
func (m *Memo[V]) Get(key string) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok = m.values[key]
	return value, ok
}

// Put stores the value of a key.
func (m *Memo[V]) Put(key string, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.values) >= m.limit {
		clear(m.values)
	}
	m.values[key] = value
}

// Forget removes the value of a key.
func (m *Memo[V]) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}

// Find returns a key whose value fits, or "".
func (m *Memo[V]) Find(fits func(V) bool) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, value := range m.values {
		if fits(value) {
			return key
		}
	}
	return ""
}
