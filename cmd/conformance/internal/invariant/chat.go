package invariant

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core"
)

var sent = of(evidence.Send)

// sendReturnsOutcome: every send came to one of the three outcomes, with all that its kind carries.
func sendReturnsOutcome(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "send", sent, func(t *evidence.Turn) error {
		switch o := t.Outcome.(type) {
		case core.Completed:
			return that(o.Replies != nil, "it completed without a list of replies")
		case core.Errored:
			return that(o.Category != "" && o.Bucket != "" && o.Reply.Role == core.System, "it failed without a category, bucket or reply")
		case core.Suspended:
			return that(o.Pending != nil && o.Descriptor.SignalID != "" && o.Invocation != "", "it suspended without a list, descriptor or invocation")
		}
		return fmt.Errorf("it came to %T", t.Outcome)
	})
}

// grewBy: what is stored after a turn is what was stored before, the person's message, and these, in this order.
func grewBy(t *evidence.Turn, tail []core.Message) error {
	want := append([]core.Message{}, t.Before.History()...)
	if t.Message != nil {
		want = append(want, *t.Message)
	}
	return same("the history", append(want, tail...), t.After.History())
}

// repliesAreNew: the replies of every completed send are what its nodes added, all of it, and nothing that was there before.
func repliesAreNew(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "completed send", both(sent, (*evidence.Turn).Completed), func(t *evidence.Turn) error {
		if n := returned(t); n != len(t.Replies) {
			return fmt.Errorf("nodes added %d messages, there are %d replies", n, len(t.Replies))
		}
		return grewBy(t, t.Replies)
	})
}

// returned is how many messages the nodes of a turn returned.
func returned(t *evidence.Turn) (n int) {
	for _, e := range t.Of(evidence.NodeRan) {
		n += e.Messages
	}
	return n
}

// secondLoadsFirstHistory: the second turn is of the first one's session, and loaded the history that the first one left.
func secondLoadsFirstHistory(_ *evidence.Case, turns []*evidence.Turn) error {
	first, second, err := two(turns)
	if err != nil {
		return err
	}
	loads := second.Of(evidence.Load)
	if first.Session != second.Session || len(loads) == 0 || len(first.After.History()) == 0 {
		return fmt.Errorf("sessions %q and %q, %d loads, a history of %d", first.Session, second.Session, len(loads), len(first.After.History()))
	}
	return same("the history that was loaded", first.After.History(), loads[0].Record.History())
}

// historyAccumulates: over at least two turns of a session, each one's history begins with all of the one before, and is longer by
// what the person and the nodes said.
func historyAccumulates(_ *evidence.Case, turns []*evidence.Turn) error {
	if _, _, err := two(turns); err != nil {
		return err
	}
	return every(turns, "send", sent, func(t *evidence.Turn) error {
		before, after := t.Before.History(), t.After.History()
		if want := len(before) + 1 + returned(t); len(after) != want {
			return fmt.Errorf("the history has %d messages, not %d", len(after), want)
		}
		return same("the history's beginning", append([]core.Message{}, before...), after[:len(before)])
	})
}

var suspendedSend = both(sent, (*evidence.Turn).Suspended)

// pendingIsTail: what is pending is the tail of the stored messages after the person's, and not empty.
func pendingIsTail(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "suspended send", suspendedSend, func(t *evidence.Turn) error {
		if len(t.Pending) == 0 {
			return errors.New("nothing is pending")
		}
		return grewBy(t, t.Pending)
	})
}

// pendingFromNodes: what is pending is what nodes returned as updates: as many messages, and nothing else stored any.
func pendingFromNodes(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "suspended send", suspendedSend, func(t *evidence.Turn) error {
		n := returned(t)
		return that(n > 0 && n == len(t.Pending) && t.Count(evidence.ExplicitSave) == 0, "nodes returned %d messages, %d are pending", n, len(t.Pending))
	})
}

// The nodes that composedBeforeSuspending is about.
const (
	composeNode = "compose_pending"
	suspendNode = "suspend_gate"
)

// composedBeforeSuspending: what the composing node returned was part of the state when the suspending node ran, and the stored
// pause lists that node as completed.
func composedBeforeSuspending(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "suspended send", suspendedSend, func(t *evidence.Turn) error {
		ran := t.Of(evidence.NodeRan)
		composed := slices.IndexFunc(ran, func(e evidence.Entry) bool { return e.Node == composeNode })
		suspended := slices.IndexFunc(ran, func(e evidence.Entry) bool { return e.Node == suspendNode })
		if composed < 0 || suspended <= composed {
			return fmt.Errorf("these nodes ran: %v", t.Ran())
		}
		if want := ran[composed].Seen + ran[composed].Messages; ran[composed].Messages == 0 || ran[suspended].Seen < want {
			return fmt.Errorf("%s saw %d messages, not %d", suspendNode, ran[suspended].Seen, want)
		}
		return that(t.PausedRecord != nil && slices.Contains(t.PausedRecord.Frames[0].Completed, composeNode), "the pause does not list %s as completed", composeNode)
	})
}

// terminatingBucket: the failed turns are terminating.
func terminatingBucket(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "failed send", both(sent, (*evidence.Turn).Errored), func(t *evidence.Turn) error {
		return that(t.Bucket == core.SessionTerminating && t.Category != "", "its bucket is %s", t.Bucket)
	})
}

// replyIsSystem: the reply to a failed turn has the role system and text, and is not part of the history.
func replyIsSystem(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "failed send", both(sent, (*evidence.Turn).Errored), func(t *evidence.Turn) error {
		if t.Reply == nil || t.Reply.Role != core.System || t.Reply.Content.String() == "" {
			return fmt.Errorf("the reply is %v", t.Reply)
		}
		for _, m := range t.After.History() {
			if m.Content.String() == t.Reply.Content.String() {
				return errors.New("the reply is part of the history")
			}
		}
		return nil
	})
}

// failedWith is a send that failed with a category.
func failedWith(c core.Category) func(*evidence.Turn) bool {
	return func(t *evidence.Turn) bool { return sent(t) && t.Errored() && t.Category == c }
}

// noGraphWithoutSession: a send whose session could not be loaded tried to load it, and ran no node.
func noGraphWithoutSession(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "send whose session could not be loaded", failedWith(core.SessionLoadFailed), func(t *evidence.Turn) error {
		ran := t.Count(evidence.NodeRan, evidence.InnerNodeRan)
		return that(ran == 0 && t.Count(evidence.Load) > 0, "%d nodes ran after %d loads", ran, t.Count(evidence.Load))
	})
}

// validatedBeforeLoad: a malformed message was refused before anything was read or run.
func validatedBeforeLoad(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "malformed message", failedWith(core.ChatMessageShapeInvalid), func(t *evidence.Turn) error {
		return that(len(t.Entries) == 0, "there were %d calls and runs of nodes before", len(t.Entries))
	})
}

func shapeIsCorrectable(_ *evidence.Case, turns []*evidence.Turn) error {
	return bucketOf(turns, core.ChatMessageShapeInvalid, core.UserCorrectable)
}

// noGraphWithoutMessage: a malformed message ran no node.
func noGraphWithoutMessage(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "malformed message", failedWith(core.ChatMessageShapeInvalid), func(t *evidence.Turn) error {
		n := t.Count(evidence.NodeRan, evidence.InnerNodeRan)
		return that(n == 0, "%d nodes ran", n)
	})
}
