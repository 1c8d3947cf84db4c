package slack

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// interaction is what is read of a press of a button or a submitted modal.
type interaction struct {
	Type      string `json:"type"`
	TriggerID string `json:"trigger_id"`
	Team      struct {
		ID string `json:"id"`
	} `json:"team"`
	User struct {
		ID     string `json:"id"`
		TeamID string `json:"team_id"`
	} `json:"user"`
	Container struct {
		ChannelID string `json:"channel_id"`
		MessageTS string `json:"message_ts"`
		ThreadTS  string `json:"thread_ts"`
	} `json:"container"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Message struct {
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts"`
	} `json:"message"`
	Actions []struct {
		ActionID string `json:"action_id"`
		Value    string `json:"value"`
		ActionTS string `json:"action_ts"`
	} `json:"actions"`
	View struct {
		ID              string `json:"id"`
		CallbackID      string `json:"callback_id"`
		PrivateMetadata string `json:"private_metadata"`
		State           struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// at is where the button stood.
func (i interaction) at() core.Address {
	to := core.Address{Platform: Name, Channel: i.Container.ChannelID, Thread: i.Message.ThreadTS}
	if to.Channel == "" {
		to.Channel = i.Channel.ID
	}
	if to.Thread == "" {
		to.Thread = i.Container.ThreadTS
	}
	return to
}

// takeInteraction takes a press up to its commit. What only shows something (a modal) is done at once and stores nothing.
func (s *Slack) takeInteraction(ctx context.Context, body []byte, accept core.Accept) (answer, verdict) {
	var i interaction
	if err := json.Unmarshal(body, &i); err != nil {
		s.Log.Warn("a press of a button can't be read and is refused", "bytes", len(body), "err", shape(err))
		return nil, broken
	}
	switch {
	case i.User.ID == "":
		return nil, stored
	case i.Type == "block_actions":
		return nil, s.pressed(ctx, i, body, accept)
	case i.Type == "view_submission" && i.View.CallbackID == callbackReason:
		return nil, s.submitted(ctx, i, body, accept)
	}
	return nil, stored
}

// pressed takes the press of one of our buttons. A value that we did not seal counts for nothing, and the person is told.
func (s *Slack) pressed(ctx context.Context, i interaction, body []byte, accept core.Accept) verdict {
	for _, a := range i.Actions {
		if a.Value == "" {
			continue
		}
		fields, ok := s.Signer.Open(a.Value)
		if !ok || len(fields) < 2 {
			s.Log.Warn("a button that is not ours was pressed", "action", clip(a.ActionID), "person", i.User.ID)
			s.whisper(i, "This button is not valid any more, so nothing was done. Ask again, or tell an admin.")
			continue
		}
		at := a.ActionTS
		if at == "" {
			at = i.TriggerID
		}
		if v := s.press(ctx, i, fields, at, body, accept); v != stored {
			return v
		}
	}
	return stored
}

func (s *Slack) press(ctx context.Context, i interaction, fields []string, at string, body []byte, accept core.Accept) verdict {
	failed, _ := strconv.ParseInt(fields[1], 10, 64) // of the buttons below a failed event's reply; they are sealed
	switch {
	case fields[0] == actionAgain && len(fields) == 5:
		return s.commit(ctx, buttonEvent(i, fields, core.RetryEvent{Failed: failed}), accept)
	case fields[0] == actionNew && len(fields) == 5:
		return s.commit(ctx, buttonEvent(i, fields, core.ResetEvent{Failed: failed}), accept)
	case (fields[1] == string(core.Approve) || fields[1] == string(core.Deny)) && at == "":
		s.Log.Warn("a press without a time can't be told from another one and is refused")
		return broken
	case fields[1] == string(core.Approve) || fields[1] == string(core.Deny):
		return s.commit(ctx, s.vote(i, fields[0], at, body), accept)
	case fields[1] == choiceReason:
		return s.askReason(ctx, i, core.ApprovalID(fields[0]))
	case fields[1] == choiceArguments:
		return s.showArguments(ctx, i, core.ApprovalID(fields[0]))
	}
	s.Log.Warn("a button of an unknown kind was pressed", "kind", clip(fields[1]))
	return stored
}

// buttonEvent is the event of the button below a failed event's reply. Its fields are the button's name, the failed event, and its
// conversation and place.
func buttonEvent(i interaction, fields []string, body core.EventBody) core.Event {
	return core.Event{
		Platform: Name, ID: "press/" + fields[0] + "/" + fields[1], Conversation: core.ConversationID(fields[2]), Body: body, Actor: actor(i.User.ID),
		Address: core.Address{Platform: Name, Channel: fields[3], Thread: fields[4], Message: i.Message.TS},
	}
}

// vote is the event of a decision. press tells one press from the next.
func (s *Slack) vote(i interaction, approval, press string, body []byte) core.Event {
	to := i.at()
	return core.Event{
		Platform: Name, ID: "vote/" + approval + "/" + i.User.ID + "/" + press, Conversation: conversation(s.teamOf(i), to.Channel, to.Thread), Body: core.ClickEvent{Approval: core.ApprovalID(approval)},
		Actor: actor(i.User.ID), Address: to, Payload: body,
	}
}

func (s *Slack) teamOf(i interaction) string {
	if team := s.whoami().Team; team != "" {
		return team
	}
	return i.Team.ID
}

// submitted takes the modal that asked for a reason.
func (s *Slack) submitted(ctx context.Context, i interaction, body []byte, accept core.Accept) verdict {
	fields, ok := s.Signer.Open(i.View.PrivateMetadata)
	if !ok || len(fields) != 4 || fields[1] != choiceReason || i.View.ID == "" {
		s.Log.Warn("a form that is not ours was submitted", "person", i.User.ID)
		return stored
	}
	i.Container.ChannelID, i.Message.ThreadTS = fields[2], fields[3]
	return s.commit(ctx, s.vote(i, fields[0], i.View.ID, body), accept)
}

// askReason opens the modal for a reason: it must be the first answer to the press, within seconds; its submission is the event.
func (s *Slack) askReason(ctx context.Context, i interaction, id core.ApprovalID) verdict {
	card, err := s.Cards.Card(ctx, id, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		s.whisper(i, "This approval is not known any more.")
		return stored
	case err != nil:
		s.Log.Warn("an approval could not be looked up for a press; Slack is not told that it was heard", "category", core.CategoryOf(err), "err", err)
		return unstored
	case card.State != core.Open:
		s.whisper(i, standsAs(card))
		return stored
	}
	at := i.at()
	view := s.paint.reasonModal(s.Signer.Seal(string(id), choiceReason, at.Channel, at.Thread), card)
	if err := s.open(ctx, i, view); err != nil {
		s.Log.Warn("the form for a reason could not be opened", "err", err)
		s.whisper(i, "The form could not be opened, so nothing was decided. Press again, or use Deny.")
	}
	return stored
}

// triggerTime is how long Slack waits for a modal after the press.
const triggerTime = 2500 * time.Millisecond

func (s *Slack) open(ctx context.Context, i interaction, view api.ModalViewRequest) error {
	ctx, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	_, err := s.api.OpenViewContext(ctx, i.TriggerID, view)
	return s.heard(err)
}

// standsAs says in words where a decided approval stands.
func standsAs(c core.Card) string {
	a := core.Approval{State: c.State, DecidedBy: core.Actor{Name: plainName(c.DecidedBy)}, DecidedAt: c.DecidedAt}
	return a.StateSentence()
}

func plainName(who string) string { return strings.TrimPrefix(who, Name+":") }

// showArguments opens a modal with all of a call's arguments.
func (s *Slack) showArguments(ctx context.Context, i interaction, id core.ApprovalID) verdict {
	card, err := s.Cards.Card(ctx, id, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		s.whisper(i, "This approval is not known any more.")
		return stored
	case err != nil:
		s.Log.Warn("an approval could not be looked up for a press; Slack is not told that it was heard", "category", core.CategoryOf(err), "err", err)
		return unstored
	}
	if err := s.open(ctx, i, s.paint.argumentsModal(card)); err != nil {
		s.Log.Warn("the arguments could not be shown", "err", err)
		s.whisper(i, "The arguments could not be shown; press again.")
	}
	return stored
}

// command is a slash command.
type command struct {
	Command     string `json:"command"`
	Text        string `json:"text"`
	TeamID      string `json:"team_id"`
	ChannelID   string `json:"channel_id"`
	ChannelName string `json:"channel_name"`
	UserID      string `json:"user_id"`
	TriggerID   string `json:"trigger_id"`
}

// takeCommand takes /gatehouse new, status, stop, cancel or help. In a channel there is no telling which thread is meant: Slack has
// no commands in threads.
func (s *Slack) takeCommand(ctx context.Context, body []byte, accept core.Accept) (answer, verdict) {
	var c command
	if err := json.Unmarshal(body, &c); err != nil {
		s.Log.Warn("a command can't be read and is refused", "bytes", len(body), "err", shape(err))
		return nil, broken
	}
	team := s.whoami().Team
	if team == "" {
		team = c.TeamID
	}
	if c.TeamID != team || team == "" {
		s.Log.Warn("a command of another workspace is refused", "team", clip(c.TeamID))
		return nil, foreign
	}
	if c.TriggerID == "" || c.ChannelID == "" || c.UserID == "" {
		s.Log.Warn("a command can't be read and is refused", "bytes", len(body), "err", "a field is missing")
		return nil, broken
	}
	word := strings.ToLower(strings.TrimSpace(c.Text))
	if word == "" || word == "help" {
		return private(commandHelp), stored
	}
	control := core.ParseControl(word)
	switch {
	case control == nil:
		return private("I do not know " + quoted(c.Text) + ". " + commandHelp), stored
	case !strings.HasPrefix(c.ChannelID, "D") || s.can(scopeAssistant) && s.whoami().Scopes != nil:
		return private("Here each thread is a conversation of its own: write !" + word + " in the thread that you mean."), stored
	}
	ev := core.Event{
		Platform: Name, ID: "command/" + c.TriggerID, Conversation: conversation(team, c.ChannelID, ""), Body: control, Actor: actor(c.UserID),
		Address: core.Address{Platform: Name, Channel: c.ChannelID}, Payload: body,
	}
	return nil, s.commit(ctx, ev, accept)
}

// commandHelp is what the command tells of itself.
const commandHelp = "Send me a direct message, or mention me in a channel; I answer in the thread. There, !new starts afresh, !stop ends what I am doing, " +
	"!status shows what waits, !cancel withdraws what waits for approval. In a direct message /gatehouse new, stop, status and cancel do the same."

func private(text string) answer {
	return answer{"response_type": "ephemeral", "text": text}
}

// quoted repeats a person's word without anything that Slack would parse.
func quoted(text string) string {
	return "“" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.ToValidUTF8(clip(text), "")) + "”"
}
