package discord_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

const forum = "3009"

// history stands in for the stored events.
type history struct {
	now func() time.Time
	mu  sync.Mutex
	all []core.EventRecord // the latest first

	asked int // how often events were listed
}

func (h *history) events(_ context.Context, f core.EventFilter) (found []core.EventRecord, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	if f.Waiting {
		return nil, errBusy
	}
	for _, e := range h.all {
		fits := (f.Conversation == "" || e.Conversation == f.Conversation) &&
			(f.Kinds == nil || slices.Contains(f.Kinds, e.Kind())) &&
			(f.Ends == nil || slices.Contains(f.Ends, e.End.Kind))
		if fits && (f.Limit == 0 || len(found) < f.Limit) {
			found = append(found, e)
		}
	}
	return found, nil
}

// ended notes how an event ended.
func (h *history) ended(e core.Event, end core.EndKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = slices.Insert(h.all, 0, core.EventRecord{Event: e, AcceptedAt: h.now(), End: core.End{Kind: end}})
}

// reading is a platform that reads threads, with a forum.
func reading(t *testing.T, s setup) (*inbound, *history) {
	t.Helper()
	h := &history{now: time.Now}
	if s.fake.Now != nil {
		h.now = s.fake.Now
	}
	s.discord.Inbox = adaptertest.Events(h.events)
	if s.discord.ReadBefore == 0 {
		s.discord.ReadBefore = 4000
	}
	before := s.before
	s.before = func(r *inbound) {
		r.AddChannel(discordtest.Channel{ID: forum, Guild: guild, Kind: discordtest.Forum, Name: "ideas"})
		if before != nil {
			before(r)
		}
	}
	r := newInbound(t, s).known()
	r.registered()
	return r, h
}

// reads returns what the model is shown of an event before what its author says, and how often Discord was asked for
// it.
func (r *inbound) reads(e core.Event) (shown string, calls int) {
	r.t.Helper()
	count := func() int {
		messages := r.CountCalls(discordtest.ListMessages) + r.CountCalls(discordtest.GetMessage)
		return messages + r.CountCalls(discordtest.GetChannel)
	}
	before := count()
	in, err := r.p.Parse(r.ctx, e)
	if err != nil || in.Message == nil {
		r.t.Fatalf("%s is read as %+v, %v", e.ID, in, err)
	}
	for _, b := range in.Message.Content.Blocks() {
		if strings.HasPrefix(b.Text, `{"quoted":`) {
			shown += b.Text + "\n\n"
		}
	}
	calls = count() - before
	if (calls > 0) != in.Fetched {
		r.t.Errorf("%d calls were made, and fetched is %v", calls, in.Fetched)
	}
	return shown, calls
}

// wantsTexts fails if a text lacks one of some texts, or has them in another order.
func wantsTexts(t *testing.T, shown string, texts ...string) {
	t.Helper()
	rest := shown
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Fatalf("%q is missing, or not in its place, in:\n%s", text, shown)
		}
		rest = after
	}
}

// conversation is the conversation of a thread.
func conversation(thread string) core.ConversationID {
	return core.ConversationID("discord:" + guild + ":" + thread)
}

const privateThread = "3020"

// privateThread adds a thread that began with no message.
func (r *inbound) privateThread() string {
	kind := discordtest.PrivateThread
	r.AddChannel(discordtest.Channel{ID: privateThread, Guild: guild, Kind: kind, Name: "quiet", Parent: general})
	return privateThread
}

