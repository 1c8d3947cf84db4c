package slack

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core"
)

// envelope is what is read of an Events API body before it is stored. Fields that are not named here may look like anything.
type envelope struct {
	Type           string          `json:"type"`
	TeamID         string          `json:"team_id"`
	Challenge      string          `json:"challenge"`
	Authorizations json.RawMessage `json:"authorizations"`
	Event          json.RawMessage `json:"event"`
}

// authorization is for whom an event is meant.
type authorization struct {
	TeamID string `json:"team_id"`
	UserID string `json:"user_id"`
	IsBot  bool   `json:"is_bot"`
}

// authorizations are read where they can be: an event is not lost over them.
func (e envelope) authorizations() []authorization {
	var all []authorization
	_ = json.Unmarshal(e.Authorizations, &all)
	return all
}

// occurrence is what is read of the event inside.
type occurrence struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	EventTS     string `json:"event_ts"`
	DeletedTS   string `json:"deleted_ts"`
	said
	AssistantThread json.RawMessage `json:"assistant_thread"`

	Message  json.RawMessage `json:"message"`          // of a change: as it is now
	Previous json.RawMessage `json:"previous_message"` // of a change or deletion: as it was
}

// said is a message. What is not needed before the commit is left as it came, so that nothing is lost over its form.
type said struct {
	User     string          `json:"user"`
	BotID    string          `json:"bot_id"`
	Subtype  string          `json:"subtype"`
	Text     string          `json:"text"`
	TS       string          `json:"ts"`
	ThreadTS string          `json:"thread_ts"`
	Files    json.RawMessage `json:"files"`
	Edited   json.RawMessage `json:"edited"`
}

// edit is what a person's change of the text leaves on a message, and an unfurl does not.
type edit struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// edited tells of the last change; its zero value: there was none.
func (m said) edited() edit {
	var e edit
	_ = json.Unmarshal(m.Edited, &e)
	return e
}

// before gives the message as it was; its zero value: Slack did not tell.
func (o occurrence) before() said {
	var m said
	_ = json.Unmarshal(o.Previous, &m)
	return m
}

// place is where and as whom the bot hears: its team and its own user, from what Slack told of the bot, else from the envelope.
type place struct{ team, bot string }

// where gives the place of an envelope. ok is false for an envelope of another workspace.
func (s *Slack) where(e envelope) (p place, ok bool) {
	me := s.whoami()
	p = place{team: me.Team, bot: me.User}
	teams := []string{e.TeamID}
	for _, a := range e.authorizations() {
		teams = append(teams, a.TeamID)
		if p.bot == "" && a.IsBot {
			p.bot = a.UserID
		}
		if p.team == "" && a.TeamID != "" {
			p.team = a.TeamID
		}
	}
	if p.team == "" {
		p.team = e.TeamID
	}
	return p, p.team != "" && slices.Contains(teams, p.team)
}

// eventOf makes our event of an occurrence; ok is false for what is none of the bot's business.
func (s *Slack) eventOf(ctx context.Context, p place, e envelope, body []byte) (ev core.Event, ok bool, err error) {
	var o occurrence
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(e.Event, &kind); err != nil {
		return core.Event{}, false, err
	}
	if kind.Type != "message" && kind.Type != "app_mention" {
		return core.Event{}, false, nil // its other fields may be of any form
	}
	if err := json.Unmarshal(e.Event, &o); err != nil {
		return core.Event{}, false, err
	}
	o.said.Subtype = o.Subtype
	if o.Channel == "" {
		return core.Event{}, false, nil
	}
	switch o.Subtype {
	case "message_changed":
		return s.changed(p, e, o)
	case "message_deleted":
		return s.deleted(p, o)
	}
	o.ChannelType = s.kinds.of(ctx, o)
	ev, ok = s.message(p, o)
	ev.Payload = body
	return ev, ok, nil
}

// spoken are the subtypes that a person's message may have.
var spoken = []string{"", "file_share", "thread_broadcast", "me_message"}

// message makes the event of a new message. Whatever a bot said, ours or another, starts nothing: two bots could go on for ever.
func (s *Slack) message(p place, o occurrence) (core.Event, bool) {
	if !slices.Contains(spoken, o.Subtype) || o.BotID != "" || o.User == "" || o.User == p.bot || o.User == slackbot || o.TS == "" {
		return core.Event{}, false
	}
	rest, mentioned := addressed(o.Text, p.bot)
	if p.bot == "" { // then there is only Slack's word for it
		mentioned = o.Type == "app_mention"
	}
	to := core.Address{Platform: Name, Channel: o.Channel, Thread: o.ThreadTS, Message: o.TS}
	ev := core.Event{
		Platform: Name, ID: messageKey(p.team, o.Channel, o.TS), Body: core.MessageEvent{}, Actor: actor(o.User), Address: to,
	}
	switch {
	case direct(o):
		ev.Conversation = conversation(p.team, o.Channel, "")
		if o.ThreadTS != "" && s.assistantView(o) {
			ev.Conversation = conversation(p.team, o.Channel, o.ThreadTS)
		}
	case mentioned:
		if to.Thread == "" {
			ev.Address.Thread = o.TS
		}
		ev.Conversation = conversation(p.team, o.Channel, ev.Address.Thread)
	case o.ThreadTS != "" && o.ThreadTS != o.TS && s.Config.FollowUp == followThread:
		ev.Conversation, ev.FollowUp = conversation(p.team, o.Channel, o.ThreadTS), true
	default:
		return core.Event{}, false
	}
	if control := controlOf(rest); control != nil {
		ev.Body = control
	}
	return ev, true
}

