package discord_test

import (
	"fmt"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

const getChannel = "GET /channels/{channel}"

// resumed is a platform that resumed its session, so it knows no server, while Discord answers no look-up of a channel.
// There is a thread in the channel.
func resumed(t *testing.T, trouble discordtest.Trouble) (r *inbound, thread string, slow *discordtest.Injected) {
	t.Helper()
	r = newInbound(t, setup{fake: discordtest.Options{NoChannelType: true}}).known()
	thread = r.ann.OpensThread(general, r.ann.Posts(general, "work", discordtest.WithoutEvent()).ID, "work")
	r.settled()
	r.halt()
	slow = r.Inject(discordtest.Fault{Endpoint: getChannel, Trouble: trouble})
	t.Cleanup(slow.Lift)
	r.start()
	r.known()
	return r, thread, slow
}

func key(m discordtest.Message) string { return "message/" + m.Channel + "/" + m.ID }

func TestLookUpBlocksOnlyItsConversation(t *testing.T) {
	for name, trouble := range map[string]discordtest.Trouble{
		"slow": discordtest.Held(), "too many calls": discordtest.RateLimited(time.Hour, discordtest.ScopeUser),
	} {
		t.Run(name, func(t *testing.T) {
			r, thread, slow := resumed(t, trouble)
			first := r.ann.Posts(thread, "one")
			second := r.bob.Posts(thread, "two")
			r.bob.Edits(thread, second.ID, "three")
			r.eventually("the look-up", func() bool { return slow.Hits() > 0 })
			direct := r.saysMany(20, "meanwhile")
			r.wants(direct)
			for _, id := range []string{key(first), key(second)} {
				if r.has(id) {
					t.Fatalf("%s is stored although nobody knows where it stands", id)
				}
			}
			if name != "slow" {
				return // for an hour
			}
			slow.Lift()
			r.wants([]string{key(first), key(second), r.amends(second)})
			if e := r.inbox.Event(key(first)); e.Address.Thread != thread || e.Address.Channel != general {
				t.Errorf("it stands at %+v", e.Address)
			}
			r.wants(append(direct, key(first), key(second)))
		})
	}
}

// Events that wait for a look-up are replayed after a restart, since the session has not passed them.
func TestEventsBehindALookUpAreReplayed(t *testing.T) {
	for name, restart := range map[string]func(*inbound){
		"a restart":             func(r *inbound) { r.of(r.ann.Says("over")); r.halt(); r.start(); r.known() },
		"the connection breaks": func(r *inbound) { r.connection().Reset(); r.timers.FireAlways(0) },
	} {
		t.Run(name, func(t *testing.T) {
			r, thread, slow := resumed(t, discordtest.Held())
			first := r.ann.Posts(thread, "one")
			second := r.ann.Posts(thread, "two")
			r.eventually("the look-up", func() bool { return slow.Waiting() > 0 })
			direct := r.saysMany(3, "meanwhile")
			r.wants(direct)
			before := len(r.Resumes())
			restart(r)
			r.eventually("another connection", func() bool { return len(r.Resumes()) > before })
			after := r.saysMany(3, "after")
			r.wants(after)
			if r.has(key(first)) {
				t.Fatal("it is stored although nobody knows where it stands")
			}
			slow.Lift()
			r.wants([]string{key(first), key(second)})
		})
	}
}

// A thread that somebody opens from a message is the message's conversation, also while the message's channel is still
// looked up.
func TestThreadWaitsForItsFirstMessage(t *testing.T) {
	r, _, slow := resumed(t, discordtest.Held())
	mention := r.ann.Posts(general, r.MentionOfBot()+" hello")
	r.eventually("the look-up", func() bool { return slow.Waiting() > 0 })
	thread := r.bob.OpensThread(general, mention.ID, "work") // now it is known where it stands
	if thread != mention.ID {
		t.Fatalf("the thread is %s", thread)
	}
	follow := r.bob.Posts(thread, "and on")
	r.wants(r.saysMany(1, "meanwhile"))
	if r.has(key(follow)) {
		t.Error("what was said later is stored first")
	}
	slow.Lift()
	r.wants([]string{key(mention), key(follow)})
	if a, b := r.inbox.Event(key(mention)), r.inbox.Event(key(follow)); a.Conversation != b.Conversation {
		t.Errorf("the conversations are %s and %s", a.Conversation, b.Conversation)
	}
}

// has reports whether an event is stored.
func (r *inbound) has(id string) bool {
	r.inbox.Lock()
	defer r.inbox.Unlock()
	_, ok := r.inbox.Stored[id]
	return ok
}

// amends returns the id of a message's last amendment.
func (r *inbound) amends(m discordtest.Message) string {
	r.t.Helper()
	id := ""
	r.inbox.WaitFor("the change", func() bool {
		for _, e := range r.inbox.Stored {
			if e.Kind() == core.KindAmend && e.Subject() == key(m) {
				id = e.ID
			}
		}
		return id != ""
	})
	return id
}

// After a restart whose session was resumed no channel is known. Channels are not looked up because people talk there.
func TestOnlyThreadsAreLookedUp(t *testing.T) {
	r := newInbound(t, setup{}).known()
	var channels []string
	for i := range 30 {
		channels = append(channels, fmt.Sprint(3100+i))
		r.AddChannel(discordtest.Channel{ID: channels[i], Guild: guild, Name: fmt.Sprint("talk-", i)})
	}
	r.settled()
	r.halt()
	r.start()
	r.known()
	for _, id := range channels {
		r.bob.Posts(id, "among ourselves")
	}
	mention := r.ann.Posts(channels[7], r.MentionOfBot()+" hello")
	if e := r.of(mention); e.Address.Channel != channels[7] || e.Address.Thread != mention.ID {
		t.Errorf("it stands at %+v", e.Address)
	}
	r.settled()
	if n := r.CountCalls(discordtest.GetChannel); n != 0 || len(r.Resumes()) != 1 {
		t.Errorf("%d channels were looked up, after %d resumes", n, len(r.Resumes()))
	}
	thread := r.ann.OpensThread(general, r.ann.Posts(general, "work", discordtest.WithoutEvent()).ID, "work")
	if e := r.of(r.bob.Posts(thread, "on")); e.Address.Channel != general || e.Address.Thread != thread {
		t.Errorf("it stands at %+v", e.Address)
	}
}

// channels adds channels to the server.
func (r *inbound) channels(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(3200+i))
		r.AddChannel(discordtest.Channel{ID: ids[i], Guild: guild, Name: fmt.Sprint("room-", i)})
	}
	return ids
}

