package gateway

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// Limits of what is fetched after a gap.
const (
	catchUpTime          = 5 * time.Minute // for all of it
	catchUpParallel      = 4               // conversations at the same time; more would use up the rate limit that posts need
	catchUpConversations = 200             // those that were active last
	CatchUpSlack         = time.Minute     // how far one may lag behind a message of another channel
)

// since returns the message after which a conversation's messages are fetched; "": none are. last is the last message committed before the
// gap.
func (c Conversation) since(last string) string {
	since := c.Last
	if last != "" {
		since = snowflake.Max(since, snowflake.At(snowflake.Time(last).Add(-CatchUpSlack)))
	}
	if since == "" {
		return ""
	}
	return snowflake.Max(since, c.Begins)
}

// catchUp fetches the messages that the known conversations missed because a session could not be resumed. It runs beside the events: only
// the messages of a conversation that is not fetched yet wait, so that they follow those that were missed. A message that is both fetched
// and received is recognized when it is accepted. A catch-up outlives its connection if the session is resumed.
type catchUp struct {
	*shard
	gap     int    // see sessionStore.gap
	last    string // the last message committed before the gap
	cancel  context.CancelFunc
	running sync.WaitGroup
	listed  chan struct{} // closed once the conversations are known

	mu     sync.Mutex
	todo   []Conversation
	held   map[string]chan struct{} // by channel; closed once the conversation is fetched, or passed over
	missed Missed
}

// beginCatchUp starts to fetch what was missed if the session began after a gap, unless that is under way. A newer gap begins it anew.
func (s *shard) beginCatchUp(ctx context.Context) {
	from, gap := s.session.behind()
	if s.catching != nil && s.catching.gap == gap {
		return
	}
	s.endCatchUp()
	if !from.Behind {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	u := &catchUp{shard: s, gap: gap, last: from.Since, cancel: cancel, listed: make(chan struct{}), held: map[string]chan struct{}{}}
	s.catching = u
	u.running.Go(func() { u.run(ctx) })
}

// endCatchUp stops a catch-up. What it has not fetched remains to be fetched by the next one.
func (s *shard) endCatchUp() {
	if s.catching != nil {
		s.catching.cancel()
		s.catching.running.Wait()
		s.catching = nil
	}
}

// run fetches everything, as far as the limits allow.
func (u *catchUp) run(ctx context.Context) {
	defer u.cancel()
	if u.Conversations != nil {
		u.list(u.conversations(ctx))
	}
	if ctx.Err() != nil {
		return
	}
	close(u.listed)
	timed, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	var workers sync.WaitGroup
	log := retry.NewLog(u.Log, "fetching missed messages")
	for range catchUpParallel {
		workers.Go(func() { u.work(ctx, timed, log) })
	}
	workers.Wait()
	if ctx.Err() != nil {
		return
	}
	u.report(ctx)
	u.session.caughtUp(u.gap)
	u.mu.Lock()
	defer u.mu.Unlock()
	for channel, held := range u.held { // those for which there was no time
		close(held)
		delete(u.held, channel)
	}
}

// conversations reads the shard's conversations and retries until it succeeds. It returns none if ctx ends first.
func (u *catchUp) conversations(ctx context.Context) []Conversation {
	log := retry.NewLog(u.Log, "reading which conversations are known")
	pause := firstStoreRetry
	for {
		all, err := u.Conversations(ctx)
		if ctx.Err() != nil {
			return nil
		}
		log.Report(err)
		if err == nil {
			return slices.DeleteFunc(all, func(c Conversation) bool { return !u.owns(c.Guild) })
		}
		u.Sleep(ctx, pause)
		pause = min(2*pause, maxStoreRetry)
	}
}

// list takes over the conversations that are fetched.
func (u *catchUp) list(all []Conversation) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all = slices.DeleteFunc(all, func(c Conversation) bool { return c.since(u.last) == "" })
	u.todo = all[:min(len(all), catchUpConversations)]
	u.missed.Beyond = len(all) - len(u.todo)
	for _, c := range u.todo {
		u.held[c.Channel] = make(chan struct{})
	}
}

// work fetches conversations, one after the other, until none is left or the time of timed is over. A conversation that Discord does not
// give now comes after the others.
func (u *catchUp) work(ctx, timed context.Context, log *retry.Log) {
	for timed.Err() == nil {
		c, ok := u.next()
		if !ok {
			return
		}
		err := u.fetch(ctx, timed, &c)
		switch {
		case timed.Err() != nil:
			u.later(c)
		case core.IsTemporary(err):
			u.mu.Lock()
			log.Report(err)
			u.mu.Unlock()
			u.later(c)
			u.Sleep(timed, max(u.jitter(chat.FirstRetry), core.RetryAfterOf(err)))
		default:
			u.fetched(c, err)
		}
	}
}

func (u *catchUp) next() (c Conversation, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.todo) == 0 {
		return Conversation{}, false
	}
	c, u.todo = u.todo[0], u.todo[1:]
	return c, true
}

func (u *catchUp) later(c Conversation) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.todo = append(u.todo, c)
}

// fetched releases the messages of a conversation that were received meanwhile.
func (u *catchUp) fetched(c Conversation, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case errors.Is(err, errTooMany):
		u.missed.TooMany = append(u.missed.TooMany, c.Channel)
		u.Log.Warn("there were too many messages while no events were received; the latest of them are not fetched", "channel", c.Channel)
	case err != nil:
		u.missed.Refused = append(u.missed.Refused, c.Channel)
		u.Log.Warn("the messages sent while no events were received could not be fetched", "channel", c.Channel, "err", err)
	}
	close(u.held[c.Channel])
	delete(u.held, c.Channel)
}

// holds reports whether a message of a channel has to wait now; u may be nil.
func (u *catchUp) holds(channel string) bool {
	if u == nil {
		return false
	}
	select {
	case <-u.listed:
	default:
		return true
	}
	return u.heldBy(channel) != nil || u.heldBy(u.Parent(channel)) != nil
}

func (u *catchUp) heldBy(channel string) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.held[channel]
}

// wait waits until a message of a channel may be committed: its conversation is fetched and, for a thread, also the channel in which it may
// have begun. It returns false if ctx ends or dropped is closed first.
func (u *catchUp) wait(ctx context.Context, dropped <-chan struct{}, channel string) bool {
	reached := func(waits <-chan struct{}) bool {
		select {
		case <-waits:
			return true
		case <-ctx.Done():
			return false
		case <-dropped:
		}
		select {
		case <-waits: // both have happened
			return true
		default:
			return false
		}
	}
	if !reached(u.listed) {
		return false
	}
	for _, id := range []string{u.Parent(channel), channel} {
		if held := u.heldBy(id); held != nil && !reached(held) {
			return false
		}
	}
	return true
}
