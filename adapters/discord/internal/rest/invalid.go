package rest

import (
	"sync"
	"time"
)

// Discord bans an address for a while after 10,000 calls within ten minutes that it answers with 401, 403, or a 429 caused by the caller.
// Other programs may share the address, so this client stops long before that.
const (
	MaxInvalid    = 500
	InvalidWindow = 10 * time.Minute
)

// invalidRequests counts such calls.
type invalidRequests struct {
	now func() time.Time

	mu sync.Mutex
	at []time.Time // of the last MaxInvalid at most
}

func newInvalidRequests(now func() time.Time) *invalidRequests { return &invalidRequests{now: now} }

func (i *invalidRequests) count() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.at = append(i.at, i.now())
	if len(i.at) > MaxInvalid {
		i.at = append(i.at[:0], i.at[len(i.at)-MaxInvalid:]...)
	}
}

// many reports whether half of MaxInvalid is used up.
func (i *invalidRequests) many() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.at) >= MaxInvalid/2 && i.now().Sub(i.at[len(i.at)-MaxInvalid/2]) < InvalidWindow
}

// wait returns how long no call may be made; zero: calls may be made.
func (i *invalidRequests) wait() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.at) < MaxInvalid {
		return 0
	}
	return max(0, i.at[0].Add(InvalidWindow).Sub(i.now()))
}
