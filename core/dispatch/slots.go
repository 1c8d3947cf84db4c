package dispatch

import (
	"context"
	"sync"

	"gatehouse/core/inflight"
)

// slots limit how many turns run at the same time. No more begin while the budget of memory is used up, either.
type slots struct {
	freed  wake
	memory *inflight.Budget // nil: no limit

	mu    sync.Mutex
	taken int // guarded by mu, as what follows
	most  int
}

func newSlots(most int, memory *inflight.Budget) *slots {
	return &slots{freed: newWake(), most: most, memory: memory}
}

// Load is how busy a process is.
type Load struct {
	Running int // turns that hold a slot
	Workers int // the limit
	Held    int64
	Memory  int64 // the limit of Held, of which a tenth is not for turns; 0: none
}

// Full is why no turn could begin now: "workers" or "memory"; "" if one could.
func (l Load) Full() string {
	switch {
	case l.Running >= l.Workers:
		return "workers"
	case l.Memory > 0 && l.Running > 0 && l.Held+turnMemory > inflight.Unkept(l.Memory): // one turn may always run
		return "memory"
	}
	return ""
}

func (p *slots) load() Load {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loadLocked()
}

func (p *slots) loadLocked() Load {
	return Load{Running: p.taken, Workers: p.most, Held: p.memory.Held(), Memory: p.memory.Limit()}
}

// tryTake takes a slot if one is free.
func (p *slots) tryTake() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loadLocked().Full() != "" {
		return false
	}
	p.taken++
	if p.taken < p.most {
		p.freed.nudge() // there may be another that waits
	}
	return true
}

// take waits for a slot; it reports false if ctx ends before.
func (p *slots) take(ctx context.Context) bool {
	for ctx.Err() == nil {
		if p.tryTake() {
			return true
		}
		select {
		case <-p.freed:
		case <-p.memory.Freed():
		case <-ctx.Done():
		}
	}
	return false
}

// free gives n slots back.
func (p *slots) free(n int) {
	if n == 0 {
		return
	}
	p.mu.Lock()
	p.taken -= n
	p.mu.Unlock()
	p.freed.nudge()
}
