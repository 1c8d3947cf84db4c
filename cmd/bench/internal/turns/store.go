package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"gatehouse/core"
	"gatehouse/storage"
)

// Message is the nth message that a session of the bench sends to a conversation, in which only its own person speaks.
func Message(platform, session string, n int64, c core.ConversationID, payload []byte) core.Event {
	return core.Event{
		Platform: platform, ID: session + "/" + strconv.FormatInt(n, 10), Conversation: c, Body: core.MessageEvent{},
		Payload: payload,
		Actor:   core.Actor{ID: platform + ":" + string(c)},
		Address: core.Address{Platform: platform, Channel: string(c)},
	}
}

// Finish ends a turn in the store as the echo agent's turns end: with its two messages, and a reply that is handed
// over. It returns the reply's row.
func Finish(ctx context.Context, s *storage.Store, c core.Claim, said, reply string) (core.OutboxRow, error) {
	w := core.Writer{Invocation: c.Event.Invocation}
	rec, err := s.LoadSession(ctx, c.Session, w)
	if err != nil {
		return core.OutboxRow{}, err
	}
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, Messages: &core.History{}}
	}
	h := rec.Messages.Append(core.Message{Role: core.User, Content: core.Text(said)},
		core.Message{Role: core.Assistant, Content: core.Text(reply)})
	rec.Messages, rec.Writer = &h, w
	handed := &core.Handover{Platform: c.Event.Platform, Limit: 1}
	err = s.Finish(ctx,
		core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}, Handover: handed, Changes: core.Changes{
			Session: rec,
			Posts: []core.Post{{
				Key: "reply/" + strconv.FormatInt(c.Event.Seq, 10), To: c.Event.Address,
				Conversation: c.Event.Conversation,
				Kind:         core.PostReply, Text: reply, Event: c.Event.Seq,
			}},
		}})
	if err == nil && len(handed.Rows) != 1 {
		err = fmt.Errorf("the reply in %s is not handed over", c.Event.Conversation)
	}
	if err != nil {
		return core.OutboxRow{}, err
	}
	return handed.Rows[0], nil
}

// Deliver stores that a reply has arrived.
func Deliver(ctx context.Context, s *storage.Store, row core.OutboxRow) error {
	row.Parts, row.State, row.Shown = []core.Part{{Ref: core.Ref("ref/" + row.Key)}}, core.RowSent, row.Wanted
	_, err := s.ReleasePost(ctx, row, 0)
	return err
}

// Accept accepts the nth message of a conversation, and claims its turn.
func Accept(
	ctx context.Context, s *storage.Store, owner string, n int64, c core.ConversationID, said string,
) (core.Claim, error) {
	payload, err := json.Marshal(said)
	if err != nil {
		return core.Claim{}, err
	}
	_, claim, err := s.AcceptClaim(ctx, Message("room", string(c), n, c, payload), owner)
	if err == nil && claim == nil {
		err = fmt.Errorf("the message in %s is not claimed", c)
	}
	if err != nil {
		return core.Claim{}, err
	}
	return *claim, nil
}
