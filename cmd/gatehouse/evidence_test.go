package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/agent"
)

// These tests ask what the program keeps of its turns by the commands that anybody has: turns show --evidence, join-check and
// mutation-check. Section numbers are those of the typestate digest.

// The verdicts that the digest gives for a turn as a whole (§5); "" is accepted.
const (
	closed = ""
	// open: the call that waits has no result (§11: "a suspended turn is evidence including the gated request, no result").
	open = "tool.join_incomplete tool.result_missing"
)

// rowClasses are the classes of §5 for a closed turn that lacks one row of a kind:
//
//   - a request: its result answers nothing (orphanResult = Res-Req), and the join is open;
//   - a result: its request is unanswered (Req-Res), its use names nothing (Use-Res), and the join is open. Its render is judged
//     by no rule: missingRender = Res-Ren;
//   - a use: its result was never used (missingUse = Res-Use), and the join is open;
//   - a render: missingRender is not empty while the context is in scope, as it is once a result was consumed;
//   - the queue's: no queue row, context in scope;
//   - the view's: no state view, context in scope. The class is the render's: §10.9.
var rowClasses = map[string]string{
	"toolRequests":  "tool.join_incomplete tool.result_orphan",
	"toolResults":   "tool.join_incomplete tool.result_missing tool.use_without_result",
	"toolUse":       "tool.join_incomplete tool.use_missing",
	"toolRender":    "context.injection_point_missing",
	"reminderQueue": "context.queue_policy_violation",
	"stateViews":    "context.injection_point_missing",
}

// TestEvidenceOfTheDemosTurns is the five turns of the demo, told by what they leave behind. Whatever came of a call, a turn that
// came to its end has told it: a failure of any kind is a result with its typed envelope, fed to the model (§11), so the turn is
// closed. What is open is a turn that waits, or one whose process died: nobody knows yet what became of the call.
func TestEvidenceOfTheDemosTurns(t *testing.T) {
	for _, c := range []struct {
		name         string
		play         func(w *workbench)
		status, code string // of the call's result
	}{
		// A read runs at once: one call, answered and consumed.
		{"read tool", func(w *workbench) { w.chat("calc 2+3*4") }, "ok", ""},
		// The executor ran it after its gate: a result like any other.
		{"approved note", func(w *workbench) {
			w.chat("note add milk")
			w.wantVerdict("waits", open)
			w.chat("y")
		}, "ok", ""},
		// A refusal and an expiry are results of the status error (§11), and not to be tried again.
		{"refused note", func(w *workbench) {
			w.chat("note add milk")
			w.wantVerdict("waits", open)
			w.chat("n too early")
		}, "error", "approval_refused"},
		{"expired note", func(w *workbench) {
			w.t.Setenv("GATEHOUSE_APPROVAL_TIMEOUT", "1h")
			w.chat("note add milk")
			w.wantVerdict("waits", open)
			w.chatLater(2 * time.Hour)
			w.wantVerdict("expired and taken up", closed)
		}, "error", "approval_expired"},
		// Killed between intent and result: until somebody takes the turn up its evidence is that of the pause, a request without a
		// result; then the call gets a typed error row and is not run again (§11).
		{"unknown outcome, and it was done", func(w *workbench) { w.killAndResume("AddNote.after", 1) }, "error", "outcome_unknown"},
		{"unknown outcome, and it was not", func(w *workbench) { w.killAndResume("BeginIntent.after", 0) }, "error", "outcome_unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newProg(t)
			c.play(w)
			evidence := w.evidence()
			if got := w.judge(evidence); got != closed {
				t.Fatalf("rejected: %s\n%s", got, evidence)
			}
			status, code, retryable := oneResult(t, evidence)
			if status != c.status || code != c.code || status == "error" && retryable != false {
				t.Errorf("the result is %s %s, retryable %v; want %s %s", status, code, retryable, c.status, c.code)
			}
			w.everyRowIsNeeded(evidence, 1)
		})
	}
}

// A turn that called nothing is closed. Its context is not in scope, for no result was consumed and the model is not asked again
// (§5), so that nobody misses the rows of the context: there is nothing that they would be needed for.
func TestEvidenceOfATurnWithoutCalls(t *testing.T) {
	w := newProg(t)
	w.chat("hello")
	evidence := w.evidence()
	if got := w.judge(evidence); got != closed {
		t.Fatalf("rejected: %s", got)
	}
	if got := lists(t, evidence); !maps.Equal(got, map[string]int{"reminderQueue": 1, "stateViews": 1, "sessionRefs": 1, "trajectoryRefs": 1}) {
		t.Errorf("lists %v", got)
	}
	for _, kind := range []string{"reminderQueue", "stateViews"} {
		if got := w.judge(without(t, evidence, kind, 0)); got != closed {
			t.Errorf("without its %s: %q", kind, got)
		}
	}
}

// What a turn is bound to and how it ended are no rows but objects, and required: without one there is no verdict (§1).
func TestEvidenceWithoutItsFrame(t *testing.T) {
	w := newProg(t)
	w.chat("calc 1+1")
	for _, key := range []string{"callSpec", "protocolState"} {
		var in map[string]map[string]json.RawMessage
		if err := json.Unmarshal(w.evidence(), &in); err != nil {
			t.Fatal(err)
		}
		delete(in["evidence"], key)
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "input.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := w.prog(nil, "join-check", "--input", file, "--json"); code != cli.ExitUsage || out != "" {
			t.Errorf("without %s it ended with %d and printed %s", key, code, out)
		}
	}
}

