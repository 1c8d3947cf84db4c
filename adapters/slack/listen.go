package slack

import (
	"context"
	"sync"
	"time"

	"gatehouse/core"
)

// Numbers of how connections follow each other.
const (
	maxConnections = 10               // of one app, all its processes together; Slack's limit
	crowdedWait    = 90 * time.Second // after Slack said that there are too many: no stampede
	firstRedial    = time.Second
	maxRedial      = time.Minute
	steady         = time.Minute // a connection that lasted as long was a good one: the next is opened at once
)

// listen keeps one connection to Slack open, and while it is replaced a second one, until ctx ends. Its error: going on is useless.
func (s *Slack) listen(ctx context.Context, accept core.Accept) error {
	var open sync.WaitGroup
	defer open.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop() // those that are open end with it
	trouble := core.NewErrorLog(s.Log, "opening a socket to Slack")
	redial := firstRedial
	var now, before *socket // the one that is heard, and the one that it replaced
	for ctx.Err() == nil {
		switch {
		case now != nil && now.over(): // then the older one may be all that is left: it is heard until the next one is open
			now = before
		case before != nil:
			before.hangUp() // so that there are never more than two
		}
		before = now
		k, err := s.dial(ctx, accept)
		if ctx.Err() != nil {
			if k != nil {
				k.end()
			}
			return nil
		}
		trouble.Report(err)
		if err != nil {
			if c := core.CategoryOf(err); c == core.ProviderAuthentication || c == core.Unsupported {
				return err
			}
			s.sleep(ctx, max(s.jitter(redial), core.RetryAfterOf(err)))
			redial = min(2*redial, maxRedial)
			now, before = before, nil
			continue
		}
		if before != nil {
			last := before
			open.Go(last.retire)
		}
		now = k
		began := time.Now()
		open.Go(func() { k.run(ctx) })
		select {
		case <-k.leave:
		case <-ctx.Done():
			return nil
		}
		if k.fatal != nil {
			return k.fatal
		}
		if k.crowded {
			s.sleep(ctx, s.jitter(crowdedWait))
		}
		if time.Since(began) < steady {
			s.sleep(ctx, s.jitter(redial)) // one that closes at once must not be followed at once
			redial = min(2*redial, maxRedial)
		} else {
			redial = firstRedial
		}
	}
	return nil
}

// ears knows the connections that are alive.
type ears struct {
	mu   sync.Mutex
	live map[*socket]bool
}

func (e *ears) opened(k *socket) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live == nil {
		e.live = map[*socket]bool{}
	}
	e.live[k] = true
}

func (e *ears) closed(k *socket) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, k)
}

func (e *ears) state() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.live) == 0 {
		return core.Errorf(core.DeliveryLater, "No socket to Slack is open, so nothing is heard.")
	}
	return nil
}
