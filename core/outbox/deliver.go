package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// deliver sends one claimed row and releases it with the result. process ends when the process is to end. more reports
// whether the row's destination may have a post to deliver now.
func (d *Deliverer) deliver(ctx, process context.Context, row core.OutboxRow) (more bool) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	p := d.platforms[row.To.Platform] // only rows of these platforms are claimed
	err := d.safely(ctx, p, &row)
	inDoubt := len(row.Parts) > 0 && row.Parts[len(row.Parts)-1].InDoubt
	wait, refused := time.Duration(0), false // refused: for the first time, with this cause
	switch category := core.CategoryOf(err); {
	case err == nil:
		row.State, row.Shown, row.Attempts, row.Cause = core.RowSent, row.Wanted, 0, ""
	case category == core.ClaimLost:
		return true
	case category == core.DeliveryNotYet:
		wait = d.notYet(&row, err, inDoubt)
	case inDoubt && category != core.DeliveryLater:
		wait = d.doubt(&row, err)
	case category == core.DeliveryLater || category == core.DeliveryInDoubt || ctx.Err() != nil:
		wait = d.later(&row, err) // an edit in doubt is repeated
	case category == core.DeliveryForbidden:
		wait, refused = d.forbidden(&row, err)
	default:
		row.State, row.Cause = core.RowDead, err.Error()
		d.Log.Error("post refused; gatehouse deadletters can send it again", "post", row.Seq, "platform", p.Name(),
			"event", row.Event, "category", category, "err", err)
	}
	release := func(ctx context.Context) (err error) {
		more, err = d.Store.ReleasePost(ctx, row, wait)
		return err
	}
	if told, tell, fault := d.instead(ctx, p, row, err, refused); tell {
		if fault != nil {
			row.State = core.RowWaiting
			wait = d.later(&row, fault)
		}
		release = func(ctx context.Context) error {
			more = true // what people are told instead
			return d.Store.FailPost(ctx, row, wait, told)
		}
	}
	err = retry.Persist(process, release)
	if err != nil && core.CategoryOf(err) != core.ClaimLost {
		d.Log.Warn("storing the result of a delivery failed; the post will be in doubt",
			"category", core.CategoryOf(err), "err", err)
	}
	return more || err != nil
}

// safely turns a panic of an adapter into a permanent refusal, since the row would crash every process that delivers
// it.
func (d *Deliverer) safely(ctx context.Context, p core.Platform, row *core.OutboxRow) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			row.Parts = slices.DeleteFunc(row.Parts, func(part core.Part) bool { return part.InDoubt })
			err = core.Wrap(core.DeliveryFailed, fmt.Errorf("panic: %v", cause), "The post can't be rendered.")
		}
	}()
	return d.send(ctx, p, row)
}

// send posts the missing parts, or edits a single part that shows an older version.
func (d *Deliverer) send(ctx context.Context, p core.Platform, row *core.OutboxRow) error {
	if row.Kind == core.PostTwin {
		return d.twin(ctx, p, row)
	}
	delivery := core.Delivery{Post: row.Post, Late: d.late(row), First: row.First}
	delivery.LeftOut += strings.Count(row.Untold, "\n")
	if row.Kind == core.PostWorking {
		_, _, err := p.Post(ctx, delivery)
		if c := core.CategoryOf(err); !row.On &&
			(c == core.DeliveryLater || c == core.DeliveryInDoubt || c == core.DeliveryNotYet) {
			return err // retried: the indicator must not stay on
		}
		if err != nil {
			d.Log.Debug("showing the typing indicator failed", "platform", p.Name(), "err", err)
		}
		return nil
	}
	if row.Kind == core.PostCard {
		card, err := d.Cards.Card(ctx, row.Approval, row.Copy)
		if err != nil {
			return storeError(err)
		}
		delivery.Card = &card
		if row.ForEach() {
			return d.forEach(ctx, p, row, delivery)
		}
		if dir, ok := p.(core.Directory); ok && !row.Copy && row.Shown == 0 && len(row.Parts) == 0 &&
			card.State == core.Open {
			err := d.addCopies(ctx, dir, row, &delivery)
			if err != nil && (row.Attempts < copyTries || core.CategoryOf(err) == core.ClaimLost) {
				return err
			}
			if err != nil {
				d.Log.Error("can't find out which approvers don't see the conversation; the card is sent without "+
					"copies for them", "post", row.Seq, "platform", p.Name(), "err", err)
			}
		}
	}
	if err := d.parts(ctx, p, row, delivery); err != nil {
		return err
	}
	// a part that was found, not sent now, may show an older version
	changes := row.Wanted > 1 || row.Kind == core.PostCard
	if row.Shown < row.Wanted && changes && len(row.Parts) == 1 { // a post of several parts is never edited
		delivery.Again = row.Parts[0].Again
		err := p.Edit(ctx, row.Parts[0].Ref, delivery)
		d.answered(p, err)
		if core.CategoryOf(err) == core.NotFound {
			return d.deleted(ctx, p, row, delivery)
		}
		return err
	}
	return nil
}

