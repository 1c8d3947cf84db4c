package outbox

import (
	"context"

	"gatehouse/core"
)

// addCopies adds copies of a card for approvers who can't see it. If the card was refused permanently, all approvers get a copy.
func (d *Deliverer) addCopies(ctx context.Context, dir core.Directory, row *core.OutboxRow, delivery core.Delivery, refused bool) error {
	posts, err := dir.CardCopies(ctx, delivery, refused)
	if err != nil {
		return core.Wrap(core.DeliveryLater, err, "Can't find out which approvers need a copy of the card.")
	}
	if len(posts) == 0 {
		return nil
	}
	return storeError(d.Store.AddCopies(ctx, *row, posts))
}

// refused adds copies of a card that the platform refused, for all approvers.
func (d *Deliverer) refused(ctx context.Context, p core.Platform, row *core.OutboxRow) error {
	dir, ok := p.(core.Directory)
	if !ok {
		return nil
	}
	card, err := d.Card(ctx, row.Approval, false)
	if err != nil || card.State != core.Open {
		return err
	}
	return d.addCopies(ctx, dir, row, core.Delivery{Post: row.Post, Card: &card}, true)
}

// tellRequester adds a notice to the conversation of an open card that may never have arrived there: who asked would wait without a word. A
// platform with a directory has sent copies and a direct message already if it refused the card.
func (d *Deliverer) tellRequester(ctx context.Context, p core.Platform, row core.OutboxRow) error {
	if _, ok := p.(core.Directory); ok && row.State == core.RowDead {
		return nil
	}
	card, err := d.Card(ctx, row.Approval, false)
	if core.CategoryOf(err) == core.NotFound {
		return nil
	}
	if err != nil || card.State != core.Open {
		return storeError(err)
	}
	text := "Your request waits for an approval, but its card could not be posted here."
	if row.State == core.RowUnknown {
		text = "Your request waits for an approval, but its card may not have arrived here."
	}
	return storeError(d.Store.AddCopies(ctx, row, []core.Post{{
		Key: row.Key + "/undelivered", To: row.To, Conversation: row.Conversation, Kind: core.PostNotice, Event: row.Event,
		Text: text + " Please tell an admin: they can decide it with gatehouse approvals approve " + string(row.Approval) + " (or deny). It is about: " + card.Summary,
	}}))
}
