package guilds

import (
	"sync"
	"time"

	"gatehouse/core"
)

// memo caches Discord's answers by key. When it reaches its limit, it forgets all of them.
type memo[T any] struct {
	limit int

	mu   sync.Mutex
	kept map[string]answer[T]
}

// answer is a value, or a refusal, and when it came.
type answer[T any] struct {
	value T
	err   error
	at    time.Time
}

// get returns an answer of any age, unless it is a refusal.
func (m *memo[T]) get(key string) (T, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.kept[key]
	return a.value, ok && a.err == nil
}

func (m *memo[T]) put(key string, a answer[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= m.limit {
		m.kept = map[string]answer[T]{}
	}
	m.kept[key] = a
}

func (m *memo[T]) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}

// since returns an answer that came after a time, or asks for one. Temporary errors are not cached.
func (m *memo[T]) since(after, now time.Time, key string, ask func() (T, error)) (T, error) {
	m.mu.Lock()
	a, ok := m.kept[key]
	m.mu.Unlock()
	if ok && a.at.After(after) {
		return a.value, a.err
	}
	value, err := ask()
	if !core.IsTemporary(err) {
		m.put(key, answer[T]{value, err, now})
	}
	return value, err
}

// find returns the key of an answer that fits, or "".
func (m *memo[T]) find(fits func(T) bool) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, a := range m.kept {
		if a.err == nil && fits(a.value) {
			return key
		}
	}
	return ""
}
