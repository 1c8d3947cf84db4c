package outbox

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gatehouse/core"
)

// addCopies adds copies of a card, before it is sent, for approvers who can't see it. If some were left out, the card
// says so, and asks.
func (d *Deliverer) addCopies(
	ctx context.Context, dir core.Directory, row *core.OutboxRow, delivery *core.Delivery,
) error {
	copies, err := dir.CardCopies(ctx, *delivery, false)
	if err != nil {
		return unknownCopies(err)
	}
	if copies.LeftOut > 0 {
		d.warnLeftOut(*row, copies)
		row.Quiet, row.LeftOut = false, copies.LeftOut
		delivery.Quiet, delivery.LeftOut = false, row.LeftOut+strings.Count(row.Untold, "\n")
	}
	if len(copies.Posts) == 0 && copies.LeftOut == 0 {
		return nil
	}
	return storeError(d.Store.AddCopies(ctx, *row, copies))
}

func (d *Deliverer) warnLeftOut(row core.OutboxRow, c core.Copies) {
	if c.LeftOut > row.LeftOut {
		d.Log.Warn("approvers get no direct message about a request, because they are too many or can't be written "+
			"to; its card in the conversation names those who may decide",
			"approval", row.Approval, "post", row.Seq, "left_out", c.LeftOut)
	}
}

func unknownCopies(err error) error {
	return core.Wrap(core.DeliveryLater, err, "Can't find out which approvers need a copy of the card.")
}

// fallback returns whom to tell, and how, of a card or a copy that was refused, or may not have arrived: nobody once
// the approval is decided. With an error, the result holds what is known now.
func (d *Deliverer) fallback(ctx context.Context, p core.Platform, row core.OutboxRow) (core.Fallback, error) {
	card, err := d.Cards.Card(ctx, row.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		return core.Fallback{}, nil
	case err != nil || card.State != core.Open:
		return core.Fallback{}, storeError(err)
	case card.From.Platform == core.CallbackPlatform: // another agent's: there is no card in a conversation
		if row.Occasion != "" {
			return core.Fallback{}, nil
		}
		copies, err := d.toApprovers(ctx, row, core.Approval{ID: row.Approval}.CardKey(), card)
		return core.Fallback{Copies: copies}, err
	case row.Copy && row.Instead == "":
		// the card in the conversation notifies the approvers, and says who was not told
		if row.Person == "" {
			return core.Fallback{}, nil
		}
		return core.Fallback{Asks: strings.TrimSuffix(row.Key, "/"+row.Person), Untold: row.Key}, nil
	case row.Copy:
		return d.insteadOf(ctx, row, card)
	}
	dir, ok := p.(core.Directory)
	switch {
	case ok && row.State != core.RowUnknown:
		copies, err := dir.CardCopies(ctx, core.Delivery{Post: row.Post, Card: &card}, true)
		if err != nil {
			return core.Fallback{}, unknownCopies(err)
		}
		d.warnLeftOut(row, copies)
		return core.Fallback{Copies: copies}, nil
	case row.GaveUp():
		return core.Fallback{Copies: core.Copies{Posts: []core.Post{undelivered(row, card)}}}, nil
	}
	return core.Fallback{}, nil // a platform without a directory still tries
}

// forRequester returns, for who asked, as direct messages, what a resumed turn says that can't be posted where they
// asked: the channel was archived or closed meanwhile. What may have arrived there is not repeated.
func (d *Deliverer) forRequester(
	ctx context.Context, p core.Platform, row core.OutboxRow,
) (f core.Fallback, err error) {
	if row.Copy || row.State == core.RowUnknown || len(row.Delivered()) > 0 {
		return f, nil
	}
	card, err := d.Cards.Card(ctx, row.Approval, false)
	if core.CategoryOf(err) == core.NotFound || err == nil && !strings.HasPrefix(card.Requested.ID, p.Name()+":") {
		return f, nil
	}
	if err != nil {
		return f, storeError(err)
	}
	post := row.Post
	post.Key, post.To = row.Key+"/requester", core.Address{Platform: p.Name()}
	post.Copy, post.Person = true, card.Requested.ID
	about := post
	about.Key, about.Kind = "closed/"+string(row.Approval), core.PostNotice
	about.Text = "What became of this could not be posted where you asked for it, so it follows here: " + card.Summary
	f.Posts = []core.Post{about, post}
	return f, nil
}

// instead returns how people are told of a row that did not arrive; tell is false if they are not. why is the error of
// the delivery; refused: for the first time, until people fix the cause.
func (d *Deliverer) instead(
	ctx context.Context, p core.Platform, row core.OutboxRow, why error, refused bool,
) (f core.Fallback, tell bool, err error) {
	words := row.State == core.RowDead && core.CategoryOf(why) == core.ContentRefused
	switch {
	case words && (row.Kind != core.PostCard || isWhole(row)):
		return d.inPlace(row, why), true, nil
	case row.Approval == "" || row.Kind == core.PostCallback || !refused && !row.GaveUp():
		return f, false, nil
	case row.Kind == core.PostCard:
		f, err = d.fallback(ctx, p, row)
	default:
		f, err = d.forRequester(ctx, p, row)
	}
	return f, true, err
}

