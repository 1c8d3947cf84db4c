package dispatch

import (
	"gatehouse/core"
	"gatehouse/core/inflight"
)

// room is the memory of the turns that one claim begins: that of each is taken as its event is found, when its size and
// its person are known. What is refused stays in its queue, so that the events of others can be claimed.
type room struct {
	*Dispatcher
	most    int // events
	taken   map[int64]*inflight.Hold
	refused int // queues that were found and left
}

func (d *Dispatcher) newRoom(most int) *room {
	return &room{Dispatcher: d, most: most, taken: map[int64]*inflight.Hold{}}
}

// Admits takes the memory of an event's turn.
func (r *room) Admits(e core.EventRecord, payload int64) bool {
	if _, known := r.taken[e.Seq]; known {
		return true
	}
	if len(r.taken) < r.most {
		if hold, ok := r.holdFor(e, payload); ok {
			r.taken[e.Seq] = hold
			return true
		}
	}
	r.refused++
	return false
}

// of is the memory of a claimed event; it is the turn's.
func (r *room) of(seq int64) *inflight.Hold {
	hold := r.taken[seq]
	delete(r.taken, seq)
	return hold
}

// leave gives back what no claim came of.
func (r *room) leave() {
	for seq, hold := range r.taken {
		r.notAlone(seq)
		hold.Release()
	}
}

// holdFor takes the memory of an event's turn, if it is there.
func (d *Dispatcher) holdFor(e core.EventRecord, payload int64) (hold *inflight.Hold, ok bool) {
	kind := inflight.Turns
	if d.large(payload) {
		kind = inflight.Large
	}
	hold = d.Memory.Hold(kind, e.Actor.ID)
	if !hold.Take(weight(payload)) {
		return nil, false
	}
	if d.large(payload) && e.Attempt > 1 && !d.alone.CompareAndSwap(0, e.Seq) {
		hold.Release()
		return nil, false
	}
	return hold, true
}

// large reports whether the turn of a payload may be too big for the process: it holds so much that a few like it would
// be.
func (d *Dispatcher) large(payload int64) bool {
	limit := d.Memory.Limit()
	return limit > 0 && weight(payload) > limit/largePart
}

// notAlone ends that a large event runs alone.
func (d *Dispatcher) notAlone(seq int64) { d.alone.CompareAndSwap(seq, 0) }
