package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// topics are for names that no rule knows or whose rules found nothing to look at: what the name speaks of is told by a word of it.
// Every predicate here is true of any right run, whatever else the name may claim; those that find nothing are passed over.
var topics = []rule{
	// the answer to an error
	named(`redact|diagnos|upstream|underlying|error_message|detail|invit|adjust|template|framing|wording|bucket|customiz|reply|outbound|correct|resubmit|retry|swallow|section_10|maps_to`, repliesFit),
	named(`usable|health|corrupt|can_continue|not_terminat|surviv|intact|unaffected|sav|persist|unchanged|mutat|modif|written|untouched|touch|preserv|no_record|commit|added|advanc|terminat`, historyUnchanged),
	named(`no_record|nothing_|sav|persist|store`, savesSuppressed),
	named(`retr(y|ie)`, notRetried),
	named(`cause|exception|categor|mask|surfac`, causeKept),

	// what must not happen
	named(`load|store|before|unresolved|touch`, validatedFirst),
	named(`proceed|invo(ke|cation)_|reach|call|start|run`, nodesNeverRan),
	named(`partial|not_applied|chain|path|bfs|migrat`, nothingMigratedInVain),
	named(`store\w*_not_`, storeUntouched),
	named(`inert|without_(a_)?store|no_store`, inertWithoutStore),
	named(`direct|touch|store|engine_only`, storeIsTheEngines),

	// the way in
	named(`(section_|path_|_)3_0`, onPath(chat.PathStateless)),
	named(`(section_|path_|_)3_1`, onPath(chat.PathNew)),
	named(`(section_|path_|_)3_2`, onPath(chat.PathExisting)),
	named(`(section_|path_|_)3_3`, onPath(chat.PathSignal)),
	named(`dispatch|path|classif|intent|mode|resolution|fallback`, pathsFollow),
	named(`mint|session_id|resolved`, sessionFromPayload),
	named(`session_id|ambient|propagat|thread|inert`, sessionKnown),
	named(`independ|defaults|state_carri|leak|stateless`, statelessTurnsAlike),
	named(`across|observes|load|carri|resum|accumul|prior|previous|first|continuity`, loadsWhatWasSaved),
	named(`load|merge|before`, loadBeforeNodes),

	// signals
	named(`send|message|poll|asynchron`, listenersOnce),
	named(`route|map|lookup|reach|resolv|paused_invocation|signal|dispatch`, signalsCorrelated),
	named(`steps|acknowledg|handled|5_3|route|register`, both(suspensionsSubscribed, notBlocked)),
	named(`immediate|return|control|wait|block`, notBlocked),
	named(`_again(_|$)|not_in_completed`, resumeReruns),
	named(`edge|condition|payload|merge|visible|sees`, payloadOverlaid),
	named(`session|resum|same|inherit|consistent|identity`, idsKept),
	named(`validat|schema|type|reject`, payloadInvalidKeepsRecord),
	named(`checkpoint|record|position|distin|backend|persist|paused`, pausePersisted),
	named(`event|phase|emit|attempt|started|exactly_one`, eventPairs),
	named(`migrat|chain|bfs|path`, migratedInOrder),

	// what is said
	named(`order|filter|drop|surfac|role|sequence|regardless|tail|intermediate|repl(y|ies)|new_messages`, tails),
	named(`translat|mirror|shape|llm_provider|content|block|flatten|verbatim|accepted|mixed`, userMessageStored),
	named(`history|thread|append`, historyGrows),
	named(`suspen|pause`, suspendedOutcome),
	named(`outcome|variant|complet|normal|succe`, outcomesWhole),
}

// repliesFit: what a failed turn says to a person or a transport fits its bucket: the words or flags of the bucket, and what is wrong
// where it can be corrected.
func repliesFit(w *world, ts []*turn, arg *doc) error {
	meant := func(t *turn) bool { return errored(t) && (t.reply != nil || t.response != nil) }
	err := each(ts, "failed turn that was answered", meant, func(t *turn) error {
		if t.reply == nil {
			return nil
		}
		r := chat.DefaultReplies
		framing := map[core.Bucket]string{
			core.SessionTerminating: r.Terminating, core.RetryableTransient: r.Transient, core.UserCorrectable: r.Correctable,
		}[t.bucket]
		for _, part := range strings.Split(framing, "{diagnostic}") {
			if !strings.Contains(t.reply.Content.String(), part) {
				return fmt.Errorf("the reply %q does not say %q", t.reply.Content.String(), part)
			}
		}
		return nil
	})
	for _, p := range []predicate{routed, replyIsSystem, outboundFlags, outboundShapes, diagnosticShown} {
		if err == nil {
			err = ifAny(p(w, ts, arg))
		}
	}
	return err
}

