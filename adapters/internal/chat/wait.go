package chat

import (
	"context"
	"time"
)

// The waits before another attempt: they begin with FirstRetry and double up to MaxRetry.
const (
	FirstRetry = time.Second
	MaxRetry   = time.Minute
)

// Sleep returns after d, or when ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Jitter returns a random part of a wait: half of it for random 0, all of it for 1.
func Jitter(d time.Duration, random float64) time.Duration {
	return time.Duration(float64(d) * (0.5 + random/2))
}
