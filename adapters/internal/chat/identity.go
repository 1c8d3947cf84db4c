package chat

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
)

// identityCheck is the time between two questions once the bot is known.
const identityCheck = time.Minute

// Identity asks a platform who the bot is, which also shows that the platform answers.
type Identity struct {
	Title  string // of the platform, in the log
	Log    *slog.Logger
	Ask    func(context.Context) error // asks once
	Known  func() bool                 // whether Ask has succeeded before
	Sleep  func(context.Context, time.Duration)
	Jitter func(time.Duration) time.Duration
}

// Keep asks until the bot is known, and once a minute after that, until ctx ends. Error: the token was refused before the bot was
// known. A token that is revoked later does not end Keep: events must still be stored.
func (i Identity) Keep(ctx context.Context) error {
	log := core.NewErrorLog(i.Log, "asking "+i.Title+" who the bot is")
	retry := FirstRetry
	for ctx.Err() == nil {
		known := i.Known()
		err := i.Ask(ctx)
		if ctx.Err() != nil {
			return nil
		}
		log.Report(err)
		if core.CategoryOf(err) == core.Unauthorized && !known {
			return err
		}
		if err == nil {
			retry = FirstRetry
			i.Sleep(ctx, identityCheck)
			continue
		}
		i.Sleep(ctx, max(i.Jitter(retry), core.RetryAfterOf(err)))
		retry = min(2*retry, MaxRetry)
	}
	return nil
}
