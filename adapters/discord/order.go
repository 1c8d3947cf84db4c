package discord

import (
	"context"
	"encoding/json"
	"time"

	"gatehouse/core"
)

// item is an event that waits for its commit.
type item struct {
	seq  int64
	kind string
	data json.RawMessage
	done chan struct{} // of what is taken beside the others: closed at its commit
}

// passage is an event that was begun. The session is behind it once it is committed and all before it are.
type passage struct {
	seq     int64
	message string        // its id, where it is one
	done    chan struct{} // closed at its commit; nil: it is committed
}

// maxPassages is how many events are begun while the first of them is not committed.
const maxPassages = 10_000

// commits takes the events in their order. One of which Discord must be asked where it stands is taken beside the others, and what
// comes after it in its conversation waits for it; the others do not. What such a look-up holds up when the connection ends is left
// to the next one where the session goes on there: it comes again. What an earlier process did not come to fetch when the session
// began is fetched before what is replayed: it is older.
func (k *link) commits(ctx context.Context, goesOn session) {
	keep := k.shard.keep
	if goesOn.ID != "" {
		k.shard.catchUp(ctx)
	}
	trouble := core.NewErrorLog(k.shard.discord.Log, "storing the state of a session with Discord")
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	beside, leave := context.WithCancel(ctx)
	defer leave()
	var begun []passage
	for queue := k.queue; queue != nil || len(begun) > 0; begun = k.pass(begun) {
		var first chan struct{}
		if len(begun) > 0 {
			first = begun[0].done
		}
		from := queue
		if len(begun) >= maxPassages {
			from = nil
		}
		select {
		case it, ok := <-from:
			if !ok {
				if queue = nil; k.resumes.Load() {
					return
				}
				continue
			}
			if it.kind == "READY" {
				trouble.Report(keep.save(ctx)) // a session that is not kept would have to be begun anew
			}
			p, ok := k.begin(ctx, beside, it)
			if !ok {
				return
			}
			begun = append(begun, p)
		case <-first:
		case <-tick.C:
			trouble.Report(keep.save(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// pass takes off what is committed with all before it.
func (k *link) pass(begun []passage) []passage {
	for len(begun) > 0 {
		if p := begun[0]; p.done != nil {
			select {
			case <-p.done:
			default:
				return begun
			}
		}
		k.shard.keep.passed(begun[0].seq, begun[0].message)
		begun = begun[1:]
	}
	clear(k.waiting) // nobody does any more
	return begun
}

// begin takes an event up to its commit, or has it taken beside the others; false: ctx has ended before.
func (k *link) begin(ctx, beside context.Context, it item) (passage, bool) {
	at := whereIs(it)
	p := passage{seq: it.seq, done: it.done}
	if it.kind == "MESSAGE_CREATE" {
		p.message = at.ID
	}
	if it.done != nil {
		return p, true
	}
	before := k.waiting[at.Channel]
	select {
	case <-before:
		before = nil
	default:
	}
	if before == nil && (p.message == "" || at.Guild == "" || k.shard.discord.atlas.knows(at)) {
		return p, k.shard.take(ctx, it)
	}
	p.done = make(chan struct{})
	k.waiting[at.Channel] = p.done
	if p.message != "" {
		k.waiting[p.message] = p.done // the thread that begins with it
	}
	k.beside.Go(func() {
		if before != nil {
			select {
			case <-before:
			case <-beside.Done():
				return
			}
		}
		if k.shard.take(beside, it) {
			close(p.done)
		}
	})
	return p, true
}

// whereabouts is what must be known of an event to keep it in its order.
type whereabouts struct {
	ID      string   `json:"id"`
	Channel string   `json:"channel_id"`
	Guild   string   `json:"guild_id"`
	Roles   []string `json:"mention_roles"`
}

// whereIs tells where an event of a conversation stands; its zero value: it is of none.
func whereIs(it item) whereabouts {
	var at whereabouts
	switch it.kind {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "INTERACTION_CREATE":
		if json.Unmarshal(it.data, &at) != nil {
			return whereabouts{} // it is refused when it is read whole
		}
	}
	return at
}
