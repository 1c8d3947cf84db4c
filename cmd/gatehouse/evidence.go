package main

import (
	"context"

	"gatehouse/core"
)

// evidence prints a turn's join-check input. It was masked when it was kept. A turn that was paused and resumed has one, under its
// invocation: its message and its signals all lead there. A click has none of its own; the answer says where to look instead.
func (a *app) evidence(ctx context.Context, store core.Store, e core.EventRecord, id string) error {
	text, err := store.LoadEvidence(ctx, e.Invocation)
	if err != nil {
		return err
	}
	if text != nil {
		return a.json(text)
	}
	about, err := turnOf(ctx, store, e)
	if err != nil {
		return err
	}
	if about != 0 {
		return core.Errorf(core.NotFound, "There is no evidence of turn %q: it is a click that decides on approval %s, and what came of it stands with the turn that asked: gatehouse turns show %d --evidence.",
			id, e.Subject(), about)
	}
	return core.Errorf(core.NotFound, "There is no evidence of turn %q: it has neither ended nor paused, it failed, or its agent keeps none.", id)
}

// turnOf gives the turn that asked for what a click decides on; 0 where the event is no click, or the turn is gone.
func turnOf(ctx context.Context, store core.Store, e core.EventRecord) (int64, error) {
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
