package slack

import (
	"context"
	"strconv"
	"time"

	connection "gatehouse/adapters/slack/internal/socketmode"
	"gatehouse/core"
)

// slots are as many leases as Slack allows connections of an app. Each process on the database that has a connection
// holds one, so that others can tell it from a stranger with the same token. Only the loop that opens connections uses
// it.
type slots struct {
	kv    core.KV // nil: nobody shares it
	owner string
	own   int
}

const (
	// slotLease is longer than Slack keeps a connection: each new one renews it.
	slotLease = 12 * time.Hour
	leaveTime = 2 * time.Second
)

// take makes the process the holder of a slot for a time, if nobody else is.
func (s *slots) take(ctx context.Context, n int, lease time.Duration) (held bool, err error) {
	return s.kv.AcquireLease(ctx, "slack/socket/"+strconv.Itoa(n), s.owner, lease)
}

// Join takes a slot, or renews it. Without one a warning may come too often; so errors are of no concern.
func (s *slots) Join(ctx context.Context) {
	for i := 0; i < connection.MaxConnections && s.kv != nil; i++ {
		n := (s.own + i) % connection.MaxConnections
		if held, err := s.take(ctx, n, slotLease); held || err != nil {
			s.own = n
			return
		}
	}
}

// Others counts the slots that others hold.
func (s *slots) Others(ctx context.Context) (others int) {
	for n := 0; n < connection.MaxConnections && s.kv != nil; n++ {
		if n == s.own {
			continue
		}
		switch held, err := s.take(ctx, n, time.Second); {
		case held:
			_, _ = s.take(ctx, n, 0)
		case err == nil:
			others++
		}
	}
	return others
}

// leave frees the slot.
func (s *slots) leave(ctx context.Context) {
	if s.kv == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	_, _ = s.take(ctx, s.own, 0)
}
