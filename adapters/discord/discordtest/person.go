package discordtest

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/message"
	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// Person is a user, or another bot, that acts on the platform.
type Person struct {
	s  *Server
	ID string
}

// Person returns a user that was added before.
func (s *Server) Person(id string) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustUser(id)
	return &Person{s: s, ID: id}
}

// Mention returns the user's mention as written in a message.
func (p *Person) Mention() string { return "<@" + p.ID + ">" }

// Posts posts a message in a channel or a thread.
func (p *Person) Posts(channel, text string, options ...ActionOption) Message {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	h := actionOptions{}.with(options)
	c := s.mustChannel(channel)
	p.mustBeIn(c)
	if c.Kind == Forum {
		s.fatal("%s is a forum: nothing can be posted there but threads", channel)
	}
	m := Message{
		Author: p.ID, Content: text, ReplyTo: h.reply, Channel: c.ID, Guild: c.Guild, Fields: h.fields,
		ID: wire.String(h.sent, "id"),
	}
	for _, e := range h.embeds {
		var plain object
		_ = json.Unmarshal(fakeserver.JSON(e), &plain)
		m.Embeds = append(m.Embeds, plain)
	}
	if h.reply != "" {
		if c.byID[h.reply] == nil {
			s.fatal("there is no message %s in %s to reply to", h.reply, channel)
		}
		m.Type = wire.TypeReply
		if h.noPing {
			m.Allowed = json.RawMessage(`{"parse":["users","roles","everyone"],"replied_user":false}`)
		}
	}
	for _, f := range h.files {
		m.Attachments = append(m.Attachments, s.storeAttachment(c, f))
	}
	if h.id != "" {
		m.ID = h.id
	}
	s.mention(&m)
	r := s.add(c, m)
	s.emitMessage("MESSAGE_CREATE", r.Message, h)
	return r.Message
}

func (p *Person) mustBeIn(c *channel) {
	s := p.s
	switch g := s.guilds[c.Guild]; {
	case c.Kind == DM && c.user != p.ID && p.ID != s.o.BotUserID:
		s.fatal("%s can't post in %s: it is the DM of %s", p.ID, c.ID, c.user)
	case g != nil && g.members[p.ID] == nil && !s.users[p.ID].IsWebhook:
		s.fatal("%s can't post in %s: not in the guild %s", p.ID, c.ID, g.ID)
	}
}

// Says sends the bot a direct message.
func (p *Person) Says(text string, options ...ActionOption) Message {
	return p.Posts(p.s.DMWith(p.ID), text, options...)
}

// Replies posts a reply to a message.
func (p *Person) Replies(channel, message, text string, options ...ActionOption) Message {
	return p.Posts(channel, text, append([]ActionOption{ReplyTo(message)}, options...)...)
}

// Forwards posts a message of any channel in another one, as a forward: an empty message with a snapshot.
func (p *Person) Forwards(from, message, to string, options ...ActionOption) Message {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	_, original := s.mustMessage(from, message)
	c := s.mustChannel(to)
	p.mustBeIn(c)
	snapshot := original.Message
	r := s.add(c, Message{Author: p.ID, Flags: wire.FlagHasSnapshot, Forwards: &snapshot})
	s.emitMessage("MESSAGE_CREATE", r.Message, actionOptions{}.with(options))
	return r.Message
}

// Edits changes the content of one of the user's messages.
func (p *Person) Edits(channel, message, text string, options ...ActionOption) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, message)
	if r.Author != p.ID {
		s.fatal("message %s is not %s's", message, p.ID)
	}
	r.Content, r.EditedAt, r.Edits = text, s.o.Now(), r.Edits+1
	s.mention(&r.Message)
	s.changed()
	s.emitMessage("MESSAGE_UPDATE", r.Message, actionOptions{}.with(options))
}

// Deletes deletes a message.
func (p *Person) Deletes(channel, message string) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.mustMessage(channel, message)
	s.remove(c, r)
}