// deleted posts an open card anew whose message was deleted: that decides nothing, and what waits must be there to be
// decided. Nothing else whose message was deleted needs a change any more.
func (d *Deliverer) deleted(ctx context.Context, p core.Platform, row *core.OutboxRow, delivery core.Delivery) error {
	d.Log.Info("a message was deleted on its platform", "post", row.Key, "platform", p.Name(), "approval", row.Approval)
	if delivery.Card == nil || delivery.Card.State != core.Open {
		return nil
	}
	row.Parts, delivery.Part, delivery.Again = nil, 0, delivery.Again+1
	return d.part(ctx, p, row, delivery)
}

// storeError makes an error of our own store retryable, since it is no answer of the platform. A lost claim and a
// missing card are returned unchanged.
func storeError(err error) error {
	switch core.CategoryOf(err) {
	case "", core.ClaimLost, core.NotFound:
		return err
	}
	return core.Wrap(core.DeliveryLater, err, "Can't read the database.")
}

// parts sends the parts in order, from the first that may be missing.
func (d *Deliverer) parts(ctx context.Context, p core.Platform, row *core.OutboxRow, delivery core.Delivery) error {
	for n := len(row.Parts); n > 0 && row.Parts[n-1].InDoubt; n = len(row.Parts) {
		delivery.Part, delivery.SentAt, delivery.Again = n-1, row.Parts[n-1].SentAt, row.Parts[n-1].Again
		if err := d.resolve(ctx, p, row, delivery); err != nil {
			return err
		}
	}
	for {
		n := len(row.Parts)
		if n > 0 && !row.Parts[n-1].More {
			return nil
		}
		delivery.Part = n
		if err := d.part(ctx, p, row, delivery); err != nil {
			return err
		}
	}
}

// part sends one part. Before the send it stores that the part is in doubt, unless the claim has done so, and after it
// the platform's answer; that of the last part is stored by the row's release.
func (d *Deliverer) part(ctx context.Context, p core.Platform, row *core.OutboxRow, delivery core.Delivery) error {
	row.Parts = append(row.Parts, core.Part{InDoubt: true, SentAt: timeOf(p), Again: delivery.Again})
	if !row.Doubted {
		if err := d.Store.SavePost(ctx, *row); err != nil {
			row.Parts = row.Parts[:delivery.Part] // nothing was sent
			return storeError(err)
		}
	}
	row.Doubted = false
	ref, more, err := p.Post(ctx, delivery)
	d.answered(p, err)
	switch {
	case err == nil:
	case core.CategoryOf(err) == core.DeliveryInDoubt, ctx.Err() != nil:
		d.lost(p, row, timeOf(p), err)
		return err
	default:
		row.Parts = row.Parts[:delivery.Part] // certainly not sent
		return err
	}
	row.Parts[delivery.Part] = core.Part{Ref: ref, More: more, Again: delivery.Again}
	if more {
		return storeError(d.Store.SavePost(ctx, *row))
	}
	row.Shown = row.Wanted
	return nil
}

// timeOf returns a platform's own time: what this machine's clock says would mislead a search among its posts. Zero:
// not known.
func timeOf(p core.Platform) (now time.Time) {
	if h, ok := p.(core.Health); ok {
		now, _, _ = h.Clock()
	}
	return now
}

