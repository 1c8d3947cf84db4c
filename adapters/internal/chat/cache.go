package chat

import (
	"sync"
	"time"
)

// Forever is the lifetime of what does not change.
const Forever time.Duration = 0

// maxCached is how many values a cache holds; then it begins anew.
const maxCached = 5000

// Cache remembers answers of a platform for a while. Now is needed; else its zero value is ready.
type Cache[V any] struct {
	Now func() time.Time

	mu     sync.Mutex
	values map[string]cached[V]
}

type cached[V any] struct {
	value V
	until time.Time // zero: for ever
}

// Get gives a value; fresh is false where its lifetime is over, or where it is not known: then the value is zero.
func (c *Cache[V]) Get(key string) (value V, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, known := c.values[key]
	return found.value, known && (found.until.IsZero() || c.Now().Before(found.until))
}

// Put remembers a value for a while and returns the one that stands: a value that lives for ever is replaced only by such a value.
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
