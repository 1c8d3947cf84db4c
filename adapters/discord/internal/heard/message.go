// Package heard reads messages of Discord, and writes them as the model is shown them. From a message with the content
// "<@900> what is <#3001>?" that replies to another come the words "what is #general?" and a quotation of the other.
//
//	message.go    a message, its author, and what it forwards or replies to
//	parts.go      what a message has beside its text: embeds, components, stickers, polls
//	files.go      its files
//	names.go      Discord's tokens as people see them, with the names that are known or asked for
//	mention.go    whether it mentions the bot; what in a text is code
//	quotation.go  what it points at and carries, as quotations
//
// Nothing is decided by the parts of a message but by its text, author and place: those may have any form. Only
// Names.Ask makes calls.
package heard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/address"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Message is the part of a message that is read, before it is stored and when it is parsed. All other fields may have
// any shape: discordgo.Message would refuse a message with a component that it does not know.
type Message struct {
	Quotable
	IDs          []string               `json:"ids"` // of messages that were deleted together
	Channel      string                 `json:"channel_id"`
	Guild        string                 `json:"guild_id"`
	In           *discordgo.ChannelType `json:"channel_type"` // nil: not said
	Type         discordgo.MessageType  `json:"type"`
	MentionRoles []string               `json:"mention_roles"`
	Edited       string                 `json:"edited_timestamp"`
	RepliesTo    Lenient[*Quotable]     `json:"referenced_message"`
}

// AnswersBot reports whether the message is a reply to one of the bot's.
func (m Message) AnswersBot(me string) bool {
	to := m.RepliesTo.It
	return m.Type == discordgo.MessageTypeReply && me != "" && to != nil && to.IsBy(me)
}

// forwardsWhole reports whether a message forwards one that is there itself, in place of a snapshot of it.
func (m Message) forwardsWhole() bool {
	forwards := m.Reference.It.Type == discordgo.MessageReferenceTypeForward
	return forwards && m.RepliesTo.It != nil && len(m.Snapshots.It) == 0
}

// Quotables are the message itself, and the one that it replies to or forwards whole.
func (m Message) Quotables() []Quotable {
	if to := m.RepliesTo.It; to != nil && (m.Type == discordgo.MessageTypeReply || m.forwardsWhole()) {
		return []Quotable{m.Quotable, *to}
	}
	return []Quotable{m.Quotable}
}

// Begins reports whether a thread begins with a message: the first of a forum's post, or the one in which Discord shows
// another.
func (m Message) Begins(thread string) bool {
	return m.ID == thread || m.Type == discordgo.MessageTypeThreadStarterMessage
}

// User is a person or a bot.
type User struct {
	ID       string  `json:"id"`
	Username string  `json:"username"`
	Global   string  `json:"global_name"`
	Bot      bool    `json:"bot"`
	System   bool    `json:"system"`
	Member   *Member `json:"member"` // of a mention
}

// Member is a user in a server.
type Member struct {
	User  *User    `json:"user"` // only of an interaction
	Nick  string   `json:"nick"`
	Roles []string `json:"roles,omitempty"`
}

// nameOf returns a user's name as shown where they wrote: in a server their nickname.
func nameOf(u *User, m *Member) string {
	nick := ""
	if m != nil {
		nick = m.Nick
	}
	return cmp.Or(strings.TrimSpace(nick), strings.TrimSpace(u.Global), strings.TrimSpace(u.Username), u.ID)
}

// Actor returns the core.Actor of a person, with the name that others see where m is their membership; nil for a direct
// message.
func (u *User) Actor(m *Member) core.Actor {
	who := address.Actor(u.ID)
	if name := nameOf(u, m); name != u.ID {
		who.Name = safetext.Name(name)
	}
	return who
}

// Quotable is a message as others may point at it: one that is replied to, or one of a thread.
type Quotable struct {
	parts
	ID              string                       `json:"id"`
	Author          *User                        `json:"author"`
	Member          *Member                      `json:"member"`
	Webhook         string                       `json:"webhook_id"`
	MentionChannels Lenient[[]discordgo.Channel] `json:"mention_channels"`
	Snapshots       Lenient[[]snapshot]          `json:"message_snapshots"` // of the messages that it forwards
	Reference       Lenient[reference]           `json:"message_reference"`
}

// snapshot is a message that was forwarded, as it was then. Discord does not say who wrote it.
type snapshot struct {
	Message struct {
		parts
		Snapshots Lenient[[]snapshot] `json:"message_snapshots"` // of a forward that was forwarded
	} `json:"message"`
}

// forwarded are the messages that a message forwards; in place of a forward that was forwarded, those that it forwards.
func (s Quotable) forwarded() (all []parts) {
	var walk func(list []snapshot)
	walk = func(list []snapshot) {
		for _, f := range list {
			if inner := f.Message.Snapshots.It; len(inner) > 0 {
				walk(inner)
			} else if len(all) < maxEmbeds {
				all = append(all, f.Message.parts)
			}
		}
	}
	walk(s.Snapshots.It)
	return all
}

// reference is where a message is that another points at: it replies to it, forwards it, or tells of it.
type reference struct {
	Type    discordgo.MessageReferenceType `json:"type"`
	Channel string                         `json:"channel_id"`
}

// IsBy reports whether somebody wrote the message.
func (s Quotable) IsBy(user string) bool { return s.Author != nil && s.Author.ID == user }

// byBot reports whether a bot or a webhook wrote the message.
func (s Quotable) byBot() bool { return s.Author != nil && s.Author.Bot || s.Webhook != "" }

// IsEmpty reports whether there is nothing in a message that can be read.
func (s Quotable) IsEmpty() bool {
	return s.IsBare() && !s.has(func(c parts) bool { return len(c.Stickers.It) > 0 })
}

// IsBare reports whether a message has nothing but stickers. In a server Discord withholds all else where the message
// content is not granted.
func (s Quotable) IsBare() bool {
	return !s.has(func(c parts) bool {
		c.Stickers.It = nil
		return c.Content != "" || len(c.Attachments.It) > 0 || len(c.extras(false)) > 0
	})
}

// has reports whether something holds of a message, or of one that it forwards.
func (s Quotable) has(holds func(parts) bool) bool {
	return holds(s.parts) || slices.ContainsFunc(s.forwarded(), holds)
}

// IsSaid reports whether messages of a type are somebody's, not Discord's own: that somebody joined, for instance.
func IsSaid(t discordgo.MessageType) bool {
	switch t {
	case discordgo.MessageTypeDefault, discordgo.MessageTypeReply,
		discordgo.MessageTypeChatInputCommand, discordgo.MessageTypeContextMenuCommand:
		return true
	}
	return false
}

// Speaker is who wrote the message, by the name that others see.
func (m Message) Speaker() core.Speaker {
	return core.Speaker{Name: safetext.Name(nameOf(m.Author, m.Member)), ID: address.Actor(m.Author.ID).ID}
}
