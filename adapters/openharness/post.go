package openharness

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"gatehouse/core"
)

// storedPost is what the mailbox keeps of a post: data, which is drawn for its reader when it is read.
type storedPost struct {
	Kind     core.PostKind   `json:"kind"`
	Text     string          `json:"text,omitempty"`
	Bucket   core.Bucket     `json:"bucket,omitempty"`
	Approval core.ApprovalID `json:"approval,omitempty"`
	Occasion core.Occasion   `json:"occasion,omitempty"`
	State    string          `json:"state,omitempty"` // a digest of the card: a card that changed is stored anew
	Late     bool            `json:"late,omitempty"`
	Pressed  bool            `json:"pressed,omitempty"`
	LeftOut  int             `json:"left_out,omitempty"`
	Request  string          `json:"request,omitempty"` // of what the person said: its request_id
}

// kindSaid is the kind of a stored post that repeats the person's own message, for other windows and a reload; see
// Parse.
const kindSaid core.PostKind = "said"

// Post stores the post in the mailbox of its conversation: for a client that fetches, that is the delivery. The working
// state is not stored: streams tell it as the event turn.
func (e *Engine) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking {
		e.watchers.wake(d.Conversation)
		return "", false, nil
	}
	p := storedPost{
		Kind: d.Kind, Text: d.Text, Bucket: d.Bucket, Approval: d.Approval, Occasion: d.Occasion, Late: d.Late,
		Pressed: d.Pressed, LeftOut: d.LeftOut,
	}
	if d.Kind == core.PostCard {
		if d.Card == nil {
			return "", false, core.Errorf(core.Internal, "The approval's card came without its data.")
		}
		var err error
		p.Text = ""
		if p.State, err = cardState(*d.Card); err != nil {
			return "", false, core.Wrap(core.Internal, err, "The approval's card can't be stored.")
		}
	}
	if d.Kind == core.PostError && d.Event != 0 {
		if err := e.repeatFirst(ctx, d.Event); err != nil {
			return "", false, core.Wrap(core.DeliveryLater, err, "The message that failed can't be repeated now.")
		}
	}
	if err := e.put(ctx, core.Mail{Mailbox: d.Conversation, Key: d.Key, Event: d.Event}, p); err != nil {
		return "", false, core.Wrap(core.DeliveryLater, err, "The mailbox can't be written now.")
	}
	return core.Ref(d.Key), false, nil
}

// Edit stores the post again; clients that hear of events get it again under the same id.
func (e *Engine) Edit(ctx context.Context, _ core.Ref, d core.Delivery) error {
	_, _, err := e.Post(ctx, d)
	return err
}

// Find finds nothing: storing a post again under its key changes nothing, so a post in doubt is stored again.
func (e *Engine) Find(context.Context, core.Delivery) (core.Found, error) { return core.Found{}, nil }

// put stores a post as mail.
func (e *Engine) put(ctx context.Context, m core.Mail, p storedPost) error {
	m.Content, _ = json.Marshal(p) // of texts and numbers: can't fail
	_, err := e.Store.PutMail(ctx, m)
	if err == nil {
		e.watchers.wake(m.Mailbox)
	}
	return err
}

// cardState is the same for two cards if they look the same.
func cardState(c core.Card) (string, error) {
	raw, err := json.Marshal(c)
	return fmt.Sprintf("%x", sha256.Sum256(raw))[:16], err
}
