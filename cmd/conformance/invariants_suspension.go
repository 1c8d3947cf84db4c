package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"gatehouse/core"
	"gatehouse/core/graph"
)

var bucketWords = regexp.MustCompile(`terminating|7_1|transient|retryable|7_2|correctable|7_3`)

// bucketsOfName are the buckets that an invariant's name speaks of, and those that it denies.
func bucketsOfName(name string) (want, not []core.Bucket) {
	for _, at := range bucketWords.FindAllStringIndex(name, -1) {
		b := core.UserCorrectable
		switch name[at[0]:at[1]] {
		case "terminating", "7_1":
			b = core.SessionTerminating
		case "transient", "retryable", "7_2":
			b = core.RetryableTransient
		}
		if denials.MatchString(name[:at[0]]) {
			not = append(not, b)
		} else {
			want = append(want, b)
		}
	}
	return want, not
}

// denials stand before what a name denies.
var denials = regexp.MustCompile(`(^|[_.])(not|never|distinct_from|rather_than|instead_of)_`)

func suspendedOutcome(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "suspended turn", suspended, func(t *turn) error {
		r := t.result()
		return ifTrue(t.invocation != "" && t.descriptor != nil && t.descriptor.SignalID != "" && !r.State.IsZero() && len(r.Namespace) > 0,
			"its outcome is not whole")
	})
}

// pausePersisted: the record holds the state of the pause and the nodes that were done, and the session what was said.
func pausePersisted(w *world, ts []*turn, _ *doc) error {
	return each(ts, "suspended turn", suspended, func(t *turn) error {
		r := t.result()
		if r.Session != "" && w.stores.Sessions != nil {
			if t.after == nil {
				return errors.New("the session is not stored")
			}
			if d := w.match.diff(onlyOf(stateFields(r.State), t.after.State), t.after.State, false); d != "" {
				return fmt.Errorf("the session is stored otherwise: %s", d)
			}
		}
		if w.stores.Pauses == nil {
			return nil
		}
		if t.waits == nil || t.waits.Type != "suspended" {
			return errors.New("there is no record")
		}
		frame := t.waits.Frames[0]
		state := map[string]any{}
		for k, v := range frame.State {
			state[k] = plain(v)
		}
		if d := w.match.diff(onlyOf(stateFields(r.State), state), state, false); d != "" {
			return fmt.Errorf("the record holds another state: %s", d)
		}
		for _, node := range t.ran() {
			if (node != frame.Node || t.waits.MarkCompleted && len(t.waits.Frames) == 1) && !slices.Contains(frame.Completed, node) {
				return fmt.Errorf("the record does not know that %q is done", node)
			}
		}
		return nil
	})
}

// onlyOf are the fields of all that have names in like.
func onlyOf(all, like map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range all {
		if _, there := like[k]; there {
			out[k] = v
		}
	}
	return out
}

func resumed(t *turn) bool { return t.result() != nil && t.result().Entry.Resumed }

// payloadOverlaid: at the entry of a resumed turn every declared field of the payload has the payload's value, whatever its reducer.
func payloadOverlaid(w *world, ts []*turn, _ *doc) error {
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		entry := stateFields(t.result().Entry.State)
		for name, raw := range t.signal.Payload {
			if got, declared := entry[name]; declared {
				if d := w.match.diff(plain(raw), got, false); d != "" {
					return fmt.Errorf("field %s: %s", name, d)
				}
			}
		}
		return nil
	})
}

func undeclaredDropped(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		n := 0
		entry := stateFields(t.result().Entry.State)
		for name := range t.signal.Payload {
			if _, declared := entry[name]; !declared {
				n++
			}
		}
		if n == 0 {
			return nothing("undeclared field in the payload")
		}
		return nil
	})
}

// suspendedAt is the node at which a resumed turn had stopped.
func suspendedAt(t *turn) string {
	if t.waited == nil || len(t.waited.Frames) == 0 {
		return ""
	}
	return t.waited.Frames[0].Node
}

// resumeContinues: a resumed turn does not run the node that suspended, nor one that was done before it.
func resumeContinues(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		at := suspendedAt(t)
		if at == "" {
			return errors.New("nobody knows where it stopped")
		}
		done := append([]string{at}, t.waited.Frames[0].Completed...)
		for _, node := range t.ran() {
			if slices.Contains(done, node) {
				return fmt.Errorf("%q ran again", node)
			}
		}
		return nil
	})
}

func resumeReruns(w *world, ts []*turn, _ *doc) error {
	if !w.c.mentions("mark_node_completed") {
		return nothing("node that is to run again")
	}
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		ran := t.ran()
		return ifTrue(len(ran) > 0 && ran[0] == suspendedAt(t), "it ran %v, having stopped at %q", ran, suspendedAt(t))
	})
}

// idsKept: a resumed turn has the invocation, the correlation and the session of the one that was paused.
func idsKept(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		for _, before := range ts {
			if before == t {
				break
			}
			b, r := before.result(), t.result()
			if before.status == graph.Suspended && b.Invocation == t.invoked[0].Invocation.Resume {
				return ifTrue(r.Invocation == b.Invocation && r.Correlation == b.Correlation && r.Session == b.Session, "its ids are others")
			}
		}
		return errors.New("no turn before it was paused")
	})
}

func hopeless(t *turn) bool { return resuming(t) && t.waited == nil }

func recordInvalid(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "resume of what does not wait", hopeless, func(t *turn) error {
		return ifTrue(t.category == core.SuspensionRecordInvalid && len(t.ran()) == 0, "it came to %q", t.category)
	})
}

func recordInvalidBothWays(w *world, ts []*turn, arg *doc) error {
	if err := recordInvalid(w, ts, arg); err != nil {
		return err
	}
	ofCompleted, ofNothing := false, false
	for _, t := range ts {
		if !hopeless(t) {
			continue
		}
		known := slices.ContainsFunc(ts, func(o *turn) bool { return o != t && completed(o) && o.invocation == t.invocation })
		ofCompleted, ofNothing = ofCompleted || known, ofNothing || !known
	}
	return ifTrue(ofCompleted && ofNothing, "only one of the two was tried")
}

// payloadInvalidKeepsRecord: a payload that does not fit ran nothing and left the record waiting.
func payloadInvalidKeepsRecord(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return t.category == core.SuspensionPayloadInvalid }
	return each(ts, "payload that does not fit", meant, func(t *turn) error {
		return ifTrue(len(t.ran()) == 0 && t.count("consume") == 0 && (w.stores.Pauses == nil || t.waits != nil), "something was consumed or run")
	})
}

// atomicPause: record and session are both stored, or neither.
func atomicPause(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return suspended(t) || t.category == core.SuspensionPersistenceFailed }
	return each(ts, "pause", meant, func(t *turn) error {
		if suspended(t) {
			return ifTrue((w.stores.Pauses == nil || t.waits != nil) && (t.session == "" || w.stores.Sessions == nil || t.after != nil),
				"one of the two is missing")
		}
		res := w.graph.Invoke(w.ctx, w.stores, graph.Invocation{Resume: t.invocation})
		return ifTrue(t.waits == nil && core.CategoryOf(res.Err) == core.SuspensionRecordInvalid, "it can be resumed though it failed")
	})
}

func unsupportedContext(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "failed turn", errored, func(t *turn) error {
		return ifTrue(t.category == core.SuspensionUnsupportedContext, "it came to %s", t.category)
	})
}
