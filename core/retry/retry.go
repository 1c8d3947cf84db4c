// Package retry is for operations that are tried again: logging their errors once each (Log), storing what must not be
// lost (Persist), and looking for work from time to time (UntilPoll).
package retry

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
)

// Log logs the errors of an operation that is retried: once when an error first occurs, once when its category or its
// sentence for people changes, and once when the operation succeeds again. It belongs to one goroutine.
type Log struct {
	log  *slog.Logger
	what string
	last string
}

// NewLog logs to log the errors of what ("looking for work").
func NewLog(log *slog.Logger, what string) *Log { return &Log{log: log, what: what} }

// Report takes the result of a try; nil is a success.
func (t *Log) Report(err error) {
	category := core.CategoryOf(err)
	now := string(category) + core.MessageOf(err)
	if now == t.last {
		return
	}
	t.last = now
	if err != nil {
		t.log.Warn(t.what+" fails; retrying", "category", category, "err", err)
		return
	}
	t.log.Info(t.what + " works again")
}

// lastTries is how long Persist goes on when its context has ended.
const lastTries = 5 * time.Second

// Persist stores what must not be lost because the database fails for a while: it calls write until that succeeds or is
// refused for another reason (see core.IsStoreFailure). When ctx has ended, it goes on for five seconds, but not with a
// database that is gone; write's own context does not end with ctx.
func Persist(ctx context.Context, write func(context.Context) error) error {
	lasting := context.WithoutCancel(ctx)
	var until time.Time
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		try, cancel := context.WithTimeout(lasting, 30*time.Second)
		err := write(try)
		cancel()
		if !core.IsStoreFailure(err) {
			return err
		}
		if until.IsZero() && ctx.Err() != nil {
			until = time.Now().Add(lastTries)
		}
		gone := core.CategoryOf(err) == core.StoreGone
		if !until.IsZero() && (gone || time.Now().After(until)) {
			return err
		}
		pause(ctx, wait, until.IsZero())
	}
}

// pause waits, at most until ctx ends where that still counts.
func pause(ctx context.Context, wait time.Duration, live bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	if !live {
		<-timer.C
		return
	}
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
