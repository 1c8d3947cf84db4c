package chat

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gatehouse/core"
)

// Outbound remembers whether a platform answered the last call (law 9).
type Outbound struct {
	Title string // of the platform

	mu       sync.Mutex
	answered bool // ever
	err      error
}

// Record notes what became of a call; err has one of the categories of errors of calls. Any answer counts, whatever it says, but one:
// that the token is refused. Asking to wait counts for nothing.
func (o *Outbound) Record(err error) {
	switch core.CategoryOf(err) {
	case core.Unauthorized, core.DeliveryInDoubt:
		o.Set(err)
	case core.DeliveryLater:
		if core.RetryAfterOf(err) == 0 {
			o.Set(err)
		}
	default:
		o.Set(nil)
	}
}

// Set notes that the platform answered (nil), or why it did not.
func (o *Outbound) Set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered, o.err = o.answered || err == nil, err
}

// Err is nil where the platform answered the last call, else what is in the way.
func (o *Outbound) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && !o.answered {
		return core.Errorf(core.DeliveryLater, "%s has not answered yet.", o.Title)
	}
	return o.err
}

// Times of the question who the bot is.
const (
	FirstRetry    = time.Second
	MaxRetry      = time.Minute
	identityCheck = time.Minute
)

// Identity asks a platform who the bot is, which also shows that the platform answers.
type Identity struct {
	Title  string // of the platform, in the log
	Log    *slog.Logger
	Ask    func(context.Context) error // asks once
	Known  func() bool                 // whether it was answered before
	Sleep  func(context.Context, time.Duration)
	Jitter func(time.Duration) time.Duration
}

// Keep asks until the bot is known, and once a minute after that, until ctx ends. Error: the token was refused before the bot was
// known. A token that is withdrawn later ends nothing: events are still to be stored.
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

// WarnOnce logs each text only once: what is missing would else be logged with every call. Its zero value is ready.
type WarnOnce struct {
	mu     sync.Mutex
	logged map[string]bool
}

// Warn logs a text, if it is the first time.
func (w *WarnOnce) Warn(log *slog.Logger, text string, args ...any) {
	w.mu.Lock()
	known := w.logged[text]
	if w.logged == nil {
		w.logged = map[string]bool{}
	}
	w.logged[text] = true
	w.mu.Unlock()
	if !known {
		log.Warn(text, args...)
	}
}
