package slack

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
)

// envelope is what is read of an Events API body before it is stored. Fields that are not named here may have any form.
type envelope struct {
	Type           string          `json:"type"`
	TeamID         string          `json:"team_id"`
	Challenge      string          `json:"challenge"`
	Authorizations json.RawMessage `json:"authorizations"`
	Event          json.RawMessage `json:"event"`
}

// messageEvent is what is read of a message event: a new message, a change or a deletion.
type messageEvent struct {
	slackMessage
	Type            string          `json:"type"`
	Channel         string          `json:"channel"`
	ChannelType     string          `json:"channel_type"`
	EventTS         string          `json:"event_ts"`
	DeletedTS       string          `json:"deleted_ts"`
	AssistantThread json.RawMessage `json:"assistant_thread"`
	Message         json.RawMessage `json:"message"`          // of a change: as it is now
	Previous        json.RawMessage `json:"previous_message"` // of a change or deletion: as it was
}

// slackMessage is what is read of a message. What is not needed before the commit is left as it came, so that no message is lost over
// its form.
type slackMessage struct {
	User     string          `json:"user"`
	BotID    string          `json:"bot_id"`
	Subtype  string          `json:"subtype"`
	Text     string          `json:"text"`
	TS       string          `json:"ts"`
	ThreadTS string          `json:"thread_ts"`
	Files    json.RawMessage `json:"files"`
	Edited   json.RawMessage `json:"edited"`
}

// receiveEvent handles an Events API body up to the commit of its event.
func (s *Slack) receiveEvent(ctx context.Context, body []byte, accept core.Accept) (response, chat.Result) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, s.unreadable("event", body, err)
	}
	switch e.Type {
	case slackevents.CallbackEvent:
	case slackevents.URLVerification:
		return response{"challenge": e.Challenge}, chat.Stored
	case slackevents.AppRateLimited:
		s.Log.Warn("Slack withholds events: there were more than it sends to one app in an hour")
		return nil, chat.Stored
	default:
		return nil, chat.Stored
	}
	b, ok := s.botOf(e)
	if !ok {
		s.Log.Warn("an event of another workspace is refused", "team", chat.Clip(e.TeamID))
		return nil, chat.Foreign
	}
	ev, ok, err := s.eventOf(ctx, b, e)
	switch {
	case err != nil:
		return nil, s.unreadable("event", body, err)
	case !ok:
		return nil, chat.Stored
	}
	if ev.Payload == nil {
		ev.Payload = body
	}
	return nil, s.commit(ctx, ev, accept)
}

func (s *Slack) commit(ctx context.Context, ev core.Event, accept core.Accept) chat.Result {
	return chat.Commit(ctx, s.Log, ev, accept, "Slack is to send it again")
}

// unreadable logs a body that can't be read.
func (s *Slack) unreadable(what string, body []byte, err error) chat.Result {
	s.Log.Warn("a request can't be read and is refused", "kind", what, "bytes", len(body), "err", chat.JSONFault(err))
	return chat.Malformed
}

// bot is the bot in its workspace: as Slack told, else as an envelope tells.
type bot struct{ team, user string }

// botOf gives the bot that an envelope is for; ok is false for an envelope of another workspace.
func (s *Slack) botOf(e envelope) (b bot, ok bool) {
	b.team, b.user = s.identity.get()
	var authorizations []struct {
		TeamID string `json:"team_id"`
		UserID string `json:"user_id"`
		IsBot  bool   `json:"is_bot"`
	}
	_ = json.Unmarshal(e.Authorizations, &authorizations) // no event is lost over them
	teams := []string{e.TeamID}
	for _, a := range authorizations {
		teams = append(teams, a.TeamID)
		if b.user == "" && a.IsBot {
			b.user = a.UserID
		}
		if b.team == "" {
			b.team = a.TeamID
		}
	}
	if b.team == "" {
		b.team = e.TeamID
	}
	return b, b.team != "" && slices.Contains(teams, b.team)
}

