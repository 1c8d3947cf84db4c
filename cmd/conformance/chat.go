package main

import (
	"fmt"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// runChat runs a case of harness-chat: each turn through Harness.Send, then each signal through Harness.Resume.
func (r *runner) runChat() {
	d := r.doc.Get("harness")
	if r.mode(d) == harness.Stateless {
		d.Malformed("a chat needs sessions")
	}
	h, err := chat.New(chat.Options{Graph: r.Graph, Stores: r.stores})
	if err != nil {
		d.Malformed("%v", err)
	}
	for _, d := range r.doc.Need("chat_turns").Items() {
		t := r.begin(evidence.Send, d)
		t.Given = core.SessionID(d.Need("session_id").Text())
		t.Session = r.storedUnder(t.Given)
		if l := d.Get("subscribe_listener"); l != nil {
			h.Subscribe(t.Session, r.listen(l.Text(), t.Session))
		}
		m := messageOf(d.Need("user_message").Value())
		t.Message = &m
		if r.gateway != nil {
			r.productMessage(t, t.Given, m)
		} else {
			t.Before = r.stored(t.Session)
			r.outcome(t, h.Send(r.ctx, t.Session, m))
		}
		t.Path = chatPath(t)
		r.checkTurn(chatChecks, t)
	}
	for _, d := range r.doc.Get("signal_arrivals").Items() {
		t := r.begin(evidence.Signal, d)
		r.signal(t,
			chat.Signal{SignalID: core.SignalID(d.Need("signal_id").Text()), Payload: payload(d.Get("signal_payload"))})
		if t.ResumedRecord != nil {
			t.ID = t.ResumedRecord.Invocation
		}
		t.Before = r.stored(t.Session)
		for _, l := range r.listeners {
			l.calls = nil
		}
		if r.gateway != nil {
			r.productSignal(t)
		} else {
			r.outcome(t, h.Resume(r.ctx, *t.Signal))
		}
		t.Path = harness.PathSignal
		r.checkArrival(t)
	}
}

// mode reads the harness of a case.
func (r *runner) mode(d *fixture.Node) harness.Mode {
	mode := d.Need("mode")
	r.Mode = harness.Mode(mode.Text())
	if r.Mode != harness.Sessioned && r.Mode != harness.Stateless {
		mode.Malformed("must be sessioned or stateless")
	}
	inMemory(d.Get("signal_coordinator"))
	return r.Mode
}

// listener is a listener of the case, with its calls during the last signal.
type listener struct {
	session core.SessionID
	calls   []core.Outcome
}

// listen returns the function of a new listener, which records its calls.
func (r *runner) listen(name string, session core.SessionID) func(core.Outcome) {
	l := &listener{session: session}
	r.listeners[name] = l
	return func(o core.Outcome) { l.calls = append(l.calls, o) }
}

// checkArrival checks a signal's outcome and its listener's call.
func (r *runner) checkArrival(t *evidence.Turn) {
	if e := t.Node.Get("expected"); e != nil {
		t.ErrorExpected = true
		r.apply(chatChecks, t, e)
	}
	v := t.Node.Get("expected_listener_callback")
	if v == nil {
		if t.Errored() && !t.ErrorExpected {
			r.Faults = append(r.Faults, fmt.Sprintf("%s failed: %v", t.Name, t.Err))
		}
		return
	}
	name := v.Need("listener")
	l := r.listeners[name.Text()]
	if l == nil {
		name.Malformed("no turn subscribed it")
	}
	if !r.must(len(l.calls) == 1, v, "the listener was called %d times, not once (%v)", len(l.calls), t.Err) {
		return
	}
	reported := *t
	take(&reported, l.calls[0])
	r.apply(chatChecks, &reported, v)
	if reported.Errored() && !reported.ErrorExpected {
		r.Fault(v, "the resumed turn failed: %v", reported.Err)
	}
}

// outcome records what Send or Resume returned, and closes the turn.
func (r *runner) outcome(t *evidence.Turn, out core.Outcome) {
	take(t, out)
	r.Graph.Drain(r.ctx)
	r.end(t)
}

// chatPath returns the dispatch path of a send. It follows from the history that the engine loaded (harness-chat §5);
// "" if nothing was loaded.
func chatPath(t *evidence.Turn) harness.Path {
	loads := t.Of(evidence.Load)
	switch {
	case len(loads) == 0 || t.Category == core.SessionLoadFailed:
		return ""
	case len(loads[0].Record.History()) == 0:
		return harness.PathNew
	}
	return harness.PathExisting
}

func take(t *evidence.Turn, out core.Outcome) {
	t.Outcome = out
	switch o := out.(type) {
	case core.Completed:
		t.Status, t.Replies = graph.Completed, o.Replies
	case core.Errored:
		t.Status, t.Err, t.Category, t.Bucket, t.Reply = graph.Errored, o.Err, o.Category, o.Bucket, &o.Reply
	case core.Suspended:
		t.Status, t.Pending, t.Descriptor, t.ID = graph.Suspended, o.Pending, &o.Descriptor, o.Invocation
	}
}

// chatChecks are the assertions of harness-chat.
var chatChecks = map[string]check{
	"outcome": checkOutcome, "dispatch_path": checkPath, "error_bucket": checkBucket, "error_category": checkCategory,
	"signal_descriptor": checkDescriptor, "execution_order": checkExecutionOrder, "final_state": checkHistory,
	"reply": checkReply,
	"replies": func(r *runner, t *evidence.Turn, v *fixture.Node) {
		r.must(t.Completed(), v, "the turn did not complete: it is %s (%v)", t.Status, t.Err)
		r.messages(v, t.Replies)
	},
	"pending_messages": func(r *runner, t *evidence.Turn, v *fixture.Node) {
		r.suspended(t, v)
		r.messages(v, t.Pending)
	},
	"invocation_id": func(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.ID) },
	"invariants":    checkTurnInvariants,
}

