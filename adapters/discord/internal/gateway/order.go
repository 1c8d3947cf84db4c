package gateway

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core/retry"
)

// event is an event that waits for its commit.
type event struct {
	seq  int64
	name string // such as MESSAGE_CREATE
	data json.RawMessage
	done chan struct{} // of an event processed concurrently: closed at its commit
}

// Times between attempts to store an event.
const (
	firstStoreRetry = 100 * time.Millisecond
	maxStoreRetry   = 5 * time.Second
)

func (e event) location() Location {
	var at Location
	switch e.name {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "INTERACTION_CREATE":
		if chat.Decode(e.data, &at) != nil {
			return Location{} // it is refused when it is read in full
		}
	}
	return at
}

// take processes an event up to its commit, with retries; false: ctx has ended first.
func (s *shard) take(ctx context.Context, e event) bool {
	pause := firstStoreRetry
	for {
		if s.Take(ctx, e.name, e.data) != chat.NotStored {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.Sleep(ctx, pause)
		pause = min(2*pause, maxStoreRetry)
	}
}

// openEvent is an event in progress. The session passes it once it and all before it are committed.
type openEvent struct {
	seq     int64
	message string        // the id, if it is a message
	done    chan struct{} // closed at its commit; nil: committed
}

// committer commits the events of one connection in their order.
type committer struct {
	*shard
	queue   chan event
	resumes atomic.Bool              // the next connection resumes the session
	taking  sync.WaitGroup           // events processed concurrently
	waiting map[string]chan struct{} // commits that others wait for: by channel, and by message that may begin a thread
	dropped chan struct{}            // closed when messages that wait for the catch-up are left to the next one
}

// queueLength is how many events may wait for their commit before reading pauses.
const queueLength = 1024

func newCommitter(s *shard) *committer {
	return &committer{shard: s, queue: make(chan event, queueLength), waiting: map[string]chan struct{}{}, dropped: make(chan struct{})}
}

// maxOpen is how many events may be in progress while the first of them is not committed. Events in between that are committed count as
// one.
const maxOpen = 10_000

// commits processes the events in order. An event that needs a look-up at Discord to find its channel is processed concurrently, and so is a
// message whose conversation is still searched for missed messages. Later events of the conversation wait for it; other conversations don't.
// If the connection ends meanwhile, the resumed session repeats the events that waited; if it can't be resumed, the next catch-up fetches
// the messages among them.
func (c *committer) commits(ctx context.Context, resumed session) {
	if resumed.ID != "" {
		c.beginCatchUp(ctx) // what an earlier process did not get to fetch
	}
	log := retry.NewLog(c.Log, "storing the state of a session with Discord")
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	concurrent, leave := context.WithCancel(ctx)
	defer leave()
	var open []openEvent
	for queue := c.queue; queue != nil || len(open) > 0; open = c.pass(open) {
		var first chan struct{}
		if len(open) > 0 {
			first = open[0].done
		}
		from := queue
		if len(open) >= maxOpen {
			from = nil
		}
		select {
		case e, ok := <-from:
			if !ok {
				if queue = nil; c.resumes.Load() {
					return
				}
				c.endCatchUp()
				close(c.dropped)
				continue
			}
			if e.name == "READY" {
				log.Report(c.session.save(ctx)) // without it a killed process would have to identify again
			}
			begun, ok := c.start(ctx, concurrent, e)
			if !ok {
				return
			}
			open = appendOpen(open, begun)
		case <-first:
		case <-tick.C:
			log.Report(c.session.save(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// appendOpen adds an event. A committed one that follows another committed one is joined with it.
func appendOpen(open []openEvent, e openEvent) []openEvent {
	if n := len(open) - 1; n >= 0 && open[n].done == nil && e.done == nil {
		open[n].seq, open[n].message = e.seq, snowflake.Max(open[n].message, e.message)
		return open
	}
	return append(open, e)
}

// pass removes the leading events that are committed.
func (c *committer) pass(open []openEvent) []openEvent {
	for len(open) > 0 {
		if e := open[0]; e.done != nil {
			select {
			case <-e.done:
			default:
				return open
			}
		}
		c.session.committed(open[0].seq, open[0].message)
		open = open[1:]
	}
	clear(c.waiting) // no event waits any more
	return open
}

// start processes an event up to its commit, or starts to process it concurrently; false: ctx has ended first. A command does not wait for
// a catch-up, since Discord waits three seconds for its answer.
func (c *committer) start(ctx, concurrent context.Context, e event) (openEvent, bool) {
	if e.name == "READY" {
		c.beginCatchUp(ctx)
		return openEvent{seq: e.seq}, true
	}
	at := e.location()
	begun := openEvent{seq: e.seq, done: e.done}
	if e.name == "MESSAGE_CREATE" {
		begun.message = at.Message
	}
	if e.done != nil {
		return begun, true
	}
	before, behind := c.waiting[at.Channel], c.catching
	select {
	case <-before:
		before = nil
	default:
	}
	held := at.Channel != "" && behind.holds(at.Channel)
	if e.name == "INTERACTION_CREATE" && held {
		return begun, c.take(ctx, e)
	}
	if before == nil && !held && (begun.message == "" || at.Guild == "" || c.Known(at)) {
		return begun, c.take(ctx, e)
	}
	begun.done = make(chan struct{})
	c.waiting[at.Channel] = begun.done
	if begun.message != "" {
		c.waiting[begun.message] = begun.done // the thread that begins with it
	}
	c.taking.Go(func() {
		if before != nil {
			select {
			case <-before:
			case <-concurrent.Done():
				return
			}
		}
		if held && !behind.wait(concurrent, c.dropped, at.Channel) {
			if concurrent.Err() == nil {
				close(begun.done)
			}
			return
		}
		if c.take(concurrent, e) {
			close(begun.done)
		}
	})
	return begun, true
}
