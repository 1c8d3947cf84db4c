package discord

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// interaction is the part that is read of a button press, a submitted form or a slash command. discordgo.Interaction would refuse one with
// a component that it does not know.
type interaction struct {
	ID      string                    `json:"id"`
	App     string                    `json:"application_id"`
	Type    discordgo.InteractionType `json:"type"`
	Token   string                    `json:"token,omitempty"` // valid for fifteen minutes; not in any event
	Guild   string                    `json:"guild_id,omitempty"`
	Channel string                    `json:"channel_id"`
	In      *struct {
		Type   discordgo.ChannelType `json:"type"`
		Parent string                `json:"parent_id"`
	} `json:"channel,omitempty"`
	Member  *member `json:"member,omitempty"`
	User    *user   `json:"user,omitempty"`
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

// ephemeral makes an answer that only the person sees.
func ephemeral(text string) *response { return reply(text, discordgo.MessageFlagsEphemeral) }

// reply makes an answer in the conversation.
func reply(text string, flags discordgo.MessageFlags) *response {
	out := drawn{Text: text}.outgoing()
	out.Flags |= flags
	return &response{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: out}
}

// replyLater announces an answer that comes later.
func replyLater(flags discordgo.MessageFlags) *response {
	return &response{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource, Data: map[string]any{"flags": flags}}
}

// person returns the interaction's user, nil if it names none.
func (i interaction) person() *user {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User
	}
	return i.User
}

// address returns where the interaction came from. Its message is prefix and the interaction's id, or "" if prefix is "" or the
// interaction can't be answered.
func (i interaction) address(prefix string) core.Address {
	to := core.Address{Platform: Name, Channel: i.Channel}
	if in := i.In; in != nil && snowflake.Valid(in.Parent) && (&discordgo.Channel{Type: in.Type}).IsThread() {
		to.Channel, to.Thread = in.Parent, i.Channel
	}
	if prefix != "" && i.Token != "" && snowflake.Valid(i.App) {
		to.Message = prefix + i.ID
	}
	return to
}

// conversation returns the conversation that the interaction came from.
func (i interaction) conversation() core.ConversationID {
	guild := i.Guild
	if guild == "" {
		guild = direct
	}
	return conversationOf(guild, i.address(""))
}

// payload returns what is stored of the interaction: all but the token.
func (i interaction) payload() json.RawMessage {
	i.Token = ""
	body, _ := json.Marshal(i) // can't fail: it has only texts and JSON that was read
	return body
}

// text returns a command's first text option: the question.
func (i interaction) text() string {
	for _, o := range i.Data.Options {
		var text string
		if json.Unmarshal(o.Value, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// decision makes the event of a decision. The interaction's id distinguishes one press from the next.
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

// member is a user in a server.
type member struct {
	User  *user    `json:"user"` // only of an interaction
	Nick  string   `json:"nick"`
	Roles []string `json:"roles,omitempty"`
}
