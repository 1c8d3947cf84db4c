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

func (r *running) add(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// watch asks the store, for all running turns at once, which were told to stop and which lost their conversation to another process.
func (d *Dispatcher) watch(ctx context.Context) {
	tick := time.NewTicker(stopPoll / 2)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.check(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (d *Dispatcher) check(ctx context.Context) {
	turns := d.running.all() // before the query: a turn that is claimed meanwhile is not missed in its answer
	if len(turns) == 0 {
		return
	}
	holds, err := d.Store.Holds(ctx, d.Owner)
	if err != nil {
		return // no other process can have taken anything that can't be read here; the next tick asks again
	}
	held := map[core.QueueKey]core.Hold{}
	for _, h := range holds {
		held[h.Key] = h
	}
	for _, t := range turns {
		switch h, ok := held[t.claim.Key]; {
		case !ok || h.Fence != t.claim.Fence:
			t.cut(errLost)
		case h.Stop:
			t.ledger.stop()
		}
	}
}
