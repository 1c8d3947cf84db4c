package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
)

// Slack sends an interaction and a command only once. One that could not be stored is lost, so its person is told privately to repeat it. An
// interaction is then not acknowledged: Slack marks the button, or keeps the modal with its reason open.
const (
	pressNote    = "the person is asked to press again" // the end of the log lines
	commandNote  = "the person is asked to send the command again"
	gone         = "This approval no longer exists."
	pressAgain   = "Your press could not be stored, so nothing was done. Press again."
	commandAgain = "Your command could not be stored, so nothing was done. Send the command again."
)

// receiveInteraction handles an interaction up to the commit of its event. A click that only opens a modal is handled at once and stores
// nothing.
func (s *Slack) receiveInteraction(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result) {
	var i interaction
	if err := chat.Decode(body, &i); err != nil {
		return nil, chat.Unreadable(s.Log, "interaction", body, err)
	}
	i.Answer = ""
	switch {
	case i.User.ID == "":
	case i.Type == api.InteractionTypeBlockActions:
		return nil, s.clicked(ctx, i, accept)
	case i.Type == api.InteractionTypeViewSubmission && (i.View.CallbackID == callbackReason || i.View.CallbackID == callbackEdit || i.View.CallbackID == callbackAnswer):
		return s.submitted(ctx, i, accept)
	}
	return nil, chat.Stored
}

// clicked handles a click on one of our buttons. A value that we did not seal is ignored, and the person gets an error message.
func (s *Slack) clicked(ctx context.Context, i interaction, accept core.Accept) chat.Result {
	for _, a := range i.Actions {
		b, value, ok := s.opened(a)
		if value == "" {
			continue
		}
		if !ok {
			s.Log.Warn("a click on a button that gatehouse did not make is ignored", "action", chat.Clip(a.ActionID), "person", i.User.ID)
			s.tellClicker(i, "This button is no longer valid, so nothing was done. Ask again, or contact an admin.")
			continue
		}
		click := cmp.Or(a.ActionTS, onceID(i.TriggerID)) // distinguishes one click from the next
		if result := s.click(ctx, i, b, click, accept); result != chat.Stored {
			return result
		}
	}
	return chat.Stored
}

func (s *Slack) click(ctx context.Context, i interaction, b chat.Button, click string, accept core.Accept) chat.Result {
	onReply := b.Action == chat.ActionRetry || b.Action == chat.ActionNew
	if !onReply || s.Config.Connect != connectAllow {
		if ok, result := s.admits(ctx, i); !ok {
			return result
		}
	}
	switch b.Action {
	case chat.ActionAnswer:
		if b.Option == 0 {
			return s.openModal(ctx, i, b)
		}
		return s.decided(ctx, i, b, click, accept)
	case chat.ActionRetry, chat.ActionNew:
		if len(b.More) == 2 {
			to := core.Address{Platform: Name, Channel: b.More[0], Thread: b.More[1], Message: i.Message.TS}
			return s.commitPress(ctx, i, b.Event(Name, actor(i.User.ID), to), accept)
		}
	case chat.ActionAskAgain:
		return s.commitPress(ctx, i, chat.AskAgainEvent(b.Approval, s.decision(i, b.Approval, click)), accept)
	case chat.ActionApprove, chat.ActionDeny, chat.ActionWithdraw:
		return s.decided(ctx, i, b, click, accept)
	case chat.ActionReason, chat.ActionEdit, chat.ActionArguments:
		return s.openModal(ctx, i, b)
	}
	s.Log.Warn("a click on a button of an unknown kind is ignored", "kind", chat.Clip(string(b.Action)))
	return chat.Stored
}

// decided handles a press of a button that decides.
func (s *Slack) decided(ctx context.Context, i interaction, b chat.Button, click string, accept core.Accept) chat.Result {
	if click == "" {
		s.Log.Warn("a click without a time can't be distinguished from another one and is refused")
		return chat.Malformed
	}
	return s.commitPress(ctx, i, s.decision(i, b.Approval, click), accept)
}

