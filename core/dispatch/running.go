package dispatch

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// running are the turns of this process.
type running struct {
	mu    sync.Mutex
	turns map[core.QueueKey]*turn // guarded by mu
}

// add adds a turn. One of the same queue that still runs has lost it, or it could not have been claimed again.
func (r *running) add(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.turns[t.claim.Key]; before != nil {
		before.cut(errLost)
	}
	r.turns[t.claim.Key] = t
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

// watch asks the store, for all running turns at once, which were told to stop and, less often, which lost their conversation to another
// process. The second question costs a row for each turn, and can wait: a turn that lost its conversation writes nothing.
func (d *Dispatcher) watch(ctx context.Context) {
	tick := time.NewTicker(stopPoll / 2)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
			d.check(ctx, n%stopsPerLoss == 0)
		case <-ctx.Done():
			return
		}
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
			t.ledger.stop()
		case lost && (!ok || h.Fence != t.claim.Fence):
			t.cut(errLost)
		}
	}
}
