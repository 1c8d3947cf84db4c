package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/agent"
)

// prog runs commands of the program in this process, on the workbench's database.
func (w *workbench) prog(stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, err bytes.Buffer
	code = run(w.t.Context(), args, cli.Stdio{In: stdin, Out: &out, Err: &err}, platforms)
	return code, out.String(), err.String()
}

// newProg makes a workbench whose database the commands in this process use too.
func newProg(t *testing.T) *workbench {
	t.Helper()
	w := newWorkbench(t)
	t.Setenv("GATEHOUSE_DATABASE_URL", w.url)
	return w
}

// chat runs gatehouse chat with lines from a pipe: each is a message or an answer to a card.
func (w *workbench) chat(lines ...string) string {
	w.t.Helper()
	code, out, err := w.prog(strings.NewReader(strings.Join(lines, "\n")+"\n"), "chat")
	if code != cli.ExitDone {
		w.t.Fatalf("chat ended with %d: %s%s", code, out, err)
	}
	return out
}

// evidence returns the evidence of turn 1, which is the only message in these tests.
func (w *workbench) evidence() []byte {
	w.t.Helper()
	code, out, err := w.prog(nil, "turns", "show", "1", "--evidence")
	if code != cli.ExitDone {
		w.t.Fatalf("turns show ended with %d: %s", code, err)
	}
	return []byte(out)
}

// judge returns the failure classes of join-check, joined by spaces; "" = accepted.
func (w *workbench) judge(evidence []byte) string {
	w.t.Helper()
	var v struct {
		Result         string
		FailureClasses []string
		JoinClosed     bool
	}
	w.check("join-check", evidence, &v)
	if accepted := v.Result == "accepted"; accepted != (len(v.FailureClasses) == 0) || v.JoinClosed != accepted {
		w.t.Errorf("the verdict contradicts itself: %+v", v)
	}
	return strings.Join(v.FailureClasses, " ")
}

// ready returns the failure classes of mutation-check for one more change after the evidence, under the policy in the
// evidence.
func (w *workbench) ready(evidence []byte) string {
	w.t.Helper()
	var bound struct {
		Evidence struct {
			CallSpec struct{ MutationPolicyDigest string }
		}
	}
	noErr(w.t, json.Unmarshal(evidence, &bound))
	in, err := json.Marshal(map[string]any{
		"mutation": map[string]string{
			"action": "note.add", "activeMutationPolicyDigest": bound.Evidence.CallSpec.MutationPolicyDigest,
		},
		"joinCheckInput": json.RawMessage(evidence),
	})
	noErr(w.t, err)
	var v struct {
		MutationReady  bool
		FailureClasses []string
	}
	w.check("mutation-check", in, &v, "--normalizer", "gatehouse.demo.commands.v1")
	return strings.Join(v.FailureClasses, " ")
}

// check runs one of the two commands on a file; any verdict has exit code 0 (§1).
func (w *workbench) check(command string, input []byte, into any, more ...string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "input.json")
	noErr(w.t, os.WriteFile(file, input, 0o600))
	code, out, err := w.prog(nil, append([]string{command, "--input", file, "--json"}, more...)...)
	if code != cli.ExitDone {
		w.t.Fatalf("%s ended with %d: %s", command, code, err)
	}
	noErr(w.t, json.Unmarshal([]byte(out), into))
}

// without returns the evidence without one element of one of its lists.
func without(t *testing.T, evidence []byte, kind string, i int) []byte {
	t.Helper()
	var in map[string]map[string]any
	noErr(t, json.Unmarshal(evidence, &in))
	in["evidence"][kind] = slices.Delete(in["evidence"][kind].([]any), i, i+1)
	text, err := json.Marshal(in)
	noErr(t, err)
	return text
}

// lists returns the length of each list in the evidence.
func lists(t *testing.T, evidence []byte) map[string]int {
	t.Helper()
	var in map[string]map[string]any
	noErr(t, json.Unmarshal(evidence, &in))
	found := map[string]int{}
	for key, v := range in["evidence"] {
		if rows, ok := v.([]any); ok {
			found[key] = len(rows)
		}
	}
	return found
}

