package slack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// retryNote is the end of the log line about an event that was not stored. Slack sends only events again; see pressNote
// and commandNote.
const retryNote = "Slack sends it again"

// receiveEvent handles an Events API body up to the commit of its event.
func (s *Slack) receiveEvent(ctx context.Context, body []byte, accept core.Accept) (reply any, result inbound.Result) {
	var e envelope
	if err := inbound.Decode(body, &e); err != nil {
		return nil, inbound.Unreadable(s.Log, "event", body, err)
	}
	switch e.Type {
	case slackevents.CallbackEvent:
	case slackevents.URLVerification:
		return map[string]string{"challenge": e.Challenge}, inbound.Stored
	case slackevents.AppRateLimited:
		s.Log.Warn("Slack withholds events: there were more than it sends to one app in an hour")
		return nil, inbound.Stored
	default:
		return nil, inbound.Stored
	}
	b, ok := s.botOf(e)
	if !ok {
		s.Log.Warn("an event of another workspace is refused", "team", safetext.Clip(e.TeamID))
		return nil, inbound.Foreign
	}
	ev, err := s.eventOf(ctx, b, e)
	switch {
	case core.IsTemporary(err):
		if ctx.Err() == nil {
			s.Log.Warn("what has to be known of a message can't be looked up now; "+retryNote,
				"category", core.CategoryOf(err), "err", err)
		}
		return nil, inbound.NotStored
	case err != nil:
		return nil, inbound.Unreadable(s.Log, "event", body, err)
	case ev == nil:
		return nil, inbound.Stored
	}
	if ev.Payload == nil {
		ev.Payload = stored(body)
	}
	return nil, inbound.Commit(ctx, s.Log, *ev, accept, retryNote)
}

// eventOf converts Slack's event to ours; nil for one that does not concern the bot. Error: it can't be read, or, if
// temporary, Slack can't be asked now who wrote it.
func (s *Slack) eventOf(ctx context.Context, b bot, e envelope) (*core.Event, error) {
	var kind struct {
		Type string `json:"type"`
	}
	err := inbound.Decode(e.Event, &kind)
	if err != nil || kind.Type != string(slackevents.Message) && kind.Type != string(slackevents.AppMention) {
		return nil, err // the other fields of another kind may have any form
	}
	var m messageEvent
	if err := inbound.Decode(e.Event, &m); err != nil || m.Channel == "" {
		return nil, err
	}
	s.posted(m.TS)
	switch m.Subtype {
	case api.MsgSubTypeMessageChanged:
		return s.changedEvent(ctx, b, e, m)
	case api.MsgSubTypeMessageDeleted:
		return s.deletedEvent(b, m), nil
	}
	ev, err := s.messageOf(ctx, b, e, m)
	if ev == nil && err == nil && !b.wrote(m.Message) {
		s.unheard(m)
	}
	return ev, err
}

// messageOf converts the event of a new message.
func (s *Slack) messageOf(ctx context.Context, b bot, e envelope, m messageEvent) (*core.Event, error) {
	m.ChannelType = s.channelType(ctx, m.Channel, m.ChannelType)
	ev, err := s.newMessage(ctx, b, m)
	switch {
	case ev == nil || err != nil:
		return nil, err
	case s.isBot(ev.Actor) && s.identity.get().team == "": // it might be the bot itself
		return nil, core.Errorf(core.DeliveryLater, unknownBot)
	case s.isBot(ev.Actor) && s.refusesBot(b, e, m):
		s.refuseStranger("message", ev.Actor.ID, strangerTalks)
		return nil, nil
	case s.isBot(ev.Actor):
		return ev, nil
	}
	refused, err := s.refuses(ctx, b, e, m)
	if !refused {
		return ev, nil
	}
	// A follow-up was not meant for the bot.
	if err == nil && !ev.FollowUp && s.refuseStranger("message", m.User, strangerTalks) {
		ev.Address.Thread = m.ThreadTS // a message that would begin a thread is answered in the channel
		s.tell(ev.Address, m.User, strangerTalks)
	}
	return nil, err
}

