package slack

import (
	"cmp"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// typed is what an input holds: what was written into it or, of one with options, the place of the chosen one.
func (i interaction) typed(id string) string {
	in := i.View.State.Values[id][id]
	return cmp.Or(in.SelectedOption.Value, in.Value)
}

// card returns the ref of the message whose button was clicked, "" for a modal.
func (i interaction) card() core.Ref {
	ts, channel := cmp.Or(i.Message.TS, i.Container.MessageTS), i.address().Channel
	if ts == "" || channel == "" {
		return ""
	}
	return refOf(channel, ts)
}

var errClickShape = core.Errorf(core.Invalid, "This click is not on one of gatehouse's buttons. Please press the button again.")

// OldClick reads a decision that was stored as the interaction that it came with.
func (s *Slack) OldClick(e core.Event) (core.Click, error) {
	var i interaction
	if err := chat.Decode(e.Payload, &i); err != nil {
		return core.Click{}, errClickShape
	}
	pressed := []chat.Button{s.desk.Open(i.View.PrivateMetadata)}
	for _, a := range i.Actions {
		b, _ := s.opened(a)
		pressed = append(pressed, b)
	}
	for _, b := range pressed {
		_, p := s.pressOf(i, b, "")
		p.Whole = i.Answer
		if c, err := s.desk.Click(b, p); err == nil && string(c.Approval) == e.Subject() && (c.Choice != core.Answer || c.Option > 0 || c.Answer != "") {
			return c, nil
		}
	}
	return core.Click{}, errClickShape
}
