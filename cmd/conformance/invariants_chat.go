package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

func sent(t *turn) bool { return t.kind == "send" }

// talked is a turn of a conversation that ended with a tail.
func talked(t *turn) bool { return (t.kind == "send" || t.kind == "signal") && !errored(t) }

func (s *stored) history() []core.Message {
	if s == nil {
		return nil
	}
	return s.Messages
}

// tails: what is stored after a turn is what was stored before, the person's message of a send, and the turn's tail, in this order;
// so the tail holds what is new, all of it, and nothing else.
func tails(w *world, ts []*turn, _ *doc) error {
	return each(ts, "turn with a tail", talked, func(t *turn) error {
		want := append([]core.Message{}, t.before.history()...)
		if t.message != nil {
			want = append(want, *t.message)
		}
		tail := t.replies
		if suspended(t) {
			tail = t.pending
		}
		if tail == nil {
			return errors.New("the tail is no list")
		}
		want = append(want, tail...)
		d := w.match.diff(plain(want), plain(t.after.history()), false)
		return ifTrue(d == "", "history and tail differ: %s", d)
	})
}

// pendingFromNodes: the tail is what nodes returned as updates; nothing else was asked of the engine than a message and a session.
func pendingFromNodes(w *world, ts []*turn, arg *doc) error {
	if err := tails(w, ts, arg); err != nil {
		return err
	}
	return each(ts, "suspended turn", suspended, func(t *turn) error {
		n, exact := t.returned()
		if len(t.invoked) != 1 || len(t.invoked[0].Invocation.Initial) > 1 {
			return errors.New("the graph was not invoked with the message alone")
		}
		return ifTrue(!exact || n == len(t.pending), "nodes returned %d messages, %d are pending", n, len(t.pending))
	})
}

// returned is how many messages the nodes returned; it is exact where no graphs were inside, whose messages may go elsewhere.
func (t *turn) returned() (n int, exact bool) {
	for _, e := range t.entries {
		n += e.messages
	}
	return n, t.count("inner node") == 0
}

// historyGrows: what was stored before a turn stands at the beginning of what is stored after it. Outside a conversation it is the
// state that a later turn begins with.
func historyGrows(w *world, ts []*turn, arg *doc) error {
	if !slices.ContainsFunc(ts, talked) {
		return loadsWhatWasSaved(w, ts, arg)
	}
	return each(ts, "turn of a conversation", talked, func(t *turn) error {
		before, after := t.before.history(), t.after.history()
		if len(after) < len(before) {
			return errors.New("the history became shorter")
		}
		d := w.match.diff(plain(append([]core.Message{}, before...)), plain(append([]core.Message{}, after[:len(before)]...)), false)
		added, exact := t.returned()
		if t.message != nil {
			added++
		}
		return ifTrue(d == "" && (!exact || len(after) == len(before)+added), "it did not grow by what was said: %s", d)
	})
}

func userMessageStored(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return sent(t) && !errored(t) }
	return each(ts, "send", meant, func(t *turn) error {
		at := len(t.before.history())
		if len(t.after.history()) <= at {
			return errors.New("the message is not stored")
		}
		d := w.match.diff(plain(*t.message), plain(t.after.history()[at]), false)
		return ifTrue(d == "", "it is stored otherwise: %s", d)
	})
}

func emptyReplies(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "completed turn", completed, func(t *turn) error {
		return ifTrue(t.replies != nil && len(t.replies) == 0, "the replies are %s", show(t.replies))
	})
}

func replyIsSystem(w *world, ts []*turn, arg *doc) error {
	if err := errorReplyNotStored(w, ts, arg); err != nil {
		return err
	}
	meant := func(t *turn) bool { return errored(t) && t.response == nil }
	return each(ts, "failed turn of a conversation", meant, func(t *turn) error {
		return ifTrue(t.reply != nil && t.reply.Role == core.System && t.reply.Content.String() != "", "the reply is %s", show(t.reply))
	})
}

