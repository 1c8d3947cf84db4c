package slackload

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/wire"
)

// sender sends events to a bot over a number of connections, each of which sends the next event when its last one is acknowledged.
type sender struct {
	ledger  *ledger.Ledger
	world   world
	secret  string
	to      *url.URL
	senders int
	copies  int     // how often each event is sent
	rate    float64 // events a second; 0: as fast as they are acknowledged

	resent atomic.Int64 // events that were sent again, since they were not acknowledged
}

// retryPause is how long a sender waits before it sends an event again. Slack waits longer: it would show nothing more here.
const retryPause = 20 * time.Millisecond

// send sends the events from first up to, but not including, end, until each is acknowledged. sent is called with the number of those that are.
func (s *sender) send(ctx context.Context, first, end int, sent func(n int)) error {
	bodies := make([][]byte, end-first)
	for i := range bodies {
		bodies[i] = s.world.body(first + i)
	}
	var next, acked atomic.Int64
	var work sync.WaitGroup
	failed := make(chan error, s.senders)
	began := time.Now()
	for range s.senders {
		work.Go(func() {
			client, sign := wire.Client{Address: s.to.Host}, newSigner(s.secret)
			defer client.Close()
			free := began // since when this sender has nothing to do
			for {
				i := int(next.Add(1) - 1)
				n := i / s.copies
				if n >= len(bodies) {
					return
				}
				at := time.Now()
				if s.rate > 0 {
					at = s.await(began.Add(time.Duration(float64(i)/s.rate*float64(time.Second))), free)
				}
				s.ledger.Sent(first+n, at)
				if err := s.deliver(ctx, &client, sign, bodies[n], i%s.copies > 0); err != nil {
					failed <- fmt.Errorf("event %d: %w", first+n, err)
					return
				}
				s.ledger.Acked(first + n)
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
		return nil
	}
}

// await waits until an event is due, and returns from when its times count: from when it is sent, or, if its sender was not free then, from when
// it was due. So a bot that acknowledges slowly delays no event without being charged for it, and a timer that is late is not charged to the bot.
func (s *sender) await(due, free time.Time) time.Time {
	if free.After(due) {
		return due
	}
	time.Sleep(time.Until(due))
	return time.Now()
}

// deliver sends an event until it is acknowledged.
func (s *sender) deliver(ctx context.Context, client *wire.Client, sign *signer, body []byte, again bool) error {
	var last error
	for {
		status, err := client.Post(sign.sign(s.to.Host, s.to.Path, body, again))
		switch {
		case err == nil && status >= 200 && status < 300:
			return nil
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
			return fmt.Errorf("the bot answers %d %s", status, http.StatusText(status))
		case err != nil:
			last = err
		default:
			last = fmt.Errorf("the bot answers %d", status)
		}
		again = true
		s.resent.Add(1)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the last attempt: %w", ctx.Err(), last)
		case <-time.After(retryPause):
		}
	}
}
