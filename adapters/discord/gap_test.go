package discord_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// withRecent has the platform read the test's events; first hears of each time they are asked for, and may fail.
func withRecent(s setup, first func(*inbound, context.Context) error) setup {
	var r *inbound
	before := s.before
	s.before = func(in *inbound) {
		r = in
		if before != nil {
			before(in)
		}
	}
	s.discord.Recent = func(ctx context.Context) ([]core.EventRecord, error) {
		if first != nil {
			if err := first(r, ctx); err != nil {
				return nil, err
			}
		}
		return r.recent(), nil
	}
	return s
}

// gap has the session end so that it can't be resumed, and gives the ids of what was said to a thread and directly before anybody hears
// again.
func (r *inbound) gap(thread string) (missed []string) {
	r.t.Helper()
	c := r.connection()
	c.GoSilent()
	for _, m := range []discordtest.Message{r.ann.Says("missed directly"), r.bob.Posts(thread, "missed in a thread"), r.bob.Posts(thread, "and more")} {
		missed = append(missed, "message/"+m.Channel+"/"+m.ID)
	}
	r.ForgetSessions()
	c.Reset()
	return missed
}

// inThread is a conversation in a thread that is known, and the id of its first message.
func (r *inbound) inThread() (thread, first string) {
	r.t.Helper()
	thread = r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
	return thread, r.of(r.bob.Posts(thread, r.MentionOfBot()+" the beginning")).ID
}

// wantsInOrder waits until these are stored, each in its place in its own conversation.
func (r *inbound) wantsInOrder(ids []string) {
	r.t.Helper()
	in := map[string][]string{}
	for _, id := range ids {
		channel := strings.Split(id, "/")[1]
		in[channel] = append(in[channel], id)
	}
	for _, said := range in {
		r.wants(said)
	}
}

// A process that ends while it fetches leaves a session that is resumed: what is replayed then must not hide what is still to be fetched.
func TestWhatIsReplayedHidesNothingThatWasMissed(t *testing.T) {
	var killed atomic.Bool
	killed.Store(true) // not yet: the first session fetches nothing
	asked := make(chan struct{}, 1)
	r := hear(t, withRecent(setup{}, func(_ *inbound, ctx context.Context) error {
		if killed.Load() {
			return nil
		}
		select {
		case asked <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return ctx.Err()
	}))
	r.known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	killed.Store(false)
	ids = append(ids, r.gap(thread)...)
	select {
	case <-asked:
	case <-r.ctx.Done():
		t.Fatal("nothing is fetched")
	}
	after := []discordtest.Message{r.ann.Says("after directly"), r.bob.Posts(thread, "after in a thread")}
	r.halt()
	killed.Store(true)
	r.start()
	for _, m := range after {
		ids = append(ids, r.of(m).ID)
	}
	r.wantsInOrder(ids)
	if n := len(r.Identifies()); n != 2 {
		t.Errorf("it identified %d times, want twice: the second session is resumed", n)
	}
}

// Presses overtake what is fetched, and over HTTP they are heard while the gateway is not: they tell nothing of what else was heard.
func TestAPressHidesNothingThatWasMissed(t *testing.T) {
	var vote atomic.Pointer[core.EventRecord]
	s := withRecent(setup{}, nil)
	stored := s.discord.Recent
	s.discord.Recent = func(ctx context.Context) ([]core.EventRecord, error) {
		all, err := stored(ctx)
		if v := vote.Load(); v != nil {
			all = append([]core.EventRecord{*v}, all...)
		}
		return all, err
	}
	r := hear(t, s).known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	vote.Store(&core.EventRecord{AcceptedAt: time.Now().Add(time.Hour), Event: core.Event{
		Platform: "discord", ID: "vote/a1/1002/9", Conversation: core.ConversationID("discord:" + guild + ":" + thread), Body: core.ClickEvent{Approval: "a1"},
		Address: core.Address{Platform: "discord", Channel: general, Thread: thread},
	}})
	ids = append(ids, r.gap(thread)...)
	r.wantsInOrder(ids)
}

// What the store can't tell now is asked for again: what was missed is not given up for it.
func TestTheKnownConversationsAreAskedForAgain(t *testing.T) {
	var failing atomic.Bool
	r := hear(t, withRecent(setup{}, func(*inbound, context.Context) error {
		if failing.Swap(false) {
			return errBusy
		}
		return nil
	})).known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	failing.Store(true)
	r.timers.FireAlways(100 * time.Millisecond)
	ids = append(ids, r.gap(thread)...)
	r.wantsInOrder(ids)
}

// After an outage the gateway is often back before the rest: what was missed is not given up for that.
func TestWhatCannotBeFetchedAtOnceIsFetchedLater(t *testing.T) {
	r := hear(t, withRecent(setup{}, nil)).known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	r.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: discordtest.ServerError(503), Times: 6})
	r.wantsInOrder(append(ids, r.gap(thread)...))
}
