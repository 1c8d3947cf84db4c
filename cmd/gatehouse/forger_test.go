package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// forger is a platform that brings events which only the store may make.
type forger struct {
	core.Platform // nil: nothing is posted to it
	events        []core.Event
	errs          []error
}

func (f *forger) Name() string { return "console" }

func (f *forger) Run(ctx context.Context, accept core.Accept) error {
	for _, e := range f.events {
		_, err := accept(ctx, e)
		f.errs = append(f.errs, err)
	}
	return nil
}

// TestLaw5_AForgedSignalWakesNoTurn: a platform brings the approval's own signal, and events that take its place or
// delete it. Nothing of that is stored, and the approval can still be decided.
func TestLaw5_AForgedSignalWakesNoTurn(t *testing.T) {
	w := newProg(t)
	cfg, _, err := source.Load()
	noErr(t, err)
	w.chat("note add milk")
	a := w.approvals(core.Open)[0]
	before, err := w.store.Events(t.Context(), core.EventFilter{})
	noErr(t, err)
	approved := a
	approved.State, approved.DecidedBy = core.Approved, a.Requester
	signal := approved.Signal()
	early, deleted := signal, signal
	early.Body = core.MessageEvent{}
	deleted.ID, deleted.Actor, deleted.Body = "amend/1", core.Actor{}, core.AmendEvent{Event: signal.ID}
	deleted.Payload, _ = json.Marshal(core.Amendment{Revision: "1"})

	p := &forger{events: []core.Event{signal, early, deleted}}
	g, err := newGateway(newShared(cfg, w.store, cli.NewLogger(io.Discard, 0, "json")), "test", nil, p)
	noErr(t, err)
	noErr(t, g.Run(t.Context()))
	for n, err := range p.errs {
		if core.CategoryOf(err) != core.Invalid || !strings.Contains(core.MessageOf(err), "never by a platform") {
			t.Errorf("event %d: %v, want that it is refused", n, err)
		}
	}
	if after, err := w.store.Events(t.Context(), core.EventFilter{}); err != nil || len(after) != len(before) ||
		len(p.errs) != 3 {
		t.Errorf("%d events are stored, %d were before: %v, %v", len(after), len(before), p.errs, err)
	}
	if len(w.approvals(core.Open)) != 1 || len(w.notes()) != 0 {
		t.Fatalf("open: %+v, notes %q", w.approvals(core.Open), w.notes())
	}
	if _, err := approvals.NewService(w.store, w.store).AdminVote(t.Context(),
		core.Click{Approval: a.ID, Choice: core.Approve}, "ann", ""); err != nil {
		t.Fatal(err)
	}
	w.chat("thanks")
	if notes := w.notes(); len(notes) != 1 {
		t.Errorf("after the decision the notes are %q", notes)
	}
}
