package discord

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// interaction is what is read of a press of a button, a submitted form or a slash command: discordgo.Interaction refuses one with a
// component that it does not know.
type interaction struct {
	ID      string                    `json:"id"`
	App     string                    `json:"application_id"`
	Type    discordgo.InteractionType `json:"type"`
	Token   string                    `json:"token,omitempty"` // good for fifteen minutes; no event has it
	Guild   string                    `json:"guild_id,omitempty"`
	Channel string                    `json:"channel_id"`
	In      *struct {
		Type   discordgo.ChannelType `json:"type"`
		Parent string                `json:"parent_id"`
	} `json:"channel,omitempty"`
	Member *struct {
		User  *user    `json:"user"`
		Nick  string   `json:"nick"`
		Roles []string `json:"roles,omitempty"`
	} `json:"member,omitempty"`
	User    *user `json:"user,omitempty"`
	Message *struct {
		ID string `json:"id"`
	} `json:"message,omitempty"`
	Data struct {
		Name       string      `json:"name,omitempty"`
		CustomID   string      `json:"custom_id,omitempty"`
		Options    []option    `json:"options,omitempty"`
		Components []component `json:"components,omitempty"`
	} `json:"data"`
}

// option is an option of a command.
type option struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// component is a part of a form: a row of inputs, or a label around one.
type component struct {
	Value  string      `json:"value,omitempty"`
	Inputs []component `json:"components,omitempty"`
	Input  *component  `json:"component,omitempty"`
}

// response is the first answer to an interaction.
type response struct {
	Type  discordgo.InteractionResponseType `json:"type"`
	Data  any                               `json:"data,omitempty"`
	files []*discordgo.File                 // uploaded with it
}

// acknowledged answers a press without showing anything.
var acknowledged = &response{Type: discordgo.InteractionResponseDeferredMessageUpdate}

// ephemeral is an answer that only the person sees.
func ephemeral(text string) *response { return reply(text, discordgo.MessageFlagsEphemeral) }

// reply is an answer in the conversation. It mentions nobody.
func reply(text string, flags discordgo.MessageFlags) *response {
	return &response{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: map[string]any{
		"content": text, "flags": flags | discordgo.MessageFlagsSuppressEmbeds, "allowed_mentions": mentions{},
	}}
}

// replyLater says that the answer comes.
func replyLater(flags discordgo.MessageFlags) *response {
	return &response{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource, Data: map[string]any{"flags": flags}}
}

// person is who it is, nil where it does not say.
func (i interaction) person() *user {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User
	}
	return i.User
}

// address is where it came from. prefix says what its message is, "" where no answer is given by it.
func (i interaction) address(prefix string) core.Address {
	to := core.Address{Platform: Name, Channel: i.Channel}
	if in := i.In; in != nil && snowflake.Valid(in.Parent) && guilds.IsThread(in.Type) {
		to.Channel, to.Thread = in.Parent, i.Channel
	}
	if prefix != "" && i.Token != "" && snowflake.Valid(i.App) {
		to.Message = prefix + i.ID
	}
	return to
}

// conversation is the one that it came from.
func (i interaction) conversation() core.ConversationID {
	guild := i.Guild
	if guild == "" {
		guild = direct
	}
	return conversationOf(guild, i.address(""))
}

// payload is what is stored: without the token.
func (i interaction) payload() json.RawMessage {
	i.Token = ""
	body, _ := json.Marshal(i) // of texts and JSON that was read: can't fail
	return body
}

// text is what was asked.
func (i interaction) text() string {
	for _, o := range i.Data.Options {
		var text string
		if json.Unmarshal(o.Value, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// decision is the event of a decision. The interaction's id tells one press from the next.
func decision(i interaction, id core.ApprovalID) *core.Event {
	e := chat.DecisionEvent(Name, id, i.person().ID, i.ID, i.conversation(), i.address(pressPrefix), i.payload())
	return &e
}

// answerTimeout is how long the answer to an interaction may take: Discord waits three seconds.
const answerTimeout = 2500 * time.Millisecond

// user is a person or a bot.
type user struct {
	ID       string  `json:"id"`
	Username string  `json:"username"`
	Global   string  `json:"global_name"`
	Bot      bool    `json:"bot"`
	System   bool    `json:"system"`
	Member   *member `json:"member"` // of a mention
}

// member is what somebody is called in a server.
type member struct {
	Nick string `json:"nick"`
}
