package outbox

import "maps"

// Event is something that is counted because people wait for it, or may see it.
type Event string

// The events.
const (
	InDoubt     Event = "in_doubt"      // the answer to a send was lost
	Arrived     Event = "arrived"       // a post in doubt was found
	AgainSafe   Event = "again_safe"    // one was sent again: the platform recognizes a second one
	AgainNewer  Event = "again_newer"   // one was sent again: something newer was shown, and not the post
	AgainUnseen Event = "again_unseen"  // one was sent again: neither it nor anything newer was shown for a while
	Unknown     Event = "unknown"       // one can't be looked for, and is not sent again
	TwinDeleted Event = "twin_deleted"  // a post stood twice, and one of the two was deleted
	TwinKept    Event = "twin_kept"     // a post stands twice: people have answered or pressed both
	AskedToWait Event = "asked_to_wait" // the platform asked to wait
	Outage      Event = "outage"        // post after post failed, so that only a few were tried from then on
)

// Events are all events.
var Events = []Event{
	InDoubt, Arrived, AgainSafe, AgainNewer, AgainUnseen, Unknown, TwinDeleted, TwinKept, AskedToWait, Outage,
}

// count counts an event.
func (l *lane) count(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[e]++
}

// Counts returns how often each event has happened in this process, by platform.
func (d *Deliverer) Counts() map[string]map[Event]int64 {
	all := map[string]map[Event]int64{}
	for _, l := range d.lanes {
		l.mu.Lock()
		all[l.platform] = maps.Clone(l.counts)
		l.mu.Unlock()
	}
	return all
}