// late reports whether a row is older than the freshness limit. A card is late only while it has not arrived: it is
// redrawn for as long as its approval is open. A copy says what it is about, wherever it is.
func (d *Deliverer) late(row *core.OutboxRow) bool {
	first := row.Kind == core.PostReply || row.Kind == core.PostCard && !row.Copy && row.Shown == 0
	return d.Freshness > 0 && first && row.Age > d.Freshness
}

// later delays the row with backoff. After giveUp attempts the row is dead. The attempts 1, 2, 4, 8 and so on are
// logged, and all that the platform asks to wait after.
func (d *Deliverer) later(row *core.OutboxRow, err error) time.Duration {
	wait := d.backoff(row, err, giveUp, firstBackoff, maxBackoff)
	asked := core.RetryAfterOf(err)
	if asked > 0 {
		d.lane(row.To.Platform).count(AskedToWait)
	}
	if asked > 0 || row.Attempts&(row.Attempts-1) == 0 {
		d.Log.Warn("post delayed", "post", row.Seq, "platform", row.To.Platform, "event", row.Event, "wait", wait,
			"asked", asked, "attempts", row.Attempts, "category", core.CategoryOf(err), "err", err)
	}
	return wait
}

// notYet delays a row whose platform takes nothing now, which is no failed attempt. A wait that people notice has its
// cause in the row, and is logged and counted once.
func (d *Deliverer) notYet(row *core.OutboxRow, err error, inDoubt bool) time.Duration {
	wait := min(max(core.RetryAfterOf(err), time.Millisecond), maxAsked)
	if row.Kind == core.PostTwin || wait < longWait && !inDoubt {
		return wait
	}
	if row.Cause != err.Error() && !inDoubt {
		d.lane(row.To.Platform).count(AskedToWait)
		d.Log.Warn("post delayed", "post", row.Seq, "platform", row.To.Platform, "event", row.Event, "wait", wait,
			"category", core.CategoryOf(err), "err", err)
	}
	row.Cause = err.Error()
	return wait
}

// answered notes what a platform answered to a call that posts, edits or has found a post.
func (d *Deliverer) answered(p core.Platform, err error) {
	l := d.lane(p.Name())
	switch began, ended := l.outage.report(err, time.Now()); {
	case began:
		l.count(Outage)
		d.Log.Error("post after post fails, so only a few at a time are tried until one succeeds",
			"platform", p.Name(), "category", core.CategoryOf(err), "err", err)
	case ended:
		d.Log.Info("posts are taken again", "platform", p.Name())
		l.wake()
	}
}

// Health returns why a platform takes no posts, nil if it does as far as is known. That a call of another kind succeeds
// does not change it.
func (d *Deliverer) Health(platform string) error { return d.lane(platform).outage.err(time.Now()) }

// forbidden delays a row that the platform refuses until people fix the cause. fresh: it was not refused for this cause
// before.
func (d *Deliverer) forbidden(row *core.OutboxRow, err error) (wait time.Duration, fresh bool) {
	if fresh = row.Cause != err.Error(); fresh {
		d.Log.Error("a post is refused until somebody fixes the cause; it is retried for a day",
			"platform", row.To.Platform, "event", row.Event, "category", core.CategoryOf(err), "err", err)
	}
	return d.backoff(row, err, giveUpForbidden, firstForbidden, maxForbidden), fresh
}

// backoff counts a failed attempt and returns the wait before the next one, which doubles from first to most. It is
// not shorter than the error asks for, up to maxAsked. After the last attempt the row is dead.
func (d *Deliverer) backoff(row *core.OutboxRow, err error, last int, first, most time.Duration) time.Duration {
	row.Attempts++
	row.Cause = err.Error()
	if row.Attempts > last {
		row.State = core.RowDead
		d.Log.Error("a post could not be sent for a day; gatehouse deadletters can send it again", "post", row.Seq,
			"platform", row.To.Platform, "event", row.Event, "err", err)
		return 0
	}
	return max(d.jitter(min(first<<min(row.Attempts-1, 10), most)), min(core.RetryAfterOf(err), maxAsked))
}

func (d *Deliverer) jitter(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (0.5 + d.Jitter()/2))
}
