package discord

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// message is the part of a message that is read, before it is stored and when it is parsed. All other fields may have
// any shape: discordgo.Message would refuse a message with a component that it does not know.
type message struct {
	ID              string                 `json:"id"`
	IDs             []string               `json:"ids"` // of messages that were deleted together
	Channel         string                 `json:"channel_id"`
	Guild           string                 `json:"guild_id"`
	In              *discordgo.ChannelType `json:"channel_type"` // nil: not said
	Type            discordgo.MessageType  `json:"type"`
	Content         string                 `json:"content"`
	Author          *user                  `json:"author"`
	Member          *member                `json:"member"`
	Webhook         string                 `json:"webhook_id"`
	Mentions        []user                 `json:"mentions"`
	MentionRoles    []string               `json:"mention_roles"`
	MentionChannels []discordgo.Channel    `json:"mention_channels"`
	Attachments     []attachment           `json:"attachments"`
	Edited          string                 `json:"edited_timestamp"`
	Snapshots       []snapshot             `json:"message_snapshots"` // of the messages that it forwards
	RepliesTo       struct {
		Author user `json:"author"`
	} `json:"referenced_message"`
}

// answersBot reports whether the message is a reply to one of the bot's.
func (m message) answersBot(me string) bool {
	return m.Type == discordgo.MessageTypeReply && me != "" && m.RepliesTo.Author.ID == me
}

var errMessageShape = core.Errorf(core.ChatMessageShapeInvalid, "The message from Discord could not be read. Send it again.")

// Parse returns the message of an event. In a server it begins with its author. Attached images become blocks; other
// files are only named.
func (d *Discord) Parse(ctx context.Context, e core.Event) (core.Input, error) {
	m, err := decodeMessage(e)
	if err != nil {
		return core.Input{}, err
	}
	if tooMany, err := d.refusesBot(ctx, e); tooMany || err != nil {
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
	text := d.forwarded(d.readableIn(m, rest), m)
	h := chat.Heard{
		Speaker: core.Speaker{Name: chat.Name(nameOf(m.Author, m.Member)), ID: Name + ":" + m.Author.ID},
		Alone:   m.Guild == "", Mention: m.Guild != "", Text: text,
	}
	if h.Files, err = d.files(ctx, e, m, h.Speaker); err != nil {
		return core.Input{}, err
	}
	if m.isEmpty() && !d.readsContent() && m.Guild != "" {
		return core.Input{}, core.Errorf(core.ChatMessageShapeInvalid, "I can't read that message: here I receive only messages that mention me. Mention me in it.")
	}
	before, asked, err := d.before(ctx, e, m, me, mentioned || m.answersBot(me))
	if err != nil {
		return core.Input{}, err
	}
	h.Points, h.Fetched = append(before, h.Points...), h.Fetched || asked
	return h.Input()
}

// decodeMessage decodes the payload of a message, or of a command that asks a question.
func decodeMessage(e core.Event) (m message, err error) {
	if strings.HasPrefix(e.ID, commandEvent) {
		var i interaction
		err = chat.Decode(e.Payload, &i)
		m.Author, m.Member, m.Content = i.person(), i.Member, i.text()
	} else {
		err = chat.Decode(e.Payload, &m)
	}
	if err != nil || m.Author == nil || !snowflake.Valid(m.Author.ID) {
		return m, errMessageShape
	}
	if m.Guild = guildOf(e.Conversation); !snowflake.Valid(m.Guild) {
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

// addressed removes all mentions of the bot from the beginning of a message, each with a comma or colon after it.
// mentioned: the message mentions the bot or its own role somewhere, or is a reply that pings the bot.
func addressed(m message, me, role string) (rest string, mentioned bool) {
	names := []string{"<@" + me + ">", "<@!" + me + ">"}
	if role != "" {
		names = append(names, "<@&"+role+">")
		mentioned = slices.Contains(m.MentionRoles, role)
	}
	mentioned = mentioned || slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == me && me != "" })
	rest = strings.TrimSpace(m.Content)
	for again := me != ""; again; {
		again = false
		for _, name := range names {
			mentioned = mentioned || strings.Contains(m.Content, name)
			if after, ok := strings.CutPrefix(rest, name); ok {
				rest, again = strings.TrimSpace(strings.TrimLeft(after, ",:")), true
			}
		}
	}
	return rest, mentioned
}

// readable converts a person's text to plain text for the agent: Discord's tokens become what the person saw. names
// returns the name of a person ('@'), a channel ('#') or a role ('&'), "" if unknown.
func readable(text string, names func(kind byte, id string) string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	return anyToken.ReplaceAllStringFunc(text, func(token string) string {
		if shown, ok := readToken(token[1:len(token)-1], names); ok {
			return shown
		}
		return token
	})
}

// readableIn converts a text of a message.
func (d *Discord) readableIn(m message, text string) string {
	return strings.TrimSpace(readable(text, chat.FewNames(d.namesIn(m))))
}

var (
	anyToken       = regexp.MustCompile(`<[^<>\n]*>`)
	mentionToken   = regexp.MustCompile(`^(@[!&]?|#)(\d{1,20})$`)              // its kind and its id
	emojiOrCommand = regexp.MustCompile(`^(?:a?(:[^:]+:)|(/[^:]*):)\d{1,20}$`) // their text and id, without the brackets
)

// readToken converts the inside of <…> to what people see; ok is false if it is not one of Discord's tokens.
func readToken(inside string, names func(kind byte, id string) string) (shown string, ok bool) {
	if seconds, is := strings.CutPrefix(inside, "t:"); is {
		return readTime(seconds)
	}
	if m := mentionToken.FindStringSubmatch(inside); m != nil {
		kind := m[1][0]
		if m[1] == "@&" {
			kind = '&'
		}
		return m[1][:1] + cmp.Or(strings.TrimLeft(chat.Name(names(kind, m[2])), "@#"), m[2]), true
	}
	if m := emojiOrCommand.FindStringSubmatch(inside); m != nil {
		return m[1] + m[2], true
	}
	return "", false
}

// readTime converts the SECONDS:STYLE of a time token to a time in UTC.
func readTime(inside string) (string, bool) {
	seconds, _, _ := strings.Cut(inside, ":")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return "", false
	}
	return time.Unix(n, 0).UTC().Format("2006-01-02 15:04:05 UTC"), true
}

// namesIn returns a lookup of the names that a message mentions: those that the message has, people's and some
// channels', and those of other channels and of roles if known.
func (d *Discord) namesIn(m message) func(kind byte, id string) string {
	return func(kind byte, id string) string {
		switch kind {
		case '#':
			for _, c := range m.MentionChannels {
				if c.ID == id && c.Name != "" {
					return c.Name
				}
			}
			return d.guilds.ChannelName(id)
		case '&':
			return d.guilds.RoleName(m.Guild, id)
		}
		for _, u := range m.Mentions {
			if u.ID == id {
				return nameOf(&u, u.Member)
			}
		}
		return ""
	}
}

// nameOf returns a user's name as shown where they wrote: in a server their nickname.
func nameOf(u *user, m *member) string {
	nick := ""
	if m != nil {
		nick = m.Nick
	}
	return cmp.Or(strings.TrimSpace(nick), strings.TrimSpace(u.Global), strings.TrimSpace(u.Username), u.ID)
}
