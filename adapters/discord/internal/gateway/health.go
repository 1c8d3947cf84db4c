package gateway

import (
	"sync"
	"time"

	"gatehouse/core"
)

// health records for every shard whether its events are received (law 9).
type health struct {
	mu     sync.Mutex
	shards []shardState
}

// shardState is whether a shard's events are received.
type shardState struct {
	connected bool      // by this process
	elsewhere time.Time // until then, another process presumably holds it
	why       error     // why its events are not received
}

// expect sets the number of shards.
func (h *health) expect(shards int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shards = make([]shardState, shards)
}

func (h *health) set(shard int, s shardState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shards[shard] = s
}

func (h *health) err(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.shards) == 0 {
		return core.Errorf(core.DeliveryLater, "There is no connection to Discord yet, so no events are received.")
	}
	for n, s := range h.shards {
		switch {
		case s.connected || now.Before(s.elsewhere):
		case s.why != nil:
			return s.why
		default:
			return core.Errorf(core.DeliveryLater, "Shard %d has no connection to Discord, so no events of its servers are received.", n)
		}
	}
	return nil
}
