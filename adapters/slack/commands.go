package slack

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
)

// slashCommand is what is read of a slash command. It is not slack-go's SlashCommand: a form's fields are all text.
type slashCommand struct {
	Text      string `json:"text"`
	TeamID    string `json:"team_id"`
	ChannelID string `json:"channel_id"`
	UserID    string `json:"user_id"`
	TriggerID string `json:"trigger_id"`
}

// receiveCommand handles /gatehouse new, status, stop, cancel or help. In a channel the command can't say which thread is meant: Slack
// has no commands in threads.
func (s *Slack) receiveCommand(ctx context.Context, body []byte, accept core.Accept) (response, chat.Result) {
	var c slashCommand
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, s.unreadable("command", body, err)
	}
	team, _ := s.identity.get()
	if team == "" {
		team = c.TeamID
	}
	if c.TeamID != team || team == "" {
		s.Log.Warn("a command of another workspace is refused", "team", chat.Clip(c.TeamID))
		return nil, chat.Foreign
	}
	if c.TriggerID == "" || c.ChannelID == "" || c.UserID == "" {
		return nil, s.unreadable("command", body, errors.New("a field is missing"))
	}
	word := strings.ToLower(strings.TrimSpace(c.Text))
	control := core.ParseControl(word)
	switch {
	case word == "" || word == "help":
		return ephemeral(commandHelp), chat.Stored
	case control == nil:
		return ephemeral("I do not know “" + escape.Replace(strings.ToValidUTF8(chat.Clip(c.Text), "")) + "”. " + commandHelp), chat.Stored
	case !strings.HasPrefix(c.ChannelID, "D") || s.identity.hasScope(preflight.ScopeAssistant, false):
		return ephemeral("Here each thread is a conversation of its own: write !" + word + " in the thread that you mean."), chat.Stored
	}
	ev := core.Event{
		Platform: Name, ID: "command/" + c.TriggerID, Conversation: conversationID(team, c.ChannelID, ""), Body: control, Actor: actor(c.UserID),
		Address: core.Address{Platform: Name, Channel: c.ChannelID}, Payload: body,
	}
	return nil, s.commit(ctx, ev, accept)
}

// commandHelp is the answer to /gatehouse help.
const commandHelp = "Send me a direct message, or mention me in a channel; I answer in the thread. There, !new starts a new conversation, !stop stops what I am " +
	"doing, !status shows what is waiting, !cancel withdraws what waits for approval. In a direct message /gatehouse new, stop, status and cancel do the same."

func ephemeral(text string) response { return response{"response_type": "ephemeral", "text": text} }