func errorReplyNotStored(w *world, ts []*turn, _ *doc) error {
	return each(ts, "failed turn", errored, func(t *turn) error {
		for _, m := range t.after.history() {
			if t.reply != nil && w.match.diff(plain(*t.reply), plain(m), false) == "" {
				return errors.New("the reply is part of the history")
			}
		}
		return nil
	})
}

// diagnosticShown: what can be corrected says what is wrong, in the words of the error that first knew.
func diagnosticShown(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool {
		return errored(t) && t.bucket == core.UserCorrectable && (t.reply != nil || t.response != nil)
	}
	return each(ts, "failed turn that can be corrected", meant, func(t *turn) error {
		text := core.MessageOf(t.err)
		var shown string
		switch {
		case t.reply != nil:
			shown = t.reply.Content.String()
		case t.response != nil:
			shown, _ = t.response.Body["diagnostic_message"].(string)
		}
		return ifTrue(text != "" && strings.Contains(shown, strings.TrimRight(text, ". ")), "%q does not say %q", shown, text)
	})
}

// outcomesWhole: each outcome has all that its kind carries.
func outcomesWhole(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn", func(*turn) bool { return true }, func(t *turn) error {
		chatting := sent(t) || t.kind == "signal"
		switch t.status {
		case graph.Completed:
			return ifTrue(!chatting || t.replies != nil, "it has no list of replies")
		case graph.Errored:
			return ifTrue(t.category != "" && (!chatting || t.reply != nil && t.bucket != ""), "it has no category, bucket or reply")
		case graph.Suspended:
			return ifTrue(t.descriptor != nil && t.invocation != "" && (!chatting || t.pending != nil), "it has no descriptor, invocation or list")
		}
		return errors.New("it is none of the three")
	})
}

// listenersOnce: a listener is called once for each turn of its session that a signal resumed, and for nothing else.
func listenersOnce(w *world, ts []*turn, _ *doc) error {
	if len(w.listeners) == 0 {
		return nothing("listener")
	}
	for name, l := range w.listeners {
		resumed := 0
		for _, t := range ts {
			if r := t.result(); t.kind == "signal" && t.session == l.session && r != nil && r.Entry.Resumed {
				resumed++
			}
		}
		if resumed == 0 || len(l.calls) != resumed {
			return fmt.Errorf("listener %q was called %d times for %d resumed turns", name, len(l.calls), resumed)
		}
	}
	return nil
}

// listenersNotBySend: the turn that suspended called no listener.
func listenersNotBySend(w *world, ts []*turn, arg *doc) error {
	if err := suspendedOutcome(w, ts, arg); err != nil {
		return err
	}
	for _, t := range ts {
		if t.kind == "signal" {
			return listenersOnce(w, ts, arg)
		}
	}
	for name, l := range w.listeners {
		if len(l.calls) > 0 {
			return fmt.Errorf("listener %q was called", name)
		}
	}
	return nil
}

// notBlocked: a suspended turn returned while nothing had resumed it, and left a record that a signal can find.
func notBlocked(w *world, ts []*turn, _ *doc) error {
	return each(ts, "suspended turn", suspended, func(t *turn) error {
		return ifTrue((w.stores.Pauses == nil || t.waits != nil) && t.took < patience, "it returned after %s, its record waits: %v", t.took, t.waits != nil)
	})
}

// onPath: a turn took this path, and the graph was invoked as the path asks.
func onPath(p chat.Path) predicate {
	return func(_ *world, ts []*turn, _ *doc) error {
		return each(ts, "turn on path "+string(p), func(t *turn) bool { return t.path == p }, func(t *turn) error {
			if len(t.invoked) == 0 {
				return ifTrue(errored(t), "the graph was not invoked")
			}
			in := t.invoked[0].Invocation
			switch p {
			case chat.PathStateless:
				return ifTrue(in.Session == "", "it was invoked with a session")
			case chat.PathSignal:
				return ifTrue(in.Resume != "" && in.Session == "", "it was not invoked as a resume")
			}
			return ifTrue(in.Session != "" && in.Resume == "", "it was invoked without a session")
		})
	}
}
