package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
)

// receiveInteraction handles an interaction up to the commit of its event. A click that only opens a modal is handled at once and stores
// nothing.
func (s *Slack) receiveInteraction(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result) {
	var i interaction
	if err := chat.Decode(body, &i); err != nil {
		return nil, chat.Unreadable(s.Log, "interaction", body, err)
	}
	switch {
	case i.User.ID == "":
	case i.Type == api.InteractionTypeBlockActions:
		return nil, s.clicked(ctx, i, accept)
	case i.Type == api.InteractionTypeViewSubmission && i.View.CallbackID == callbackReason:
		return nil, s.submitted(ctx, i, accept)
	}
	return nil, chat.Stored
}

// clicked handles a click on one of our buttons. A value that we did not seal is ignored, and the person gets an error message.
func (s *Slack) clicked(ctx context.Context, i interaction, accept core.Accept) chat.Result {
	for _, a := range i.Actions {
		if a.Value == "" {
			continue
		}
		b, ok := chat.OpenButton(s.Signer, a.Value)
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
	if (!onReply || s.Config.Connect != connectAllow) && s.refusesPress(ctx, i) {
		return chat.Stored
	}
	switch b.Action {
	case chat.ActionRetry, chat.ActionNew:
		if len(b.More) == 2 {
			to := core.Address{Platform: Name, Channel: b.More[0], Thread: b.More[1], Message: i.Message.TS}
			return chat.Commit(ctx, s.Log, b.Event(Name, actor(i.User.ID), to), accept, retryNote)
		}
	case chat.ActionApprove, chat.ActionDeny:
		if click == "" {
			s.Log.Warn("a click without a time can't be distinguished from another one and is refused")
			return chat.Malformed
		}
		return chat.Commit(ctx, s.Log, s.decision(i, b.Approval, click), accept, retryNote)
	case chat.ActionReason, chat.ActionArguments:
		return s.openModal(ctx, i, b)
	}
	s.Log.Warn("a click on a button of an unknown kind is ignored", "kind", chat.Clip(string(b.Action)))
	return chat.Stored
}

// submitted handles the modal that asked for a reason.
func (s *Slack) submitted(ctx context.Context, i interaction, accept core.Accept) chat.Result {
	b, ok := chat.OpenButton(s.Signer, i.View.PrivateMetadata)
	if !ok || b.Action != chat.ActionReason || len(b.More) != 2 || i.View.ID == "" {
		s.Log.Warn("a modal that gatehouse did not make was submitted and is ignored", "person", i.User.ID)
		return chat.Stored
	}
	i.Container.ChannelID, i.Message.ThreadTS = b.More[0], b.More[1]
	if s.refusesPress(ctx, i) {
		return chat.Stored
	}
	return chat.Commit(ctx, s.Log, s.decision(i, b.Approval, i.View.ID), accept, retryNote)
}

// decision returns the event of a decision on a card.
func (s *Slack) decision(i interaction, id core.ApprovalID, click string) core.Event {
	to := i.address()
	return chat.DecisionEvent(Name, id, i.User.ID, click, conversationID(cmp.Or(s.identity.get().team, i.Team.ID), to.Channel, to.Thread), to, i.payload())
}

// openModal opens a button's modal: the form for a reason, whose submission becomes the event, or the view of all arguments. Slack
// accepts a modal only within seconds after the click.
func (s *Slack) openModal(ctx context.Context, i interaction, b chat.Button) chat.Result {
	card, err := s.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		s.tellClicker(i, "This approval no longer exists.")
		return chat.Stored
	case err != nil:
		s.Log.Warn("an approval could not be looked up for a click; Slack sends it again", "category", core.CategoryOf(err), "err", err)
		return chat.NotStored
	case b.Action == chat.ActionReason && card.State != core.Open:
		s.tellClicker(i, chat.Standing(Name, card))
		return chat.Stored
	}
	view, failed := argumentsModal(card), "The arguments could not be shown; press again."
	if b.Action == chat.ActionReason {
		at := i.address()
		value := s.Signer.Seal(chat.CardButton(b.Approval, chat.ActionReason, at.Channel, at.Thread).Fields()...)
		view, failed = reasonModal(value, card), "The form could not be opened, so nothing was decided. Press again, or use Deny."
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

// triggerTime is the time limit for opening a modal, below the three seconds after the click that Slack allows.
const triggerTime = 2500 * time.Millisecond

// receiveCommand handles /gatehouse new, status, stop, cancel or help. In a channel the command can't refer to a thread, because Slack has
// no commands in threads.
func (s *Slack) receiveCommand(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result) {
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
	switch {
	case word == "" || word == "help":
		return ephemeral(commandHelp), chat.Stored
	case control == nil:
		return ephemeral("I do not know “" + escape.Replace(strings.ToValidUTF8(chat.Clip(c.Text), "")) + "”. " + commandHelp), chat.Stored
	case !strings.HasPrefix(c.ChannelID, "D") || s.identity.hasScope(preflight.ScopeAssistant, false):
		return ephemeral("Here each thread is a conversation of its own: write !" + word + " in the thread that you mean."), chat.Stored
	}
	ev := core.Event{
		Platform: Name, ID: "command/" + onceID(c.TriggerID), Conversation: conversationID(b.team, c.ChannelID, ""), Body: control, Actor: actor(c.UserID),
		Address: core.Address{Platform: Name, Channel: c.ChannelID}, Payload: stored(body),
	}
	return nil, chat.Commit(ctx, s.Log, ev, accept, retryNote)
}

// commandHelp is the answer to /gatehouse help.
const commandHelp = "Send me a direct message, or mention me in a channel; I answer in the thread. There, !new starts a new conversation, !stop stops what I am " +
	"doing, !status shows what is waiting, !cancel withdraws what waits for approval. In a direct message /gatehouse new, stop, status and cancel do the same."

func ephemeral(text string) map[string]string {
	return map[string]string{"response_type": "ephemeral", "text": text}
}
