package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

// How long, and how often, it is looked whether a part that was sent again stands twice.
const (
	twinWatch    = 10 * time.Minute
	minTwinPause = 2 * time.Second
	maxTwinPause = time.Minute
)

// twins returns the post that has a part looked for that is sent again, none where it can't stand twice.
func twins(p core.Platform, row core.OutboxRow, delivery core.Delivery, why Event) []core.Post {
	if _, ok := p.(core.Twins); !ok || why == AgainSafe {
		return nil
	}
	return []core.Post{{
		Key: fmt.Sprintf("twin/%d/%d/%d", row.Seq, delivery.Part, row.Fence), Kind: core.PostTwin,
		To: row.To, Conversation: row.Conversation, Event: row.Event,
		Twin: core.Twin{Key: row.Key, Part: delivery.Part, SentAt: delivery.SentAt},
	}}
}

// twin looks whether a part that was sent again stands twice. Of two messages, one that nobody has answered or pressed
// is deleted. It ends without an error once that is settled, or after twinWatch.
func (d *Deliverer) twin(ctx context.Context, p core.Platform, row *core.OutboxRow) error {
	later := &core.Error{Category: core.DeliveryNotYet, Message: "It is looked whether a post stands twice.",
		RetryAfter: min(max(row.Age/4, minTwinPause), maxTwinPause)}
	post, err := d.Store.LoadPost(ctx, row.Twin.Key)
	at, ok := p.(core.Twins)
	switch {
	case core.CategoryOf(err) == core.NotFound, !ok, row.Age > twinWatch:
		return nil
	case err != nil:
		return storeError(err)
	case len(post.Parts) <= row.Twin.Part || post.Parts[row.Twin.Part].Ref == "":
		return later // it is not sent yet
	}
	copies, err := at.Copies(ctx, core.Delivery{Post: post.Post, Part: row.Twin.Part, SentAt: row.Twin.SentAt})
	if err != nil {
		return later
	}
	own := post.Parts[row.Twin.Part].Ref
	mine := slices.IndexFunc(copies, func(c core.Copy) bool { return c.Ref == own })
	if mine < 0 || len(copies) < 2 {
		return later
	}
	pressed := post.Pressed
	if post.Kind == core.PostCard {
		card, err := d.Cards.Card(ctx, post.Approval, false)
		if err != nil {
			return later
		}
		pressed = pressed || card.State != core.Open || len(card.Voters)+len(card.Against) > 0
	}
	other := copies[(mine+1)%len(copies)]
	switch {
	case pressed, other.Touched && copies[mine].Touched:
		d.lane(p.Name()).count(TwinKept)
		d.Log.Warn("a post stands twice, and both stay: people have answered or pressed it", "post", post.Seq,
			"platform", p.Name(), "event", post.Event)
		return nil
	case other.Touched: // it becomes the post's own
		moved, err := d.Store.MovePart(ctx, post.Key, row.Twin.Part, own, other.Ref)
		if err != nil {
			return storeError(err)
		}
		if !moved {
			return later
		}
		other.Ref = own
	}
	if err := at.Delete(ctx, other.Ref); err != nil {
		return err
	}
	d.lane(p.Name()).count(TwinDeleted)
	d.Log.Warn("a post stood twice, and one of the two is deleted", "post", post.Seq, "platform", p.Name(),
		"event", post.Event)
	if len(copies) > 2 {
		return later
	}
	return nil
}
