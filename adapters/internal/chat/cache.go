package chat

import (
	"sync"
	"time"
)

// Forever is the lifetime of a value that does not change.
const Forever time.Duration = 0

// maxCached is how many values a cache holds; when it is full, it is emptied.
const maxCached = 5000

// Cache remembers answers of a platform for a while. Now must be set; apart from that the zero value is ready.
type Cache[V any] struct {
	Now func() time.Time

	mu     sync.Mutex
	values map[string]cached[V]
}

type cached[V any] struct {
	value V
	until time.Time // zero: forever
}

// Get returns a value. fresh is false if its lifetime is over, or if it is not known; in the latter case the value is zero.
func (c *Cache[V]) Get(key string) (value V, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, known := c.values[key]
	return found.value, known && (found.until.IsZero() || c.Now().Before(found.until))
}

// Put stores a value with a lifetime and returns the value that is now cached. A value with the lifetime Forever is replaced only by
// another such value.
func (c *Cache[V]) Put(key string, value V, lifetime time.Duration) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, known := c.values[key]
	if known && found.until.IsZero() && lifetime != Forever {
		return found.value
	}
	if c.values == nil || len(c.values) >= maxCached {
		c.values = map[string]cached[V]{}
	}
	v := cached[V]{value: value}
	if lifetime != Forever {
		v.until = c.Now().Add(lifetime)
	}
	c.values[key] = v
	return value
}
