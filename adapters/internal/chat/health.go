package chat

import (
	"sync"

	"gatehouse/core"
)

// Outbound remembers whether a platform answered the last call (law 9).
type Outbound struct {
	Title string // of the platform

	mu       sync.Mutex
	answered bool // ever
	err      error
}

// Record notes what became of a call; err has one of the categories of errors of calls. Any answer counts, whatever it says, but one:
// that the token is refused. Asking to wait counts for nothing.
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

// Set notes that the platform answered (nil), or why it did not.
func (o *Outbound) Set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered, o.err = o.answered || err == nil, err
}

// Err is nil where the platform answered the last call, else what is in the way.
func (o *Outbound) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && !o.answered {
		return core.Errorf(core.DeliveryLater, "%s has not answered yet.", o.Title)
	}
	return o.err
}
