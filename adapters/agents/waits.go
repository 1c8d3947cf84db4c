package agents

import (
	"sync"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// waits counts the requests that wait, by principal.
type waits struct {
	most int
	mu   sync.Mutex
	now  map[string]int
}

// enter counts a request that begins to wait; leave ends it. Error: rate_limited.
func (w *waits) enter(who access.Person) (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now[who.Actor.ID] >= w.most {
		return nil, core.Errorf(core.RateLimited, "%d of your requests wait already, which is the limit. Ask for the "+
			"state without waiting, or let one request wait at a time.", w.most)
	}
	w.now[who.Actor.ID]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.now[who.Actor.ID]--; w.now[who.Actor.ID] == 0 {
			delete(w.now, who.Actor.ID)
		}
	}, nil
}
