package socketmode

import (
	"sync"
	"time"
)

// How often Slack pings.
const (
	pingPeriod  = 30 * time.Second // assumed until enough pings have been seen
	minPatience = time.Second
	minGaps     = 3 // how many periods must have been seen before they are used
)

// pings measures how often Slack pings. Two periods of silence mean that the connection is dead.
type pings struct {
	mu   sync.Mutex
	last time.Time
	gaps [4]time.Duration
	n    int
}

func (p *pings) add(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		p.gaps[p.n%len(p.gaps)] = now.Sub(p.last)
		p.n++
	}
	p.last = now
}

// patience returns how long the connection may be silent: twice the longest of the last periods.
func (p *pings) patience() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n < minGaps {
		return 2 * pingPeriod
	}
	longest := minPatience / 2
	for _, gap := range p.gaps[:min(p.n, len(p.gaps))] {
		longest = max(longest, gap)
	}
	return min(2*longest, 2*pingPeriod)
}