// submitted handles a form: the reason of a denial, changed arguments, or an answer, of which reply says what is wrong with it.
func (s *Slack) submitted(ctx context.Context, i interaction, accept core.Accept) (reply any, result chat.Result) {
	b, ok := chat.OpenButton(s.Signer, i.View.PrivateMetadata)
	form := b.Action == chat.ActionReason || b.Action == chat.ActionEdit || b.Action == chat.ActionAnswer
	if !ok || !form || len(b.More) != 2 || i.View.ID == "" {
		s.Log.Warn("a modal that gatehouse did not make was submitted and is ignored", "person", i.User.ID)
		return nil, chat.Stored
	}
	i.Container.ChannelID, i.Message.ThreadTS = b.More[0], b.More[1]
	if ok, result := s.admits(ctx, i); !ok {
		return nil, result
	}
	if b.Action == chat.ActionAnswer {
		answer, refused, err := s.answered(ctx, i, b.Approval)
		switch {
		case core.CategoryOf(err) == core.NotFound:
			s.tellClicker(i, gone)
			return nil, chat.Stored
		case err != nil:
			s.Log.Warn("a question could not be looked up for an answer; "+pressNote, "category", core.CategoryOf(err), "err", err)
			s.tellClicker(i, pressAgain)
			return nil, chat.NotStored
		case refused != nil:
			return refused, chat.Stored
		}
		i.Answer, i.View.State.Values = answer, nil
	}
	return nil, s.commitPress(ctx, i, s.decision(i, b.Approval, i.View.ID), accept)
}

// commitPress stores the event of an interaction. If that fails, the person is told.
func (s *Slack) commitPress(ctx context.Context, i interaction, ev core.Event, accept core.Accept) chat.Result {
	result := chat.Commit(ctx, s.Log, ev, accept, pressNote)
	if result == chat.NotStored {
		s.tellClicker(i, pressAgain)
	}
	return result
}

// decision returns the event of a decision on a card.
func (s *Slack) decision(i interaction, id core.ApprovalID, click string) core.Event {
	to := i.address()
	return chat.DecisionEvent(Name, id, actor(i.User.ID), click, conversationID(cmp.Or(s.identity.get().team, i.Team.ID), to.Channel, to.Thread), to, i.payload())
}

// openModal opens a button's modal: a form, whose submission becomes the event, or the view of all arguments. Slack accepts a modal only
// within seconds after the click.
func (s *Slack) openModal(ctx context.Context, i interaction, b chat.Button) chat.Result {
	failed, form := "The arguments could not be shown; press again.", b.Action != chat.ActionArguments
	if form {
		failed = "The form could not be opened, so nothing was decided. Press again."
	}
	card, err := s.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		s.tellClicker(i, gone)
		return chat.Stored
	case err == nil && (card.Question != nil) != (b.Action == chat.ActionAnswer):
		s.tellClicker(i, "This button does not fit the card any more, so nothing was done.")
		return chat.Stored
	case err != nil:
		s.Log.Warn("an approval could not be looked up for a click; "+pressNote, "category", core.CategoryOf(err), "err", err)
		s.tellClicker(i, failed)
		return chat.NotStored
	case form && card.State != core.Open:
		s.tellClicker(i, doc.Standing(card))
		return chat.Stored
	case form:
		if err := chat.Refusal(ctx, s, card, actor(i.User.ID)); err != nil {
			s.tellClicker(i, core.MessageOf(err))
			return chat.Stored
		}
	}
	b.More = []string{i.address().Channel, i.address().Thread}
	var view api.ModalViewRequest
	switch b.Action {
	case chat.ActionAnswer:
		view = drawForm(s.Signer.Seal(b.Fields()...), doc.AnswerForm(card))
	case chat.ActionReason:
		view = drawForm(s.Signer.Seal(b.Fields()...), doc.ReasonForm(card, maxReason))
	case chat.ActionEdit:
		form, ok := doc.EditForm(card, maxInput)
		if !ok {
			s.tellClicker(i, doc.NoEdit)
			return chat.Stored
		}
		b.Edits = card.Edits // the form is filled with what is there now
		view = drawForm(s.Signer.Seal(b.Fields()...), form)
	default:
		view = argumentsModal(card)
	}
	ctx, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	_, err = s.api.OpenViewContext(ctx, i.TriggerID, view)
	if err := s.called(err); err != nil {
		s.Log.Warn("a modal could not be opened", "button", b.Action, "err", err)
		s.tellClicker(i, failed)
	}
	return chat.Stored
}

