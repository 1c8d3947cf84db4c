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
	"gatehouse/core/llm"
)

// These tests check the evidence that the program stores of its turns, with the commands turns show --evidence,
// join-check and mutation-check. Section numbers are those of the typestate specification.

// The verdicts on a whole turn (§5); "" = accepted.
const (
	closed = ""
	// open: the call that waits has no result (§11: "a suspended turn is evidence including the gated request, no
	// result").
	open = "tool.join_incomplete tool.result_missing"
)

// rowClasses are the failure classes of §5 for a closed turn in which one row of a kind is missing:
//
//   - a request: its result has no request (orphanResult = Res-Req), and the join is open;
//   - a result: its request has no result (Req-Res), its use has no result (Use-Res), and the join is open. No rule
//     judges its render: missingRender = Res-Ren;
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

// TestEvidenceOfTheDemosTurns checks the evidence of the demo's turns. A turn that has ended is closed, whatever the
// result of its call: a failure of any kind is a result with its typed envelope, given to the model (§11). A turn that
// waits is open, and so is one whose process died: the result of its call is not known yet.
func TestEvidenceOfTheDemosTurns(t *testing.T) {
	for _, c := range []struct {
		name         string
		play         func(w *workbench)
		status, code string // of the result of the call
	}{
		// A read-only call runs at once; its result is consumed.
		{"read tool", func(w *workbench) { w.chat("calc 2+3*4") }, "ok", ""},
		// The executor ran the call after its gate.
		{"approved note", func(w *workbench) {
			w.chat("note add milk")
			w.wantVerdict("waits", open)
			w.chat("/status", "y")
		}, "ok", ""},
		// A refusal and an expiry are results with the status error (§11) that must not be retried.
		{"refused note", func(w *workbench) {
			w.chat("note add milk")
			w.wantVerdict("waits", open)
			w.chat("/status", "n too early")
		}, "error", "approval_denied"},
		{"expired note", func(w *workbench) {
			w.t.Setenv("GATEHOUSE_APPROVAL_TIMEOUT", "1h")
			w.chat("note add milk")
			w.wantVerdict("waits", open)
			w.chatLater(2 * time.Hour)
			w.wantVerdict("expired and taken up", closed)
		}, "error", "approval_expired"},
		// Killed between intent and result: until the turn is resumed its evidence is that of the pause, a request
		// without a result. Then the call gets a typed error row and is not run again (§11).
		{"unknown outcome, and it was done", func(w *workbench) {
			w.killAndResume("AddNote.after", 1)
		}, "error", "outcome_unknown"},
		{"unknown outcome, and it was not", func(w *workbench) {
			w.killAndResume("BeginIntent.after", 0)
		}, "error", "outcome_unknown"},
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

// A turn without calls is closed. Its context is not in scope, because no result was consumed and the model is not
// called again (§5). So the rows of the context may be missing.
func TestEvidenceOfATurnWithoutCalls(t *testing.T) {
	w := newProg(t)
	w.chat("hello")
	evidence := w.evidence()
	if got := w.judge(evidence); got != closed {
		t.Fatalf("rejected: %s", got)
	}
	if got := lists(t, evidence); !maps.Equal(got,
		map[string]int{"reminderQueue": 1, "stateViews": 1, "sessionRefs": 1, "trajectoryRefs": 1}) {
		t.Errorf("lists %v", got)
	}
	for _, kind := range []string{"reminderQueue", "stateViews"} {
		if got := w.judge(without(t, evidence, kind, 0)); got != closed {
			t.Errorf("without its %s: %q", kind, got)
		}
	}
}

// The call spec and the protocol state are required objects: without one of them there is no verdict (§1).
func TestEvidenceWithoutItsFrame(t *testing.T) {
	w := newProg(t)
	w.chat("calc 1+1")
	for _, key := range []string{"callSpec", "protocolState"} {
		var in map[string]map[string]json.RawMessage
		noErr(t, json.Unmarshal(w.evidence(), &in))
		delete(in["evidence"], key)
		text, err := json.Marshal(in)
		noErr(t, err)
		file := filepath.Join(t.TempDir(), "input.json")
		noErr(t, os.WriteFile(file, text, 0o600))
		if code, out, _ := w.prog(nil, "join-check", "--input", file, "--json"); code != cli.ExitUsage || out != "" {
			t.Errorf("without %s it ended with %d and printed %s", key, code, out)
		}
	}
}

// batchModel is a model that returns these batches of calls one after the other, and then ends.
type batchModel struct {
	answers [][]core.ToolCall
	given   atomic.Int32
}

func (s *batchModel) Next(context.Context, core.History, json.RawMessage) (agent.Answer, error) {
	n := int(s.given.Add(1)) - 1
	if n >= len(s.answers) {
		return agent.Answer{Message: core.Message{Content: core.Text("That is all.")}, Finish: llm.FinishStop}, nil
	}
	return agent.Answer{Message: core.Message{ToolCalls: s.answers[n]}, Finish: llm.FinishCalls}, nil
}

// cutModel is a model whose answer ends in the middle of a call.
type cutModel struct{ why llm.Finish }

func (s cutModel) Next(context.Context, core.History, json.RawMessage) (agent.Answer, error) {
	call := core.ToolCall{ID: "c1", Name: "note.add", Arguments: json.RawMessage(`{"text":"give away all"}`)}
	return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{call}}, Finish: s.why}, nil
}

