package slack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/core"
)

// The structs below have the fields that are read from Slack's payloads. slack-go has such structs too, but they decode
// every field, and refuse a whole event or click because of one field of unknown form, such as a new kind of block.
// inbound.Decode reads them, by the exact names of their fields.

// envelope is the part of an Events API body that is read before it is stored. Other fields may have any form.
type envelope struct {
	Type           string          `json:"type"`
	TeamID         string          `json:"team_id"`
	Challenge      string          `json:"challenge"`
	Shared         any             `json:"is_ext_shared_channel"` // true: people of other workspaces are in the channel
	Authorizations json.RawMessage `json:"authorizations"`
	Event          json.RawMessage `json:"event"`
}

// messageEvent is the part of a message event that is read: a new message, a change or a deletion.
type messageEvent struct {
	heard.Message
	Type            string          `json:"type"`
	Channel         string          `json:"channel"`
	ChannelType     string          `json:"channel_type"`
	EventTS         string          `json:"event_ts"`
	DeletedTS       string          `json:"deleted_ts"`
	ParentUser      any             `json:"parent_user_id"` // of a reply: who wrote the message that its thread is of
	AssistantThread any             `json:"assistant_thread"`
	Changed         json.RawMessage `json:"message"`          // of a change: the new message
	Previous        json.RawMessage `json:"previous_message"` // of a change or deletion: the old message
}

// interaction is the part of a click on a button, or of a submitted modal, that is read.
type interaction struct {
	Type      api.InteractionType `json:"type"`
	TriggerID string              `json:"trigger_id,omitempty"` // not in any event
	Team      struct {
		ID string `json:"id"`
	} `json:"team,omitzero"`
	User struct {
		ID     string `json:"id"`
		TeamID string `json:"team_id,omitempty"` // their own workspace
	} `json:"user"`
	Container struct {
		ChannelID string `json:"channel_id,omitempty"`
		MessageTS string `json:"message_ts,omitempty"`
		ThreadTS  string `json:"thread_ts,omitempty"`
	} `json:"container,omitzero"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel,omitzero"`
	Message struct {
		TS       string `json:"ts,omitempty"`
		ThreadTS string `json:"thread_ts,omitempty"`
	} `json:"message,omitzero"`
	Actions []action `json:"actions,omitempty"`
	View    view     `json:"view,omitzero"`

	Answer string `json:"gatehouse_answer,omitempty"` // of a stored one (OldClick); Slack sends no such field
}

// action is a button that was clicked, or an option that was chosen of a menu.
type action struct {
	ActionID string `json:"action_id"`
	Value    string `json:"value"`
	ActionTS string `json:"action_ts,omitempty"`
	BlockID  string `json:"block_id,omitempty"`

	SelectedOption option `json:"selected_option,omitzero"`
}

// option is one that was chosen of several.
type option struct {
	Value string `json:"value"`
}

// view is a modal.
type view struct {
	ID              string `json:"id"`
	CallbackID      string `json:"callback_id"`
	PrivateMetadata string `json:"private_metadata"`
	State           struct {
		Values map[string]map[string]struct {
			Value          string `json:"value"`
			SelectedOption option `json:"selected_option,omitzero"`
		} `json:"values,omitempty"`
	} `json:"state"`
}

// secrets are what Slack issues for one answer, or to prove itself. It is used at once and never stored: with a trigger
// a modal is opened within seconds, with a response URL anyone may post for half an hour, and the verification token is
// that of every request.
var secrets = []string{
	"token", "bot_access_token", "trigger_id", "interactivity_pointer", "response_url", "response_urls",
}

// stored returns what is stored of a message or a command: all but the secrets in it.
func stored(body []byte) json.RawMessage { return inbound.Redact(body, secrets...) }

// onceID returns an id made from one of the secrets, the same if Slack delivers twice.
func onceID(secret string) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:16])
}

// slashCommand is the part of a slash command that is read.
type slashCommand struct {
	Text         string `json:"text"`
	TeamID       string `json:"team_id"`
	EnterpriseID string `json:"enterprise_id"`
	ChannelID    string `json:"channel_id"`
	UserID       string `json:"user_id"`
	TriggerID    string `json:"trigger_id"`
}

// bot is the bot in its workspace, as reported by Slack's auth.test, else by an envelope.
type bot struct {
	team       string
	enterprise string // the organisation that the workspace belongs to, "" if none
	unknown    bool   // Slack has not said which organisation it is in
	user       string // the bot's own user id
	id         string // the bot's own id as the author of its messages, B…
	workspace  string // the names of the workspace and the bot, for the log
	name       string
}

// botOf returns the bot that an envelope is for. ok is false for an envelope of another workspace.
func (s *Slack) botOf(e envelope) (b bot, ok bool) {
	b = s.identity.get()
	var authorizations []struct {
		TeamID       string `json:"team_id"`
		EnterpriseID string `json:"enterprise_id"`
		UserID       string `json:"user_id"`
		IsBot        bool   `json:"is_bot"`
	}
	_ = inbound.Decode(e.Authorizations, &authorizations) // no event is lost because of them
	teams := []string{e.TeamID}
	for _, a := range authorizations {
		teams = append(teams, a.TeamID)
		if a.IsBot {
			b.user = cmp.Or(b.user, a.UserID)
		}
		if b.team == "" {
			b.team, b.enterprise = a.TeamID, a.EnterpriseID
		}
	}
	b.unknown = b.team == ""
	b.team = cmp.Or(b.team, e.TeamID)
	return b, b.team != "" && slices.Contains(teams, b.team)
}

// messageKey returns the id of a message's event.
func messageKey(team, channel, ts string) string { return "message/" + team + "/" + channel + "/" + ts }

func actor(user string) core.Actor { return core.Actor{ID: Name + ":" + user} }

// conversationID returns the id of the conversation in a channel, or in a thread of it.
func conversationID(team, channel, thread string) core.ConversationID {
	id := Name + ":" + team + ":" + channel
	if thread != "" {
		id += ":" + thread
	}
	return core.ConversationID(id)
}

// refOf returns the ref of a message.
func refOf(channel, ts string) core.Ref { return core.Ref(channel + "/" + ts) }
