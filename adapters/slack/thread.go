package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/core"
)

// A message in a thread points at what stands above it there. Slack is asked for that once, when the message's turn
// begins (conversations.replies, which gives the message that began the thread and then the oldest first), and what
// it said is stored with the message. An app that is distributed outside Slack's marketplace gets 15 messages, once a
// minute. So nothing here waits for long, and the agent is told of what could not be read.

// Limits of the reading of a thread.
const (
	threadPage  = 999              // it must be under 1000 (docs.slack.dev/reference/methods/conversations.replies)
	fewMessages = 15               // of a page although there are more: the app is limited
	threadPages = 10               // calls
	threadTime  = 10 * time.Second // for all of it
	threadWait  = 3 * time.Second  // of that, for Slack's rate limit
	rootTime    = time.Second      // for the message that began a thread; this delays the event's commit

	leastTokens = 30 // of the shortest quoted message: no more messages are kept than fit into the budget
)

// above reads what stands above a message in its thread and the agent has not heard: everything if its conversation
// begins with the message, else what came since the last message that it heard, without the bot's own posts, which it
// knows. Slack is not asked where all that came since was for the bot, and was answered. Error: the store's, or that of
// an ended context.
func (s *Slack) above(
	ctx context.Context, b bot, e core.Event, m messageEvent, n *names, direct bool,
) (points []core.Block, err error) {
	if inThread := m.ThreadTS != "" && m.ThreadTS < m.TS; s.ReadBefore <= 0 || !inThread {
		return nil, nil
	}
	upTo, _ := s.upTo.Get(m.thread())
	if last, _ := s.heard.Get(m.thread()); upTo != "" && last >= upTo { // so the store has nothing to add
		s.upTo.Put(m.thread(), m.TS, outbound.Forever)
		return nil, nil
	}
	since, err := s.heardUpTo(ctx, e, m, direct)
	if err != nil || since != "" && (direct || since >= m.TS) { // of direct messages the agent hears each
		return nil, err
	}
	s.upTo.Put(m.thread(), m.TS, outbound.Forever) // before it is read: what comes meanwhile may be missing
	if upTo != "" && since >= upTo {
		return nil, nil
	}
	t := s.readThread(ctx, b, m, n, since)
	if ctx.Err() != nil || t.Note != "" {
		s.unheard(m)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return t.Quoted(s.ReadBefore), nil
}

// Heard notes the last message of a thread that the agent has heard.
func (s *Slack) Heard(e core.Event) {
	if at := e.Address; at.Thread != "" {
		s.heard.Put(threadIn(at.Channel, at.Thread), at.Message, outbound.Forever)
	}
}

// threadIn names a thread of a channel.
func threadIn(channel, thread string) string { return channel + "/" + thread }

// thread names the thread that a message is in.
func (m messageEvent) thread() string { return threadIn(m.Channel, m.ThreadTS) }

// unheard notes that something in a thread does not reach the agent: a message that is not for the bot, for instance.
// The thread is read when the bot is asked there again.
func (s *Slack) unheard(m messageEvent) {
	if upTo, _ := s.upTo.Get(m.thread()); upTo != "" {
		s.upTo.Put(m.thread(), "", outbound.Forever)
	}
}

// heardUpTo returns the timestamp of what the agent heard last in the thread of a message, or of a reset; "": nothing.
// A direct message is part of one conversation, in whatever thread it is.
func (s *Slack) heardUpTo(ctx context.Context, e core.Event, m messageEvent, direct bool) (ts string, err error) {
	last, err := inbound.LastHeard(ctx, s.Inbox, e, func(r core.EventRecord) bool {
		return direct || r.Kind() == core.KindReset || r.Address.Thread == m.ThreadTS || r.Address.Message == m.ThreadTS
	})
	switch {
	case last == nil || err != nil:
		return "", err
	case last.Kind() == core.KindMessage || strings.HasPrefix(last.ID, "message/"):
		return last.Address.Message, nil
	}
	return stampOf(last.AcceptedAt), nil // a button or a command, which is nowhere among the messages
}

// readThread reads a thread up to a message, from after a timestamp on or, if that is "", from its beginning.
func (s *Slack) readThread(ctx context.Context, b bot, m messageEvent, n *names, since string) (t inbound.Thread) {
	ctx, cancel := context.WithTimeout(ctx, threadTime)
	defer cancel()
	if _, limited := s.told.Get(tooMany); limited {
		t.Note = unread(since, 0, "Slack asks to wait.")
		return t
	}
	select {
	case readers <- struct{}{}:
		defer func() { <-readers }()
	case <-ctx.Done(): // what is asked now fails
	}
	var root *heard.Message
	var said []heard.Message
	read, cursor, most, wait := 0, "", s.ReadBefore/leastTokens+1, threadWait
	for calls := 1; ; calls++ {
		page, more, next, err := s.api.GetConversationRepliesContext(ctx, &api.GetConversationRepliesParameters{
			ChannelID: m.Channel, Timestamp: m.ThreadTS, Oldest: since, Latest: m.TS, Cursor: cursor, Limit: threadPage,
		})
		err = s.called(err)
		pause := core.RetryAfterOf(err)
		if pause > 0 && pause <= wait && calls < threadPages {
			wait -= pause
			s.sleep(ctx, pause)
			continue
		}
		if err != nil {
			if pause > 0 {
				s.told.Put(tooMany, true, pause)
			}
			t.Note = unread(since, read, core.MessageOf(err))
			break
		}
		for _, each := range page {
			var one heard.Message
			_ = inbound.Decode([]byte(each.Text), &one) // what can't be read is none
			switch {
			case one.TS == m.ThreadTS && since == "":
				if root == nil { // it may be on each page
					read++
				}
				root = &one
			case one.TS != m.ThreadTS && one.TS > since && one.TS < m.TS:
				said = append(said, one)
				read++
			}
		}
		if over := len(said) - most; over > 0 {
			t.Left, said = t.Left+over, slices.Clone(said[over:])
		}
		if !more {
			break
		}
		if cursor = next; cursor == "" || len(page) <= fewMessages || calls >= threadPages {
			t.Note = unread(since, read, "Slack lets this app read no more of them now.")
			break
		}
	}
	if since != "" {
		said = slices.DeleteFunc(said, b.wrote)
	}
	t.Said = n.readable(ctx, b, inbound.InThread, said...)
	if root != nil && root.Subtype != beginsAssistant {
		t.Root = &n.readable(ctx, b, inbound.BeganThread, *root)[0]
	}
	return t
}

// readers limits how many threads this process reads at a time: a page is held in memory.
var readers = make(chan struct{}, 4)

// tooMany is in a cache for as long as Slack has asked to wait before the next thread is read.
const tooMany = "conversations.replies"

// unread is what the agent is told of messages after a timestamp, or of a whole thread, of which only the first were
// read, or none.
func unread(since string, read int, why string) string {
	if read > 0 {
		return fmt.Sprintf("Of the messages above only the first %d could be read; "+
			"there are newer ones between them and the message below. %s", read, why)
	}
	return inbound.Unread(since != "", why)
}

// attribute says who wrote a message of a thread where that is no person: the bot itself, another one, by the name
// that it shows, or, of a message that was deleted, nobody.
func (b bot) attribute(q *core.Quotation, m heard.Message) {
	q.Text = safetext.OrNone(q.Text)
	switch {
	case b.wrote(m):
		q.What, q.Name, q.ID = inbound.OwnMessage+q.What, b.name, Name+":"+b.user
	case m.BotID != "":
		q.Name, q.ID = cmp.Or(m.BotName(), q.Name, m.BotID), Name+":"+m.BotID
	case m.Subtype == tombstone:
		q.Name, q.ID = "", ""
	}
}

// beginsAssistant is the subtype of the app's message that begins a thread of the assistant view.
const beginsAssistant = "assistant_app_thread"

// ownThread reports whether a direct message is in a thread that is a conversation of its own, which only an app with
// the assistant view has: one that has been a conversation before, or that begins in that view, where the app writes
// first. Any other reply goes on with the conversation of the direct messages. Until the token's scopes are known, the
// event itself decides, and so it does where Slack does not say how the thread began. Error: temporary, the store can't
// say now.
func (s *Slack) ownThread(ctx context.Context, b bot, m messageEvent) (bool, error) {
	viewed := m.AssistantThread != nil && m.ParentUser != m.User // Slack may send one with any message to such an app
	if m.ThreadTS == "" || !s.identity.hasScope(doctor.ScopeAssistant, viewed) {
		return false, nil
	}
	known, err := s.Inbox.Events(ctx, core.EventFilter{
		Platform: Name, Conversation: conversationID(b.team, m.Channel, m.ThreadTS),
		Kinds: []core.Kind{core.KindMessage, core.KindReset}, Limit: 1,
	})
	switch {
	case err != nil:
		return false, core.Wrap(core.DeliveryLater, err, "The conversation of a message can't be looked up now.")
	case len(known) > 0:
		return true, nil
	}
	return m.ParentUser != m.User && s.beganByAssistant(ctx, m, viewed), nil
}

// beganByAssistant asks Slack, once for each thread, whether that of a message began in the assistant view; unsaid if
// Slack can't say.
func (s *Slack) beganByAssistant(ctx context.Context, m messageEvent, unsaid bool) bool {
	thread := m.thread()
	if known, fresh := s.views.Get(thread); fresh {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, rootTime)
	defer cancel()
	page, _, _, err := s.api.GetConversationRepliesContext(ctx, &api.GetConversationRepliesParameters{
		ChannelID: m.Channel, Timestamp: m.ThreadTS, Limit: 1,
	})
	if s.called(err) != nil || len(page) == 0 {
		return unsaid
	}
	var root heard.Message
	_ = inbound.Decode([]byte(page[0].Text), &root)
	return s.views.Put(thread, root.TS == m.ThreadTS && root.Subtype == beginsAssistant, outbound.Forever)
}

// stampOf is the timestamp of a time.
func stampOf(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }
