package discord_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// held makes Discord answer no question for a channel's messages, until it is lifted.
func (r *inbound) held(channel string) *discordtest.Injected {
	slow := r.Inject(
		discordtest.Fault{
			Endpoint: discordtest.ListMessages, Trouble: discordtest.Held(), When: func(c discordtest.Call) bool {
				return c.Params["channel"] == channel
			},
		})
	r.t.Cleanup(slow.Lift)
	return slow
}

// behind starts a platform with a conversation in a thread and one in direct messages, ends the session, and waits
// until the thread's messages are asked for, which Discord does not answer. It returns the ids of the events that are
// to be stored.
func behind(t *testing.T, s setup) (r *inbound, thread string, slow *discordtest.Injected, ids []string) {
	t.Helper()
	r = newInbound(t, withRecent(s, nil)).known()
	thread, first := r.inThread()
	ids = append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	slow = r.held(thread)
	ids = append(ids, r.gap(thread)...)
	r.eventually("the question for the thread's messages", func() bool { return slow.Waiting() > 0 })
	return r, thread, slow, ids
}

func TestCatchUpDelaysNoOtherConversation(t *testing.T) {
	r, thread, slow, ids := behind(t, setup{})
	live := r.bob.Posts(thread, "after in the thread")
	direct := r.saysMany(1300, "meanwhile")
	r.inbox.Event(direct[len(direct)-1])
	if r.has(key(live)) || slow.Waiting() == 0 {
		t.Error("what was said in the thread after the gap is stored before what was missed there")
	}
	if c := r.connection(); !c.State().Open || len(r.Identifies()) != 2 || len(r.Resumes()) != 1 {
		t.Errorf("the connection has ended: %d identifies, %d resumes", len(r.Identifies()), len(r.Resumes()))
	}
	slow.Lift()
	r.wantsInOrder(append(append(ids, direct...), key(live)))
}

// A command is answered within three seconds, so it does not wait.
func TestCommandDoesNotWaitForTheCatchUp(t *testing.T) {
	r, thread, slow, ids := behind(t, setup{})
	r.registered()
	r.bob.Posts(thread, "after in the thread")
	i := r.ann.Runs(thread, "/new")
	r.inbox.Event("command/" + i.ID)
	slow.Lift()
	r.wantsInOrder(ids)
}

func TestSeveralConversationsAreFetchedAtATime(t *testing.T) {
	r := newInbound(t, withRecent(setup{}, nil)).known()
	ids := r.saysMany(1, "before")
	for range 8 {
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
		ids = append(ids, r.of(r.bob.Posts(thread, r.MentionOfBot()+" hello")).ID)
	}
	slow := r.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: discordtest.Held()})
	t.Cleanup(slow.Lift)
	ids = append(ids, r.gap(strings.Split(ids[1], "/")[1])...)
	r.eventually("four questions", func() bool { return slow.Waiting() >= 4 })
	slow.Lift()
	r.wantsInOrder(ids)
}

// A second gap begins while the first is fetched: what waited is fetched with the rest.
func TestGapDuringACatchUp(t *testing.T) {
	r, thread, slow, ids := behind(t, setup{})
	live := []string{key(r.bob.Posts(thread, "between the gaps")), r.saysMany(1, "between")[0]}
	r.inbox.Event(live[1])
	ids = append(append(ids, live...), r.gap(thread)...)
	r.eventually("a third session", func() bool { return len(r.Identifies()) == 3 })
	slow.Lift()
	ids = append(ids, key(r.bob.Posts(thread, "at last")))
	r.wantsInOrder(ids)
}

// What is stored meanwhile in one conversation does not hide what another one missed, although the process ends before
// that is fetched.
func TestRestartDuringACatchUp(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := newInbound(t,
		withRecent(setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}}, nil)).known()
	quiet := r.DMWith(bobID)
	ids := []string{r.of(r.bob.Says("long ago")).ID}
	clock.Advance(time.Hour)
	thread, first := r.inThread()
	ids = append(append(ids, first), r.saysMany(1, "before")...)
	for _, id := range ids {
		r.inbox.Event(id)
	}
	slow := r.held(quiet)
	c := r.connection()
	c.GoSilent()
	ids = append(ids, key(r.bob.Says("missed by bob")))
	r.ForgetSessions()
	c.Reset()
	r.eventually("the question for bob's messages", func() bool { return slow.Waiting() > 0 })
	clock.Advance(2 * time.Minute)
	live := []string{key(r.bob.Posts(thread, "live"))}
	r.wants(live)
	r.halt()
	slow.Lift()
	r.start()
	r.wantsInOrder(append(ids, live...))
}

// kill ends the process so that it can store nothing any more, at the end of its session if forgotten is set.
func (r *inbound) kill(forgotten bool) {
	r.t.Helper()
	r.kv.fail(true)
	r.halt()
	r.kv.fail(false)
	if forgotten {
		r.ForgetSessions()
	}
}

