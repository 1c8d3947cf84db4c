package chat

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gatehouse/core"
)

// Action is what a button does.
type Action string

// The actions of buttons. The first two are below the reply to a failed event, the others on a card.
const (
	ActionRetry     Action = "again" // try the failed event again
	ActionNew       Action = "new"   // start a new conversation
	ActionApprove   Action = Action(core.Approve)
	ActionDeny      Action = Action(core.Deny)
	ActionReason    Action = "reason"          // open the form that asks for the reason of a denial
	ActionConfirm   Action = "confirm"         // open the form that asks again before something dangerous is approved
	ActionArguments Action = "arguments"       // show all arguments
	ActionEdit      Action = Action(core.Edit) // open the form that changes the arguments

	ActionWithdraw Action = Action(core.Withdraw)
	ActionAskAgain Action = "ask_again" // on an expired card: ask for the same again

	ActionAnswer Action = Action(core.Answer) // on a question: one of its options or, without one, open its form
)

// Button is what a button means. Its value is sealed: it stays valid across restarts and can't be forged.
type Button struct {
	Action       Action
	Approval     core.ApprovalID     // on a card: the approval
	Option       int                 // of ActionAnswer: the place of the option, from 1; 0: none
	Edits        int                 // on a card: how often the arguments had been changed when it was drawn
	Failed       int64               // below the reply to a failed event: the event's number
	Conversation core.ConversationID // below the reply to a failed event: the event's conversation
	More         []string            // further fields that the platform adds
}

// OptionButton returns a button on a question's card that answers it with the option at a place, from 1; 0: the button opens the question's form.
func OptionButton(c core.Card, place int, more ...string) Button {
	return Button{Action: ActionAnswer, Approval: c.Approval, Option: place, More: more}
}

// CardButton returns a button on a card.
func CardButton(c core.Card, a Action, more ...string) Button {
	return Button{Action: a, Approval: c.Approval, Edits: c.Edits, More: more}
}

// ReplyButton returns a button below the reply to a failed event.
func ReplyButton(d core.Delivery, a Action, more ...string) Button {
	return Button{Action: a, Failed: d.Event, Conversation: d.Conversation, More: more}
}

// Fields returns the fields that are sealed.
func (b Button) Fields() []string {
	if b.Action == ActionRetry || b.Action == ActionNew {
		return append([]string{string(b.Action), strconv.FormatInt(b.Failed, 10), string(b.Conversation)}, b.More...)
	}
	action := string(b.Action)
	if n := max(b.Edits, b.Option); n > 0 { // a question has no edits
		action += editsMark + strconv.Itoa(n)
	}
	return append([]string{string(b.Approval), action}, b.More...)
}

// editsMark separates an action from how often the arguments had been changed, "approve.2", or from the option: "answer.2".
const editsMark = "."

// openAction reads the sealed field of an action.
func openAction(field string) (a Action, edits int, ok bool) {
	action, count, changed := strings.Cut(field, editsMark)
	if !changed {
		return Action(action), 0, true
	}
	edits, err := strconv.Atoi(count)
	return Action(action), edits, err == nil && edits > 0 && strconv.Itoa(edits) == count
}

// OpenButton reads a sealed value; ok is false for a value that this gatehouse did not seal.
func OpenButton(s *core.Signer, value string) (b Button, ok bool) {
	fields, ok := s.Open(value)
	switch {
	case !ok || len(fields) < 2:
		return Button{}, false
	case Action(fields[0]) == ActionRetry || Action(fields[0]) == ActionNew:
		failed, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || len(fields) < 3 {
			return Button{}, false
		}
		return Button{Action: Action(fields[0]), Failed: failed, Conversation: core.ConversationID(fields[2]), More: fields[3:]}, true
	}
	action, edits, ok := openAction(fields[1])
	if !ok {
		return Button{}, false
	}
	b = Button{Action: action, Approval: core.ApprovalID(fields[0]), Edits: edits, More: fields[2:]}
	if action == ActionAnswer {
		b.Option, b.Edits = edits, 0
	}
	return b, true
}

// Event returns the event of a button below the reply to a failed event. However often the button is pressed, it is the same event.
func (b Button) Event(platform string, who core.Actor, to core.Address) core.Event {
	e := core.Event{
		Platform: platform, ID: fmt.Sprintf("press/%s/%d", b.Action, b.Failed), Conversation: b.Conversation, Actor: who, Address: to,
		Body: core.ResetEvent{Failed: b.Failed},
	}
	if b.Action == ActionRetry {
		e.Body = core.RetryEvent{Failed: b.Failed}
	}
	return e
}

// DecisionEvent returns the event of a decision on a card. press distinguishes one press from the next.
func DecisionEvent(platform string, id core.ApprovalID, who core.Actor, press string, c core.ConversationID, to core.Address, payload []byte) core.Event {
	return core.Event{
		Platform: platform, ID: "vote/" + string(id) + "/" + strings.TrimPrefix(who.ID, platform+":") + "/" + press, Conversation: c, Body: core.ClickEvent{Approval: id},
		Actor: who, Address: to, Payload: payload,
	}
}

// AskAgainEvent returns the event of the button "Ask again" of an expired card, by whom and where press says. However often a person presses
// the button, it is the same event.
func AskAgainEvent(id core.ApprovalID, press core.Event) core.Event {
	press.ID, press.Body = "again/"+string(id)+"/"+press.Actor.ID, core.AskAgainEvent{Approval: id}
	return press
}

// Refusal returns why a person may not decide a card, so that they get no form for it; nil if they may, or if their groups can't be looked
// up now. Whoever gets a form is checked again when it is submitted.
func Refusal(ctx context.Context, d core.Directory, c core.Card, who core.Actor) error {
	if c.Refusal(who) == nil {
		return nil
	}
	groups, err := d.Groups(ctx, who, c.Approvers)
	if err != nil {
		return nil
	}
	who.Groups = groups
	return c.Refusal(who)
}

// Value seals a button. Error: the value is longer than limit, in UTF-16 units.
func (b Button) Value(seal func(fields ...string) string, limit int) (string, error) {
	value := seal(b.Fields()...)
	if n := Units(value); n > limit {
		return "", core.Errorf(core.Internal, "A button's value has %d characters; the limit is %d.", n, limit)
	}
	return value, nil
}
