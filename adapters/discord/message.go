package discord

import (
	"context"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

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
		return core.Input{Ignored: inbound.TooManyBots}, err
	}
	me, err := d.botUser(ctx)
	if err != nil {
		return core.Input{}, err
	}
	role, err := d.roleOf(ctx, m, me) // this also loads the names of the server's roles
	if err != nil {
		return core.Input{}, err
	}
	rest, mentioned := heard.Addressed(m, me, role)
	if !mentioned && m.IsBare() && m.Guild != "" && !d.readsContent() && !isCommand(e) {
		if m.AnswersBot(me) {
			return core.Input{}, errUnmentioned
		}
		return core.Input{Ignored: "Discord withholds what it says, since it does not mention the bot"}, nil
	}
	quoted := m.Quotables()
	names := d.names(m.Guild, quoted...)
	names.Ask(ctx, quoted...)
	h := inbound.Heard{
		Speaker: m.Speaker(),
		Alone:   m.Guild == "", Mention: d.needsMention(m, e), Text: names.Text(rest), Fetched: names.Asked,
	}
	h.Points = names.Points(m, me, h.Speaker)
	before, err := d.before(ctx, e, m, me, mentioned || m.AnswersBot(me))
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
func (d *Discord) needsMention(m heard.Message, e core.Event) bool {
	return m.Guild != "" && !isCommand(e) &&
		(e.Address.Thread == "" || !d.readsContent() || d.Config.FollowUp == followMention)
}

// isCommand reports whether an event is a command that asks a question.
func isCommand(e core.Event) bool {
	_, _, is := address.Command(e.Address)
	return is
}

// decodeMessage decodes the payload of a message, or of a command that asks a question.
func decodeMessage(e core.Event) (m heard.Message, err error) {
	if isCommand(e) {
		var i interaction
		err = inbound.Decode(e.Payload, &i)
		m.Author, m.Member, m.Content = i.person(), i.Member, i.text()
	} else {
		err = inbound.Decode(e.Payload, &m)
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
func (d *Discord) roleOf(ctx context.Context, m heard.Message, bot string) (string, error) {
	if m.Guild == "" || len(m.MentionRoles) == 0 {
		return "", nil
	}
	g, err := d.guilds.Guild(ctx, m.Guild)
	return g.BotRole(bot), err
}

// names returns the names that messages of a server mention, as far as they are known.
func (d *Discord) names(guild string, all ...heard.Quotable) *heard.Names {
	return heard.KnownNames(d.guilds, guild, !d.readsContent(), all...)
}

// readableIn converts a text of a message, and asks for nothing.
func (d *Discord) readableIn(m heard.Message, text string) string {
	return d.names(m.Guild, m.Quotable).Text(text)
}
