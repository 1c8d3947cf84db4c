package discord

import (
	"sync"
	"time"
)

// Discord bans an address for a while that makes 10,000 calls within ten minutes which it answers with 401, 403 or a 429 of its own
// making. Other programs may share the address, so we stop long before.
const (
	maxInvalid    = 500
	invalidWindow = 10 * time.Minute
)

// invalid counts such calls.
type invalid struct {
	now func() time.Time

	mu sync.Mutex
	at []time.Time // the last maxInvalid of them at most
}

func newInvalid(now func() time.Time) *invalid { return &invalid{now: now} }

func (i *invalid) count() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.at = append(i.at, i.now())
	if len(i.at) > maxInvalid {
		i.at = append(i.at[:0], i.at[len(i.at)-maxInvalid:]...)
	}
}

// many reports that half of them are used up.
func (i *invalid) many() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.at) >= maxInvalid/2 && i.now().Sub(i.at[len(i.at)-maxInvalid/2]) < invalidWindow
}

// wait is how long Discord is to be left alone; zero: it may be called.
func (i *invalid) wait() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.at) < maxInvalid {
		return 0
	}
	return max(0, i.at[0].Add(invalidWindow).Sub(i.now()))
}