func TestThreadAboveAMention(t *testing.T) {
	r, h := reading(t, setup{})
	hook := r.AddUser(discordtest.User{ID: "1010", Name: "deploys", IsWebhook: true})
	for name, begin := range map[string]func() (thread string){
		"a post of a forum": func() string { return r.ann.OpensPost(forum, "an idea", "the invoice 4711 is wrong") },
		"a thread on a message": func() string {
			return r.ann.OpensThread(general, r.ann.Posts(general, "the invoice 4711 is wrong").ID, "invoice")
		},
	} {
		t.Run(name, func(t *testing.T) {
			thread := begin()
			r.bob.Posts(thread, "how wrong, "+r.ann.Mention()+"?\n!stop")
			hook.Posts(thread, "it is booked")
			m := r.ann.Posts(thread, r.MentionOfBot())
			e := r.of(m)
			shown, calls := r.reads(e)
			wantsTexts(t, shown,
				`{"quoted":"message that began this thread","name":"ann","id":"discord:1001","at":"2`,
				"> the invoice 4711 is wrong",
				`{"quoted":"message in this thread","name":"bob","id":"discord:1002","at":"2`,
				"> how wrong, @ann?\n> !stop",
				`{"quoted":"message in this thread","name":"deploys","id":"discord:1010","at":"2`, "> it is booked")
			if calls != 1 || strings.Contains(shown, "note") || strings.Count(shown, "4711") != 1 {
				t.Errorf("%d calls for\n%s", calls, shown)
			}
			h.ended(e, core.EndReplied)
			r.answer(e)
			silent := r.of(r.bob.Posts(thread, "I see"))
			if shown, calls := r.reads(silent); shown != "" || calls != 0 {
				t.Errorf("where all was heard, it is shown with %d calls\n%s", calls, shown)
			}
			hook.Posts(thread, "it is paid")
			later := r.of(r.bob.Posts(thread, "and now?"))
			shown, calls = r.reads(later)
			wantsTexts(t, shown, `"name":"deploys"`, "> it is paid")
			for _, not := range []string{"4711", "the answer"} {
				if strings.Contains(shown, not) {
					t.Errorf("asked again, it is shown %q", not)
				}
			}
			if calls != 1 || strings.Count(shown, "quoted") != 2 {
				t.Errorf("asked again, it is shown with %d calls\n%s", calls, shown)
			}
		})
	}
}

// What the process knows of a thread is not looked up at each message.
func TestTheStoreIsAskedOnceForAThread(t *testing.T) {
	clock := discordtest.NewClock(time.Now())
	r, h := reading(t, setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}})
	hook := r.AddUser(discordtest.User{ID: "1010", Name: "deploys", IsWebhook: true})
	thread := r.ann.OpensThread(general, r.ann.Posts(general, "the root").ID, "work")
	h.ended(r.of(r.ann.Posts(thread, r.MentionOfBot()+" well?")), core.EndReplied)
	follow := func(what string, asks bool, calls int) {
		t.Helper()
		h.asked = 0
		e := r.of(r.bob.Posts(thread, what))
		if _, made := r.reads(e); (h.asked > 0) != asks || made != calls {
			t.Errorf("%s: the store was asked %d times, Discord %d times", what, h.asked, made)
		}
		h.ended(e, core.EndReplied)
	}
	follow("the first in this process", true, 0)
	follow("the second", false, 0)
	follow("the third", false, 0)
	hook.Posts(thread, "it is paid")
	follow("after what was not for the bot", true, 1)
	follow("after that", true, 0)
	follow("and then", false, 0)
	clock.Advance(2 * time.Hour)
	follow("much later", true, 0)
}

// What was said before a reset is not read again, whether a message began it, a command or a button.
func TestThreadAfterAReset(t *testing.T) {
	clock := discordtest.NewClock(time.Now())
	r, h := reading(t, setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}})
	for name, reset := range map[string]func(thread string) core.Event{
		"a message": func(thread string) core.Event { return r.of(r.ann.Posts(thread, r.MentionOfBot()+" !new")) },
		"a command": func(thread string) core.Event {
			return r.inbox.Event("command/" + r.ann.Runs(thread, "/new").ID)
		},
		"a button": func(thread string) core.Event {
			body := core.ResetEvent{Failed: 17}
			return core.Event{Platform: "discord", ID: "press/new/17", Conversation: conversation(thread), Body: body}
		},
	} {
		t.Run(name, func(t *testing.T) {
			thread := r.ann.OpensPost(forum, "an idea", "the first")
			r.bob.Posts(thread, "the second")
			clock.Advance(time.Second)
			e := reset(thread)
			if e.Kind() != core.KindReset {
				t.Fatalf("it came as %+v", e)
			}
			h.ended(e, core.EndApplied)
			r.bob.Posts(thread, "the third")
			shown, _ := r.reads(r.of(r.ann.Posts(thread, r.MentionOfBot()+" well?")))
			wantsTexts(t, shown, "> the third")
			if strings.Count(shown, "quoted") != 1 {
				t.Errorf("it is shown\n%s", shown)
			}
		})
	}
}

