package outbound

import (
	"strconv"

	"gatehouse/adapters/internal/safetext"
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

	ActionRemember Action = "remember" // approve, and allow the same call again for a while
	// the same, of something dangerous: open the form that asks again
	ActionConfirmRemember Action = "confirm_remember"
	ActionForget          Action = Action(core.Forget) // on a card of what is remembered: allow no further call

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

// OptionButton returns a button on a question's card that answers it with the option at a place, from 1; 0: the button
// opens the question's form.
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

// OnReply reports whether the button is below the reply to a failed event.
func (b Button) OnReply() bool { return b.Action == ActionRetry || b.Action == ActionNew }

// Fields returns the fields that are sealed.
func (b Button) Fields() []string {
	if b.OnReply() {
		return append([]string{string(b.Action), strconv.FormatInt(b.Failed, 10), string(b.Conversation)}, b.More...)
	}
	action := string(b.Action)
	if n := max(b.Edits, b.Option); n > 0 { // a question has no edits
		action += EditsMark + strconv.Itoa(n)
	}
	return append([]string{string(b.Approval), action}, b.More...)
}

// EditsMark separates an action from how often the arguments had been changed, "approve.2", or from the option:
// "answer.2".
const EditsMark = "."

// Value seals a button. Error: the value is longer than limit, in UTF-16 units.
func (b Button) Value(seal func(fields ...string) string, limit int) (string, error) {
	value := seal(b.Fields()...)
	if n := safetext.Units(value); n > limit {
		return "", core.Errorf(core.Internal, "A button's value has %d characters; the limit is %d.", n, limit)
	}
	return value, nil
}
