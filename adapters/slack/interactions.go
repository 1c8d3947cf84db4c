package slack

import (
	"context"
	"encoding/json"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// interaction is what is read of a click on a button or a submitted modal. It is not slack-go's InteractionCallback: that one refuses a
// click over any block of the message that it does not know.
type interaction struct {
	Type      api.InteractionType `json:"type"`
	TriggerID string              `json:"trigger_id"`
	Team      struct {
		ID string `json:"id"`
	} `json:"team"`
	User struct {
		ID string `json:"id"`
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

// address is the conversation that the button is in.
func (i interaction) address() core.Address {
	to := core.Address{Platform: Name, Channel: i.Container.ChannelID, Thread: i.Message.ThreadTS}
	if to.Channel == "" {
		to.Channel = i.Channel.ID
	}
	if to.Thread == "" {
		to.Thread = i.Container.ThreadTS
	}
	return to
}

// receiveInteraction handles an interaction up to the commit of its event. What only opens a modal is done at once and stores nothing.
func (s *Slack) receiveInteraction(ctx context.Context, body []byte, accept core.Accept) (response, chat.Result) {
	var i interaction
	if err := json.Unmarshal(body, &i); err != nil {
		return nil, s.unreadable("interaction", body, err)
	}
	switch {
	case i.User.ID == "":
	case i.Type == api.InteractionTypeBlockActions:
		return nil, s.clicked(ctx, i, body, accept)
	case i.Type == api.InteractionTypeViewSubmission && i.View.CallbackID == callbackReason:
		return nil, s.submitted(ctx, i, body, accept)
	}
	return nil, chat.Stored
}

// clicked handles a click on one of our buttons. A value that we did not seal counts for nothing, and the person is told.
func (s *Slack) clicked(ctx context.Context, i interaction, body []byte, accept core.Accept) chat.Result {
	for _, a := range i.Actions {
		if a.Value == "" {
			continue
		}
		b, ok := chat.OpenButton(s.Signer, a.Value)
		if !ok {
			s.Log.Warn("a click on a button that gatehouse did not make is ignored", "action", chat.Clip(a.ActionID), "person", i.User.ID)
			s.tellClicker(i, "This button is not valid any more, so nothing was done. Ask again, or tell an admin.")
			continue
		}
		click := a.ActionTS // tells one click from the next
		if click == "" {
			click = i.TriggerID
		}
		if result := s.click(ctx, i, b, click, body, accept); result != chat.Stored {
			return result
		}
	}
	return chat.Stored
}

func (s *Slack) click(ctx context.Context, i interaction, b chat.Button, click string, body []byte, accept core.Accept) chat.Result {
	switch b.Action {
	case chat.ActionRetry, chat.ActionNew:
		if len(b.More) == 2 {
			to := core.Address{Platform: Name, Channel: b.More[0], Thread: b.More[1], Message: i.Message.TS}
			return s.commit(ctx, b.Event(Name, actor(i.User.ID), to), accept)
		}
	case chat.ActionApprove, chat.ActionDeny:
		if click == "" {
			s.Log.Warn("a click without a time can't be told from another one and is refused")
			return chat.Malformed
		}
		return s.commit(ctx, s.decision(i, b.Approval, click, body), accept)
	case chat.ActionReason, chat.ActionArguments:
		return s.openModal(ctx, i, b)
	}
	s.Log.Warn("a click on a button of an unknown kind is ignored", "kind", chat.Clip(string(b.Action)))
	return chat.Stored
}

// submitted handles the modal that asked for a reason.
func (s *Slack) submitted(ctx context.Context, i interaction, body []byte, accept core.Accept) chat.Result {
	b, ok := chat.OpenButton(s.Signer, i.View.PrivateMetadata)
	if !ok || b.Action != chat.ActionReason || len(b.More) != 2 || i.View.ID == "" {
		s.Log.Warn("a modal that gatehouse did not make was submitted and is ignored", "person", i.User.ID)
		return chat.Stored
	}
	i.Container.ChannelID, i.Message.ThreadTS = b.More[0], b.More[1]
	return s.commit(ctx, s.decision(i, b.Approval, i.View.ID, body), accept)
}

// decision is the event of a decision on a card.
func (s *Slack) decision(i interaction, id core.ApprovalID, click string, body []byte) core.Event {
	team, _ := s.identity.get()
	if team == "" {
		team = i.Team.ID
	}
	to := i.address()
	return chat.DecisionEvent(Name, id, i.User.ID, click, conversationID(team, to.Channel, to.Thread), to, body)
}

// openModal opens the modal that a button is for: the form for a reason, whose submission is the event, or all arguments. It must be
// the first answer to the click, within seconds.
func (s *Slack) openModal(ctx context.Context, i interaction, b chat.Button) chat.Result {
	card, err := s.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		s.tellClicker(i, "This approval is not known any more.")
		return chat.Stored
	case err != nil:
		s.Log.Warn("an approval could not be looked up for a click; Slack is to send it again", "category", core.CategoryOf(err), "err", err)
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

// triggerTime is how long Slack takes a modal after the click: three seconds.
const triggerTime = 2500 * time.Millisecond

// ephemeralTime is how long a message to a clicker may take: nobody waits for it.
const ephemeralTime = 5 * time.Second

// tellClicker tells the person who clicked, and nobody else, what is wrong. It is tried once, beside the acknowledgement that Slack
// waits for.
func (s *Slack) tellClicker(i interaction, text string) {
	at := i.address()
	if at.Channel == "" {
		return
	}
	s.inBackground(func() {
		ctx, cancel := context.WithTimeout(context.Background(), ephemeralTime)
		defer cancel()
		_, err := s.api.PostEphemeralContext(ctx, at.Channel, i.User.ID, append(inThread(at.Thread), api.MsgOptionText(text, true))...)
		if err := s.called(err); err != nil {
			s.Log.Info("the person who clicked could not be told what is wrong", "err", err)
		}
	})
}