// ifAny passes over a predicate that found nothing to look at.
func ifAny(err error) error {
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// savesSuppressed: without auto-save, what is stored is what was stored before, unless a node saved explicitly.
func savesSuppressed(w *world, ts []*turn, arg *doc) error {
	if peek(w.c, "auto_save").flag(true) {
		return nothing("graph without auto-save")
	}
	return each(ts, "completed turn", completed, func(t *turn) error {
		return ifTrue(t.count("save") == 0 && (t.count("explicit save") > 0 || reflect.DeepEqual(t.before, t.after)), "something was saved")
	})
}

// causeKept: a failure that wraps another error still holds it.
func causeKept(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool {
		c := carrierOf(t.err)
		return errored(t) && (c == core.NodeException || c == core.MigrationFailed || c == core.ReducerError || c == core.EdgeException)
	}
	return each(ts, "failure with a cause", meant, func(t *turn) error {
		var g *graph.Error
		var m *graph.MigrationError
		return ifTrue(errors.As(t.err, &g) && g.Err != nil || errors.As(t.err, &m) && m.Err != nil, "its cause is lost")
	})
}

// nothingMigratedInVain: where there is no way to the graph's version, no migration runs.
func nothingMigratedInVain(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool {
		return t.category == core.MigrationMissing || t.category == core.MigrationChainAmbiguous
	}
	return each(ts, "turn that could not be migrated", meant, func(*turn) error {
		return ifTrue(len(w.migrated) == 0, "these migrations ran: %v", w.migrated)
	})
}

func inertWithoutStore(w *world, ts []*turn, _ *doc) error {
	if w.stores.Sessions != nil {
		return nothing("world without a store")
	}
	return each(ts, "turn", completed, func(t *turn) error {
		return ifTrue(t.count(sessionCalls...) == 0 && t.after == nil, "something was stored")
	})
}

// storeIsTheEngines: a harness does not use the session store itself (harness §8.1): there is a load for each invocation, at most
// one save, and nothing else.
func storeIsTheEngines(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn of a harness", func(t *turn) bool { return t.kind != "invocation" && t.session != "" }, func(t *turn) error {
		n := len(t.invoked)
		return ifTrue(t.count("load") <= n && t.count("save") <= n && t.count("delete", "list") == 0, "the store was called otherwise: %v", t.entries)
	})
}

// pathsFollow: each invocation is what its path asks for.
func pathsFollow(w *world, ts []*turn, arg *doc) error {
	return each(ts, "turn with a path", func(t *turn) bool { return t.path != "" }, func(t *turn) error {
		return onPath(t.path)(w, []*turn{t}, arg)
	})
}

// sessionKnown: the invocation is bound to the session that it was given, and who observes it can tell.
func sessionKnown(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return wasInvoked(t) && t.invoked[0].Invocation.Session != "" }
	return each(ts, "turn with a session", meant, func(t *turn) error {
		for _, h := range t.heard {
			if h.session != t.result().Session {
				return fmt.Errorf("an observer was told of session %q", h.session)
			}
		}
		return ifTrue(t.result().Session == t.invoked[0].Invocation.Session, "the engine worked with %q", t.result().Session)
	})
}

// statelessTurnsAlike: turns without a session all begin with the same state.
func statelessTurnsAlike(w *world, ts []*turn, _ *doc) error {
	var first *turn
	meant := func(t *turn) bool { return wasInvoked(t) && t.session == "" && t.signal == nil && completed(t) }
	return each(ts, "turn without a session", meant, func(t *turn) error {
		if first == nil {
			first = t
		}
		d := w.match.diff(stateFields(first.result().Entry.State), stateFields(t.result().Entry.State), false)
		return ifTrue(d == "" && !t.result().Entry.Found, "it began otherwise: %s", d)
	})
}

// eventPairs: each attempt that an observer of all phases heard of has one started event and then one that ends it.
func eventPairs(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return heardOf(t) && t.drained.Undelivered == 0 }
	return each(ts, "turn that was heard of", meant, func(t *turn) error {
		byObserver := map[string][]graph.Event{}
		for _, h := range t.heard {
			byObserver[h.observer] = append(byObserver[h.observer], h.event)
		}
		for name, events := range byObserver {
			if len(events) != 2*len(t.ran()) {
				continue // it has not subscribed to all phases
			}
			for i := 0; i+1 < len(events); i += 2 {
				a, b := events[i], events[i+1]
				if a.Phase != graph.PhaseStarted || b.Phase == graph.PhaseStarted || a.Node != b.Node || a.Step != b.Step {
					return fmt.Errorf("observer %q heard %s of %q and then %s of %q", name, a.Phase, a.Node, b.Phase, b.Node)
				}
			}
		}
		return nil
	})
}