// Unfurl adds a link preview to a message: an update that keeps author and content and is not an edit.
func (s *Server) Unfurl(channel, message, link string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, message)
	r.Embeds = append(append([]object{}, r.Embeds...), object{"type": "link", "url": link, "title": link})
	s.changed()
	s.emitMessage("MESSAGE_UPDATE", r.Message, actionOptions{})
}

// Types sends that the user is typing.
func (p *Person) Types(channel string) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	o := object{"channel_id": c.ID, "user_id": p.ID, "timestamp": s.o.Now().Unix()}
	if c.Guild != "" {
		o["guild_id"], o["member"] = c.Guild, s.wireMember(s.guilds[c.Guild], p.ID, true)
	}
	s.emit(c,
		gateway.Event{
			Name: "TYPING_START", Guild: c.Guild,
			Intent: intentFor(c, gateway.IntentGuildTyping, gateway.IntentDirectTyping), Full: o,
		})
}

// FindButton looks up a button by its label, with or without the name behind it, or by its custom_id; the message may
// be ephemeral.
func (s *Server) FindButton(channel, message, name string) (Button, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, message)
	for _, b := range r.Buttons() {
		if name == b.Label || name == b.CustomID || strings.HasPrefix(b.Label, name+" (") {
			return b, true
		}
	}
	return Button{}, false
}

// FindMenu looks up the first menu on a message.
func (s *Server) FindMenu(channel, message string) (Menu, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, message)
	if all := r.Menus(); len(all) > 0 {
		return all[0], true
	}
	return Menu{}, false
}

// Clicks presses the button with this label or custom_id on a message. It fails the test if there is none or it is
// disabled.
func (p *Person) Clicks(channel, message, name string, options ...ActionOption) *Interaction {
	b, found := p.s.FindButton(channel, message, name)
	if !found {
		p.s.fatal("there is no button %q on message %s in %s", name, message, channel)
	}
	if b.Disabled {
		p.s.fatal("the button %q on message %s is off", name, message)
	}
	return p.Presses(b, options...)
}

// Presses presses a button that was looked up before, even if it is no longer there.
func (p *Person) Presses(b Button, options ...ActionOption) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.CustomID == "" {
		s.fatal("the button %q is a link", b.Label)
	}
	c := s.mustChannel(b.Channel)
	p.mustBeIn(c)
	if r := c.find(b.Message); r != nil && r.Ephemeral != "" && r.Ephemeral != p.ID {
		s.fatal("only %s sees message %s", r.Ephemeral, b.Message)
	}
	i := &Interaction{Kind: Component, User: p.ID, Message: b.Message}
	return s.interact(i, object{"custom_id": b.CustomID, "component_type": message.ComponentButton, "id": 2}, c,
		actionOptions{}.with(options))
}

// Chooses chooses the option with this label or value in the menu on a message. It fails the test if there is none or
// the menu is disabled.
func (p *Person) Chooses(channel, message, option string, options ...ActionOption) *Interaction {
	m, found := p.s.FindMenu(channel, message)
	if !found || m.Disabled {
		p.s.fatal("there is no menu on message %s in %s, or it is off", message, channel)
	}
	return p.ChoosesIn(m, option, options...)
}

// ChoosesIn chooses an option in a menu that was looked up before, even if it is no longer there.
func (p *Person) ChoosesIn(m Menu, option string, options ...ActionOption) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := m.Value(option)
	if !ok {
		s.fatal("the menu on message %s has no option %q", m.Message, option)
	}
	c := s.mustChannel(m.Channel)
	p.mustBeIn(c)
	i := &Interaction{Kind: Component, User: p.ID, Message: m.Message}
	return s.interact(i,
		object{"custom_id": m.CustomID, "component_type": message.ComponentMenu, "id": 2, "values": []string{value}}, c,
		actionOptions{}.with(options))
}

