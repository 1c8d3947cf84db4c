package openharness

import (
	"context"
	"slices"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// status answers what became of a run. It changes nothing in the world, so its token may be used again and again; each use has the same
// replies. A run that goes on is waited for only if the client asks for that.
func (c *call) status(ctx context.Context, run core.InvocationID, patient bool) (wire.Response, error) {
	events, err := c.run(ctx, run)
	if err != nil {
		return wire.Response{}, err
	}
	if len(events) == 0 || !c.concerns(run, events[0].Conversation) {
		return wire.Response{}, c.unknownContinuation()
	}
	settled := func() (bool, error) {
		if events, err = c.run(ctx, run); err != nil || len(events) == 0 {
			return false, err
		}
		last := &events[len(events)-1]
		done, err := c.delivered(ctx, last)
		if err != nil || !done {
			return false, err
		}
		return last.End.Kind != core.EndSuspended || !patient, nil
	}
	if patient {
		_, err = c.await(settled)
	} else {
		_, err = settled()
	}
	if err != nil {
		return wire.Response{}, err
	}
	return c.standing(ctx, events)
}

// run returns the events of a run in their order: its message, and the signals that resumed it. A control word and a press are runs, too.
func (c *call) run(ctx context.Context, run core.InvocationID) ([]core.EventRecord, error) {
	if run == "" { // to the store, that is every run
		return nil, nil
	}
	all, err := c.Store.Events(ctx, core.EventFilter{Invocation: run})
	slices.Reverse(all)
	return all, err
}

// standing answers with the replies of a run that the answer to its message did not have, and with its card while it waits.
func (c *call) standing(ctx context.Context, events []core.EventRecord) (wire.Response, error) {
	first, last := events[0], events[len(events)-1]
	done, err := c.delivered(ctx, &last)
	if err != nil {
		return wire.Response{}, err
	}
	if !done {
		return c.stillWorking(last.Invocation), nil
	}
	var seqs []int64
	for _, ev := range events {
		seqs = append(seqs, ev.Seq)
	}
	mail, err := c.take(ctx, -first.Seq, true, seqs...)
	if err != nil {
		return wire.Response{}, err
	}
	waits := last.End.Kind == core.EndSuspended
	mail = slices.DeleteFunc(mail, func(m core.Mail) bool {
		p, err := readPost(m)
		current := err == nil && p.Kind == core.PostCard && m.Event == last.Seq && waits
		return m.Taken == first.Seq && !current
	})
	a, err := c.directives(ctx, mail)
	if err == nil && errored(last) {
		a = failed(a, last)
	}
	return a, err
}
