package outbound

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
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

// Get returns a value. fresh is false if its lifetime is over, or if it is not known; in the latter case the value is
// zero.
func (c *Cache[V]) Get(key string) (value V, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(key)
}

func (c *Cache[V]) get(key string) (value V, fresh bool) {
	found, known := c.values[key]
	return found.value, known && (found.until.IsZero() || c.Now().Before(found.until))
}

// Add stores a value with a lifetime, unless a fresh one is cached; then it returns false. Of several calls at once,
// one adds.
func (c *Cache[V]) Add(key string, value V, lifetime time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, fresh := c.get(key); fresh {
		return false
	}
	c.put(key, value, lifetime)
	return true
}

// Put stores a value with a lifetime and returns the value that is now cached. A value with the lifetime Forever is
// replaced only by another such value.
func (c *Cache[V]) Put(key string, value V, lifetime time.Duration) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.put(key, value, lifetime)
}

func (c *Cache[V]) put(key string, value V, lifetime time.Duration) V {
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

// maxPosts is how many long posts are cached: as many as are sent at a time.
const maxPosts = 16

// PartCache caches the drawn parts of long posts while they are sent one after the other. Its zero value is ready.
type PartCache[M any] struct {
	mu    sync.Mutex
	posts []drawnPost[M]
}

type drawnPost[M any] struct {
	key, text string
	late      bool
	parts     []M
}

// Parts returns a post as it was drawn for an earlier part, or draws it.
func (c *PartCache[M]) Parts(d core.Delivery, draw func() ([]M, error)) ([]M, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := func(p drawnPost[M]) bool { return p.key == d.Key && p.text == d.Text && p.late == d.Late }
	if i := slices.IndexFunc(c.posts, same); i >= 0 {
		parts := c.posts[i].parts
		if d.Part+1 >= len(parts) { // the last one
			c.posts = slices.Delete(c.posts, i, i+1)
		}
		return parts, nil
	}
	parts, err := draw()
	if err != nil || d.Part+1 >= len(parts) {
		return parts, err
	}
	if len(c.posts) == maxPosts {
		c.posts = c.posts[1:]
	}
	c.posts = append(c.posts, drawnPost[M]{d.Key, d.Text, d.Late, parts})
	return parts, nil
}

// At returns one part of a post, and whether more follow.
func At[M any](parts []M, d core.Delivery) (part M, more bool, err error) {
	if d.Part >= len(parts) {
		return part, false, core.Errorf(core.DeliveryFailed, "The post has no part %d.", d.Part+1)
	}
	return parts[d.Part], d.Part+1 < len(parts), nil
}

// WarnOnce logs each text only once, so that something missing is not logged with every call. Its zero value is ready.
type WarnOnce struct{ logged sync.Map }

// Warn logs a text the first time it is called with it.
func (w *WarnOnce) Warn(log *slog.Logger, text string, args ...any) {
	if _, known := w.logged.LoadOrStore(text, true); !known {
		log.Warn(text, args...)
	}
}
