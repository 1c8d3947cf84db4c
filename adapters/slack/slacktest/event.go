package slacktest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gatehouse/adapters/internal/fakeserver"
)

// event is an event that an app can subscribe to, before it is put in an envelope.
type event struct {
	subscription string
	fields       object
}

// subscription is the event that an app must have subscribed to, to receive messages of the channel.
func (c *channel) subscription() string {
	return map[Kind]string{
		Public: "message.channels", Private: "message.groups", DM: "message.im", GroupDM: "message.mpim",
	}[c.Kind]
}

func (c *channel) event(fields object) event {
	fields["channel"], fields["channel_type"] = c.ID, string(c.Kind)
	return event{subscription: c.subscription(), fields: fields}
}

// emitMessage sends the app a new message, and the mention in it.
func (s *Server) emitMessage(c *channel, m Message, h actionOptions) []*Delivery {
	fields := s.wire(m)
	fields["event_ts"] = m.TS
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		fields["parent_user_id"] = c.byTS[m.ThreadTS].User
		if m.Broadcast {
			fields["subtype"], fields["root"] = "thread_broadcast", s.wireRead(c, c.byTS[m.ThreadTS].Message, false)
		}
	}
	if c.ExtShared {
		fields["user_team"], fields["source_team"] = s.teamOf(m.User), s.teamOf(m.User)
	}
	events := []event{c.event(fields)}
	if s.mentions(c, m) {
		events = append(events, s.mention(c, m))
	}
	return s.emit(c, m, h, events...)
}

// mentions reports whether Slack would send an app_mention: never in direct messages, never for the bot's own posts.
func (s *Server) mentions(c *channel, m Message) bool {
	return c.Kind != DM && m.BotID != s.o.BotID && strings.Contains(m.Text, s.MentionOfBot())
}

func (s *Server) mention(c *channel, m Message) event {
	fields := s.wire(m)
	fields["type"], fields["channel"], fields["event_ts"] = "app_mention", c.ID, m.TS
	delete(fields, "subtype")
	return event{subscription: "app_mention", fields: fields}
}

// emitChanged sends the app a changed message; a mention that came with the edit is sent too.
func (s *Server) emitChanged(c *channel, now, before Message, h actionOptions) []*Delivery {
	ts := s.newTS()
	events := []event{c.event(object{
		"type": "message", "subtype": "message_changed", "hidden": true, "ts": ts, "event_ts": ts,
		"message": s.wire(now), "previous_message": s.wire(before),
	})}
	if now.Text != before.Text && s.mentions(c, now) && !s.mentions(c, before) {
		events = append(events, s.mention(c, now))
	}
	return s.emit(c, now, h, events...)
}

func (s *Server) emitDeleted(c *channel, before Message, h actionOptions) []*Delivery {
	ts := s.newTS()
	return s.emit(c, before, h, c.event(object{
		"type": "message", "subtype": "message_deleted", "hidden": true, "ts": ts, "event_ts": ts,
		"deleted_ts":       before.TS,
		"previous_message": s.wire(before),
	}))
}

// emit sends the events of one change of a message, if the bot is a member there. The caller holds the lock.
func (s *Server) emit(c *channel, m Message, h actionOptions, events ...event) []*Delivery {
	if !c.has(s.o.BotUserID) {
		return nil
	}
	conversation := c.ID
	if c.Kind == Public || c.Kind == Private {
		conversation += "/" + m.ThreadTS
		if m.ThreadTS == "" {
			conversation += m.TS
		}
	}
	group := s.send(conversation, c.ExtShared, h, events...)
	for _, d := range group {
		d.Echo = m.BotID == s.o.BotID
	}
	return group
}

// send puts events in envelopes and dispatches them.
func (s *Server) send(conversation string, shared bool, h actionOptions, events ...event) []*Delivery {
	if h.noEvent {
		return nil
	}
	var group []*Delivery
	for _, e := range events {
		kind, _ := e.fields["type"].(string)
		if !slices.Contains(s.o.Subscriptions, e.subscription) || (h.only != "" && h.only != kind) {
			continue
		}
		envelope := s.envelope(e.fields, shared, h)
		d := &Delivery{
			s: s, Kind: Events, Type: kind, EventID: envelope["event_id"].(string), body: fakeserver.JSON(envelope),
			how: h,
		}
		group = append(group, d)
		if h.atOnce {
			again := h
			again.retryNum, again.retryReason = 1, "http_timeout"
			group = append(group,
				&Delivery{s: s, Kind: Events, Type: kind, EventID: d.EventID, body: d.body, how: again})
		}
	}
	s.dispatch(conversation, group)
	return group
}

func (s *Server) envelope(fields object, shared bool, h actionOptions) object {
	team := cmp.Or(h.team, s.o.TeamID)
	return object{
		"token": "verification-token-is-not-used", "team_id": team, "context_team_id": team,
		"context_enterprise_id": nil, "api_app_id": s.o.AppID,
		"event": fields, "type": "event_callback", "event_id": s.ids.next("Ev"), "event_time": s.o.Now().Unix(),
		"authorizations": []object{{
			"enterprise_id": nil, "team_id": team, "user_id": s.o.BotUserID, "is_bot": true,
			"is_enterprise_install": false,
		}},
		"is_ext_shared_channel": shared, "event_context": "4-" + s.ids.secret(),
	}
}

// Send sends an event of any shape, whatever the app subscribed to. fields are the contents of "event".
func (s *Server) Send(fields map[string]any, options ...ActionOption) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	fields = maps.Clone(fields)
	kind, _ := fields["type"].(string)
	h := actionOptions{}.with(options)
	envelope := s.envelope(fields, false, h)
	d := &Delivery{
		s: s, Kind: Events, Type: kind, EventID: envelope["event_id"].(string), body: fakeserver.JSON(envelope), how: h,
	}
	s.dispatch("", []*Delivery{d})
	return d
}

// SendRaw posts bytes to the app's URL for a kind of payload, with a valid signature unless an option changes that.
// Over a socket they are sent as one frame.
func (s *Server) SendRaw(kind PayloadKind, body []byte, options ...ActionOption) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Delivery{s: s, Kind: kind, Type: "raw", raw: true, body: body, how: actionOptions{}.with(options), once: true}
	s.dispatch("", []*Delivery{d})
	return d
}

// VerifyURL sends the url_verification challenge, as Slack does when the events URL is saved, and returns the expected
// answer.
func (s *Server) VerifyURL(options ...ActionOption) (d *Delivery, challenge string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	challenge = s.ids.secret()
	body := fakeserver.JSON(
		object{"token": "verification-token-is-not-used", "challenge": challenge, "type": "url_verification"})
	d = &Delivery{
		s: s, Kind: Events, Type: "url_verification", body: body, how: actionOptions{}.with(options), once: true,
	}
	s.dispatch("", []*Delivery{d})
	return d, challenge
}