const slackbot = "USLACKBOT"

// direct reports a conversation that needs no mention: a direct message, or a group direct message.
func direct(o occurrence) bool {
	return o.ChannelType == "im" || o.ChannelType == "mpim" || o.ChannelType == "" && strings.HasPrefix(o.Channel, "D")
}

// assistantView reports whether threads of direct messages are conversations of their own. Until Slack has told the token's scopes,
// the event's own word counts.
func (s *Slack) assistantView(o occurrence) bool {
	if o.ChannelType == "mpim" {
		return false
	}
	if scopes := s.whoami().Scopes; scopes != nil {
		return scopes[scopeAssistant]
	}
	return len(o.AssistantThread) > 0 && string(o.AssistantThread) != "null"
}

// changed makes an amendment of a message whose author changed its text. Unfurls and changes of metadata are none.
func (s *Slack) changed(p place, e envelope, o occurrence) (core.Event, bool, error) {
	var now said
	if err := json.Unmarshal(o.Message, &now); err != nil {
		return core.Event{}, false, err
	}
	was, change := o.before(), now.edited()
	if now.Subtype == "tombstone" { // what had replies when it was deleted
		o.DeletedTS = now.TS
		return s.deleted(p, o)
	}
	own := change.TS != "" && (change.User == "" || change.User == now.User) && now.BotID == "" && now.User != "" && now.User != p.bot
	if !own || was.User != now.User || was.Text == now.Text || now.TS == "" {
		return core.Event{}, false, nil
	}
	payload, err := again(e, o)
	if err != nil {
		return core.Event{}, false, err
	}
	rest, _ := addressed(now.Text, p.bot)
	return s.amendment(p, o, now.User, now.TS, core.Amendment{Revision: change.TS, Payload: payload, Text: readable(rest, noNames)}), true, nil
}

func noNames(byte, string) string { return "" }

// again is the body that a message's event would have had, had it been written as it is now.
func again(e envelope, o occurrence) (json.RawMessage, error) {
	event := map[string]json.RawMessage{}
	if err := json.Unmarshal(o.Message, &event); err != nil {
		return nil, err
	}
	for key, value := range map[string]string{"type": "message", "channel": o.Channel, "channel_type": o.ChannelType} {
		event[key], _ = json.Marshal(value)
	}
	return json.Marshal(map[string]any{"type": "event_callback", "team_id": e.TeamID, "authorizations": e.Authorizations, "event": event})
}

func (s *Slack) deleted(p place, o occurrence) (core.Event, bool, error) {
	was := o.before()
	if was.User == "" || was.User == p.bot || was.BotID != "" || o.DeletedTS == "" || o.EventTS == "" {
		return core.Event{}, false, nil
	}
	return s.amendment(p, o, was.User, o.DeletedTS, core.Amendment{Revision: o.EventTS}), true, nil
}

func (s *Slack) amendment(p place, o occurrence, user, ts string, a core.Amendment) core.Event {
	payload, _ := json.Marshal(a) // of texts and JSON that was read: can't fail
	key := messageKey(p.team, o.Channel, ts)
	return core.Event{
		Platform: Name, ID: strings.Replace(key, "message/", "amend/", 1) + "/" + a.Revision, Conversation: conversation(p.team, o.Channel, ""), Body: core.AmendEvent{Event: key},
		Actor: actor(user), Address: core.Address{Platform: Name, Channel: o.Channel}, Payload: payload,
	}
}

func messageKey(team, channel, ts string) string {
	return "message/" + team + "/" + channel + "/" + ts
}

func conversation(team, channel, thread string) core.ConversationID {
	l := Name + ":" + team + ":" + channel
	if thread != "" {
		l += ":" + thread
	}
	return core.ConversationID(l)
}

func actor(user string) core.Actor { return core.Actor{ID: Name + ":" + user} }

// controlOf is what a message asks for that is a control word behind an exclamation mark: slash commands do not exist in threads.
func controlOf(text string) core.EventBody {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "!")
	if !ok {
		return nil
	}
	return core.ParseControl(word)
}
