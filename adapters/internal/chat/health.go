package chat

import (
	"sync"

	"gatehouse/core"
)

// Outbound remembers whether a platform answered the last call (law 9).
type Outbound struct {
	Title string // of the platform

	mu       sync.Mutex
	answered bool // at least once
	err      error
}

// Record notes the result of a call; err has one of the categories of errors of calls. Any answer counts as success, except that the
// token is refused. A request to wait changes nothing.
func (o *Outbound) Record(err error) {
	switch core.CategoryOf(err) {
	case core.Unauthorized, core.DeliveryInDoubt:
		o.Set(err)
	case core.DeliveryLater:
		if core.RetryAfterOf(err) == 0 {
			o.Set(err)
		}
	default:
		o.Set(nil)
	}
}

// Set records that the platform answered (nil), or why it did not.
func (o *Outbound) Set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered, o.err = o.answered || err == nil, err
}

// Err returns nil if the platform answered the last call, else the reason why not.
func (o *Outbound) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && !o.answered {
		return core.Errorf(core.DeliveryLater, "%s has not answered yet.", o.Title)
	}
	return o.err
}
