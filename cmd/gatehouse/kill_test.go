package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/failpoints"
)

// TestLaw2_KilledBetweenQuestionAndAnswer is the main case: a message suspends its turn, kill -9, a new process, an
// approval from the command line; the result is one reply and one note.
func TestLaw2_KilledBetweenQuestionAndAnswer(t *testing.T) { onEachEngine(t, killedBetween) }

func killedBetween(t *testing.T, e engine) {
	w := e.workbench(t)
	first := w.start(nil, "chat")
	first.typeLine("note add milk")
	w.until("the card", first, func() bool { return strings.Contains(first.out.String(), "answer y") })
	first.kill()
	asked := w.approvals(core.Open)
	if len(asked) != 1 {
		t.Fatalf("open approvals: %+v", asked)
	}

	second := w.start(nil, "chat")
	w.until("what is open", second, func() bool { return strings.Contains(second.out.String(), "1 approval is open") })
	w.start(nil, "approvals", "approve", string(asked[0].ID)).ok(t)
	w.until("the reply", second, func() bool { return strings.Contains(second.out.String(), "Done: “milk”") })
	w.until("the end", second, w.settled)
	second.ok(t)
	w.wantOneNote("")
	if log, err := w.store.AuditLog(t.Context(), 0, 100); err != nil || len(log) == 0 ||
		!slices.ContainsFunc(log, func(e audit.Entry) bool {
			return e.Actor == "local-admin"
		}) {
		t.Errorf("the audit log does not name local-admin: %+v, %v", log, err)
	}
}

// wantOneNote checks what must hold after a kill at any point: one signal, ended once, one reply; and one note or, if
// the process was killed between intent and result, at most one note and a reply that the outcome is unknown. point is
// where the process was killed.
func (w *workbench) wantOneNote(point string) {
	w.t.Helper()
	reply, intent := w.endedOnce(point)
	notes := w.notes()
	if intent.Result.Category == core.OutcomeUnknown {
		if slices.Contains(mustBeKnown, point) {
			w.t.Errorf("%s: the outcome is reported as unknown, though it is known", point)
		}
		if len(notes) > 1 || !strings.Contains(reply, "unknown") {
			w.t.Errorf("%s: notes %q, reply %q", point, notes, reply)
		}
		return
	}
	if slices.Contains(mustBeUnknown, point) {
		w.t.Errorf("%s: only the intent was committed, and the reported outcome is %+v", point, *intent.Result)
	}
	if len(notes) != 1 || !strings.Contains(reply, "Done: “milk”") {
		w.t.Errorf("%s: notes %q, reply %q", point, notes, reply)
	}
}

// endedOnce checks that there is one signal, ended once, with one reply, and that the audit log is whole. It gives the
// reply, and the call's intent with its result.
func (w *workbench) endedOnce(point string) (reply string, intent *core.IntentRecord) {
	w.t.Helper()
	var signals []core.EventRecord
	for _, e := range w.events(core.EventFilter{}) {
		if e.Kind() == core.KindSignal {
			signals = append(signals, e)
		}
		if e.EndedAt.IsZero() || e.End.Kind == core.EndDead || e.End.Kind == core.EndErrored {
			w.t.Errorf("%s: event %d ended as %+v", point, e.Seq, e.End)
		}
	}
	if len(signals) != 1 {
		w.t.Fatalf("%s: %d signals, want 1", point, len(signals))
	}
	if r := verified(w.t, w.store, w.store.Signer(), ""); len(r.Faults) > 0 {
		w.t.Errorf("%s: the audit log: %q", point, r.Faults)
	}
	replies := w.replies(signals[0].Seq)
	if len(replies) != 1 {
		w.t.Fatalf("%s: post-resume replies %q, want one", point, replies)
	}
	intent, err := w.store.LoadIntent(w.t.Context(), w.approvals()[0].ID)
	if err != nil || intent == nil || intent.Result == nil {
		w.t.Fatalf("%s: intent %+v, %v", point, intent, err)
	}
	return replies[0], intent
}

// These are points of the turn's own goroutine. At those of mustBeUnknown only the intent is committed; at those of
// mustBeKnown there is no intent yet, or its result is committed too. At points of other goroutines the turn may be
// anywhere.
var (
	mustBeUnknown = []string{"BeginIntent.after", "AddNote.before", "AddNote.after", "FinishIntent.before"}
	mustBeKnown   = []string{
		"LoadPaused.before", "LoadPaused.after", "BeginIntent.before", "FinishIntent.after", "SaveSession.before",
		"SaveSession.after", "Finish.before", "Finish.after",
	}
)

// The phases of the scenario in which a process is killed.
const (
	asking    = "asking"    // during the turn of the message
	approving = "approving" // the command line, during the decision
	resuming  = "resuming"  // during the turn of the signal
)

// end, as the point of a phase, ends the scenario after that phase.
const end = "end"