// Runs runs a slash command, such as "/ask why is the sky blue". It must be registered, globally or in the channel's
// guild. The text after the name becomes the first text option; WithOption sets others.
func (p *Person) Runs(channel, line string, options ...ActionOption) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, h := s.mustChannel(channel), actionOptions{}.with(options)
	p.mustBeIn(c)
	name, text, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	command := s.findCommand(name)
	if command == nil {
		s.fatal("there is no command /%s", name)
	}
	values := []object{}
	for _, o := range wire.List(command, "options") {
		value, given := h.options[wire.String(o, "name")]
		if !given && wire.Int(o, "type") == 3 && text != "" {
			value, given, text = text, true, ""
		}
		if given {
			values = append(values, object{"name": wire.String(o, "name"), "type": wire.Int(o, "type"), "value": value})
		} else if wire.Bool(o, "required") {
			s.fatal("/%s needs the option %q", name, wire.String(o, "name"))
		}
	}
	if text != "" {
		s.fatal("/%s has no option for %q", name, text)
	}
	data := object{"id": wire.String(command, "id"), "name": name, "type": max(1, wire.Int(command, "type"))}
	if len(values) > 0 {
		data["options"] = values
	}
	return s.interact(&Interaction{Kind: Command, User: p.ID}, data, c, h)
}

func (s *Server) findCommand(name string) object {
	for _, o := range s.commands {
		if wire.String(o, "name") == name {
			return o
		}
	}
	return nil
}

// The types of a modal.
type (
	Modal = form.Modal
	Input = form.Input
)

// Modal returns the modal that a user has open.
func (s *Server) Modal(user string) (Modal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.modals[user]; m != nil {
		return *m, true
	}
	return Modal{}, false
}

// Submits submits the open modal, with values by the custom_id or the label of its fields. It checks lengths as Discord
// does.
func (p *Person) Submits(values map[string]string, options ...ActionOption) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.modals[p.ID]
	if m == nil {
		s.fatal("%s has no modal open", p.ID)
	}
	return p.submit(m, values, options)
}

// SubmitsAgain submits a modal that was looked up before, even if it is no longer open.
func (p *Person) SubmitsAgain(m Modal, values map[string]string, options ...ActionOption) *Interaction {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.submit(&m, values, options)
}

func (p *Person) submit(m *Modal, values map[string]string, options []ActionOption) *Interaction {
	s := p.s
	used := 0
	rows := []object{}
	for n, in := range m.Inputs {
		value, given := values[in.CustomID]
		if !given {
			value, given = values[in.Label]
		}
		if given {
			used++
		} else {
			value = in.Value
		}
		if in.Options != nil {
			rows = append(rows,
				object{"type": message.ComponentLabel, "id": 2*n + 1, "component": p.chosen(in, value, n)})
			continue
		}
		if length := utf8.RuneCountInString(value); (in.Required && value == "") || (value != "" && length < in.Min) ||
			length > in.Max {
			s.fatal("the modal does not take %q for %q", value, in.Label)
		}
		field := object{"type": message.ComponentInput, "custom_id": in.CustomID, "value": value, "id": 2*n + 2}
		if in.Labelled {
			rows = append(rows, object{"type": message.ComponentLabel, "id": 2*n + 1, "component": field})
		} else {
			rows = append(rows, object{"type": message.ComponentRow, "id": 2*n + 1, "components": []object{field}})
		}
	}
	if used != len(values) {
		s.fatal("the modal has no such fields: %v", values)
	}
	delete(s.modals, p.ID)
	i := &Interaction{Kind: Submit, User: p.ID, Message: m.Message}
	return s.interact(i, object{"custom_id": m.CustomID, "components": rows}, s.mustChannel(m.Channel),
		actionOptions{}.with(options))
}

// chosen encodes the choice in a menu of a modal, by the option's label or value; "": none.
func (p *Person) chosen(in Input, name string, n int) object {
	values := []string{}
	value, ok := message.Menu{Options: in.Options}.Value(name)
	if ok {
		values = append(values, value)
	}
	if ok == (name == "") || name == "" && in.Required {
		p.s.fatal("the modal does not take %q for %q", name, in.Label)
	}
	return object{"type": message.ComponentMenu, "custom_id": in.CustomID, "values": values, "id": 2*n + 2}
}

// Dismisses closes the open modal; the app receives nothing.
func (p *Person) Dismisses() {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modals[p.ID] == nil {
		s.fatal("%s has no modal open", p.ID)
	}
	delete(s.modals, p.ID)
	s.changed()
}
