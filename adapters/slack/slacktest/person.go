package slacktest

import (
	"cmp"
	"slices"
	"strings"

	"gatehouse/adapters/slack/slacktest/internal/blockkit"
)

// Person is a user who can act. Another bot is one too.
type Person struct {
	s  *Server
	ID string
}

// Person returns a user that was added before.
func (s *Server) Person(id string) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[id] == nil {
		s.fatal("there is no user %q", id)
	}
	return &Person{s: s, ID: id}
}

// Posts posts a message in a channel. The app receives a message event, and an app_mention if the text mentions the
// bot.
func (p *Person) Posts(channel, text string, options ...ActionOption) Posted {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	h := actionOptions{}.with(options)
	c := s.mustChannel(channel)
	if !c.has(p.ID) {
		s.fatal("%s can't post in %s: not a member", p.ID, channel)
	}
	m := Message{TS: s.newTS(), User: p.ID, Text: text, Blocks: h.blocks}
	if h.thread != "" {
		if m.ThreadTS = c.rootOf(h.thread); c.byTS[m.ThreadTS] == nil {
			s.fatal("there is no message %s in %s to reply to", h.thread, channel)
		}
	}
	m.Broadcast = h.broadcast && m.ThreadTS != ""
	if u := s.users[p.ID]; u.IsBot {
		m.BotID, m.AppID = u.BotID, u.AppID
		switch {
		case u.Workflow:
			m.Subtype, m.User, m.Username, m.workflow = "bot_message", "", u.Name, true
		case h.botMessage:
			m.Subtype, m.User, m.AppID, m.Username = "bot_message", "", "", u.Name
		}
	} else {
		m.clientMsgID = s.ids.uuid()
	}
	if len(m.Blocks) == 0 {
		m.Blocks, m.derivedBlocks = blockkit.RichText(text, s.ids.next), true
	}
	for _, f := range h.files {
		f.ID = cmp.Or(f.ID, s.ids.next("F"))
		m.Subtype = "file_share"
		m.Files = append(m.Files, f)
		s.files[f.ID] = &f
	}
	if h.attached != nil {
		m.Attachments = h.attached
	}
	r := s.add(c, m)
	return Posted{Message: r.Message, Deliveries: s.emitMessage(c, r.Message, h)}
}

// Posted is a message that was just posted, and the events of it to the app.
type Posted struct {
	Message
	Deliveries []*Delivery
}

// Says posts a direct message to the bot.
func (p *Person) Says(text string, options ...ActionOption) Posted {
	return p.Posts(p.s.DMWith(p.ID), text, options...)
}

// Edits changes the text of the person's message.
func (p *Person) Edits(channel, ts, text string, options ...ActionOption) []*Delivery {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.mustMessage(channel, ts)
	before := r.Message
	r.Text, r.Blocks, r.derivedBlocks = text, blockkit.RichText(text, s.ids.next), true
	r.EditedTS, r.EditedBy, r.Edits = s.newTS(), p.ID, r.Edits+1
	s.changed()
	return s.emitChanged(c, r.Message, before, actionOptions{}.with(options))
}

// Deletes deletes a message. A parent with replies leaves a tombstone, which the app receives as a change.
func (p *Person) Deletes(channel, ts string, options ...ActionOption) []*Delivery {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.mustMessage(channel, ts)
	return s.remove(c, r, actionOptions{}.with(options))
}

// Reacts sets an emoji under a message. The app gets no event.
func (p *Person) Reacts(channel, ts, name string) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, ts)
	r.react(name, p.ID)
	s.changed()
}

// Unfurl shows a preview of a link under a message: a message_changed in which text and author stay the same.
func (s *Server) Unfurl(channel, ts, link string, options ...ActionOption) []*Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.mustMessage(channel, ts)
	before := r.Message
	h := actionOptions{}.with(options)
	r.Attachments = h.attached
	if h.attached == nil {
		r.Attachments = []object{{
			"id": 1, "from_url": link, "original_url": link, "fallback": link, "title": link, "title_link": link,
			"service_name": "web",
		}}
	}
	s.changed()
	return s.emitChanged(c, r.Message, before, h)
}

// Forward is the attachment by which a message is shown in another one: forwarded or, if shared is false, because a
// link leads to it. See [WithAttachments].
func (s *Server) Forward(channel, ts string, shared bool) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.mustMessage(channel, ts)
	name := r.Username
	if u := s.users[r.User]; u != nil {
		name = u.RealName
	}
	link := s.workspaceURL() + "archives/" + c.ID + "/p" + strings.ReplaceAll(ts, ".", "")
	inner := object{"blocks": r.Blocks}
	if r.Attachments != nil {
		inner["attachments"] = r.Attachments
	}
	forward := object{
		"id": 1, "ts": ts, "author_id": cmp.Or(r.User, r.BotID), "author_name": name, "channel_id": c.ID,
		"channel_team": s.o.TeamID, "is_msg_unfurl": true, "is_share": shared, "from_url": link, "original_url": link,
		"footer": "Slack Conversation", "mrkdwn_in": []string{"text"},
		"text": r.Text, "fallback": "[" + ts + "] " + name + ": " + r.Text,
		"message_blocks": []object{{"team": s.o.TeamID, "channel": c.ID, "ts": ts, "message": inner}},
	}
	if len(r.Files) > 0 {
		forward["files"] = s.wireFiles(r.Files)
	}
	return forward
}

// Joins makes the person (or the bot) a member; the app receives member_joined_channel.
func (p *Person) Joins(channel string, options ...ActionOption) []*Delivery {
	p.s.Invite(channel, p.ID)
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	kind := strings.ToUpper(string(c.Kind)[:1])
	return s.send(c.ID, c.ExtShared, actionOptions{}.with(options),
		event{subscription: "member_joined_channel", fields: object{
			"type": "member_joined_channel", "user": p.ID, "channel": c.ID, "channel_type": kind,
			"team": s.teamOf(p.ID), "event_ts": s.newTS(),
		}})
}

// OpensAssistant opens the assistant view of the app: a new thread in their direct messages, whose parent is the app's
// own message.
func (p *Person) OpensAssistant(options ...ActionOption) (channel, thread string) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.openDM(p.ID)
	m := s.message(content{text: "New Assistant Thread"})
	m.TS, m.Subtype = s.newTS(), "assistant_app_thread"
	r := s.add(c, m)
	s.send(c.ID, false, actionOptions{}.with(options), event{subscription: "assistant_thread_started", fields: object{
		"type": "assistant_thread_started", "event_ts": s.newTS(),
		"assistant_thread": object{
			"user_id":    p.ID,
			"context":    object{"channel_id": "", "team_id": s.o.TeamID, "enterprise_id": nil, "force_search": false},
			"channel_id": c.ID, "thread_ts": r.TS,
		},
	}})
	return c.ID, r.TS
}

// mustMessage returns a message, and fails the test if there is none.
func (s *Server) mustMessage(channel, ts string) (*channel, *record) {
	c := s.mustChannel(channel)
	if r := c.byTS[ts]; r != nil {
		return c, r
	}
	if i := slices.IndexFunc(c.ephemerals, func(r *record) bool { return r.TS == ts }); i >= 0 {
		return c, c.ephemerals[i]
	}
	s.fatal("there is no message %s in %s", ts, channel)
	return nil, nil
}