// scenario runs a whole approval. One process is killed at the n-th pass of a point in one phase ("" = none), or the
// points of each phase are recorded. A database on which phases have already run continues with the next one.
func (w *workbench) scenario(phase, point string, nth int, record string) {
	w.t.Helper()
	arm := func(now string) []string {
		var env []string
		if now == phase && point != "" {
			env = append(env, killKey+"="+point, fmt.Sprintf("%s=%d", nthKey, nth))
		}
		if record != "" {
			env = append(env, recordKey+"="+filepath.Join(record, now))
		}
		return env
	}
	open := func() bool { return len(w.approvals(core.Open)) == 1 && w.settled() }

	if len(w.approvals()) == 0 {
		c := w.start(arm(asking), "chat")
		c.typeLine(cmp.Or(w.asks, "note add milk"))
		w.until("the question", c, func() bool { return c.gone() || open() })
		c.kill()
		if !open() {
			c = w.start(nil, "chat")
			if len(w.events(core.EventFilter{})) == 0 { // it was never stored, so it was never acknowledged
				c.typeLine(cmp.Or(w.asks, "note add milk"))
			}
			w.until("the question after the kill", c, open)
			c.kill()
		}
	}
	if phase == asking && point == end {
		return
	}

	if asked := w.approvals(core.Open); len(asked) == 1 {
		w.start(arm(approving), "approvals", "approve", string(asked[0].ID)).quit(w.t)
		if len(w.approvals(core.Open)) == 1 {
			w.start(nil, "approvals", "approve", string(asked[0].ID)).ok(w.t)
		}
	}
	if phase == approving && point == end {
		return
	}

	c := w.start(arm(resuming), "chat")
	w.until("the answer", c, func() bool { return c.gone() || w.settled() })
	if c.gone() {
		c = w.start(nil, "chat")
		w.until("the answer after the kill", c, w.settled)
	}
	if c.quit(w.t); c.cmd.ProcessState.ExitCode() != 0 { // it killed itself while it was stopping
		w.start(nil, "chat").ok(w.t)
	}
	if w.holds != nil {
		w.holds(point)
		return
	}
	w.wantOneNote(point)
}

// TestLaw2_KilledAtEveryPoint kills a real process before and after every store call, in every phase of an approval.
// Each step of the executor is such a call. On Postgres, unless it is wide, only at those that the scenario must pass.
func TestLaw2_KilledAtEveryPoint(t *testing.T) { onEachEngine(t, killedAtEveryPoint) }

func killedAtEveryPoint(t *testing.T, e engine) {
	record := t.TempDir()
	e.workbench(t).scenario("", "", 0, record)
	engines := map[string]engine{asking: e, approving: e, resuming: e}
	if e.copyOf != nil { // the phases before are the same for all points
		w := e.workbench(t)
		w.scenario(asking, end, 0, "")
		engines[approving] = e.startingWith(t, w.url)
		w.scenario(approving, end, 0, "")
		engines[resuming] = e.startingWith(t, w.url)
	}
	for _, phase := range []string{asking, approving, resuming} {
		text, err := os.ReadFile(filepath.Join(record, phase))
		noErr(t, err)
		passed := map[string]int{}
		for _, p := range lines(string(text)) {
			passed[p]++
		}
		for _, p := range failpoints.All() {
			if passed[p] == 0 || e.env != nil && !wide(true, mustPass(phase, p)) {
				continue
			}
			for nth := 1; nth <= min(passed[p], wide(2, 1)); nth++ {
				t.Run(fmt.Sprintf("%s/%s/%d", phase, p, nth), func(t *testing.T) {
					t.Parallel()
					engines[phase].workbench(t).scenario(phase, p, nth, "")
				})
			}
		}
		for _, p := range must[phase] {
			if !slices.ContainsFunc(strings.Split(p, "|"), func(p string) bool { return passed[p] > 0 }) {
				t.Errorf("%s never passes %s, so the test proves nothing", phase, p)
			}
		}
	}
}

// must are the points that a scenario has to pass, by phase; of those with a | between them, one. A message that comes
// before the dispatcher runs is not claimed as it is accepted.
var must = map[string][]string{
	asking: {
		"Accept.before|AcceptClaim.before", "Accept.after|AcceptClaim.after", "Claim.after|AcceptClaim.after",
		"LoadSession.after|AcceptClaim.after", "Finish.before", "Finish.after", "ClaimPosts.after", "SavePost.before",
		"SavePost.after", "ReleasePost.before", "ReleasePost.after",
	},
	approving: {"Decide.before", "Decide.after"},
	resuming: {
		"Claim.after", "LoadPaused.after", "LoadApproval.after", "BeginIntent.before", "BeginIntent.after",
		"AddNote.before", "AddNote.after",
		"FinishIntent.before", "FinishIntent.after", "SaveSession.before", "SaveSession.after", "Finish.before",
		"Finish.after", "ReleasePost.before", "ReleasePost.after",
	},
}

// mustPass reports whether a point is one of those of a phase.
func mustPass(phase, point string) bool {
	return slices.ContainsFunc(must[phase], func(points string) bool {
		return slices.Contains(strings.Split(points, "|"), point)
	})
}
