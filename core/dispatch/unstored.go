package dispatch

import (
	"sync"

	"gatehouse/core"
)

// unstored are the turns whose last write failed, and is tried again.
type unstored struct {
	mu  sync.Mutex
	why map[*turn]error // guarded by mu
}

func (u *unstored) note(t *turn, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !core.IsStoreFailure(err) {
		delete(u.why, t)
		return
	}
	if u.why == nil {
		u.why = map[*turn]error{}
	}
	u.why[t] = err
}

// Unstored fails if the database does not take the result of a turn, which is tried again. Its other writes may work.
func (d *Dispatcher) Unstored() error {
	d.unstored.mu.Lock()
	defer d.unstored.mu.Unlock()
	for _, err := range d.unstored.why {
		return core.Wrap(core.CategoryOf(err), err, "The database does not take the results of turns (%d). %s",
			len(d.unstored.why), core.MessageOf(err))
	}
	return nil
}
