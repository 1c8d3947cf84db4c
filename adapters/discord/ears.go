package discord

import (
	"sync"
	"time"

	"gatehouse/core"
)

// ears knows of every shard whether it is heard.
type ears struct {
	mu     sync.Mutex
	shards []hearing
}

// hearing is how a shard is heard.
type hearing struct {
	here      bool      // by a connection of this process that lives
	elsewhere time.Time // another process holds it, as far as is known, until then
	why       error     // what is in the way, where it can be said
}

// expect says how many shards there are.
func (e *ears) expect(shards int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shards = make([]hearing, shards)
}

func (e *ears) set(shard int, h hearing) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shards[shard] = h
}

func (e *ears) state(now time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.shards) == 0 {
		return core.Errorf(core.DeliveryLater, "No connection to Discord is open, so nothing is heard.")
	}
	for n, h := range e.shards {
		switch {
		case h.here || now.Before(h.elsewhere):
		case h.why != nil:
			return h.why
		default:
			return core.Errorf(core.DeliveryLater, "Shard %d has no connection to Discord, so nothing of its servers is heard.", n)
		}
	}
	return nil
}