// everyRowIsNeeded removes each row from accepted evidence, one at a time, and expects the failure class of its kind.
// calls is the number of calls that the turn made: each has four rows.
//
// The refs of session and trajectory are not rows. join-check copies them and does not judge them (§10.4), so it
// accepts evidence without one. The mutation gate rejects it (§8) if none of a kind is left. If one of several is
// missing, nothing can notice it: neither the digest of the call spec nor that of the join set covers them (§3).
func (w *workbench) everyRowIsNeeded(evidence []byte, calls int) {
	w.t.Helper()
	if got := w.ready(evidence); got != "" {
		w.t.Errorf("after a closed turn a mutation is not ready: %s", got)
	}
	found := lists(w.t, evidence)
	want := map[string]int{
		"toolRequests": calls, "toolResults": calls, "toolUse": calls, "toolRender": calls, "reminderQueue": 1,
		"stateViews":  1,
		"sessionRefs": 1, "trajectoryRefs": found["trajectoryRefs"],
	}
	if !maps.Equal(found, want) {
		w.t.Errorf("the evidence has lists of %v, want %v", found, want)
	}
	for kind, n := range found {
		for i := range n {
			left := without(w.t, evidence, kind, i)
			classes, isRow := rowClasses[kind]
			if got := w.judge(left); got != classes {
				w.t.Errorf("without %s[%d]: %q, want %q", kind, i, got, classes)
			}
			unlinked := ""
			if n == 1 {
				unlinked = "mutation.use_evidence_missing"
			}
			if got := w.ready(left); !isRow && got != unlinked {
				w.t.Errorf("a mutation without %s[%d]: %q, want %q", kind, i, got, unlinked)
			}
		}
	}
}

// oneResult returns the result of the only call in the evidence.
func oneResult(t *testing.T, evidence []byte) (status, code string, retryable any) {
	t.Helper()
	var in struct {
		Evidence struct {
			ToolResults []struct {
				Status, ErrorCode string
				Retryable         any
			}
		}
	}
	if err := json.Unmarshal(evidence, &in); err != nil || len(in.Evidence.ToolResults) != 1 {
		t.Fatalf("%v in %s", err, evidence)
	}
	r := in.Evidence.ToolResults[0]
	return r.Status, r.ErrorCode, r.Retryable
}

// wantVerdict expects a verdict on the evidence as it is now.
func (w *workbench) wantVerdict(when, want string) {
	w.t.Helper()
	if got := w.judge(w.evidence()); got != want {
		w.t.Errorf("while it %s: %q, want %q", when, got, want)
	}
}

// chatLater runs chat with a store whose clock is ahead, until nothing is waiting.
func (w *workbench) chatLater(ahead time.Duration) {
	w.t.Helper()
	was := openStore
	openStore = storeClock(func() time.Time { return time.Now().Add(ahead) })
	defer func() { openStore = was }()
	in, typing := io.Pipe()
	ended := make(chan int)
	go func() {
		code, _, _ := w.prog(in, "chat")
		ended <- code
	}()
	w.until("the end of the wait", nil, func() bool { return len(w.approvals(core.Open)) == 0 && w.settled() })
	_ = typing.Close()
	if code := <-ended; code != cli.ExitDone {
		w.t.Errorf("chat ended with %d", code)
	}
}

// useModel replaces the agent's model for the rest of a test.
func useModel(t *testing.T, m agent.Model) {
	was := newModel
	newModel = func() agent.Model { return m }
	t.Cleanup(func() { newModel = was })
}

// killAndResume kills the process at a point between intent and result, when the tool has written this number of notes,
// and resumes the turn.
func (w *workbench) killAndResume(point string, written int) {
	w.t.Helper()
	w.chat("note add milk")
	c := w.start([]string{killKey + "=" + point, nthKey + "=1"}, "chat")
	c.typeLine("/status")
	c.typeLine("y")
	c.quit(w.t)
	if notes := w.notes(); len(notes) != written {
		w.t.Fatalf("killed at %s, it wrote %q", point, notes)
	}
	w.wantVerdict("was killed", open)
	w.chat()
	if notes := w.notes(); len(notes) != written {
		w.t.Errorf("it ran again: %q", notes)
	}
}
