package invariant

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core"
)

// sendReturnsOutcome: the send returned one of the three outcomes, with everything that its kind carries.
func sendReturnsOutcome(r run) error {
	switch o := r.Outcome.(type) {
	case core.Completed:
		return require(o.Replies != nil, "it completed without a list of replies")
	case core.Errored:
		return require(o.Category != "" && o.Bucket != "" && o.Reply.Role == core.System,
			"it failed without a category, bucket or reply")
	case core.Suspended:
		return require(o.Pending != nil && o.Descriptor.SignalID != "" && o.Invocation != "",
			"it suspended without a list, descriptor or invocation")
	}
	return fmt.Errorf("its outcome is a %T", r.Outcome)
}

// grewBy: the history after the turn is the history before it, the user's message, and these messages, in this order.
func (r run) grewBy(tail []core.Message) error {
	want := append([]core.Message{}, r.Before.History()...)
	if r.Message != nil {
		want = append(want, *r.Message)
	}
	return same("the history", append(want, tail...), r.After.History())
}

// returned is the number of messages that the turn's nodes returned.
func (r run) returned() (n int) {
	for _, e := range r.Of(evidence.NodeRan) {
		n += e.Messages
	}
	return n
}

// repliesAreNew: the replies are exactly the messages that the nodes added, without any earlier message.
func repliesAreNew(r run) error {
	if n := r.returned(); n != len(r.Replies) {
		return fmt.Errorf("nodes added %d messages, there are %d replies", n, len(r.Replies))
	}
	return r.grewBy(r.Replies)
}

// secondLoadsFirstHistory: the second turn has the first one's session, and loaded the history that the first one left.
func secondLoadsFirstHistory(r run) error {
	left := r.turns[0].After.History()
	if r.turns[0].Session != r.Session || r.loaded() == nil || len(left) == 0 {
		return fmt.Errorf("sessions %q and %q, %d loads, a history of %d", r.turns[0].Session, r.Session,
			r.Count(evidence.Load), len(left))
	}
	return same("the loaded history", left, r.loaded().History())
}

// historyAccumulates: over at least two turns of a session, each history starts with the whole history before it, and
// is longer by the messages of the user and the nodes.
func historyAccumulates(r run) error {
	if len(r.turns) < 2 {
		return errors.New("nothing to check: there is no second turn")
	}
	before, after := r.Before.History(), r.After.History()
	if want := len(before) + 1 + r.returned(); len(after) != want {
		return fmt.Errorf("the history has %d messages, not %d", len(after), want)
	}
	return same("the history's start", append([]core.Message{}, before...), after[:len(before)])
}

// pendingIsTail: the pending messages, of which there is at least one, are the stored messages after the user's.
func pendingIsTail(r run) error {
	if len(r.Pending) == 0 {
		return errors.New("nothing is pending")
	}
	return r.grewBy(r.Pending)
}

// pendingFromNodes: the pending messages are as many as the nodes returned, and no node saved the session itself.
func pendingFromNodes(r run) error {
	n := r.returned()
	return require(n > 0 && n == len(r.Pending) && r.Count(evidence.ExplicitSave) == 0,
		"nodes returned %d messages, %d are pending", n, len(r.Pending))
}

// The nodes that composedBeforeSuspending is about.
const (
	composeNode = "compose_pending"
	suspendNode = "suspend_gate"
)

// composedBeforeSuspending: the messages that the composing node returned were in the state when the suspending node
// ran, and the stored pause lists the composing node as completed.
func composedBeforeSuspending(r run) error {
	ran := r.Of(evidence.NodeRan)
	composed := slices.IndexFunc(ran, func(e evidence.Entry) bool { return e.Node == composeNode })
	suspended := slices.IndexFunc(ran, func(e evidence.Entry) bool { return e.Node == suspendNode })
	if composed < 0 || suspended <= composed {
		return fmt.Errorf("these nodes ran: %v", r.Ran())
	}
	if want := ran[composed].Seen + ran[composed].Messages; ran[composed].Messages == 0 || ran[suspended].Seen < want {
		return fmt.Errorf("%s saw %d messages, not %d", suspendNode, ran[suspended].Seen, want)
	}
	return require(r.PausedRecord != nil && slices.Contains(r.PausedRecord.Frames[0].Completed, composeNode),
		"the pause does not list %s as completed", composeNode)
}

// replyIsSystem: the reply to a failed turn has the role system and a text, and is not part of the history.
func replyIsSystem(r run) error {
	if r.Reply == nil || r.Reply.Role != core.System || r.Reply.Content.String() == "" {
		return fmt.Errorf("the reply is %v", r.Reply)
	}
	stored := slices.ContainsFunc(r.After.History(), func(m core.Message) bool {
		return m.Content.String() == r.Reply.Content.String()
	})
	return require(!stored, "the reply is part of the history")
}

// noGraphWithoutSession: a send whose session could not be loaded tried to load it, and ran no node.
func noGraphWithoutSession(r run) error {
	ran, loads := r.Count(evidence.NodeRan, evidence.InnerNodeRan), r.Count(evidence.Load)
	return require(ran == 0 && loads > 0, "%d nodes ran after %d loads", ran, loads)
}

// validatedBeforeLoad: a malformed message was refused before any store call or node.
func validatedBeforeLoad(r run) error {
	return require(len(r.Entries) == 0, "there were %d store calls and nodes before", len(r.Entries))
}