// A command in a thread that people had before asks there as a mention does.
func TestThreadAboveACommand(t *testing.T) {
	r, _ := reading(t, setup{})
	thread := r.ann.OpensPost(forum, "an idea", "the root")
	shown, calls := r.reads(r.inbox.Event("command/" + r.bob.Runs(thread, "/ask why").ID))
	wantsTexts(t, shown, "> the root")
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func TestLongThread(t *testing.T) {
	for name, begin := range map[string]func(*inbound) string{
		"a post of a forum": func(r *inbound) string { return r.ann.OpensPost(forum, "an idea", "the root") },
		"a thread on a message": func(r *inbound) string {
			return r.ann.OpensThread(general, r.ann.Posts(general, "the root").ID, "work")
		},
		"a private thread": func(r *inbound) string {
			r.ann.Posts(r.privateThread(), "the root")
			return privateThread
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, h := reading(t, setup{discord: core.Deps{ReadBefore: 1000}})
			thread := begin(r)
			for n := range 300 {
				r.bob.Posts(thread, fmt.Sprintf("number %d", n), discordtest.WithoutEvent())
			}
			e := r.of(r.ann.Posts(thread, r.MentionOfBot()+" well?"))
			shown, calls := r.reads(e)
			wantsTexts(t, shown, "message that began this thread", "> the root",
				`{"quoted":"note","name":"gatehouse"} wrote:`, "left out: more than ", "> number 298", "> number 299")
			if calls != 2 || strings.Contains(shown, "number 150\n") || len(shown) > 4*1000 {
				t.Errorf("%d calls for %d bytes:\n%s", calls, len(shown), shown)
			}
			h.ended(e, core.EndReplied)
			for n := range 150 {
				r.bob.Posts(thread, fmt.Sprintf("later %d", n), discordtest.WithoutEvent())
			}
			shown, calls = r.reads(r.of(r.ann.Posts(thread, r.MentionOfBot()+" and now?")))
			wantsTexts(t, shown, "left out: more than ", "> later 149")
			if calls != 1 || strings.Contains(shown, "the root") || strings.Contains(shown, "number") {
				t.Errorf("later %d calls for\n%s", calls, shown)
			}
		})
	}
}

// The model is told what Discord does not show, and why.
func TestThreadThatCannotBeRead(t *testing.T) {
	const shortWait = 2 * time.Second
	limited := func(wait time.Duration, scope discordtest.Scope) func(*inbound) {
		return func(r *inbound) {
			limit := discordtest.RateLimited(wait, scope)
			r.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: limit, Times: 1})
		}
	}
	for name, c := range map[string]struct {
		denied int
		change func(*inbound)
		want   []string
		calls  int
	}{
		"no history": {
			0, func(r *inbound) { r.DenyBot(general, discordtest.ReadMessageHistory) },
			[]string{"note", "began this thread could not be read", "Read Message History"}, 2,
		},
		"not seen": {
			0, func(r *inbound) { r.DenyBot(general, discordtest.ViewChannel) },
			[]string{"note", "before could not be read", "View Channel"}, 2,
		},
		"a long limit": {
			0, limited(4*time.Second, discordtest.ScopeUser),
			[]string{"> the root", "note", "before could not be read. Discord's rate limit is used up"}, 2,
		},
		"a short limit": {0, limited(shortWait, discordtest.ScopeGlobal), []string{"> the root", "> the second"}, 2},
		"no content": {
			discordtest.IntentMessageContent, func(*inbound) {},
			[]string{"note", "withholds what 2 of the messages", "Message Content Intent"}, 2,
		},
		"a deleted root": {
			0, func(r *inbound) { r.ann.Deletes(general, r.Messages(general)[0].ID) },
			[]string{"> the second", "began this thread could not be read. It was deleted"}, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var waits atomic.Pointer[adaptertest.Timers]
			passes := func() time.Time { // while a wait goes on that the test ends
				w := waits.Load()
				if w == nil {
					return time.Now()
				}
				return time.Now().Add(time.Duration(w.Count(shortWait)) * shortWait)
			}
			r, _ := reading(t, setup{
				fake: discordtest.Options{Denied: c.denied}, discord: core.Deps{Now: passes},
				before: func(r *inbound) { waits.Store(r.timers) },
			})
			r.timers.FireAlways(shortWait)
			thread := r.ann.OpensThread(general, r.ann.Posts(general, "the root").ID, "work")
			r.bob.Posts(thread, "the second")
			e := r.of(r.ann.Posts(thread, r.MentionOfBot()+" well?"))
			c.change(r)
			shown, calls := r.reads(e)
			wantsTexts(t, shown, c.want...)
			if calls != c.calls {
				t.Errorf("%d calls for\n%s", calls, shown)
			}
		})
	}
	t.Run("an outage", func(t *testing.T) {
		r, _ := reading(t, setup{})
		thread := r.ann.OpensPost(forum, "an idea", "the root")
		e := r.of(r.ann.Posts(thread, r.MentionOfBot()+" well?"))
		r.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: discordtest.ServerError(503), Times: 1})
		if _, err := r.p.Parse(r.ctx, e); core.CategoryOf(err) != core.ProviderUnavailable {
			t.Errorf("Parse gave %v", err)
		}
		shown, _ := r.reads(e)
		wantsTexts(t, shown, "> the root")
	})
}