// Time limits, below the three seconds that Slack allows.
const (
	triggerTime = 2500 * time.Millisecond // for opening a modal
	answerTime  = 2500 * time.Millisecond // for answering a command
)

// receiveCommand handles /gatehouse new, status, stop, cancel or help, the first four in direct messages. In a channel, or with the assistant
// view, the command can't refer to a thread, because Slack has no commands in threads. A command that could not be stored is answered with a sentence that says so; if it is too late for an answer, the
// sentence is posted.
func (s *Slack) receiveCommand(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result) {
	began := s.Now()
	var c slashCommand
	if err := chat.Decode(body, &c); err != nil {
		return nil, chat.Unreadable(s.Log, "command", body, err)
	}
	b := s.identity.get()
	b.team = cmp.Or(b.team, c.TeamID)
	if !c.isFor(b) {
		s.Log.Warn("a command of another workspace is refused", "team", chat.Clip(c.TeamID))
		return nil, chat.Foreign
	}
	if c.TriggerID == "" || c.ChannelID == "" || c.UserID == "" {
		return nil, chat.Unreadable(s.Log, "command", body, errors.New("a field is missing"))
	}
	if s.Config.Connect != connectAllow && !s.ran(ctx, b, c) {
		if !s.refuseStranger("command", c.UserID, strangerTalks) {
			return nil, chat.Stored
		}
		return ephemeral(strangerTalks), chat.Stored
	}
	word := strings.ToLower(strings.TrimSpace(c.Text))
	control := core.ParseControl(word)
	threads := s.identity.hasScope(preflight.ScopeAssistant, false) // in direct messages too
	switch {
	case word == "" || word == "help":
		return ephemeral(s.commandHelp(threads)), chat.Stored
	case control == nil:
		return ephemeral("I do not know “" + escape.Replace(strings.ToValidUTF8(chat.Clip(c.Text), "")) + "”. " + s.commandHelp(threads)), chat.Stored
	case s.channelType(ctx, c.ChannelID, "") == slackevents.ChannelTypeMPIM: // one conversation
		return ephemeral("Here write !" + word + " as a message instead."), chat.Stored
	case !strings.HasPrefix(c.ChannelID, "D"):
		return ephemeral("Here each thread is a conversation of its own: write !" + word + s.afterMention() + " in the thread that you mean."), chat.Stored
	case threads:
		return ephemeral("Here each thread is a conversation of its own: write !" + word + " in the thread that you mean."), chat.Stored
	}
	ev := core.Event{
		Platform: Name, ID: "command/" + onceID(c.TriggerID), Conversation: conversationID(b.team, c.ChannelID, ""), Body: control, Actor: actor(c.UserID),
		Address: core.Address{Platform: Name, Channel: c.ChannelID}, Payload: stored(body),
	}
	result = chat.Commit(ctx, s.Log, ev, accept, commandNote)
	switch {
	case result != chat.NotStored:
		return nil, result
	case s.Now().Sub(began) < answerTime:
		return ephemeral(commandAgain), chat.Stored
	}
	s.tell(ev.Address, c.UserID, commandAgain)
	return nil, result
}

// commandHelp returns the answer to /gatehouse help. threads: the threads of direct messages are conversations, so the command does nothing
// else.
func (s *Slack) commandHelp(threads bool) string {
	help := "Send me a direct message, or mention me in a channel, where I answer in a thread, or in a group direct message. Then write in the same place: " +
		"!new starts a new conversation, !stop stops what I am doing, !status shows what I am doing and what is waiting, !cancel withdraws what waits for approval."
	if s.Config.FollowUp == followMention {
		help += " In a channel mention me before the word."
	}
	if threads {
		return help
	}
	return help + " In a direct message /gatehouse new, stop, status and cancel do the same."
}

// afterMention says that a message in a thread of a channel needs a mention, if it does.
func (s *Slack) afterMention() string {
	if s.Config.FollowUp == followMention {
		return " after a mention of me"
	}
	return ""
}

func ephemeral(text string) map[string]string {
	return map[string]string{"response_type": "ephemeral", "text": text}
}
