package slacktest

import (
	"cmp"
	"maps"
	"net/url"
	"strings"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest/internal/blockkit"
)

// Button is a button as it was when it was looked up. It can be pressed later, even if the message has changed.
type Button struct {
	Channel  string
	TS       string
	BlockID  string
	ActionID string
	Text     string
	Value    string
	URL      string
	Confirm  string // the text of the question that it asks first, "" for none

	element Block
	message Message
}

// Buttons returns the buttons of the message, from top to bottom.
func (m Message) Buttons() []Button {
	var found []Button
	for _, b := range m.Blocks {
		for _, e := range blockkit.Interactive(b) {
			if e["type"] != "button" {
				continue
			}
			word := func(key string) string {
				text, _ := e[key].(string)
				return text
			}
			block, _ := b["block_id"].(string)
			found = append(found, Button{
				Channel: m.Channel, TS: m.TS, BlockID: block, ActionID: word("action_id"),
				Text: blockkit.TextOf(e["text"]), Value: word("value"),
				URL: word("url"), Confirm: blockkit.TextOf(blockkit.AsBlock(e["confirm"])["text"]), element: e,
				message: m,
			})
		}
	}
	return found
}

// FindButton looks a button up by its text, action_id or value; the message may be an ephemeral one.
func (s *Server) FindButton(channel, ts, name string) (Button, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, ts)
	for _, b := range r.Buttons() {
		if name == b.Text || name == b.ActionID || name == b.Value {
			return b, true
		}
	}
	return Button{}, false
}

// Clicks presses the button with this text, action_id or value on a message, and confirms if it asks. The button must
// exist.
func (p *Person) Clicks(channel, ts, name string, options ...ActionOption) *Delivery {
	b, ok := p.s.FindButton(channel, ts, name)
	if !ok {
		p.s.fatal("there is no button %q on message %s in %s", name, ts, channel)
	}
	return p.Presses(b, options...)
}

// Chooses chooses an option, by its text or value, of a menu on a message. There must be one.
func (p *Person) Chooses(channel, ts, option string, options ...ActionOption) *Delivery {
	menu, ok := p.s.findOption(channel, ts, option)
	if !ok {
		p.s.fatal("there is no menu with the option %q on message %s in %s", option, ts, channel)
	}
	return p.Presses(menu, options...)
}

// findOption looks up a menu of a message, as it is when this option of it is chosen.
func (s *Server) findOption(channel, ts, name string) (Button, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, ts)
	for _, b := range r.Blocks {
		for _, e := range blockkit.Interactive(b) {
			options, _ := e["options"].([]any)
			for _, one := range options {
				o := blockkit.AsBlock(one)
				if e["type"] != "static_select" || o["value"] != name && blockkit.TextOf(o["text"]) != name {
					continue
				}
				chosen := maps.Clone(e)
				delete(chosen, "options")
				chosen["selected_option"] = o
				block, _ := b["block_id"].(string)
				return Button{Channel: channel, TS: ts, BlockID: block, element: chosen, message: r.Message}, true
			}
		}
	}
	return Button{}, false
}

// Presses presses a button that was looked up before, even if it no longer exists.
func (p *Person) Presses(b Button, options ...ActionOption) *Delivery {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(b.Channel)
	now := b.message
	if r := c.byTS[b.TS]; r != nil {
		now = r.Message
	}
	trigger := s.newTrigger(p.ID)
	respond := s.newResponseURL()
	action := maps.Clone(b.element)
	delete(action, "url")
	action["block_id"], action["action_ts"] = b.BlockID, s.newTS()
	container := object{"type": "message", "message_ts": b.TS, "channel_id": c.ID, "is_ephemeral": now.Ephemeral != ""}
	if now.ThreadTS != "" {
		container["thread_ts"] = now.ThreadTS
	}
	h := actionOptions{}.with(options)
	payload := s.interaction("block_actions", p.ID, h)
	payload["container"], payload["trigger_id"], payload["response_url"] = container, trigger, respond
	payload["channel"] = object{"id": c.ID, "name": c.clickName()}
	payload["state"], payload["actions"] = object{"values": object{}}, []object{action}
	if now.Ephemeral == "" {
		payload["message"] = s.wireOwn(now) // an ephemeral message is not part of the payload
	}
	d := s.interact(payload, "block_actions", h)
	d.TriggerID, d.ResponseURL = trigger, respond
	s.dispatch("", []*Delivery{d})
	return d
}

// clickName returns a channel's name as interactions contain it.
func (c *channel) clickName() string {
	switch c.Kind {
	case DM:
		return "directmessage"
	case Private:
		return "privategroup"
	}
	return c.Name
}

// interaction returns the fields that all interactions have.
func (s *Server) interaction(kind, user string, h actionOptions) object {
	u := s.users[user]
	return object{
		"type": kind, "team": object{"id": cmp.Or(h.team, s.o.TeamID), "domain": s.o.TeamDomain},
		"api_app_id": s.o.AppID, "token": "verification-token-is-not-used",
		"user": object{"id": user, "username": u.Name, "name": u.Name, "team_id": u.TeamID}, "enterprise": nil,
		"is_enterprise_install": false,
	}
}

// interact returns the delivery of an interaction: JSON over a socket, a form with one field over HTTP.
func (s *Server) interact(payload object, kind string, h actionOptions) *Delivery {
	body := fakeserver.JSON(payload)
	form := url.Values{"payload": {string(body)}}.Encode()
	return &Delivery{s: s, Kind: Interactions, Type: kind, body: body, form: []byte(form), how: h, once: true}
}

// Runs types a slash command, such as "/gatehouse status".
func (p *Person) Runs(channel, line string, options ...ActionOption) *Delivery {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, h := s.mustChannel(channel), actionOptions{}.with(options)
	command, text, _ := strings.Cut(line, " ")
	trigger, respond := s.newTrigger(p.ID), s.newResponseURL()
	fields := map[string]string{
		"token": "verification-token-is-not-used", "team_id": cmp.Or(h.team, s.o.TeamID), "team_domain": s.o.TeamDomain,
		"channel_id": c.ID, "channel_name": c.clickName(),
		"user_id": p.ID, "user_name": s.users[p.ID].Name, "command": command, "text": text, "api_app_id": s.o.AppID,
		"is_enterprise_install": "false",
		"response_url":          respond, "trigger_id": trigger,
	}
	form := url.Values{}
	for key, value := range fields {
		form.Set(key, value)
	}
	d := &Delivery{
		s: s, Kind: Commands, Type: command, TriggerID: trigger, ResponseURL: respond, body: fakeserver.JSON(fields),
		form: []byte(form.Encode()), how: h, once: true,
	}
	d.answerFor = func(answer []byte) { s.commandAnswered(c, p.ID, answer) }
	s.dispatch("", []*Delivery{d})
	return d
}

// newResponseURL returns an address at which an app could answer. Nothing is served there: gatehouse answers otherwise.
func (s *Server) newResponseURL() string { return s.base + "/actions/" + s.ids.secret() }