// messages compares a list: its exact length, and the named keys of each message.
func (r *runner) messages(v *fixture.Node, got []core.Message) {
	r.must(got != nil, v, "there is no list") // an empty one would be there
	pairwise(r, v, got, "messages: "+fixture.Show(got), r.message)
}

// messageFields returns a message with all possible fields; a missing one is null.
func messageFields(m core.Message) map[string]any {
	out, _ := fixture.Plain(m).(map[string]any)
	for _, key := range []string{"role", "content", "tool_calls", "tool_call_id"} {
		if _, there := out[key]; !there {
			out[key] = nil
		}
	}
	return out
}

// message compares the keys that are named. Two more keys search the text, ignoring case.
func (r *runner) message(v *fixture.Node, got core.Message) {
	have := messageFields(got)
	contains := func(d *fixture.Node) {
		text := got.Content.String()
		r.must(strings.Contains(strings.ToLower(text), strings.ToLower(d.Text())), d, "%q does not contain %q", text,
			d.Text())
	}
	v.Each(func(key string, d *fixture.Node) bool {
		switch key {
		case "role", "content", "tool_calls", "tool_call_id":
			if empty := key == "content" && d.Value() == "" && have[key] == nil; !empty {
				r.includes(d, have[key])
			}
		case "content_includes":
			for _, one := range d.Items() {
				contains(one)
			}
		case "content_matches_template":
			contains(d)
		default:
			return false
		}
		return true
	})
}

func checkReply(r *runner, t *evidence.Turn, v *fixture.Node) {
	if r.must(t.Reply != nil, v, "there is no error reply: the turn is %s", t.Status) {
		r.message(v, *t.Reply)
	}
}

// checkHistory checks the conversation as it is stored after the turn.
func checkHistory(r *runner, t *evidence.Turn, v *fixture.Node) {
	history := t.After.History()
	keys(v, map[string]func(*fixture.Node){
		"messages_count":            func(d *fixture.Node) { r.is(d, len(history)) },
		"messages_history_contains": func(d *fixture.Node) { r.inOrder(d, history) },
	})
}

// inOrder finds each message after the previous one.
func (r *runner) inOrder(v *fixture.Node, history []core.Message) {
	at := 0
	for _, want := range v.Items() {
		found := false
		for ; at < len(history) && !found; at++ {
			found = r.match.Diff(want, messageFields(history[at]), true) == ""
		}
		if !r.must(found, want, "there is no such message: %s", fixture.Show(want.Value())) {
			return
		}
	}
}