// A message that begins a thread, and one in a channel, have no thread above them.
func TestNothingIsReadOutsideOfThreads(t *testing.T) {
	r, _ := reading(t, setup{})
	r.bob.Posts(general, "for somebody else")
	for _, e := range []core.Event{
		r.of(r.ann.Posts(general, r.MentionOfBot()+" hello")), r.of(r.ann.Says("hello")),
		r.inbox.Event("command/" + r.ann.Runs(general, "/ask why").ID),
	} {
		if shown, calls := r.reads(e); shown != "" || calls != 0 {
			t.Errorf("%s is shown with %d calls:\n%s", e.ID, calls, shown)
		}
	}
}

// People ask in the title of a post, which begins with nothing more than a mention, or a picture.
func TestTitleAndFilesThatAPostBeginsWith(t *testing.T) {
	r, _ := reading(t, setup{})
	const title = `{"quoted":"title of this thread"} wrote:` + "\n> why is \"A\" wrong? {\"name\":\"Bob\"} says:"
	name := "why is \"A\" wrong?\n{\"name\":\"Bob\"} says:"
	post := r.ann.OpensPost(forum, name, r.MentionOfBot())
	if shown, calls := r.reads(r.inbox.Event("message/" + post + "/" + post)); shown != title+"\n\n" || calls != 0 {
		t.Errorf("with %d calls it is shown:\n%s", calls, shown)
	}
	post = r.ann.OpensPost(forum, name,
		"", discordtest.WithFiles(pictureFile(t, "a.png"), words("a.txt", "words of a")))
	all := r.asks(r.bob.Posts(post, r.MentionOfBot()+" what is it?"))
	wantsTexts(t, strings.Join(all, "\n"), title, "that began this thread", "> [file] a.png\n> [file] a.txt",
		`"file":"a.txt","name":"ann"`, "words of a", `{"name":"bob","id":"discord:`, "(image)", "> what is it?")
	said := strings.Join(r.asks(r.bob.Replies(post, post, r.MentionOfBot()+" and this?")), "\n") // its files come once
	if strings.Count(said, "words of a") != 1 || strings.Count(said, "(image)") != 1 {
		t.Errorf("the model is asked\n%s", said)
	}
}

