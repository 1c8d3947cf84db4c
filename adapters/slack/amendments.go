package slack

import (
	"encoding/json"
	"strings"

	"github.com/slack-go/slack/slackevents"

	"gatehouse/core"
)

// tombstone is the subtype of a deleted message that has replies.
const tombstone = "tombstone"

// changedEvent makes the amendment of a message whose author changed its text; ok is false for any other change, such as an unfurl.
func changedEvent(b bot, e envelope, m messageEvent) (ev core.Event, ok bool, err error) {
	var now, before slackMessage
	if err := json.Unmarshal(m.Message, &now); err != nil {
		return core.Event{}, false, err
	}
	_ = json.Unmarshal(m.Previous, &before) // Slack may not tell
	if now.Subtype == tombstone {
		m.DeletedTS = now.TS
		ev, ok = deletedEvent(b, m)
		return ev, ok, nil
	}
	var edited struct {
		User string `json:"user"`
		TS   string `json:"ts"`
	}
	_ = json.Unmarshal(now.Edited, &edited)
	byAuthor := edited.TS != "" && (edited.User == "" || edited.User == now.User) && now.BotID == "" && now.User != "" && now.User != b.user
	if !byAuthor || before.User != now.User || before.Text == now.Text || now.TS == "" {
		return core.Event{}, false, nil
	}
	payload, err := rewritten(e, m)
	if err != nil {
		return core.Event{}, false, err
	}
	rest, _ := cutMention(now.Text, b.user)
	text := fromMrkdwn(rest, func(byte, string) string { return "" })
	return amendment(b, m, now.User, now.TS, core.Amendment{Revision: edited.TS, Payload: payload, Text: text}), true, nil
}

// rewritten is the body that the message's event would have had, had it been written as it is now.
func rewritten(e envelope, m messageEvent) (json.RawMessage, error) {
	event := map[string]json.RawMessage{}
	if err := json.Unmarshal(m.Message, &event); err != nil {
		return nil, err
	}
	for key, value := range map[string]string{"type": string(slackevents.Message), "channel": m.Channel, "channel_type": m.ChannelType} {
		event[key], _ = json.Marshal(value)
	}
	return json.Marshal(map[string]any{"type": slackevents.CallbackEvent, "team_id": e.TeamID, "authorizations": e.Authorizations, "event": event})
}

// deletedEvent makes the amendment of a message that was deleted.
func deletedEvent(b bot, m messageEvent) (core.Event, bool) {
	var before slackMessage
	_ = json.Unmarshal(m.Previous, &before)
	if before.User == "" || before.User == b.user || before.BotID != "" || m.DeletedTS == "" || m.EventTS == "" {
		return core.Event{}, false
	}
	return amendment(b, m, before.User, m.DeletedTS, core.Amendment{Revision: m.EventTS}), true
}

func amendment(b bot, m messageEvent, user, ts string, a core.Amendment) core.Event {
	payload, _ := json.Marshal(a) // of texts and JSON that was read: can't fail
	key := messageKey(b.team, m.Channel, ts)
	return core.Event{
		Platform: Name, ID: strings.Replace(key, "message/", "amend/", 1) + "/" + a.Revision, Conversation: conversationID(b.team, m.Channel, ""),
		Body: core.AmendEvent{Event: key}, Actor: actor(user), Address: core.Address{Platform: Name, Channel: m.Channel}, Payload: payload,
	}
}
