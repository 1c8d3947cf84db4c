package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
)

// receiveCommand handles /gatehouse new, status, stop, cancel or help. In a channel the command can't refer to a thread, because Slack has
// no commands in threads.
func (s *Slack) receiveCommand(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result) {
	var c slashCommand
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, chat.Unreadable(s.Log, "command", body, err)
	}
	team, _ := s.identity.get()
	if team = cmp.Or(team, c.TeamID); team == "" || team != c.TeamID {
		s.Log.Warn("a command of another workspace is refused", "team", chat.Clip(c.TeamID))
		return nil, chat.Foreign
	}
	if c.TriggerID == "" || c.ChannelID == "" || c.UserID == "" {
		return nil, chat.Unreadable(s.Log, "command", body, errors.New("a field is missing"))
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
	return nil, chat.Commit(ctx, s.Log, ev, accept, retryNote)
}

// commandHelp is the answer to /gatehouse help.
const commandHelp = "Send me a direct message, or mention me in a channel; I answer in the thread. There, !new starts a new conversation, !stop stops what I am " +
	"doing, !status shows what is waiting, !cancel withdraws what waits for approval. In a direct message /gatehouse new, stop, status and cancel do the same."

func ephemeral(text string) map[string]string {
	return map[string]string{"response_type": "ephemeral", "text": text}
}
