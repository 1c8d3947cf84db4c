package discordtest

import (
	"slices"
	"strings"
)

// FindButton looks a button up by its label or custom_id; the message may be an ephemeral one.
func (s *Server) FindButton(channel, message, name string) (Button, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r := s.mustMessage(channel, message)
	for _, b := range r.Buttons() {
		if name == b.Label || name == b.CustomID {
			return b, true
		}
	}
	return Button{}, false
}

// Clicks presses the button with this label or custom_id on a message. That it is there, and on, is taken for granted.
func (p *Person) Clicks(channel, message, name string, hows ...How) *Interaction {
	b, found := p.s.FindButton(channel, message, name)
	if !found {
		p.s.fatal("there is no button %q on message %s in %s", name, message, channel)
	}
	if b.Disabled {
		p.s.fatal("the button %q on message %s is off", name, message)
	}
	return p.Presses(b, hows...)
}

// Presses presses a button that was looked up before, whether or not it is still there.
func (p *Person) Presses(b Button, hows ...How) *Interaction {
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
	return s.interact(i, object{"custom_id": b.CustomID, "component_type": componentButton, "id": 2}, c, how{}.with(hows))
}

// Runs types a slash command, such as "/ask why is the sky blue". It must be registered, globally or in the channel's guild. What follows the
// name goes into the first option of text; others are filled in by WithOption.
func (p *Person) Runs(channel, line string, hows ...How) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, h := s.mustChannel(channel), how{}.with(hows)
	p.mustBeIn(c)
	name, text, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	command := s.findCommand(c.Guild, name)
	if command == nil {
		s.fatal("there is no command /%s", name)
	}
	options := []object{}
	for _, o := range list(command, "options") {
		value, given := h.options[word(o, "name")]
		if !given && integer(o, "type") == 3 && text != "" {
			value, given, text = text, true, ""
		}
		if given {
			options = append(options, object{"name": word(o, "name"), "type": integer(o, "type"), "value": value})
		} else if truth(o, "required") {
			s.fatal("/%s needs the option %q", name, word(o, "name"))
		}
	}
	if text != "" {
		s.fatal("/%s has no option for %q", name, text)
	}
	data := object{"id": word(command, "id"), "name": name, "type": max(1, integer(command, "type"))}
	if len(options) > 0 {
		data["options"] = options
	}
	if guild := word(command, "guild_id"); guild != "" {
		data["guild_id"] = guild
	}
	return s.interact(&Interaction{Kind: Command, User: p.ID}, data, c, h)
}

func (s *Server) findCommand(guild, name string) object {
	for _, place := range slices.Compact([]string{guild, ""}) {
		for _, o := range s.commands[place] {
			if word(o, "name") == name {
				return o
			}
		}
	}
	return nil
}
