package openharness

import (
	"context"
	"slices"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// status answers what became of a run: with the replies that the answer to its message did not have, and with its card
// while it waits. It changes nothing in the world, so its token may be used again and again; each use has the same
// replies. A run that goes on is waited for only if the client asks for that.
func (c *call) status(ctx context.Context, run core.InvocationID, patient bool) (r wire.Response, err error) {
	var events []core.EventRecord
	done := false // all of them have ended
	look := func() (settled bool, err error) {
		if events, err = c.run(ctx, run); err != nil {
			return false, err
		}
		if len(events) == 0 || !c.concerns(run, events[0].Conversation) {
			return false, c.unknownContinuation()
		}
		last := &events[len(events)-1]
		done, err = c.delivered(ctx, last)
		return done && (!patient || last.End.Kind != core.EndSuspended), err
	}
	settled, err := look()
	if err == nil && !settled && patient {
		_, err = c.await(look)
	}
	if err != nil {
		return r, err
	}
	first, last := events[0], events[len(events)-1]
	if !done {
		return c.stillWorking(last.Invocation), nil
	}
	var seqs []int64
	for _, ev := range events {
		seqs = append(seqs, ev.Seq)
	}
	mail, err := c.take(ctx, -first.Seq, true, seqs...)
	if err != nil {
		return r, err
	}
	mail = slices.DeleteFunc(mail, func(m core.Mail) bool { // the answer to its message had it
		p, err := readPost(m)
		waits := err == nil && p.Kind == core.PostCard && m.Event == last.Seq && last.End.Kind == core.EndSuspended
		return m.Taken == first.Seq && !waits
	})
	return c.reply(ctx, last, mail)
}

// run returns the events of a run in their order: its message, and the signals that resumed it. A control word and a
// press are runs, too.
func (c *call) run(ctx context.Context, run core.InvocationID) ([]core.EventRecord, error) {
	if run == "" { // to the store, that is every run
		return nil, nil
	}
	all, err := c.Store.Events(ctx, core.EventFilter{Invocation: run})
	slices.Reverse(all)
	return all, err
}