// A slow store does not make each event wait for the one before, but no message is stored before an earlier one of its
// channel.
func TestChannelsAreStoredAtTheSameTime(t *testing.T) {
	const atATime = 32
	r := newInbound(t, setup{}).known()
	channels := r.channels(atATime + 8)
	r.settled()
	stored := r.inbox.Tries()
	open := make(chan struct{})
	r.inbox.Hold(open, nil)
	var ids []string
	for i := range 3 {
		for _, id := range channels {
			ids = append(ids, key(r.ann.Posts(id, r.MentionOfBot()+fmt.Sprint(" message ", i))))
		}
	}
	r.inbox.WaitFor("events of several channels", func() bool { return len(r.inbox.Tried) >= stored+atATime })
	if n := r.inbox.Tries() - stored; n != atATime {
		t.Errorf("%d events are stored at a time", n)
	}
	close(open)
	r.wantsInOrder(ids)
}

// The session does not pass an event that is not committed, even if later ones are. So the next process gets it again.
func TestUncommittedEventIsReplayedWithThoseAfterIt(t *testing.T) {
	for name, end := range map[string]func(*inbound){"stopped": (*inbound).halt, "killed": func(r *inbound) {
		r.kill(false)
	}} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{}).known()
			channels := r.channels(3)
			r.settled()
			passed := r.connection().State().Seq
			r.inbox.Hold(nil, func(e core.Event) bool { return e.Address.Channel == channels[0] })
			waits := key(r.ann.Posts(channels[0], r.MentionOfBot()+" waits"))
			behind := key(r.ann.Posts(channels[0], r.MentionOfBot()+" waits behind it"))
			var ids []string
			for i := range 100 {
				ids = append(ids, key(r.bob.Posts(channels[1+i%2], r.MentionOfBot()+fmt.Sprint(" message ", i))))
			}
			r.wantsInOrder(ids)
			end(r)
			r.inbox.Gate(nil)
			r.start()
			r.wants([]string{waits, behind})
			r.wantsInOrder(append(ids, key(r.bob.Posts(channels[1], r.MentionOfBot()+" at last"))))
			again := r.Resumes()
			if len(again) != 1 || again[0].Seq > passed || name == "stopped" && again[0].Seq != passed {
				t.Errorf("the session was resumed by %+v, want once, from event %d", again, passed)
			}
		})
	}
}
