package main

import (
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
)

// chatChecks are the assertions of harness-chat.
var chatChecks map[string]check

func init() {
	chatChecks = map[string]check{
		"outcome": checkOutcome, "dispatch_path": checkPath, "error_bucket": checkBucket, "error_category": checkCategory,
		"signal_descriptor": checkDescriptor, "execution_order": checkExecutionOrder, "final_state": checkHistory, "reply": checkReply,
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
}

// messages compares a list: its exact length, and of each message the keys that are named.
func (r *runner) messages(v *fixture.Node, got []core.Message) {
	r.must(got != nil, v, "there is no list") // an empty one would be there
	pairwise(r, v, got, "messages: "+fixture.Show(got), r.message)
}

// messageFields is a message with all the fields that a message can have; one that it does not have is null.
func messageFields(m core.Message) map[string]any {
	out, _ := fixture.Plain(m).(map[string]any)
	for _, key := range []string{"role", "content", "tool_calls", "tool_call_id"} {
		if _, there := out[key]; !there {
			out[key] = nil
		}
	}
	return out
}

// message compares the keys that are named. Two more look into the text, whatever the case of its letters.
func (r *runner) message(v *fixture.Node, got core.Message) {
	have := messageFields(got)
	text := strings.ToLower(got.Content.String())
	contains := func(d *fixture.Node) {
		r.must(strings.Contains(text, strings.ToLower(d.Text())), d, "%q does not say %q", got.Content.String(), d.Text())
	}
	field := func(key string) func(*fixture.Node) {
		return func(d *fixture.Node) {
			if empty := key == "content" && d.Value() == "" && have[key] == nil; !empty {
				r.includes(d, have[key])
			}
		}
	}
	keys(v, map[string]func(*fixture.Node){
		"role": field("role"), "content": field("content"), "tool_calls": field("tool_calls"), "tool_call_id": field("tool_call_id"),
		"content_includes": func(d *fixture.Node) {
			for _, one := range d.Items() {
				contains(one)
			}
		},
		"content_matches_template": contains,
	})
}

func checkReply(r *runner, t *evidence.Turn, v *fixture.Node) {
	if t.Reply == nil {
		r.must(false, v, "there is no error reply: the turn is %s", t.Status)
		return
	}
	r.message(v, *t.Reply)
}

// checkHistory looks at the conversation as it is stored after the turn.
func checkHistory(r *runner, t *evidence.Turn, v *fixture.Node) {
	history := t.After.History()
	keys(v, map[string]func(*fixture.Node){
		"messages_count":            func(d *fixture.Node) { r.is(d, len(history)) },
		"messages_history_contains": func(d *fixture.Node) { r.inOrder(d, history) },
	})
}

// inOrder looks for each message behind the one found before it.
func (r *runner) inOrder(v *fixture.Node, history []core.Message) {
	at := 0
	for _, want := range v.Items() {
		found := false
		for ; at < len(history) && !found; at++ {
			found = r.match.Diff(want, messageFields(history[at]), true) == ""
		}
		if !r.must(found, want, "no such message stands there: %s", fixture.Show(want.Value())) {
			return
		}
	}
}
