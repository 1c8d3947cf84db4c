package gateway

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
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
		if inbound.Decode(e.data, &at) != nil {
			return Location{} // it is refused when it is read in full
		}
	}
	return at
}

// take processes an event up to its commit, with retries; false: ctx has ended first.
func (s *shard) take(ctx context.Context, e event) bool {
	pause := firstStoreRetry
	for {
		if s.Take(ctx, e.name, e.data) != inbound.NotStored {
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
	channel string        // in which later events wait for it; "": none
	message string        // the id, if it is a message
	slow    bool          // it may take long, since it waits for a look-up or for the catch-up
	done    chan struct{} // closed at its commit; nil: committed
}

func (e openEvent) committed() bool {
	if e.done == nil {
		return true
	}
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// committer commits the events of one connection. Those of a channel are committed in their order.
type committer struct {
	*shard
	queue   chan event
	resumes atomic.Bool          // the next connection resumes the session
	taking  sync.WaitGroup       // events in progress
	slots   chan struct{}        // one for each of them that is not slow
	waiting map[string]openEvent // those that later events wait for: by channel, and by message that may begin a thread
	dropped chan struct{}        // closed when messages that wait for the catch-up are left to the next one
}

// queueLength is how many events may wait for their commit before reading pauses.
const queueLength = 1024

// maxTaking is how many events are committed at a time; the store commits them together.
const maxTaking = 32

func newCommitter(s *shard) *committer {
	return &committer{
		shard: s, queue: make(chan event, queueLength), slots: make(chan struct{}, maxTaking),
		waiting: map[string]openEvent{}, dropped: make(chan struct{}),
	}
}

// maxOpen is how many events may be in progress while the first of them is not committed. Events in between that are
// committed count as one.
const maxOpen = 10_000

// commits processes the events. It begins them in order and keeps the order within a channel. A few of different
// channels are committed at a time. An event that needs a look-up at Discord to find its channel does not count as one
// of them, nor does a message whose conversation is still searched for missed messages: later events of the
// conversation wait for it, other conversations don't. If the connection ends meanwhile, the resumed session repeats
// the events that are not committed; if it can't be resumed, the next catch-up fetches the messages among those that
// wait.
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
	joinAt := 2 * maxTaking // events in progress
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
			open = append(open, begun)
			if len(open) >= joinAt {
				open = c.join(open)
				joinAt = min(2*len(open)+2*maxTaking, maxOpen)
			}
		case <-first:
		case <-tick.C:
			log.Report(c.session.save(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// pass removes the leading events that are committed. The session passes them.
func (c *committer) pass(open []openEvent) []openEvent {
	for len(open) > 0 && open[0].committed() {
		c.session.committed(open[0].seq, open[0].message)
		c.forget(open[0])
		open = open[1:]
	}
	return open
}

// join makes one of committed events that follow each other.
func (c *committer) join(open []openEvent) []openEvent {
	joined := open[:0]
	for _, e := range open {
		if !e.committed() {
			joined = append(joined, e)
			continue
		}
		c.forget(e)
		if n := len(joined) - 1; n >= 0 && joined[n].done == nil {
			joined[n].seq, joined[n].message = e.seq, snowflake.Max(joined[n].message, e.message)
			continue
		}
		joined = append(joined, openEvent{seq: e.seq, message: e.message})
	}
	return joined
}

// forget removes a committed event from those that later ones wait for.
func (c *committer) forget(e openEvent) {
	for _, name := range []string{e.channel, e.message} {
		if w, ok := c.waiting[name]; ok && w.done == e.done {
			delete(c.waiting, name)
		}
	}
}

// start begins to process an event; false: ctx has ended first. Only an event of no channel is committed when start
// returns. A command does not wait for a catch-up, since Discord waits three seconds for its answer.
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
	switch {
	case e.done != nil:
		return begun, true
	case at.Channel == "":
		return begun, c.take(ctx, e)
	}
	behind, before := c.catching, c.waiting[at.Channel]
	held := behind.holds(at.Channel)
	begun.done = make(chan struct{})
	if held && e.name == "INTERACTION_CREATE" {
		before, held = openEvent{}, false
	} else {
		begun.channel = at.Channel
	}
	asks := (e.name == "MESSAGE_CREATE" || e.name == "MESSAGE_UPDATE") && at.Guild != "" && !c.Known(at)
	begun.slow = held || before.slow && !before.committed() || asks
	for _, name := range []string{begun.channel, begun.message} { // a message may begin a thread, which has its id
		if name != "" {
			c.waiting[name] = begun
		}
	}
	if !begun.slow {
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return begun, false
		}
	}
	c.taking.Go(func() {
		if !begun.slow {
			defer func() { <-c.slots }()
		}
		if before.done != nil {
			select {
			case <-before.done:
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
