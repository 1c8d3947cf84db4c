package outbox

import (
	"context"
	"time"

	"gatehouse/core"
)

// lost notes that the answer to a part's send is lost; ended is when the send had certainly ended, by the platform's
// clock.
func (d *Deliverer) lost(p core.Platform, row *core.OutboxRow, ended time.Time, err error) {
	row.Parts[len(row.Parts)-1].LostAt = ended
	d.lane(p.Name()).count(InDoubt)
	d.Log.Warn("a post may or may not have arrived; it is looked for before it is sent again, and what follows in its "+
		"conversation waits", "post", row.Seq, "platform", p.Name(), "event", row.Event,
		"category", core.DeliveryInDoubt, "err", err)
}

// endOf returns when the send of a part had certainly ended whose process has died: no send takes longer than Timeout.
func (d *Deliverer) endOf(p core.Platform, part core.Part) time.Time {
	now := timeOf(p)
	if end := part.SentAt.Add(d.Timeout); !part.SentAt.IsZero() && end.Before(now) {
		return end
	}
	return now
}

// resolve asks the platform for the last part, which is in doubt. The part gets its reference, or is removed and sent
// again, at once where the platform shows that it has not arrived.
func (d *Deliverer) resolve(ctx context.Context, p core.Platform, row *core.OutboxRow, delivery core.Delivery) error {
	part := &row.Parts[delivery.Part]
	if part.LostAt.IsZero() && part.ReadAt.IsZero() {
		d.lost(p, row, d.endOf(p, *part), core.Errorf(core.DeliveryInDoubt, "The process that sent it has ended."))
	}
	delivery.LostAt = part.LostAt
	found, err := p.Find(ctx, delivery)
	switch {
	case core.CategoryOf(err) == core.DeliveryLater, core.CategoryOf(err) == core.DeliveryNotYet,
		core.CategoryOf(err) == core.Unsupported:
		d.answered(p, err)
		return err
	case err != nil:
		return core.Wrap(core.DeliveryInDoubt, err, "Can't find out whether the post arrived.")
	case found.Ref != "":
		d.answered(p, nil)
		d.lane(p.Name()).count(Arrived)
		d.Log.Info("a post in doubt had arrived", "post", row.Seq, "platform", p.Name(), "event", row.Event)
		next := *part
		*part = core.Part{Ref: found.Ref, More: found.More, Again: delivery.Again}
		if next.Rest && found.More {
			row.Parts = append(row.Parts, core.Part{
				InDoubt: true, Rest: true, SentAt: next.SentAt, LostAt: next.LostAt, Again: next.Again,
			})
		}
		return storeError(d.Store.SavePost(ctx, *row))
	}
	why := AgainSafe
	switch {
	case found.Late && found.Newer:
		why = AgainNewer
	case found.Late:
		if wait := d.unseen(p, row, part); wait > 0 {
			return &core.Error{Category: core.DeliveryNotYet, Message: "Whether the post arrived is not known: its " +
				"answer was lost, and neither it nor anything newer can be seen yet. It is looked for again before " +
				"it is sent again.", RetryAfter: wait}
		}
		why = AgainUnseen
	}
	d.lane(p.Name()).count(why)
	d.Log.Warn("a post in doubt is not there and is sent again", "post", row.Seq, "platform", p.Name(),
		"event", row.Event, "why", why)
	row.Parts = row.Parts[:delivery.Part]
	return storeError(d.Store.AddCopies(ctx, *row, core.Copies{Posts: twins(p, *row, delivery, why)}))
}

// unseen notes a look-up that showed neither a part nor anything newer, and returns the time until the next one; 0: the
// first one was long enough ago.
func (d *Deliverer) unseen(p core.Platform, row *core.OutboxRow, part *core.Part) time.Duration {
	now := timeOf(p)
	if now.IsZero() {
		now = row.CreatedAt.Add(row.Age)
	}
	if part.ReadAt.IsZero() || part.ReadAt.After(now) { // after a jump of the clock it counts anew
		part.ReadAt = now
	}
	passed := now.Sub(part.ReadAt)
	for _, at := range d.Lookups {
		if wait := at - d.Lookups[0] - passed; wait > 0 {
			return wait
		}
	}
	return 0
}

// doubt delays the row until the sent part becomes readable. If the platform can't be asked, or the lookups fail, the
// row is unknown.
func (d *Deliverer) doubt(row *core.OutboxRow, err error) time.Duration {
	part := &row.Parts[len(row.Parts)-1]
	part.Looks++
	row.Cause = err.Error()
	if core.CategoryOf(err) == core.Unsupported || part.Looks > doubtTries {
		row.State = core.RowUnknown
		d.lane(row.To.Platform).count(Unknown)
		d.Log.Error("a post may not have arrived; it is not sent again unless gatehouse deadletters does so",
			"post", row.Seq, "platform", row.To.Platform, "event", row.Event, "category", core.CategoryOf(err),
			"err", err)
	}
	return d.jitter(d.Lookups[0])
}
