package main

import (
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// listening is a listener of the case and what it was called with.
type listening struct {
	session core.SessionID
	calls   []core.Outcome
}

// runChat runs a case of harness-chat: each turn through Harness.Send, then each signal through Harness.Resume.
func (w *world) runChat() {
	w.newHarness(false)
	for _, d := range w.c.need("chat_turns").items() {
		t := w.begin("send", d)
		t.session = core.SessionID(d.need("session_id").text())
		w.listen(d.get("subscribe_listener"), t.session)
		m := messageOf(d.need("user_message").value())
		t.message = &m
		t.before = w.spy.look(w.ctx, t.session)
		w.outcome(t, w.harness.Send(w.ctx, t.session, m))
		w.checkTurn(chatChecks, t)
	}
	for _, d := range w.c.get("signal_arrivals").items() {
		w.arrival(d)
	}
}

func (w *world) listen(d *doc, session core.SessionID) {
	if d == nil {
		return
	}
	l := &listening{session: session}
	w.listeners[d.text()] = l
	w.harness.Subscribe(session, func(o core.Outcome) { l.calls = append(l.calls, o) })
}

func (w *world) arrival(d *doc) {
	t := w.begin("signal", d)
	t.signal = &chat.Signal{SignalID: core.SignalID(d.need("signal_id").text()), Payload: payloadOf(d.get("signal_payload"))}
	if t.waited = w.waitingFor(*t.signal); t.waited != nil {
		t.session, t.invocation = t.waited.Session, t.waited.Invocation
	}
	t.before = w.spy.look(w.ctx, t.session)
	before := map[string]int{}
	for name, l := range w.listeners {
		before[name] = len(l.calls)
	}
	w.outcome(t, w.harness.Resume(w.ctx, *t.signal))
	if e := d.get("expected"); e != nil {
		t.errorExpected = true
		w.apply(chatChecks, t, e)
	}
	v := d.get("expected_listener_callback")
	if v == nil {
		if t.status == graph.Errored && !t.errorExpected {
			w.faults = append(w.faults, fmt.Sprintf("%s failed: %v", t.name, t.err))
		}
		return
	}
	name := v.need("listener")
	l := w.listeners[name.text()]
	if l == nil {
		name.malformed("no turn subscribed it")
	}
	if n := len(l.calls) - before[name.text()]; n != 1 {
		w.fault(v, "the listener was called %d times, not once (%v)", n, t.err)
		v.value()
		return
	}
	heard := *t
	w.take(&heard, l.calls[len(l.calls)-1])
	w.apply(chatChecks, &heard, v)
	if heard.status == graph.Errored && !heard.errorExpected {
		w.fault(v, "the resumed turn failed: %v", heard.err)
	}
}

func (w *world) apply(checks map[string]check, t *turn, v *doc) {
	v.each(func(key string, d *doc) bool {
		if c, ok := checks[key]; ok {
			c(w, t, d)
			return true
		}
		return key == "listener"
	})
}

// outcome takes over what Send or Resume returned, and closes the turn.
func (w *world) outcome(t *turn, out core.Outcome) {
	w.take(t, out)
	w.graph.Drain(w.ctx)
	w.end(t)
	if n := len(t.invoked); n > 0 {
		t.path = t.invoked[n-1].Path
	}
}

func (w *world) take(t *turn, out core.Outcome) {
	switch o := out.(type) {
	case core.Completed:
		t.status, t.replies = graph.Completed, o.Replies
	case core.Errored:
		t.status, t.err, t.category, t.bucket, t.reply = graph.Errored, o.Err, o.Category, o.Bucket, &o.Reply
	case core.Suspended:
		t.status, t.pending, t.descriptor, t.invocation = graph.Suspended, o.Pending, &o.Descriptor, o.Invocation
	}
}

// chatChecks are the assertions of harness-chat.
var chatChecks map[string]check

func init() {
	chatChecks = map[string]check{
		"outcome": checkOutcome, "dispatch_path": checkPath, "error_bucket": checkBucket, "error_category": checkCategory,
		"signal_descriptor": checkDescriptor, "execution_order": checkExecutionOrder, "final_state": checkHistory, "reply": checkReply,
		"replies": func(w *world, t *turn, v *doc) {
			if t.status != graph.Completed {
				w.fault(v, "the turn did not complete: it is %s (%v)", t.status, t.err)
			}
			w.messages(v, t.replies)
		},
		"pending_messages": func(w *world, t *turn, v *doc) {
			if t.status != graph.Suspended {
				w.fault(v, "the turn did not suspend: it is %s (%v)", t.status, t.err)
			}
			w.messages(v, t.pending)
		},
		"invocation_id": func(w *world, t *turn, v *doc) { w.is(v, t.invocation) },
		"invariants":    func(w *world, t *turn, v *doc) { w.invariants(v, []*turn{t}) },
	}
}

// messages compares a list: its exact length, and of each message the keys that are named.
func (w *world) messages(v *doc, got []core.Message) {
	want := v.items()
	if got == nil {
		w.fault(v, "there is no list") // an empty one would be there
	}
	if len(want) != len(got) {
		w.fault(v, "there are %d messages, not %d: %s", len(got), len(want), show(got))
	}
	for i, m := range want {
		if i >= len(got) {
			m.value()
			continue
		}
		w.message(m, got[i])
	}
}

// message compares the keys that are named. Two more look into the text, whatever the case of its letters.
func (w *world) message(v *doc, got core.Message) {
	have, _ := plain(got).(map[string]any)
	text := strings.ToLower(got.Content.String())
	contains := func(d *doc) {
		if !strings.Contains(text, strings.ToLower(d.text())) {
			w.fault(d, "%q does not say %q", got.Content.String(), d.text())
		}
	}
	v.each(func(key string, d *doc) bool {
		switch key {
		case "role", "content", "tool_calls", "tool_call_id":
			actual, there := have[key]
			if !there && (d.isNull() || key == "content" && d.node.Value == "") {
				break
			}
			if diff := w.match.diff(d.value(), actual, true); diff != "" {
				w.fault(d, "%s", diff)
			}
		case "content_includes":
			for _, one := range d.items() {
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

func checkReply(w *world, t *turn, v *doc) {
	if t.reply == nil {
		w.fault(v, "there is no error reply: the turn is %s", t.status)
		v.value()
		return
	}
	w.message(v, *t.reply)
}

// checkHistory looks at the conversation as it is stored after the turn.
func checkHistory(w *world, t *turn, v *doc) {
	var history []core.Message
	if t.after != nil {
		history = t.after.Messages
	}
	v.each(func(key string, d *doc) bool {
		switch key {
		case "messages_count":
			w.is(d, len(history))
		case "messages_history_contains":
			w.inOrder(d, history)
		default:
			return false
		}
		return true
	})
}

// inOrder looks for each message behind the one found before it.
func (w *world) inOrder(v *doc, history []core.Message) {
	at := 0
	for _, want := range v.items() {
		expected, found := want.value(), false
		for ; at < len(history) && !found; at++ {
			found = w.match.diff(expected, plain(history[at]), true) == ""
		}
		if !found {
			w.fault(want, "no such message stands there: %s", show(expected))
			return
		}
	}
}
