package slack

import (
	"cmp"
	"context"
	"strconv"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/draw"
	"gatehouse/core"
	"gatehouse/core/question"
)

// pressNote is the end of the log line about a press that was not stored. Slack sends an interaction only once, so the
// person is told to repeat it; and since it is not acknowledged, Slack marks the button, or keeps the form open.
const pressNote = "the person is asked to press again"

// pressBot is what one of SLACK_BOTS that presses a button is told.
const pressBot = "Bots can't decide. If you are a person, ask an admin to remove your id from SLACK_BOTS."

// triggerTime is the time limit for opening a modal, below the three seconds that Slack allows.
const triggerTime = 2500 * time.Millisecond

// press is a press of one of our buttons, or the submission of one of our forms.
type press struct {
	interaction
	desk.Press
	button outbound.Button
}

// receiveInteraction handles an interaction up to the commit of its event. One that only opens a modal, or is refused,
// stores nothing.
func (s *Slack) receiveInteraction(
	ctx context.Context, body []byte, accept core.Accept,
) (reply any, result inbound.Result) {
	var i interaction
	if err := inbound.Decode(body, &i); err != nil {
		return nil, inbound.Unreadable(s.Log, "interaction", body, err)
	}
	for _, p := range s.presses(i) {
		if reply, result = s.press(ctx, p, accept); result != inbound.Stored {
			break
		}
	}
	return reply, result
}

// presses are the presses that an interaction makes: of each of our buttons in it, or of the one that a form came with.
func (s *Slack) presses(i interaction) (all []press) {
	form := i.Type == api.InteractionTypeViewSubmission && draw.Inputs(i.View.CallbackID) != nil
	switch {
	case i.User.ID == "" || !form && i.Type != api.InteractionTypeBlockActions:
		return nil
	case form:
		i.Actions = []action{{Value: i.View.PrivateMetadata, ActionTS: i.View.ID}}
	}
	for _, a := range i.Actions {
		if a.sealed() != "" || form {
			all = append(all, s.pressOf(i, a, form))
		}
	}
	return all
}

// sealed is the value of a button or, since the options of a menu have none that is sealed, the id of the menu's block.
func (a action) sealed() string {
	if a.SelectedOption.Value != "" {
		return a.BlockID
	}
	return a.Value
}

// pressOf is what the desk is told of an action. A form, and a button below a failed event's reply, carry their
// conversation; the address of the latter names its message, too.
func (s *Slack) pressOf(i interaction, a action, form bool) press {
	b, chosen := s.desk.Open(a.sealed()), a.SelectedOption.Value
	if chosen != "" {
		b.Option, _ = strconv.Atoi(chosen)
		isPlace := b.Option > 0 && b.Option <= question.MaxChoices && strconv.Itoa(b.Option) == chosen
		if !isPlace || b.Action != outbound.ActionAnswer {
			b = outbound.Button{}
		}
	}
	p := desk.Press{Who: actor(i.User.ID), Form: form, ID: cmp.Or(a.ActionTS, onceID(i.TriggerID))}
	p.Address = core.Address{
		Platform: Name, Channel: cmp.Or(i.Container.ChannelID, i.Channel.ID),
		Thread: cmp.Or(i.Message.ThreadTS, i.Container.ThreadTS),
	}
	if ts := cmp.Or(i.Message.TS, i.Container.MessageTS); ts != "" {
		p.Card = refOf(p.Address.Channel, ts)
	}
	switch {
	case !form && !b.OnReply():
		b.More = []string{p.Address.Channel, p.Address.Thread}
	case len(b.More) == 2:
		p.Address.Channel, p.Address.Thread = b.More[0], b.More[1]
	default:
		b = outbound.Button{}
	}
	if b.OnReply() {
		p.Address.Message = i.Message.TS
	}
	for _, id := range draw.Inputs(i.View.CallbackID) {
		in := i.View.State.Values[id][id]
		p.Typed = append(p.Typed, cmp.Or(in.SelectedOption.Value, in.Value))
	}
	p.Conversation = conversationID(cmp.Or(s.identity.get().team, i.Team.ID), p.Address.Channel, p.Address.Thread)
	return press{i, p, b}
}

// press does what the desk says about a press. What goes wrong the person is told: in the form that they submitted or,
// of a button, privately.
func (s *Slack) press(ctx context.Context, p press, accept core.Accept) (reply any, result inbound.Result) {
	if p.ID == "" {
		s.Log.Warn("a press without a time can't be distinguished from another one and is refused")
		return nil, inbound.Malformed
	}
	if s.isBot(p.Who) {
		s.Log.Warn("a press by one of SLACK_BOTS is refused: a bot decides nothing", "bot", p.Who.ID)
		s.tell(p.Address, p.User.ID, pressBot)
		return nil, inbound.Stored
	}
	if ok, result := s.admits(ctx, p); !ok {
		return nil, result
	}
	switch a := s.desk.Press(ctx, p.button, p.Press).(type) {
	case desk.Event:
		result = inbound.Commit(ctx, s.Log, a.Event, accept, pressNote)
		if result == inbound.NotStored {
			s.tell(p.Address, p.User.ID, s.desk.PressUnstored)
		}
	case desk.Open:
		s.openView(ctx, p, draw.Form(a.Value, a.Form))
	case desk.Show:
		s.openView(ctx, p, s.painter.ArgumentsModal(a.Card))
	case desk.Say:
		switch {
		case a.Busy():
			s.Log.Warn("a press is refused; " + pressNote)
			result = inbound.NotStored
		case p.Form && a.Mended:
			view := draw.Mended(p.View.CallbackID, a.Again.Value, a.Again.Form)
			return map[string]any{"response_action": "update", "view": view}, inbound.Stored
		case p.Form:
			said := faults(draw.Inputs(p.View.CallbackID), a)
			return map[string]any{"response_action": "errors", "errors": said}, inbound.Stored // the form stays open
		}
		s.tell(p.Address, p.User.ID, a.Text())
	}
	return nil, result
}

// faults are what a form says at its inputs: what is wrong with each or, if that is not known, why nothing happens.
func faults(ids []string, a desk.Say) map[string]string {
	said := map[string]string{}
	for n, fault := range a.Faults {
		said[ids[n]] = fault
	}
	if len(said) == 0 {
		said[ids[0]] = a.Text()
	}
	return said
}

// openView opens a modal. Slack accepts one only within seconds after the press.
func (s *Slack) openView(ctx context.Context, p press, view api.ModalViewRequest) {
	ctx, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	_, err := s.api.OpenViewContext(ctx, p.TriggerID, view)
	if err := s.called(err); err != nil {
		s.Log.Warn("a modal could not be opened", "modal", view.CallbackID, "err", err)
		s.tell(p.Address, p.User.ID, s.desk.PressUnopened)
	}
}

// OldClick reads a decision that was stored as the interaction that it came with.
func (s *Slack) OldClick(e core.Event) (core.Click, error) {
	var i interaction
	if inbound.Decode(e.Payload, &i) == nil {
		for _, p := range s.presses(i) {
			p.Whole = i.Answer
			c, err := s.desk.Click(p.button, p.Press)
			answers := c.Choice != core.Answer || c.Option > 0 || c.Answer != ""
			if err == nil && answers && string(c.Approval) == e.Subject() {
				return c, nil
			}
		}
	}
	return core.Click{}, core.Errorf(
		core.Invalid, "This click is not on one of gatehouse's buttons. Please press the button again.",
	)
}
