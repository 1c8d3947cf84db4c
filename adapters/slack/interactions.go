package slack

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
	"gatehouse/core/question"
)

// Slack sends an interaction and a command only once. One that could not be stored is lost, so its person is told privately to repeat it. An
// interaction is then not acknowledged: Slack marks the button, or keeps the modal with its reason open.
const (
	pressNote    = "the person is asked to press again" // the end of the log lines
	commandNote  = "the person is asked to send the command again"
	commandAgain = "Your command could not be stored, so nothing was done. Send the command again."
)

// receiveInteraction handles an interaction up to the commit of its event. One that only opens a modal, or is refused, stores nothing.
func (s *Slack) receiveInteraction(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result) {
	var i interaction
	if err := chat.Decode(body, &i); err != nil {
		return nil, chat.Unreadable(s.Log, "interaction", body, err)
	}
	switch {
	case i.User.ID == "":
	case i.Type == api.InteractionTypeViewSubmission && inputs[i.View.CallbackID] != nil:
		return s.press(ctx, i, s.desk.Open(i.View.PrivateMetadata), i.View.ID, accept)
	case i.Type == api.InteractionTypeBlockActions:
		for _, a := range i.Actions {
			b, ours := s.opened(a)
			if !ours {
				continue
			}
			id := cmp.Or(a.ActionTS, onceID(i.TriggerID))
			if _, result := s.press(ctx, i, b, id, accept); result != chat.Stored {
				return nil, result
			}
		}
	}
	return nil, chat.Stored
}

// press does what the desk says about a press of a button or a submitted form. id tells one from the next.
func (s *Slack) press(ctx context.Context, i interaction, b chat.Button, id string, accept core.Accept) (reply any, result chat.Result) {
	if id == "" {
		s.Log.Warn("a press without a time can't be distinguished from another one and is refused")
		return nil, chat.Malformed
	}
	b, p := s.pressOf(i, b, id)
	if p.Form {
		i.Container.ChannelID, i.Message.ThreadTS = p.Address.Channel, p.Address.Thread
	}
	if b.Action != "" && (!b.OnReply() || s.Config.Connect != connectAllow) {
		if ok, result := s.admits(ctx, i); !ok {
			return nil, result
		}
	}
	switch a := s.desk.Press(ctx, b, p).(type) {
	case desk.Event:
		result = chat.Commit(ctx, s.Log, a.Event, accept, pressNote)
		if result == chat.NotStored {
			s.tellClicker(i, s.desk.PressUnstored)
		}
	case desk.Open:
		s.openView(ctx, i, drawForm(a.Value, a.Form))
	case desk.Show:
		s.openView(ctx, i, s.painter.argumentsModal(a.Card))
	case desk.Say:
		return s.say(i, a)
	}
	return nil, result
}

// pressOf is what the desk is told of an interaction. A form, and a button below a failed event's reply, carry their conversation; the address
// of the latter names its message, too.
func (s *Slack) pressOf(i interaction, b chat.Button, id string) (chat.Button, desk.Press) {
	p := desk.Press{Who: actor(i.User.ID), ID: id, Form: i.Type == api.InteractionTypeViewSubmission, Card: i.card()}
	p.Address = i.address()
	switch {
	case !p.Form && !b.OnReply():
		b.More = []string{p.Address.Channel, p.Address.Thread}
	case len(b.More) != 2:
		b = chat.Button{}
	default:
		p.Address.Channel, p.Address.Thread = b.More[0], b.More[1]
	}
	if b.OnReply() {
		p.Address.Message = i.Message.TS
	}
	for _, id := range inputs[i.View.CallbackID] {
		p.Typed = append(p.Typed, i.typed(id))
	}
	p.Conversation = conversationID(cmp.Or(s.identity.get().team, i.Team.ID), p.Address.Channel, p.Address.Thread)
	return b, p
}

// opened reads the button that was clicked or the option that was chosen of a question's menu. ours is false for an action that is neither.
func (s *Slack) opened(a action) (b chat.Button, ours bool) {
	if a.SelectedOption.Value == "" {
		return s.desk.Open(a.Value), a.Value != ""
	}
	b = s.desk.Open(a.BlockID)
	place, err := strconv.Atoi(a.SelectedOption.Value)
	if err != nil || place < 1 || place > question.MaxChoices || strconv.Itoa(place) != a.SelectedOption.Value || b.Action != chat.ActionAnswer {
		b = chat.Button{}
	}
	b.Option = place
	return b, a.BlockID != ""
}

// say tells the person why nothing happens: in the form that they submitted or, of a button, privately.
func (s *Slack) say(i interaction, a desk.Say) (reply any, result chat.Result) {
	ids := inputs[i.View.CallbackID]
	switch {
	case a.Busy():
		s.Log.Warn("a press is refused; " + pressNote)
		s.tellClicker(i, a.Text())
		return nil, chat.NotStored
	case ids == nil:
		s.tellClicker(i, a.Text())
		return nil, chat.Stored
	}
	faults := map[string]string{}
	for n, fault := range a.Faults {
		faults[ids[n]] = fault
	}
	if len(faults) == 0 {
		faults[ids[0]] = a.Text()
	}
	return map[string]any{"response_action": "errors", "errors": faults}, chat.Stored // the form stays open
}

// openView opens a modal. Slack accepts one only within seconds after the press.
func (s *Slack) openView(ctx context.Context, i interaction, view api.ModalViewRequest) {
	ctx, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	_, err := s.api.OpenViewContext(ctx, i.TriggerID, view)
	if err := s.called(err); err != nil {
		s.Log.Warn("a modal could not be opened", "modal", view.CallbackID, "err", err)
		s.tellClicker(i, s.desk.PressUnopened)
	}
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
	case threads || !strings.HasPrefix(c.ChannelID, "D"):
		where := s.afterMention(c.ChannelID) + " in the thread that you mean."
		return ephemeral("Here each thread is a conversation of its own: write !" + word + where), chat.Stored
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
func (s *Slack) afterMention(channel string) string {
	if s.Config.FollowUp == followMention && !strings.HasPrefix(channel, "D") {
		return " after a mention of me"
	}
	return ""
}

func ephemeral(text string) map[string]string {
	return map[string]string{"response_type": "ephemeral", "text": text}
}
