package discordtest

import (
	"slices"

	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/message"
	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// What a message is made of.
type (
	Message    = message.Message
	Attachment = message.Attachment
	Button     = message.Button
	Menu       = message.Menu
)

// Flags and types of messages that tests ask for.
const (
	FlagSuppressEmbeds = wire.FlagSuppressEmbeds
	FlagComponentsV2   = wire.FlagComponentsV2
	TypeReply          = wire.TypeReply
	TypeCommand        = wire.TypeCommand
	TypeThreadStarter  = wire.TypeThreadStarter
)

// record is a message and whether reads already show it.
type record struct {
	Message
	fakeserver.Visibility
}

// add adds a message to a channel. The caller holds the lock.
func (s *Server) add(c *channel, m Message) *record {
	if m.ID == "" {
		m.ID = s.newID()
	}
	m.Channel, m.Guild = c.ID, c.Guild
	if m.At.IsZero() {
		m.At = s.o.Now()
	}
	m.Notified = append(slices.Clone(m.Mentions), m.Roles...)
	r := &record{Message: m}
	if m.Ephemeral != "" {
		c.ephemerals = append(c.ephemerals, r)
	} else {
		c.messages = append(c.messages, r)
		c.byID[m.ID] = r
	}
	if m.Author == s.o.BotUserID {
		s.postCount++
		if m.Ephemeral == "" {
			fakeserver.Hide(&s.Reads, &r.Visibility)
		}
	}
	if c.Archived && !c.Locked && m.Ephemeral == "" {
		c.Archived = false
		s.emitThread("THREAD_UPDATE", c, nil)
	}
	s.changed()
	return r
}

// remove deletes a message and sends the event.
func (s *Server) remove(c *channel, r *record) {
	same := func(other *record) bool { return other == r }
	if r.Ephemeral != "" {
		c.ephemerals = slices.DeleteFunc(c.ephemerals, same)
	} else {
		c.messages = slices.DeleteFunc(c.messages, same)
		delete(c.byID, r.ID)
		data := object{"id": r.ID, "channel_id": c.ID}
		if c.Guild != "" {
			data["guild_id"] = c.Guild
		}
		s.emit(c,
			gateway.Event{
				Name: "MESSAGE_DELETE", Guild: c.Guild,
				Intent: intentFor(c, gateway.IntentGuildMessages, gateway.IntentDirectMessages), Full: data,
			})
	}
	s.changed()
}

// mention sets whom a message pings.
func (s *Server) mention(m *Message) {
	c := s.channels[m.Channel]
	message.Mention(m, message.Audience{
		User: func(id string) bool { return s.users[id] != nil },
		Role: func(id string) bool {
			g := s.guilds[m.Guild]
			return g != nil && slices.ContainsFunc(g.Roles, func(r Role) bool { return r.ID == id })
		},
		Everyone: func() bool { return m.Guild != "" && s.permissions(c, m.Author)&MentionEveryone != 0 },
		AuthorOf: func(id string) string {
			if r := c.byID[id]; r != nil {
				return r.Author
			}
			return ""
		},
	})
}
