package gateway

import (
	"context"
	"encoding/json"
	"time"

	"gatehouse/adapters/internal/chat"
)

// event is an event that waits for its commit.
type event struct {
	seq  int64
	name string // such as MESSAGE_CREATE
	data json.RawMessage
	done chan struct{} // of an event processed concurrently: closed at its commit
}

// Times between attempts to store an event.
const (
	FirstStoreRetry = 100 * time.Millisecond
	maxStoreRetry   = 5 * time.Second
)

func (e event) location() Location {
	var at Location
	switch e.name {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "INTERACTION_CREATE":
		if json.Unmarshal(e.data, &at) != nil {
			return Location{} // it is refused when it is read in full
		}
	}
	return at
}

// take processes an event up to its commit, with retries; false: ctx has ended first.
func (s *shard) take(ctx context.Context, e event) bool {
	pause := FirstStoreRetry
	for {
		if s.Take(ctx, e.name, e.data) != chat.NotStored {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.Sleep(ctx, pause)
		pause = min(2*pause, maxStoreRetry)
	}
}