// batchModel is a model that gives these answers one after the other, each a batch of calls, and then ends.
type batchModel struct {
	answers [][]core.ToolCall
	given   atomic.Int32
}

func (s *batchModel) Next(context.Context, core.History) (agent.Answer, error) {
	n := int(s.given.Add(1)) - 1
	if n >= len(s.answers) {
		return agent.Answer{Message: core.Message{Content: core.Text("That is all.")}, Stop: agent.StopEnd}, nil
	}
	return agent.Answer{Message: core.Message{ToolCalls: s.answers[n]}, Stop: agent.StopCalls}, nil
}

// cutModel is a model whose answer was cut in the middle of a call.
type cutModel struct{ why agent.Stop }

func (s cutModel) Next(context.Context, core.History) (agent.Answer, error) {
	call := core.ToolCall{ID: "c1", Name: "note_add", Arguments: json.RawMessage(`{"text":"give away all"}`)}
	return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{call}}, Stop: s.why}, nil
}

// An answer that is not whole is not acted upon. max_tokens is a reason that the protocol admits, and its call has a typed error row;
// a refusal is left unmapped, to fail closed (§11).
func TestEvidenceOfAnswersThatWereCut(t *testing.T) {
	for why, want := range map[agent.Stop]struct{ says, classes string }{
		agent.StopLength:  {"cut off at its length limit", closed},
		agent.StopRefused: {"declined to answer", "protocol.stop_reason_unhandled"},
	} {
		useModel(t, cutModel{why})
		w := newProg(t)
		if out := w.chat("give away half"); !strings.Contains(out, want.says) || len(w.approvals()) != 0 {
			t.Errorf("%s: the person reads %q, approvals %v", why, out, w.approvals())
		}
		w.wantVerdict(string(why), want.classes)
		status, code, retryable := oneResult(t, w.evidence())
		if status != "error" || code == "" || retryable != false {
			t.Errorf("%s: the result is %s %s, retryable %v", why, status, code, retryable)
		}
	}
}

// What is kept was masked before: the sentence of a failed call repeats what was asked for, but for what looks like a secret.
func TestLaw8_EvidenceIsKeptMasked(t *testing.T) {
	const secret = "sk-0123456789abcdef0123"
	w := newProg(t)
	w.chat("calc " + secret + " + 1 $")
	evidence := w.evidence()
	if strings.Contains(string(evidence), secret) || !strings.Contains(string(evidence), `\"•••••• + 1 $\" is not an arithmetic expression`) {
		t.Errorf("the evidence is not masked:\n%s", evidence)
	}
	w.wantVerdict("is masked", closed)
	w.everyRowIsNeeded(evidence, 1)
}

// Every call of a turn has its rows, whatever runs between them; each is missed as if it were alone.
func TestEvidenceOfTurnsWithSeveralCalls(t *testing.T) {
	call := func(n int, name, args string) core.ToolCall {
		return core.ToolCall{ID: fmt.Sprint("c", n), Name: name, Arguments: json.RawMessage(args)}
	}
	read, milk, tea := call(1, "calc", `{"expression":"1+1"}`), call(2, "note_add", `{"text":"milk"}`), call(3, "note_add", `{"text":"tea"}`)
	list := call(4, "note_list", `{}`)
	again := func(c core.ToolCall) core.ToolCall { c.ID = read.ID; return c }
	for _, c := range []struct {
		name    string
		asks    [][]core.ToolCall // each answer's calls
		answers []string
		notes   []string
	}{
		{"read, approved change, read", [][]core.ToolCall{{read, milk, list}}, []string{"y"}, []string{"milk"}},
		{"the same in three answers, with ids used again", [][]core.ToolCall{{read}, {again(milk)}, {again(list)}}, []string{"y"}, []string{"milk"}},
		{"two approved changes", [][]core.ToolCall{{milk, tea}}, []string{"y", "y"}, []string{"milk", "tea"}},
		{"two approved changes, one after the other", [][]core.ToolCall{{milk}, {tea}}, []string{"y", "y"}, []string{"milk", "tea"}},
		{"an approved change and a refused one", [][]core.ToolCall{{milk, tea}}, []string{"y", "n"}, []string{"milk"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			useModel(t, &batchModel{answers: c.asks})
			w := newProg(t)
			w.chat("go")
			for _, answer := range c.answers {
				if got := w.judge(w.evidence()); got != open {
					t.Errorf("while it waits: %q, want %q", got, open)
				}
				w.chat(answer)
			}
			if got := w.notes(); !slices.Equal(got, c.notes) {
				t.Errorf("notes %q", got)
			}
			evidence := w.evidence()
			if got := w.judge(evidence); got != closed {
				t.Fatalf("rejected: %s\n%s", got, evidence)
			}
			w.everyRowIsNeeded(evidence, len(slices.Concat(c.asks...)))
		})
	}
}
