package discord_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// withRecent makes the platform read the test's events; first is called before each read and may fail.
func withRecent(s setup, first func(*inbound, context.Context) error) setup {
	var r *inbound
	before := s.before
	s.before = func(in *inbound) {
		r = in
		if before != nil {
			before(in)
		}
	}
	s.discord.Inbox = adaptertest.Events(func(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error) {
		if first != nil {
			if err := first(r, ctx); err != nil {
				return nil, err
			}
		}
		return r.recent(), nil
	})
	return s
}

// gap ends the session so that it can't be resumed. It returns the event ids of the messages that are sent to a thread
// and directly before the next session.
func (r *inbound) gap(thread string) (missed []string) {
	r.t.Helper()
	c := r.connection()
	c.GoSilent()
	for _, m := range []discordtest.Message{
		r.ann.Says("missed directly"), r.bob.Posts(thread, "missed in a thread"), r.bob.Posts(thread, "and more"),
	} {
		missed = append(missed, "message/"+m.Channel+"/"+m.ID)
	}
	r.ForgetSessions()
	c.Reset()
	return missed
}

// inThread starts a conversation in a thread, and returns the thread and the id of its first event.
func (r *inbound) inThread() (thread, first string) {
	r.t.Helper()
	thread = r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
	return thread, r.of(r.bob.Posts(thread, r.MentionOfBot()+" the beginning")).ID
}

// wantsInOrder waits until these events are stored, in order within each conversation.
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

// A process that ends while it fetches missed messages leaves a session that is resumed. The replay must not hide the
// messages that are still to be fetched.
func TestReplayDoesNotHideMissedMessages(t *testing.T) {
	var killed atomic.Bool
	killed.Store(true) // not yet: the first session fetches nothing
	asked := make(chan struct{}, 1)
	r := newInbound(t, withRecent(setup{}, func(_ *inbound, ctx context.Context) error {
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

// Presses overtake fetched messages, and arrive over HTTP while the gateway is down. So they do not show which messages
// were received.
func TestPressDoesNotHideMissedMessages(t *testing.T) {
	var vote atomic.Pointer[core.EventRecord]
	s := withRecent(setup{}, nil)
	stored := s.discord.Inbox
	s.discord.Inbox = adaptertest.Events(func(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error) {
		all, err := stored.Events(ctx, f)
		if v := vote.Load(); v != nil {
			all = append([]core.EventRecord{*v}, all...)
		}
		return all, err
	})
	r := newInbound(t, s).known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	vote.Store(&core.EventRecord{AcceptedAt: time.Now().Add(time.Hour), Event: core.Event{
		Platform: "discord", ID: "vote/a1/1002/9", Conversation: core.ConversationID("discord:" + guild + ":" + thread),
		Body:    core.ClickEvent{Approval: "a1"},
		Address: core.Address{Platform: "discord", Channel: general, Thread: thread},
	}})
	ids = append(ids, r.gap(thread)...)
	r.wantsInOrder(ids)
}

// If the store fails, the known conversations are read again; no missed message is given up.
func TestReadingKnownConversationsIsRetried(t *testing.T) {
	var failing atomic.Bool
	r := newInbound(t, withRecent(setup{}, func(*inbound, context.Context) error {
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

// After an outage the gateway may be back before the REST API; no missed message is given up.
func TestFetchingMissedMessagesIsRetried(t *testing.T) {
	r := newInbound(t, withRecent(setup{}, nil)).known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	r.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: discordtest.ServerError(503), Times: 6})
	r.wantsInOrder(append(ids, r.gap(thread)...))
}
