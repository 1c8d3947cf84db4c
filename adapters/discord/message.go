package discord

import (
	"context"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// message is the part of a message that is read, before it is stored and when it is parsed. All other fields may have
// any shape: discordgo.Message would refuse a message with a component that it does not know.
type message struct {
	quotable
	IDs          []string               `json:"ids"` // of messages that were deleted together
	Channel      string                 `json:"channel_id"`
	Guild        string                 `json:"guild_id"`
	In           *discordgo.ChannelType `json:"channel_type"` // nil: not said
	Type         discordgo.MessageType  `json:"type"`
	MentionRoles []string               `json:"mention_roles"`
	Edited       string                 `json:"edited_timestamp"`
	RepliesTo    lenient[*quotable]     `json:"referenced_message"`
}

// answersBot reports whether the message is a reply to one of the bot's.
func (m message) answersBot(me string) bool {
	to := m.RepliesTo.it
	return m.Type == discordgo.MessageTypeReply && me != "" && to != nil && to.isBy(me)
}

var (
	errMessageShape = core.Errorf(core.ChatMessageShapeInvalid,
		"The message from Discord could not be read. Send it again.")
	errUnmentioned = core.Errorf(core.ChatMessageShapeInvalid,
		"I can't read that message: here I receive only messages that mention me. Mention me in it.")
)

// Parse returns the message of an event, with what it points at and carries. Attached images and text files become
// blocks; other files are only named.
func (d *Discord) Parse(ctx context.Context, e core.Event) (core.Input, error) {
	m, err := decodeMessage(e)
	if err != nil {
		return core.Input{}, err
	}
	if only, err := d.onlyBots(ctx, e); only || err != nil {
		return core.Input{Ignored: chat.TooManyBots}, err
	}
	me, err := d.botUser(ctx)
	if err != nil {
		return core.Input{}, err
	}
	role, err := d.roleOf(ctx, m, me) // this also loads the names of the server's roles
	if err != nil {
		return core.Input{}, err
	}
	rest, mentioned := addressed(m, me, role)
	if !mentioned && m.isBare() && m.Guild != "" && !d.readsContent() && !isCommand(e) {
		if m.answersBot(me) {
			return core.Input{}, errUnmentioned
		}
		return core.Input{Ignored: "Discord withholds what it says, since it does not mention the bot"}, nil
	}
	names := d.namesIn(ctx, m.Guild, m.quotables()...)
	h := chat.Heard{
		Speaker: core.Speaker{Name: chat.Name(nameOf(m.Author, m.Member)), ID: address.Platform + ":" + m.Author.ID},
		Alone:   m.Guild == "", Mention: d.needsMention(m, e), Text: names.read(rest), Fetched: names.asked,
	}
	h.Points = names.points(m, me, h.Speaker)
	before, err := d.before(ctx, e, m, me, mentioned || m.answersBot(me))
	if err != nil {
		return core.Input{}, err
	}
	if h.Files, err = d.files(ctx, e, m, me, names, before.root...); err != nil {
		return core.Input{}, err
	}
	h.Points, h.Fetched = append(before.points, h.Points...), h.Fetched || before.asked
	return h.Input()
}

// needsMention reports whether a message needs a mention where another is answered.
func (d *Discord) needsMention(m message, e core.Event) bool {
	return m.Guild != "" && !isCommand(e) &&
		(e.Address.Thread == "" || !d.readsContent() || d.Config.FollowUp == followMention)
}

// isCommand reports whether an event is a command that asks a question.
func isCommand(e core.Event) bool {
	_, _, is := address.Command(e.Address)
	return is
}

// forwardsWhole reports whether a message forwards one that is there itself, in place of a snapshot of it.
func (m message) forwardsWhole() bool {
	forwards := m.Reference.it.Type == discordgo.MessageReferenceTypeForward
	return forwards && m.RepliesTo.it != nil && len(m.Snapshots.it) == 0
}

// quotables are the message itself, and the one that it replies to or forwards whole.
func (m message) quotables() []quotable {
	if to := m.RepliesTo.it; to != nil && (m.Type == discordgo.MessageTypeReply || m.forwardsWhole()) {
		return []quotable{m.quotable, *to}
	}
	return []quotable{m.quotable}
}

// decodeMessage decodes the payload of a message, or of a command that asks a question.
func decodeMessage(e core.Event) (m message, err error) {
	if isCommand(e) {
		var i interaction
		err = chat.Decode(e.Payload, &i)
		m.Author, m.Member, m.Content = i.person(), i.Member, i.text()
	} else {
		err = chat.Decode(e.Payload, &m)
	}
	if err != nil || m.Author == nil || !snowflake.Valid(m.Author.ID) {
		return m, errMessageShape
	}
	if m.Guild = address.Guild(e.Conversation); !snowflake.Valid(m.Guild) {
		m.Guild = ""
	}
	return m, nil
}

// roleOf returns the bot's own role in the server of a message that mentions roles, else "".
func (d *Discord) roleOf(ctx context.Context, m message, bot string) (string, error) {
	if m.Guild == "" || len(m.MentionRoles) == 0 {
		return "", nil
	}
	g, err := d.guilds.Guild(ctx, m.Guild)
	return g.BotRole(bot), err
}
