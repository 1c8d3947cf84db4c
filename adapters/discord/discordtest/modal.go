package discordtest

import (
	"fmt"
	"unicode/utf8"
)

// Modal is a modal that is open on a user's screen.
type Modal struct {
	User     string
	Channel  string
	Message  string // the message whose button opened it, if one did
	CustomID string
	Title    string
	Inputs   []Input
}

// Input is a field of a modal.
type Input struct {
	CustomID    string
	Label       string
	Long        bool // more than one line
	Required    bool
	Min, Max    int
	Value       string // what stands in it from the start
	Placeholder string
	labelled    bool // it stands in a label, not in a row
}

// readModal reads a modal from a first answer, if Discord takes it.
func readModal(f object) (*Modal, *failure) {
	m := &Modal{CustomID: word(f, "custom_id"), Title: word(f, "title")}
	bad := &formErrors{}
	if n := utf8.RuneCountInString(m.CustomID); n < 1 || n > 100 {
		bad.add("data.custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	if n := utf8.RuneCountInString(m.Title); n < 1 || n > 45 {
		bad.add("data.title", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
	}
	rows := list(f, "components")
	if len(rows) < 1 || len(rows) > 5 {
		bad.add("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	seen := map[string]bool{}
	for i, row := range rows {
		at := fmt.Sprintf("data.components.%d", i)
		inner := list(row, "components")
		label := ""
		if integer(row, "type") == componentLabel {
			one, _ := row["component"].(object)
			inner, label = []object{one}, word(row, "label")
		}
		if len(inner) != 1 || integer(inner[0], "type") != componentInput {
			if integer(row, "type") != componentText {
				bad.add(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be 1 in length.")
			}
			continue
		}
		e := inner[0]
		in := Input{
			CustomID: word(e, "custom_id"), Label: word(e, "label"), Long: integer(e, "style") == 2, Required: true, Min: integer(e, "min_length"),
			Max: integer(e, "max_length"), Value: word(e, "value"), Placeholder: word(e, "placeholder"), labelled: label != "",
		}
		if label != "" {
			in.Label = label
		}
		if required, said := e["required"].(bool); said {
			in.Required = required
		}
		if in.Max == 0 {
			in.Max = 4000
		}
		checkCustomID(in.CustomID, at+".components.0", seen, bad)
		if n := utf8.RuneCountInString(in.Label); n < 1 || n > 45 {
			bad.add(at+".components.0.label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
		}
		if utf8.RuneCountInString(in.Placeholder) > 100 {
			bad.add(at+".components.0.placeholder", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
		}
		m.Inputs = append(m.Inputs, in)
	}
	return m, bad.failure()
}

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
func (p *Person) Submits(values map[string]string, hows ...How) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.modals[p.ID]
	if m == nil {
		s.fatal("%s has no modal open", p.ID)
	}
	return p.submit(m, values, hows)
}

// SubmitsAgain submits a modal that was looked up before, whether or not it is still open.
func (p *Person) SubmitsAgain(m Modal, values map[string]string, hows ...How) *Interaction {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.submit(&m, values, hows)
}

func (p *Person) submit(m *Modal, values map[string]string, hows []How) *Interaction {
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
		field := object{"type": componentInput, "custom_id": in.CustomID, "value": value, "id": 2*n + 2}
		if in.labelled {
			rows = append(rows, object{"type": componentLabel, "id": 2*n + 1, "component": field})
		} else {
			rows = append(rows, object{"type": componentRow, "id": 2*n + 1, "components": []object{field}})
		}
	}
	if used != len(values) {
		s.fatal("the modal has no such fields: %v", values)
	}
	delete(s.modals, p.ID)
	i := &Interaction{Kind: Submit, User: p.ID, Message: m.Message}
	return s.interact(i, object{"custom_id": m.CustomID, "components": rows}, s.mustChannel(m.Channel), how{}.with(hows))
}

// Dismisses closes the modal on their screen; the app is not told.
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
