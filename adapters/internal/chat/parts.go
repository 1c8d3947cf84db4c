package chat

import (
	"sync"

	"gatehouse/core"
)

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
	if parts := c.take(d); parts != nil {
		return parts, nil
	}
	parts, err := draw()
	if err != nil || d.Part+1 >= len(parts) {
		return parts, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.posts) == maxPosts {
		c.posts = c.posts[1:]
	}
	c.posts = append(c.posts, drawnPost[M]{d.Key, d.Text, d.Late, parts})
	return parts, nil
}

// take returns a cached post, or nil. It drops the post from the cache if d is its last part.
func (c *PartCache[M]) take(d core.Delivery) []M {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.posts {
		if p.key != d.Key || p.text != d.Text || p.late != d.Late {
			continue
		}
		if d.Part+1 >= len(p.parts) {
			c.posts = append(c.posts[:i:i], c.posts[i+1:]...)
		}
		return p.parts
	}
	return nil
}

// At returns one part of a post, and whether more follow.
func At[M any](parts []M, d core.Delivery) (part M, more bool, err error) {
	if d.Part >= len(parts) {
		return part, false, core.Errorf(core.DeliveryFailed, "The post has no part %d.", d.Part+1)
	}
	return parts[d.Part], d.Part+1 < len(parts), nil
}