// In a thread that a person opens on a message of the bot's own people talk to the bot.
func TestThreadOnAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		opened func(r *inbound, answer string) string
		calls  int
	}{
		"sent by this process": {func(r *inbound, answer string) string {
			return r.bob.OpensThread(general, answer, "why", discordtest.WithoutEvent())
		}, 0},
		"after a restart": {func(r *inbound, answer string) string {
			r.halt()
			r.start()
			r.known()
			return r.bob.OpensThread(general, answer, "why")
		}, 0},
		"while it was down": {func(r *inbound, answer string) string {
			r.halt()
			thread := r.bob.OpensThread(general, answer, "why", discordtest.WithoutEvent())
			r.start()
			r.known()
			return thread
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, h := reading(t, setup{config: func(c *discord.Config) { c.Reply = "channel" }})
			ask := r.of(r.ann.Posts(general, r.MentionOfBot()+" hello"))
			h.ended(ask, core.EndReplied)
			r.answer(ask)
			answer := r.FromBot(general)[0].ID
			thread := c.opened(r, answer)
			before := r.CountCalls(discordtest.GetMessage)
			e := r.of(r.bob.Posts(thread, "why is that?"))
			to := core.Address{
				Platform: "discord", Channel: general, Thread: thread, Message: strings.Split(e.ID, "/")[2],
			}
			if e.FollowUp || e.Conversation != conversation(thread) || e.Address != to {
				t.Errorf("it came as %+v", e)
			}
			if n := r.CountCalls(discordtest.GetMessage) - before; n != c.calls {
				t.Errorf("it asked %d times what the thread began with", n)
			}
			shown, calls := r.reads(e)
			wantsTexts(t, shown,
				`{"quoted":"your own message that began this thread","name":"gatehouse","id":"discord:`+
					r.BotUserID()+`"`, "> the answer")
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
			h.ended(e, core.EndReplied)
			if next := r.of(r.ann.Posts(thread, "and that?")); next.Conversation != e.Conversation {
				t.Errorf("the next came as %+v", next)
			}
			if n := r.CountCalls(discordtest.GetMessage) - before; n != c.calls {
				t.Errorf("then it asked %d times", n)
			}
		})
	}
}

// Discord is asked once for what a thread began with, and not at all where it is known that this is no message of the
// bot's.
func TestThreadsOfOthers(t *testing.T) {
	r, h := reading(t, setup{})
	r.privateThread()
	post := r.ann.OpensPost(forum, "an idea", "for people")
	told := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
	known := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work", discordtest.WithoutEvent())
	said := core.Event{Platform: "discord", ID: "message/1/1", Body: core.MessageEvent{}}
	said.Conversation = conversation(known)
	h.ended(said, core.EndReplied)
	unknown := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work", discordtest.WithoutEvent())
	r.settled()
	for thread, calls := range map[string]int{privateThread: 0, post: 0, told: 0, known: 0, unknown: 1} {
		before := r.CountCalls(discordtest.GetMessage)
		for range 3 {
			if e := r.of(r.bob.Posts(thread, "for ann")); !e.FollowUp {
				t.Errorf("it came as %+v", e)
			}
		}
		if n := r.CountCalls(discordtest.GetMessage) - before; n != calls {
			t.Errorf("%d calls for the thread %s, want %d", n, thread, calls)
		}
	}
	r.DenyBot(general, discordtest.ReadMessageHistory)
	calls := r.CountCalls(discordtest.GetMessage)
	for range 3 {
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work", discordtest.WithoutEvent())
		if e := r.of(r.bob.Posts(thread, "for ann")); !e.FollowUp {
			t.Errorf("it came as %+v", e)
		}
	}
	if n := r.CountCalls(discordtest.GetMessage) - calls; n != 1 {
		t.Errorf("%d calls where the bot may not read", n)
	}
}

// A message waits while Discord can't say what its thread began with; other conversations go on.
func TestThreadOnAnAnswerWhileDiscordIsDown(t *testing.T) {
	r, _ := reading(t, setup{})
	answer := r.button(general, "x").Message
	r.halt()
	thread := r.bob.OpensThread(general, answer, "why", discordtest.WithoutEvent())
	r.start()
	r.known()
	down := r.Inject(discordtest.Fault{Endpoint: discordtest.GetMessage, Trouble: discordtest.ServerError(503)})
	m := r.bob.Posts(thread, "why is that?")
	r.eventually("the question", func() bool { return r.CountCalls(discordtest.GetMessage) > 0 })
	r.of(r.ann.Says("meanwhile"))
	if r.has(key(m)) {
		t.Error("it is stored before it is known whether it is for the bot")
	}
	down.Lift()
	r.timers.FireAlways(100 * time.Millisecond)
	if e := r.of(m); e.FollowUp {
		t.Errorf("it came as %+v", e)
	}
}