// The calls of an incomplete answer are not run. The stop reason max_tokens is known to the protocol, and its call has
// a typed error row; a refusal is not mapped, so that it fails closed (§11).
func TestEvidenceOfAnswersThatWereCut(t *testing.T) {
	for why, want := range map[llm.Finish]struct{ text, classes string }{
		llm.FinishLength: {"was too long and was cut off", closed},
		llm.FinishFilter: {"declined to answer", "protocol.stop_reason_unhandled"},
	} {
		useModel(t, cutModel{why})
		w := newProg(t)
		if out := w.chat("give away half"); !strings.Contains(out, want.text) || len(w.approvals()) != 0 {
			t.Errorf("%s: the person reads %q, approvals %v", why, out, w.approvals())
		}
		w.wantVerdict(string(why), want.classes)
		status, code, retryable := oneResult(t, w.evidence())
		if status != "error" || code == "" || retryable != false {
			t.Errorf("%s: the result is %s %s, retryable %v", why, status, code, retryable)
		}
	}
}

// Evidence is masked before it is stored: the error of a failed call repeats its argument, with anything like a secret
// masked.
func TestLaw8_EvidenceIsKeptMasked(t *testing.T) {
	const secret = "sk-0123456789abcdef0123456789abcdef"
	w := newProg(t)
	w.chat("calc " + secret + " + 1 $")
	evidence := w.evidence()
	if strings.Contains(string(evidence), secret) ||
		!strings.Contains(string(evidence), `\"•••••• (35 characters hidden) + 1 $\" is not an arithmetic expression`) {
		t.Errorf("the evidence is not masked:\n%s", evidence)
	}
	w.wantVerdict("is masked", closed)
	w.everyRowIsNeeded(evidence, 1)
}

// Every call of a turn has its rows, and each missing row is noticed, whatever other calls there are.
func TestEvidenceOfTurnsWithSeveralCalls(t *testing.T) {
	call := func(n int, name, args string) core.ToolCall {
		return core.ToolCall{ID: fmt.Sprint("c", n), Name: name, Arguments: json.RawMessage(args)}
	}
	read, milk, tea := call(1, "demo.calc", `{"expression":"1+1"}`), call(2, "note.add", `{"text":"milk"}`),
		call(3, "note.add", `{"text":"tea"}`)
	list := call(4, "note.list", `{}`)
	again := func(c core.ToolCall) core.ToolCall { c.ID = read.ID; return c }
	for _, c := range []struct {
		name    string
		asks    [][]core.ToolCall // the calls of each answer
		answers []string
		notes   []string
	}{
		{"read, approved change, read", [][]core.ToolCall{{read, milk, list}}, []string{"y"}, []string{"milk"}},
		{
			"the same in three answers, with ids used again", [][]core.ToolCall{{read}, {again(milk)}, {again(list)}},
			[]string{"y"}, []string{"milk"},
		},
		{"two approved changes", [][]core.ToolCall{{milk, tea}}, []string{"y", "y"}, []string{"milk", "tea"}},
		{
			"two approved changes, one after the other", [][]core.ToolCall{{milk}, {tea}}, []string{"y", "y"},
			[]string{"milk", "tea"},
		},
		{"an approved change and a refused one", [][]core.ToolCall{{milk, tea}}, []string{"y", "n"}, []string{"milk"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			useModel(t, &batchModel{answers: c.asks})
			w := newProg(t)
			w.chat("go")
			for _, answer := range c.answers {
				if got := w.judge(w.evidence()); got != open {
					t.Errorf("while it is waiting: %q, want %q", got, open)
				}
				w.chat("/status", answer)
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