// inPlace returns the sentence that stands in place of an answer that its platform refused for what it says: one for
// all posts of an event. None stands in place of what only shows progress, and of a change: what is there stays.
func (d *Deliverer) inPlace(row core.OutboxRow, why error) (f core.Fallback) {
	answers := []core.PostKind{core.PostReply, core.PostError, core.PostNotice}
	if !slices.Contains(answers, row.Kind) || row.Event == 0 || isWhole(row) {
		return f
	}
	refused := core.Errorf(core.ContentRefused, "%s", core.MessageOf(why))
	if core.ReasonOf(why) != "" {
		refused.Message = d.Sentences.Of(why)
	}
	if len(row.Parts) > 0 {
		refused.Reason = core.RestRefused
	}
	f.Posts = []core.Post{{
		Key: row.KeyInPlace(), To: row.To, Conversation: row.Conversation,
		Kind: core.PostNotice, Text: d.Sentences.Of(refused), Event: row.Event, Copy: row.Copy, Person: row.Person,
	}}
	return f
}

// isWhole reports whether all parts of a row are there, though perhaps an older version of it.
func isWhole(row core.OutboxRow) bool {
	arrived := row.Delivered()
	n := len(arrived)
	return n > 0 && n == len(row.Parts) && !arrived[n-1].More
}

// undelivered is a notice in the conversation of an open card that may never have arrived there: who asked would wait
// without a word.
func undelivered(row core.OutboxRow, card core.Card) core.Post {
	text := "Your request waits for an approval, but its card could not be posted here."
	if row.State == core.RowUnknown {
		text = "Your request waits for an approval, but its card may not have arrived here."
	}
	return core.Post{
		Key: row.Key + "/undelivered", To: row.To, Conversation: row.Conversation, Kind: core.PostNotice,
		Event: row.Event,
		Text: text + " Please tell an admin: they can decide it with gatehouse approvals approve " +
			string(row.Approval) + " (or deny). It is about: " + card.Summary,
	}
}

// insteadOf returns what replaces a copy that was to notify the approvers in place of a quiet card: that card asks now.
// If the copy was for a channel, the approvers get direct messages, those of the conversation's platform first, each
// person one. If nobody at all could be told, who asked learns it.
func (d *Deliverer) insteadOf(ctx context.Context, row core.OutboxRow, card core.Card) (core.Fallback, error) {
	f := core.Fallback{Asks: row.Instead, Notice: &core.Post{
		Key: row.Instead + "/untold", To: card.From, Conversation: row.Conversation, Kind: core.PostNotice,
		Event: row.Event,
		Text: "Your request waits for an approval, but the approvers could not be notified where the policy says, " +
			"nor by direct messages. Please tell one of them, or an admin. It is about: " + card.Summary,
	}}
	if row.Person != "" {
		f.Untold = row.Key
		return f, nil
	}
	copies, err := d.toApprovers(ctx, row, row.Instead, card)
	if f.Copies = copies; err != nil {
		f.Notice = nil // it is not known yet
	}
	return f, err
}

// toApprovers returns copies of a card, as direct messages, for all approvers: those of the conversation's platform
// first, each person one. The keys are made from key; row is a copy of the card that failed. Error: some are not
// known now; the result holds the others.
func (d *Deliverer) toApprovers(
	ctx context.Context,
	row core.OutboxRow,
	key string,
	card core.Card,
) (all core.Copies, err error) {
	post := row.Post
	post.Key = key
	person := core.Rule{People: card.People}.Person
	told := map[string]bool{}
	var fails []error
	for _, here := range []bool{true, false} {
		for _, p := range d.Platforms {
			dir, ok := p.(core.Directory)
			if !ok || (p.Name() == card.From.Platform) != here {
				continue
			}
			copies, err := dir.CardCopies(ctx, core.Delivery{Post: post, Card: &card}, true)
			if err != nil {
				fails = append(fails, unknownCopies(err))
			}
			all.LeftOut += copies.LeftOut
			for _, post := range copies.Posts {
				if who := person(post.Person); !told[who] {
					told[who] = true
					all.Posts = append(all.Posts, post)
				}
			}
		}
	}
	d.warnLeftOut(row, all)
	return all, errors.Join(fails...)
}

// forEach stores, in place of a copy that stands for each approver of its platform, a copy for each of them. Nothing
// is sent for the row itself.
func (d *Deliverer) forEach(ctx context.Context, p core.Platform, row *core.OutboxRow, delivery core.Delivery) error {
	dir, ok := p.(core.Directory)
	row.Parts = nil // the claim may have noted that one is in doubt
	if delivery.Card.State != core.Open || row.Shown > 0 {
		return nil
	}
	var copies core.Copies
	if ok {
		var err error
		delivery.Key = strings.TrimSuffix(row.Key, "/"+core.EachApprover)
		delivery.Reminds = strings.TrimSuffix(row.Reminds, "/"+core.EachApprover)
		if copies, err = dir.CardCopies(ctx, delivery, true); err != nil {
			return unknownCopies(err)
		}
		d.warnLeftOut(*row, copies)
	}
	if len(copies.Posts) == 0 {
		return core.Errorf(core.DeliveryFailed, "None of the approvers on %s can be sent a direct message.", p.Name())
	}
	return storeError(d.Store.AddCopies(ctx, *row, copies))
}