// eventOf makes our event of Slack's; ok is false for an event that does not concern the bot.
func (s *Slack) eventOf(ctx context.Context, b bot, e envelope) (ev core.Event, ok bool, err error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(e.Event, &kind); err != nil {
		return core.Event{}, false, err
	}
	if kind.Type != string(slackevents.Message) && kind.Type != string(slackevents.AppMention) {
		return core.Event{}, false, nil // its other fields may have any form
	}
	var m messageEvent
	if err := json.Unmarshal(e.Event, &m); err != nil || m.Channel == "" {
		return core.Event{}, false, err
	}
	switch m.Subtype {
	case api.MsgSubTypeMessageChanged:
		return changedEvent(b, e, m)
	case api.MsgSubTypeMessageDeleted:
		ev, ok = deletedEvent(b, m)
		return ev, ok, nil
	}
	m.ChannelType = s.channelType(ctx, m.Channel, m.ChannelType)
	ev, ok = s.newMessage(b, m)
	return ev, ok, nil
}

// userSubtypes are the subtypes that a person's message may have.
var userSubtypes = []string{"", api.MsgSubTypeFileShare, api.MsgSubTypeThreadBroadcast, api.MsgSubTypeMeMessage}

const slackbot = "USLACKBOT"

// newMessage makes the event of a new message. Messages of bots, this one or another, start nothing: two bots could go on for ever.
func (s *Slack) newMessage(b bot, m messageEvent) (core.Event, bool) {
	if !slices.Contains(userSubtypes, m.Subtype) || m.BotID != "" || m.User == "" || m.User == b.user || m.User == slackbot || m.TS == "" {
		return core.Event{}, false
	}
	rest, mentioned := cutMention(m.Text, b.user)
	if b.user == "" { // then only Slack can tell
		mentioned = m.Type == string(slackevents.AppMention)
	}
	ev := core.Event{
		Platform: Name, ID: messageKey(b.team, m.Channel, m.TS), Body: core.MessageEvent{}, Actor: actor(m.User),
		Address: core.Address{Platform: Name, Channel: m.Channel, Thread: m.ThreadTS, Message: m.TS},
	}
	thread := ""
	switch {
	case m.ChannelType == slackevents.ChannelTypeIM, m.ChannelType == slackevents.ChannelTypeMPIM:
		if s.assistantThread(m) {
			thread = m.ThreadTS
		}
	case mentioned:
		if ev.Address.Thread == "" {
			ev.Address.Thread = m.TS
		}
		thread = ev.Address.Thread
	case m.ThreadTS != "" && m.ThreadTS != m.TS && s.Config.FollowUp == followThread:
		thread, ev.FollowUp = m.ThreadTS, true
	default:
		return core.Event{}, false
	}
	ev.Conversation = conversationID(b.team, m.Channel, thread)
	if control := chat.Control(rest); control != nil {
		ev.Body = control
	}
	return ev, true
}

// assistantThread reports whether a direct message is in a thread that is a conversation of its own, as in the assistant view. Until
// Slack has told the token's scopes, the event itself counts.
func (s *Slack) assistantThread(m messageEvent) bool {
	fromView := len(m.AssistantThread) > 0 && string(m.AssistantThread) != "null"
	return m.ThreadTS != "" && m.ChannelType == slackevents.ChannelTypeIM && s.identity.hasScope(preflight.ScopeAssistant, fromView)
}

func messageKey(team, channel, ts string) string { return "message/" + team + "/" + channel + "/" + ts }

func actor(user string) core.Actor { return core.Actor{ID: Name + ":" + user} }

func conversationID(team, channel, thread string) core.ConversationID {
	id := strings.Join([]string{Name, team, channel}, ":")
	if thread != "" {
		id += ":" + thread
	}
	return core.ConversationID(id)
}
