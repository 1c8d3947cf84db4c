package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
)

// Deliver sends an event, or sends it again, and returns when it is acknowledged, which it records. It is for one
// goroutine.
type Deliver func(ctx context.Context, n int, again bool) error

// Send sends the events of a plan from first up to, but not including, end: each of its senders sends the next one when
// its last one is acknowledged, or, at a steady rate, when it is due, unless too many wait for their replies. connect
// makes what a sender sends with; close is called when it has sent all.
func Send(
	ctx context.Context, p Plan, book *ledger.Ledger, first, end int, sent func(n int),
	connect func() (d Deliver, close func()),
) error {
	var next, acked atomic.Int64
	var work sync.WaitGroup
	failed := make(chan error, p.Senders)
	began := time.Now()
	for range p.Senders {
		work.Go(func() {
			deliver, stop := connect()
			defer stop()
			free := began // since when this sender has nothing to do
			for {
				i := int(next.Add(1) - 1)
				n, again := p.event(i)
				n += first
				if n >= end || !room(ctx, p, book) {
					return
				}
				at := time.Now()
				if p.Rate > 0 {
					at = await(ctx, began.Add(time.Duration(float64(i)/p.Rate*float64(time.Second))), free)
				}
				book.Sent(n, at)
				if err := deliver(ctx, n, again); err != nil {
					failed <- fmt.Errorf("event %d: %w", n, err)
					return
				}
				free = time.Now()
				sent(int(acked.Add(1)))
			}
		})
	}
	work.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// await waits until an event is due, and returns from when its times count: from when it is sent, or, if its sender was
// not free then, from when it was due. So a bot that acknowledges slowly delays no event without being charged for it,
// and a timer that is late is not charged to the bot.
func await(ctx context.Context, due, free time.Time) time.Time {
	if free.After(due) {
		return due
	}
	select {
	case <-time.After(time.Until(due)):
	case <-ctx.Done():
	}
	return time.Now()
}

// backlogPause is how often is asked whether fewer events wait for their replies.
const backlogPause = 5 * time.Millisecond

// room waits until another event may be sent. It returns false if ctx ends first.
func room(ctx context.Context, p Plan, book *ledger.Ledger) bool {
	for p.Backlog > 0 && book.Waiting() >= p.Backlog && ctx.Err() == nil {
		select {
		case <-time.After(backlogPause):
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
