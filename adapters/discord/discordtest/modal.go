package discordtest

import (
	"unicode/utf8"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/message"
)

// What a modal is made of.
type (
	Modal = form.Modal
	Input = form.Input
)

// Modal is the modal that is open on a user's screen.
func (s *Server) Modal(user string) (Modal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.modals[user]; m != nil {
		return *m, true
	}
	return Modal{}, false
}

// Submits submits the modal on their screen, with values by the custom_id or the label of its fields. Discord's own checks of length hold.
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

// SubmitsAgain submits a modal that was looked up before, whether or not it is still open.
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
		if length := utf8.RuneCountInString(value); (in.Required && value == "") || (value != "" && length < in.Min) || length > in.Max {
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
	return s.interact(i, object{"custom_id": m.CustomID, "components": rows}, s.mustChannel(m.Channel), actionOptions{}.with(options))
}

// Dismisses closes the modal on their screen; the app receives nothing.
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