// newMessage returns the event of a new message, nil if it does not concern the bot. Error: temporary, that can't be
// told now.
func (s *Slack) newMessage(ctx context.Context, b bot, m messageEvent) (*core.Event, error) {
	who, ids := s.author(b, m.Message), s.mentionIDs(b)
	mentioned := m.IsFor(ids)
	if who.ID == "" || m.TS == "" {
		if m.BotID != "" && mentioned && !b.wrote(m.Message) {
			s.Log.Debug("a mention by a bot that SLACK_BOTS does not name is ignored", "bot", m.BotID,
				"name", m.BotName())
		}
		return nil, nil
	}
	if b.user == "" { // the bot's id is not known yet, so rely on Slack's event type
		mentioned = mentioned || m.Type == string(slackevents.AppMention)
	}
	ev := core.Event{
		Platform: Name, ID: messageKey(b.team, m.Channel, m.TS), Body: core.MessageEvent{}, Actor: who,
		Address: core.Address{Platform: Name, Channel: m.Channel, Thread: m.ThreadTS, Message: m.TS},
	}
	thread, control, isBot := "", inbound.Control(heard.CutMention(m.Text, ids...)), s.isBot(who)
	if isBot {
		control = nil
	}
	if control != nil {
		ev.Body = control
	}
	switch {
	case m.ChannelType == slackevents.ChannelTypeIM:
		own, err := s.ownThread(ctx, b, m)
		if err != nil {
			return nil, err
		}
		if own {
			thread = m.ThreadTS
		}
	case !mentioned && m.BeginsWithMention(): // people talk to each other
		return nil, nil
	case m.ChannelType == slackevents.ChannelTypeMPIM:
		meant := mentioned || s.Config.GroupDM == groupAll && !isBot
		if !meant && control == nil {
			return nil, nil
		}
		ev.FollowUp = !meant // a control word is for the bot if it has been talked to there
	case mentioned:
		thread = cmp.Or(m.ThreadTS, m.TS)
		ev.Address.Thread = thread
	case m.ThreadTS != "" && m.ThreadTS != m.TS && s.Config.FollowUp == followThread:
		thread, ev.FollowUp = m.ThreadTS, true
	default:
		return nil, nil
	}
	ev.Conversation = conversationID(b.team, m.Channel, thread)
	return &ev, nil
}

// tombstone is the subtype of a deleted message that has replies.
const tombstone = "tombstone"

// changedEvent returns the amendment of a message whose author changed what they wrote, or to which Slack has added
// something since, such as the message that a link in it leads to; nil for any other change.
func (s *Slack) changedEvent(ctx context.Context, b bot, e envelope, m messageEvent) (*core.Event, error) {
	var now, before heard.Message
	if err := inbound.Decode(m.Changed, &now); err != nil {
		return nil, err
	}
	_ = inbound.Decode(m.Previous, &before) // may be missing
	if now.Subtype == tombstone {
		m.DeletedTS = now.TS
		return s.deletedEvent(b, m), nil
	}
	who := s.author(b, now)
	if who.ID == "" || s.author(b, before).ID != who.ID || now.TS == "" {
		return nil, nil
	}
	var edited struct {
		User string `json:"user"`
		TS   string `json:"ts"`
	}
	_ = inbound.Decode(now.Edited, &edited)
	byAuthor := edited.TS != "" && slices.Contains([]string{"", now.User, now.BotID}, edited.User)
	is, was := heard.Read(now).Text, heard.Read(before).Text
	added := !bytes.Equal(now.Attachments, before.Attachments) || !bytes.Equal(now.Files, before.Files)
	var change core.Amendment
	switch {
	case byAuthor && is != was:
		text := mrkdwn.Plain(heard.CutMention(is, s.mentionIDs(b)...), nil)
		change = core.Amendment{Revision: edited.TS, Text: text}
	case is == was && added && m.EventTS != "":
		// It comes after the edit that it was added to, and before the next one.
		change = core.Amendment{Revision: cmp.Or(edited.TS, "0") + "/" + m.EventTS, Added: true}
	default:
		return nil, nil
	}
	var refused bool
	var err error
	if written := (messageEvent{Message: now}); s.isBot(who) {
		refused = s.refusesBot(b, e, written)
	} else {
		refused, err = s.refuses(ctx, b, e, written)
	}
	if refused {
		return nil, err
	}
	if change.Payload, err = rewritten(e, m); err != nil {
		return nil, err
	}
	return amendment(b, m, who, now.TS, change), nil
}

// rewritten returns the body that the event would have if the message had been written in its new form.
func rewritten(e envelope, m messageEvent) (json.RawMessage, error) {
	event := map[string]json.RawMessage{}
	if err := inbound.Decode(m.Changed, &event); err != nil {
		return nil, err
	}
	for key, value := range map[string]string{
		"type": string(slackevents.Message), "channel": m.Channel, "channel_type": m.ChannelType,
	} {
		event[key], _ = json.Marshal(value)
	}
	return json.Marshal(
		map[string]any{
			"type": slackevents.CallbackEvent, "team_id": e.TeamID, "authorizations": e.Authorizations, "event": event,
		})
}

// deletedEvent returns the amendment of a message that was deleted; nil for one of a bot that SLACK_BOTS does not name.
func (s *Slack) deletedEvent(b bot, m messageEvent) *core.Event {
	var before heard.Message
	_ = inbound.Decode(m.Previous, &before)
	who := s.author(b, before)
	if who.ID == "" || m.DeletedTS == "" || m.EventTS == "" {
		return nil
	}
	return amendment(b, m, who, m.DeletedTS, core.Amendment{Revision: m.EventTS})
}

func amendment(b bot, m messageEvent, who core.Actor, ts string, a core.Amendment) *core.Event {
	payload, _ := json.Marshal(a) // contains only strings and parsed JSON: can't fail
	key := messageKey(b.team, m.Channel, ts)
	return &core.Event{
		Platform: Name, ID: strings.Replace(key, "message/", "amend/", 1) + "/" + a.Revision,
		Conversation: conversationID(b.team, m.Channel, ""),
		Body:         core.AmendEvent{Event: key}, Actor: who,
		Address: core.Address{Platform: Name, Channel: m.Channel}, Payload: payload,
	}
}
