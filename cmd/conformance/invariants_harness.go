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

func transmitted(t *turn) bool { return t.kind == "transmission" }

func wasInvoked(t *turn) bool { return len(t.invoked) > 0 }

func (t *turn) givenSession() string {
	if id := t.d.get("payload").get("session_id"); id != nil {
		return id.text()
	}
	return t.d.get("session_id").text()
}

func sessionMinted(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return transmitted(t) && t.path == chat.PathNew && t.givenSession() == "" }
	return each(ts, "new session without an id", meant, func(t *turn) error {
		return ifTrue(wasInvoked(t) && t.invoked[0].Invocation.Session != "", "no id was made")
	})
}

func sessionFromPayload(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool {
		return transmitted(t) && t.givenSession() != "" && wasInvoked(t) && t.path != chat.PathStateless
	}
	return each(ts, "transmission that names its session", meant, func(t *turn) error {
		return ifTrue(string(t.invoked[0].Invocation.Session) == t.givenSession(), "it was invoked with %q", t.invoked[0].Invocation.Session)
	})
}

func withoutSession(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "stateless turn", func(t *turn) bool { return wasInvoked(t) && t.session == "" }, func(t *turn) error {
		return ifTrue(t.invoked[0].Invocation.Session == "" && t.result().Session == "", "it was invoked with a session")
	})
}

// sessionThreaded: the engine got the session's id and worked with it.
func sessionThreaded(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return wasInvoked(t) && t.invoked[0].Invocation.Session != "" }
	return each(ts, "turn with a session", meant, func(t *turn) error {
		loaded := w.stores.Sessions == nil || t.count("load") > 0
		return ifTrue(t.result().Session == t.invoked[0].Invocation.Session && loaded, "the engine worked with %q", t.result().Session)
	})
}

func resuming(t *turn) bool {
	return t.signal != nil && wasInvoked(t) && t.invoked[0].Invocation.Resume != ""
}

func payloadThreaded(w *world, ts []*turn, arg *doc) error {
	meant := func(t *turn) bool { // a payload that does not fit came through as well
		return resuming(t) && t.category != core.SuspensionRecordInvalid && t.category != core.SuspensionPayloadInvalid
	}
	return each(ts, "resume", meant, func(t *turn) error {
		d := w.match.diff(plain(t.signal.Payload), plain(t.invoked[0].Invocation.Payload), false)
		return ifTrue(d == "" && !errored(t), "the payload: %s (%v)", d, t.err)
	})
}

func notRetried(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "failed turn", errored, func(t *turn) error {
		return ifTrue(len(t.invoked) <= 1, "the graph was invoked %d times", len(t.invoked))
	})
}

var flags = map[core.Bucket]string{
	core.SessionTerminating: "intervention_required", core.RetryableTransient: "retry_safe", core.UserCorrectable: "user_action_required",
}

// outboundFlags: an error's answer says what can be done about it.
func outboundFlags(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return errored(t) && t.response != nil }
	return each(ts, "failed transmission", meant, func(t *turn) error {
		return ifTrue(t.response.Body[flags[t.bucket]] == true, "the answer is %s", show(plain(t.response.Body)))
	})
}

// outboundShapes: each of the three ends has its own shape.
func outboundShapes(_ *world, ts []*turn, _ *doc) error {
	shapes := map[graph.Status]chat.Shape{
		graph.Completed: chat.CompletionResponse, graph.Errored: chat.ErrorResponse, graph.Suspended: chat.SuspendedAck,
	}
	return each(ts, "transmission", transmitted, func(t *turn) error {
		return ifTrue(t.response.Shape == shapes[t.status], "a turn that is %s is answered by %s", t.status, t.response.Shape)
	})
}

// routed: the category of each failure is the one to report, and its bucket the one of the table. A bucket that the name speaks of
// is that of a failure, and of every failure whose category the name speaks of too.
func routed(_ *world, ts []*turn, arg *doc) error {
	want, not := bucketsOfName(arg.path)
	seen := false
	for _, t := range ts {
		seen = seen || errored(t) && slices.Contains(want, t.bucket)
	}
	return each(ts, "failed turn", errored, func(t *turn) error {
		if t.category != core.CategoryOf(t.err) || t.category == "" {
			return errors.New("the category is not the error's")
		}
		if t.bucket != core.BucketOf(t.category) {
			return errors.New("the bucket is not the category's")
		}
		meant := !seen || strings.Contains(arg.path, string(t.category))
		if meant && (len(want) > 0 && !slices.Contains(want, t.bucket) || slices.Contains(not, t.bucket)) {
			return fmt.Errorf("the bucket is %s", t.bucket)
		}
		return nil
	})
}

func categoryNot(_ *world, ts []*turn, arg *doc) error {
	return each(ts, "failed turn", errored, func(t *turn) error {
		for _, c := range arg.items() {
			if string(t.category) == c.text() {
				return errors.New("it is " + c.text())
			}
		}
		return nil
	})
}

func suspensionsSubscribed(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return suspended(t) && t.kind != "invocation" } // who invokes a graph registers nothing
	return each(ts, "suspended turn of a harness", meant, func(t *turn) error {
		if t.newSubs != 1 {
			return errors.New("nothing was registered")
		}
		rec, _ := w.spy.mem.BySignal(w.ctx, t.descriptor.SignalID)
		return ifTrue(t.waits != nil || rec != nil, "no record waits for it")
	})
}

func signalsCorrelated(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return t.signal != nil && t.waited != nil }
	return each(ts, "signal that something waits for", meant, func(t *turn) error {
		return ifTrue(resuming(t) && t.invoked[0].Invocation.Resume == t.waited.Invocation, "another invocation was resumed")
	})
}

func correlationFails(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return t.signal != nil && t.waited == nil && t.kind != "invocation" }
	return each(ts, "signal that nothing waits for", meant, func(t *turn) error {
		ok := t.category == core.HarnessCorrelationFailed || t.signal.Invocation != "" && t.category == core.SuspensionRecordInvalid
		return ifTrue(ok && len(t.ran()) == 0, "it came to %s", t.category)
	})
}
