package openharness

import (
	"cmp"
	"context"
	"slices"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// outcome waits for the end of an event and answers with what was said because of it. With alone, nothing else of the
// conversation is in the answer; otherwise it begins with what no answer has given out yet.
func (c *call) outcome(ctx context.Context, ev core.EventRecord, alone bool) (r wire.Response, err error) {
	done, err := c.await(func() (bool, error) { return c.delivered(ctx, &ev) })
	if err != nil {
		return r, err
	}
	if !done {
		return c.stillWorking(ev.Invocation), nil
	}
	mail, err := c.take(ctx, ev.Seq, alone || errored(ev), ev.Seq)
	if err != nil {
		return r, err
	}
	return c.reply(ctx, ev, mail)
}

// delivered reports whether an event has ended and everything that was said because of it is in the mailbox. It reads
// the event again.
func (c *call) delivered(ctx context.Context, ev *core.EventRecord) (bool, error) {
	now, err := c.Store.Events(ctx, core.EventFilter{Seq: ev.Seq, Limit: 1})
	if err != nil {
		return false, err
	}
	if len(now) == 0 {
		return false, core.Errorf(core.NotFound, "This request was removed meanwhile.")
	}
	if *ev = now[0]; ev.EndedAt.IsZero() {
		return false, nil
	}
	rows, err := c.Store.ListPosts(ctx, []core.RowState{core.RowWaiting}, c.mailbox, 0)
	if err != nil {
		return false, err
	}
	rows = slices.DeleteFunc(rows, func(r core.OutboxRow) bool {
		return r.Event != ev.Seq || r.To.Platform != Name || r.Kind == core.PostWorking
	})
	if len(rows) == 0 {
		return true, nil
	}
	mail, err := c.Store.ListMail(ctx, core.MailFilter{Mailbox: c.mailbox, Events: []int64{ev.Seq}})
	missing := func(r core.OutboxRow) bool { return !has(mail, r.Key) }
	return err == nil && !slices.ContainsFunc(rows, missing), err
}

// has reports whether there is mail under a key.
func has(all []core.Mail, key string) bool {
	return slices.ContainsFunc(all, func(m core.Mail) bool { return m.Key == key })
}

// take returns the mail of these events and, unless alone, all other mail that no answer has given out; from now on it
// is given out by this answer only. So an answer that was lost is the same when it is repeated, and no later one has it
// again.
func (c *call) take(ctx context.Context, by int64, alone bool, events ...int64) ([]core.Mail, error) {
	var only []int64
	if alone {
		only = events
	}
	taken, err := c.Store.TakeMail(ctx, c.mailbox, by, only)
	if err != nil {
		return nil, err
	}
	own, err := c.Store.ListMail(ctx, core.MailFilter{Mailbox: c.mailbox, Events: events})
	if err != nil {
		return nil, err
	}
	for _, m := range own {
		if !has(taken, m.Key) {
			taken = append(taken, m)
		}
	}
	slices.SortFunc(taken, func(a, b core.Mail) int { return cmp.Compare(a.Seq, b.Seq) })
	return taken, nil
}

// stillWorking answers a request whose turn goes on, with a token to ask for its run.
func (c *call) stillWorking(run core.InvocationID) wire.Response {
	return c.pending(c.statusToken(run))
}

// pending answers a request whose answer is not there yet, with the continuation that asks for it. It says nothing: a
// Shell would show that as the answer.
func (c *call) pending(status map[string]any) wire.Response {
	return c.response(wire.Directive{
		ActionType: "noop", Payload: map[string]any{"pending": true, "run_id": status["run_id"]},
		Extensions: vendor(map[string]any{"kind": "working", "status": status}),
	})
}

func (c *call) statusToken(run core.InvocationID) map[string]any {
	return c.continuation(run, token{Action: actStatus, Subject: string(run)})
}

// vendor puts values under the namespace of our extensions.
func vendor(values map[string]any) map[string]any { return map[string]any{wire.Namespace: values} }
