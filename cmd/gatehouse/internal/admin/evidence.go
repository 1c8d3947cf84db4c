package admin

import (
	"context"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// printEvidence prints a turn's join-check input, which was masked when it was stored. It is stored once for an invocation, so the
// message that began a turn and the signals that resumed it all lead to it. A click has none; the error says where to look instead.
func printEvidence(ctx context.Context, a *cli.App, store *storage.Store, e core.EventRecord, id string) error {
	text, err := store.LoadEvidence(ctx, e.Invocation)
	if err != nil {
		return err
	}
	if text != nil {
		return a.PrintJSON(text)
	}
	about, err := turnOf(ctx, store, e)
	if err != nil {
		return err
	}
	if about != 0 {
		return core.Errorf(core.NotFound, "Turn %q has no evidence of its own: it is a click on approval %s. See the turn that requested the approval: gatehouse turns show %d --evidence.",
			id, e.Subject(), about)
	}
	return core.Errorf(core.NotFound, "Turn %q has no evidence: it is still running, it failed, or its agent records none.", id)
}

// turnOf gives the turn that requested the approval of a click; 0 if the event is not a click or the turn was pruned.
func turnOf(ctx context.Context, store *storage.Store, e core.EventRecord) (int64, error) {
	if e.Kind() != core.KindClick {
		return 0, nil
	}
	a, err := store.LoadApproval(ctx, core.ApprovalID(e.Subject()))
	if core.CategoryOf(err) == core.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	events, err := store.Events(ctx, core.EventFilter{Invocation: a.Invocation}) // latest first
	if len(events) == 0 || err != nil {
		return 0, err
	}
	return events[len(events)-1].Seq, nil
}
