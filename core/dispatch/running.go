package dispatch

import (
	"context"
	"maps"
	"slices"
	"sync"

	"gatehouse/core"
)

// running are the turns of this process.
type running struct {
	began wake // the first turn has begun
	news  wake // a turn or a step of one has begun
	mu    sync.Mutex
	turns map[core.QueueKey]*turn // guarded by mu
}

func newRunning() running {
	return running{began: newWake(), news: newWake(), turns: map[core.QueueKey]*turn{}}
}

// add adds a turn. One of the same queue that still runs has lost it, or it could not have been claimed again.
func (r *running) add(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.turns[t.claim.Key]; before != nil {
		before.cut(errLost)
	}
	if len(r.turns) == 0 {
		r.began.nudge()
	}
	r.turns[t.claim.Key] = t
	r.news.nudge()
}

func (r *running) remove(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns[t.claim.Key] == t { // the queue may be claimed again already
		delete(r.turns, t.claim.Key)
	}
}

func (r *running) all() []*turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.turns))
}

// some waits until a turn runs; it reports false if ctx ends before.
func (r *running) some(ctx context.Context) bool {
	for ctx.Err() == nil {
		r.mu.Lock()
		n := len(r.turns)
		r.mu.Unlock()
		if n > 0 {
			return true
		}
		select {
		case <-r.began:
		case <-ctx.Done():
		}
	}
	return false
}

// watch asks the store, for all running turns at once, which were told to stop and, less often, which lost their
// conversation to another process. The second question costs a row for each turn, and can wait: a turn that lost its
// conversation writes nothing.
func (d *Dispatcher) watch(ctx context.Context) {
	for n := 1; d.running.some(ctx); n++ {
		pause(ctx, stopPoll/2)
		d.check(ctx, n%stopsPerLoss == 0)
	}
}

// check ends the turns that were told to stop, and with lost those that lost their conversation.
func (d *Dispatcher) check(ctx context.Context, lost bool) {
	turns := d.running.all() // before the query: a turn that is claimed meanwhile is not missed in its answer
	if len(turns) == 0 {
		return
	}
	holds, err := d.Store.Holds(ctx, d.Owner, !lost)
	if err != nil {
		return // no other process can have taken anything that can't be read here; the next tick asks again
	}
	held := make(map[core.QueueKey]core.Hold, len(holds))
	for _, h := range holds {
		held[h.Key] = h
	}
	for _, t := range turns {
		switch h, ok := held[t.claim.Key]; {
		case ok && h.Fence == t.claim.Fence && h.Stop:
			t.ledger.stop(stopOf(h))
		case lost && (!ok || h.Fence != t.claim.Fence):
			t.cut(errLost)
		}
	}
}
