package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/core"
)

// openEvent is an event that was begun. The session passes it once it is committed and all before it are.
type openEvent struct {
	seq     int64
	message string        // its id, where it is one
	done    chan struct{} // closed at its commit; nil: it is committed
}

// committer commits the events of one connection in their order.
type committer struct {
	*shard
	queue   chan event
	resumes atomic.Bool              // the session is resumed over the next connection
	taking  sync.WaitGroup           // events that are taken concurrently
	waiting map[string]chan struct{} // commits that others wait for: by channel, and by message that may begin a thread
}

// queueLength is how many events wait for their commit before no more are read.
const queueLength = 1024

func newCommitter(s *shard) *committer {
	return &committer{shard: s, queue: make(chan event, queueLength), waiting: map[string]chan struct{}{}}
}

// maxOpen is how many events are begun while the first of them is not committed.
const maxOpen = 10_000

// commits takes the events in their order. One for which Discord must be asked where it belongs is taken concurrently, and what follows
// it in its conversation waits for it; other conversations don't. What such a look-up holds up when the connection ends comes again where
// the session is resumed. What an earlier process did not come to fetch when the session began is fetched before what is replayed: it is
// older.
func (c *committer) commits(ctx context.Context, resumed session) {
	if resumed.ID != "" {
		c.catchUp(ctx)
	}
	log := core.NewErrorLog(c.Log, "storing the state of a session with Discord")
	tick := time.NewTicker(SaveEvery)
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
		case <-first:
		case <-tick.C:
			log.Report(c.session.save(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// pass removes the events that are committed with all before them.
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
	clear(c.waiting) // nobody waits any more
	return open
}

// start takes an event up to its commit, or starts to take it concurrently; false: ctx has ended before.
func (c *committer) start(ctx, concurrent context.Context, e event) (openEvent, bool) {
	if e.name == "READY" {
		c.catchUp(ctx)
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
	before := c.waiting[at.Channel]
	select {
	case <-before:
		before = nil
	default:
	}
	if before == nil && (begun.message == "" || at.Guild == "" || c.Known(at)) {
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
		if c.take(concurrent, e) {
			close(begun.done)
		}
	})
	return begun, true
}
