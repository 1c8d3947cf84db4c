package main

import (
	"context"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// runTransmissions runs a case of harness: each transmission through the abstract harness.
func (r *runner) runTransmissions() {
	h := &harness.Harness{
		Graph: r.Graph, Mode: r.mode(r.doc.Get("harness")), Stores: r.stores, Observers: r.scoped,
		Register: func(_ context.Context, s core.Suspended) error {
			r.Subscriptions = append(r.Subscriptions, s)
			return nil
		},
		Invoked: func(in graph.Invocation, res graph.Result) {
			r.Turns[len(r.Turns)-1].Settle(in, res)
		},
	}
	for _, d := range r.doc.Need("transmissions").Items() {
		t := r.begin(evidence.Transmission, d)
		in := r.transmission(t, d)
		t.Before = r.Look(r.ctx, t.Session)
		res := h.Transmit(r.ctx, in)
		t.Response, t.Path, t.Status, t.Err, t.Category, t.Bucket = &res, res.Path, res.Status, res.Err, res.Category, res.Bucket
		if t.Path == harness.PathStateless {
			t.Session = "" // whatever the payload names
		}
		r.Graph.Drain(r.ctx)
		r.end(t)
		r.checkTurn(harnessChecks, t)
	}
}

// transmission reads a transmission. Its ids may stand in the payload or beside it.
func (r *runner) transmission(t *evidence.Turn, d *fixture.Node) harness.Transmission {
	p := d.Get("payload")
	given := p.Fields()
	text := func(key string) string {
		if s, _ := given[key].(string); s != "" {
			return s
		}
		return d.Get(key).Text()
	}
	in := harness.Transmission{
		Intent:  harness.Intent(d.Get("dispatch_intent").Text()),
		Session: core.SessionID(text("session_id")),
		Signal:  chat.Signal{SignalID: core.SignalID(text("signal_id")), Payload: payload(d.Get("signal_payload"))},
	}
	for _, at := range []*fixture.Node{d, p} {
		if id := at.Get("invocation_id"); id != nil {
			in.Signal.Invocation = r.invocationID(id)
		}
	}
	t.Session, t.Given = in.Session, in.Session
	if in.Signal.Invocation != "" || in.Signal.SignalID != "" {
		r.signal(t, in.Signal)
	}
	return in
}
