package gateway

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// Limits of what is fetched after a gap.
const (
	catchUpTime = 5 * time.Minute // for all of it
	// conversations at the same time; more would use up the rate limit that posts need
	catchUpParallel = 4
	// those that were active last; the ones that an earlier catch-up has left come on top
	catchUpConversations = 200
	CatchUpSlack         = time.Minute // how far one may lag behind a message of another channel
)

// since returns the message after which a conversation's messages are fetched; "": none are. last is the last message
// committed before the gap.
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

// catchUp fetches the messages of the shard's backlog: those that the known conversations missed because a session
// could not be resumed. It runs beside the events: only the messages of a conversation that is not fetched yet wait, so
// that they follow those that were missed. A message that is both fetched and received is recognized when it is
// accepted. A catch-up outlives its connection if the session is resumed.
type catchUp struct {
	*shard
	from    session // as it began
	gap     int     // see sessionStore.gap
	cancel  context.CancelFunc
	running sync.WaitGroup
	listed  chan struct{} // closed once the backlog has the gap's conversations and is stored

	mu      sync.Mutex
	todo    []missing
	held    map[string]chan struct{} // by channel; closed once the conversation is fetched, or passed over
	missed  Missed
	storing *retry.Log // of the backlog
}

// beginCatchUp starts to fetch what was missed if the session began after a gap, or if an earlier process has left
// something to fetch, unless that is under way. A newer gap begins it anew.
func (s *shard) beginCatchUp(ctx context.Context) {
	from, gap := s.session.behind()
	if s.catching != nil && s.catching.gap == gap {
		return
	}
	s.endCatchUp()
	if !from.Behind && len(s.backlog.all()) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	u := &catchUp{
		shard: s, from: from, gap: gap, cancel: cancel, listed: make(chan struct{}), held: map[string]chan struct{}{},
		storing: retry.NewLog(s.Log, "storing which messages are still to be fetched"),
	}
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
	if !u.list(ctx) {
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
	u.release(u.todo...) // those for which there was no time
	u.until(ctx, u.storing, u.backlog.save)
}

// list puts the conversations of the gap on the shard's backlog, and takes over all that is on it. It returns false if
// ctx ends before that is stored.
func (u *catchUp) list(ctx context.Context) bool {
	if u.from.Behind {
		var all []Conversation
		read := func(ctx context.Context) (err error) {
			all, err = u.Conversations(ctx)
			return err
		}
		if !u.until(ctx, retry.NewLog(u.Log, "reading which conversations are known"), read) {
			return false
		}
		all = slices.DeleteFunc(all, func(c Conversation) bool { return !u.owns(c.Guild) })
		u.missed.Beyond = u.backlog.add(all, u.from.Since)
	}
	if !u.until(ctx, u.storing, u.backlog.save) {
		return false
	}
	u.session.listed(u.gap)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.todo = u.backlog.all()
	for _, m := range u.todo {
		u.held[m.Channel] = make(chan struct{})
	}
	return true
}

// until calls the store until it succeeds; false: ctx has ended first.
func (u *catchUp) until(ctx context.Context, log *retry.Log, call func(context.Context) error) bool {
	pause := firstStoreRetry
	for {
		err := call(ctx)
		if ctx.Err() != nil {
			return false
		}
		log.Report(err)
		if err == nil {
			return true
		}
		u.Sleep(ctx, pause)
		pause = min(2*pause, maxStoreRetry)
	}
}

// work fetches conversations, one after the other, until none is left or the time of timed is over. A conversation that
// Discord does not give now comes after the others.
func (u *catchUp) work(ctx, timed context.Context, log *retry.Log) {
	for timed.Err() == nil {
		m, ok := u.next()
		if !ok {
			return
		}
		err := u.fetch(ctx, timed, &m)
		switch {
		case timed.Err() != nil:
			u.later(m)
		case core.IsTemporary(err):
			u.later(m)
			wait := core.RetryAfterOf(err)
			if core.CategoryOf(err) != core.DeliveryNotYet { // of the rate limit, which says when there is another call
				u.mu.Lock()
				log.Report(err)
				u.mu.Unlock()
				wait = max(wait, u.jitter(outbound.FirstRetry))
			}
			u.Sleep(timed, wait)
		default:
			u.fetched(ctx, m, err)
		}
	}
}

func (u *catchUp) next() (m missing, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.todo) == 0 {
		return missing{}, false
	}
	m, u.todo = u.todo[0], u.todo[1:]
	return m, true
}

func (u *catchUp) later(m missing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.todo = append(u.todo, m)
}

// fetched takes a conversation off the backlog. If that can't be stored now, it is stored with the next one.
func (u *catchUp) fetched(ctx context.Context, m missing, err error) {
	u.mu.Lock()
	switch {
	case rest.IsRefusal(err, discordgo.ErrCodeUnknownChannel):
		u.Log.Info("a channel whose missed messages were to be fetched no longer exists", "channel", m.Channel)
	case errors.Is(err, errTooMany):
		u.missed.TooMany = append(u.missed.TooMany, m.Channel)
		u.Log.Warn("there were too many messages while no events were received; the latest of them are not fetched",
			"channel", m.Channel)
	case err != nil:
		u.missed.Refused = append(u.missed.Refused, m.Channel)
		u.Log.Warn("the messages sent while no events were received could not be fetched", "channel", m.Channel,
			"err", err)
	}
	u.mu.Unlock()
	u.release(m)
	err = u.backlog.save(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	if ctx.Err() == nil {
		u.storing.Report(err)
	}
}

// release takes conversations off the list, and lets the messages be committed that were received in them meanwhile.
func (u *catchUp) release(all ...missing) {
	u.backlog.remove(all...)
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range all {
		close(u.held[m.Channel])
		delete(u.held, m.Channel)
	}
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

// wait waits until a message of a channel may be committed: its conversation is fetched and, for a thread, also the
// channel in which it may have begun. It returns false if ctx ends or dropped is closed first.
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