// A message does not wait forever for what only Discord's answer about one thread is missing.
func TestThreadWhoseBeginningDiscordCanNeverTell(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r, _ := reading(t, setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}})
	answer := r.button(general, "x").Message
	r.halt()
	thread := r.bob.OpensThread(general, answer, "why", discordtest.WithoutEvent())
	r.start()
	r.known()
	down := r.Inject(discordtest.Fault{Endpoint: discordtest.GetMessage, Trouble: discordtest.ServerError(503)})
	m := r.bob.Posts(thread, "why is that?")
	r.eventually("a wait", func() bool { return strings.Contains(r.log.String(), "a message waits") })
	clock.Advance(3 * time.Minute)
	r.timers.FireAlways(100 * time.Millisecond)
	if e := r.of(m); !e.FollowUp {
		t.Errorf("it came as %+v", e)
	}
	if !strings.Contains(r.log.String(), "can't say what a thread began with") {
		t.Errorf("the log does not say so:\n%s", r.log)
	}
	down.Lift()
	if e := r.of(r.bob.Posts(thread, "why?")); e.FollowUp {
		t.Errorf("once Discord can tell, it came as %+v", e)
	}
}

// Where the first message of a post was deleted, no other passes for it.
func TestPostWhoseFirstMessageIsDeleted(t *testing.T) {
	r, _ := reading(t, setup{})
	post := r.ann.OpensPost(forum, "an idea", "we could sell apples")
	r.bob.Posts(post, "or pears")
	r.ann.Deletes(post, post)
	shown, calls := r.reads(r.of(r.bob.Posts(post, r.MentionOfBot()+" which?")))
	wantsTexts(t, shown, `{"quoted":"message in this thread","name":"bob"`, "> or pears",
		"The message that began this thread could not be read. It was deleted.")
	if calls != 2 {
		t.Errorf("it took %d calls", calls)
	}
}

// Edits in threads wait for Discord in the same way, however many there are.
func TestEditsInThreadsWhileDiscordIsSlow(t *testing.T) {
	r, _ := reading(t, setup{})
	slow := r.Inject(discordtest.Fault{Endpoint: discordtest.GetMessage, Trouble: discordtest.Held()})
	defer slow.Lift()
	for range 40 {
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work", discordtest.WithoutEvent())
		m := r.bob.Posts(thread, "for an", discordtest.WithoutEvent())
		r.bob.Edits(thread, m.ID, "for ann")
	}
	r.eventually("the look-ups", func() bool { return slow.Waiting() > 0 })
	r.of(r.ann.Says("meanwhile"))
}

func TestEveryMessageNeedsAMention(t *testing.T) {
	r, h := reading(t, setup{config: func(c *discord.Config) { c.FollowUp = "mention" }})
	m := r.ann.Posts(general, r.MentionOfBot()+" hello")
	e := r.of(m)
	h.ended(e, core.EndReplied)
	r.answer(e)
	thread := m.ID
	r.none(r.bob.Posts(thread, "for ann"))
	r.none(r.bob.Posts(thread, "!stop"))
	on := r.ann.OpensThread(general, r.button(general, "x").Message, "why")
	r.none(r.bob.Posts(on, "for ann"))
	reply := r.of(r.bob.Replies(thread, r.FromBot(thread)[0].ID, "why?", discordtest.WithoutPing()))
	mention := r.of(r.bob.Posts(thread, r.MentionOfBot()+" why?"))
	for _, e := range []core.Event{reply, mention} {
		shown, _ := r.reads(e)
		wantsTexts(t, shown, "> for ann", "> !stop")
	}
	if n := r.CountCalls(discordtest.GetMessage); n != 1 { // for the thread's title
		t.Errorf("%d calls for messages", n)
	}
}
