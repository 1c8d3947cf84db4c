package dispatch

import (
	"context"
	"sync"
)

// turnMemory is what any turn is taken to hold: its stack of 16 KiB, its contexts, the state of its graph and the
// connection to a model's server, rounded up from what 2,000 waiting turns were measured to take.
const turnMemory = 64 << 10

// copies is how often a turn that asks a model holds the text of its conversation: as it was read, as the model is
// shown it, and as it is sent.
const copies = 3

// slots limit how many turns run at the same time, and how much memory they hold: no more begin at either limit.
type slots struct {
	freed wake

	mu     sync.Mutex
	taken  int   // guarded by mu, as what follows
	held   int64 // bytes, estimated
	most   int
	budget int64 // 0: no limit
}

func newSlots(most int, budget int64) *slots {
	return &slots{freed: newWake(), most: most, budget: budget}
}

// Load is how busy a dispatcher is.
type Load struct {
	Running int // turns that hold a slot
	Workers int // the limit
	Held    int64
	Memory  int64 // the limit of Held; 0: none
}

// Full is why no turn could begin now: "workers" or "memory"; "" if one could.
func (l Load) Full() string {
	switch {
	case l.Running >= l.Workers:
		return "workers"
	case l.Memory > 0 && l.Running > 0 && l.Held+turnMemory > l.Memory: // one turn may always run, however large it is
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
	return Load{Running: p.taken, Workers: p.most, Held: p.held, Memory: p.budget}
}

// tryTake takes a slot if one is free.
func (p *slots) tryTake() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loadLocked().Full() != "" {
		return false
	}
	p.taken++
	p.held += turnMemory
	if p.loadLocked().Full() == "" {
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
	p.held -= int64(n) * turnMemory
	p.mu.Unlock()
	p.freed.nudge()
}

// grow adds bytes to what the turns hold, or takes them away. It never waits: a turn that has begun goes on.
func (p *slots) grow(bytes int64) {
	p.mu.Lock()
	p.held += bytes
	p.mu.Unlock()
	if bytes < 0 {
		p.freed.nudge()
	}
}