// A process is killed while it fetches what bob's conversation missed, and so is the next one. Meanwhile the others
// have so many events that bob's are none of the latest any more.
func TestKillsDuringACatchUpLoseNothing(t *testing.T) {
	for name, forgotten := range map[string]bool{"another session": true, "the session is resumed": false} {
		t.Run(name, func(t *testing.T) {
			const bound = 20
			s := withRecent(setup{}, nil)
			all := s.discord.Inbox
			s.discord.Inbox = adaptertest.Events(func(
				ctx context.Context, f core.EventFilter,
			) ([]core.EventRecord, error) {
				events, err := all.Events(ctx, f)
				return events[:min(len(events), bound)], err
			})
			r := newInbound(t, s).known()
			ids := []string{r.of(r.bob.Says("long ago")).ID}
			ids = append(ids, r.saysMany(2, "before")...)
			r.wants(ids)
			slow := r.held(r.DMWith(bobID))
			r.kill(true)
			ids = append(ids, key(r.bob.Says("missed by bob")))
			for i := range 3 {
				r.start()
				r.eventually("the question for bob's messages", func() bool { return slow.Waiting() > 0 })
				live := r.saysMany(2*bound, fmt.Sprint("meanwhile ", i))
				ids = append(append(ids, key(r.bob.Says("waits"))), live...)
				r.inbox.Event(live[len(live)-1])
				r.kill(forgotten)
				r.eventually("the end of the question", func() bool { return slow.Waiting() == 0 })
				ids = append(ids, key(r.ann.Says("missed by ann")), key(r.bob.Says("missed by bob, too")))
			}
			slow.Lift()
			r.start()
			r.wantsInOrder(append(ids, key(r.bob.Says("at last"))))
			r.eventually("an empty backlog", func() bool { return r.kv.value("discord/backlog/0") == "" })
		})
	}
}

// What another process has left is fetched, unless it is of another bot.
func TestStoredBacklogIsFetched(t *testing.T) {
	for name, c := range map[string]struct {
		stored  string // BOT stands for the bot
		fetched bool
	}{
		"of this bot":    {`{"bot":"BOT","list":[{"c":"` + general + `","g":"` + guild + `","a":"5"}]}`, true},
		"of another bot": {`{"bot":"77","list":[{"c":"` + general + `","g":"` + guild + `","a":"5"}]}`, false},
		"unreadable":     {`{"bot":`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var missed string
			r := newInbound(t, withRecent(setup{before: func(r *inbound) {
				missed = key(r.ann.Posts(general, r.MentionOfBot()+" hello"))
				_ = r.kv.Put(r.ctx, "discord/backlog/0", strings.ReplaceAll(c.stored, "BOT", r.BotUserID()))
			}}, nil)).known()
			r.eventually("an empty backlog", func() bool { return r.kv.value("discord/backlog/0") == "" })
			r.settled()
			if r.has(missed) != c.fetched {
				t.Errorf("fetched: %v", !c.fetched)
			}
		})
	}
}

// A channel that is gone, or that the bot may not read any more, does not stay in the backlog.
func TestBacklogWithoutLostChannels(t *testing.T) {
	for name, trouble := range map[string]discordtest.Trouble{
		"gone": discordtest.Refused(404, 10003, "Unknown Channel"), "forbidden": discordtest.MissesPermissions(),
	} {
		t.Run(name, func(t *testing.T) {
			r, thread, slow, ids := behind(t, setup{})
			r.kill(false)
			if text := r.kv.value("discord/backlog/0"); !strings.Contains(text, thread) {
				t.Fatalf("the backlog is %q", text)
			}
			slow.Lift()
			r.Inject(
				discordtest.Fault{
					Endpoint: discordtest.ListMessages, Trouble: trouble, When: func(c discordtest.Call) bool {
						return c.Params["channel"] == thread
					},
				})
			r.start()
			live := key(r.bob.Posts(thread, "after"))
			r.inbox.Event(live)
			r.eventually("an empty backlog", func() bool { return r.kv.value("discord/backlog/0") == "" })
			if log := r.log.String(); !strings.Contains(log, thread) {
				t.Errorf("the log does not name the channel: %s", log)
			}
			r.wantsInOrder(slices.DeleteFunc(append(ids, live), func(id string) bool {
				return strings.Contains(id, "/"+thread+"/") && id != live && id != ids[0]
			}))
		})
	}
}

func TestWhatIsPassedOverIsShown(t *testing.T) {
	r := newInbound(t, withRecent(setup{}, nil)).known()
	thread, first := r.inThread()
	ids := append([]string{first}, r.saysMany(2, "before")...)
	r.wants(ids)
	r.Inject(
		discordtest.Fault{
			Endpoint: discordtest.ListMessages, Trouble: discordtest.MissesPermissions(),
			When: func(c discordtest.Call) bool {
				return c.Params["channel"] == general
			},
		})
	r.wantsInOrder(append(ids, r.gap(thread)...))
	shown := func() core.Check {
		for _, c := range r.config.Check(r.ctx, core.Checkup{KV: r.kv}) {
			if c.Name == "discord missed messages" {
				return c
			}
		}
		return core.Check{}
	}
	r.eventually("the check", func() bool { return r.kv.value("discord/missed/0") != "" })
	if c := shown(); c.State != "warn" || !strings.Contains(c.What, general) || c.Mend == "" ||
		!strings.Contains(c.What, "did not give") {
		t.Errorf("it says %+v", c)
	}
}
