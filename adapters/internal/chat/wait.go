package chat

import (
	"context"
	"time"
)

// How long to wait before another attempt: the first wait, which doubles up to the last.
const (
	FirstRetry = time.Second
	MaxRetry   = time.Minute
)

// Sleep ends after the time or with ctx.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Jitter spreads a wait: random 0 gives half of it, 1 all of it.
func Jitter(d time.Duration, random float64) time.Duration {
	return time.Duration(float64(d) * (0.5 + random/2))
}
