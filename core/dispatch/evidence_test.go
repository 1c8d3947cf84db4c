package dispatch_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// answers is a model that gives these calls, an answer after the other, and then says that it is done.
type answers [][]core.ToolCall

func (a answers) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 100)
	if err != nil {
		return agent.Answer{}, err
	}
	given := 0
	for _, m := range tail {
		if len(m.ToolCalls) > 0 {
			given++
		}
	}
	if given < len(a) {
		return agent.Answer{Message: core.Message{ToolCalls: a[given]}}, nil
	}
	return agent.Answer{Message: core.Message{Content: core.Text("done")}}, nil
}

// acting is answers whose model names its action mode and its normalizer.
type acting struct {
	answers
	mode, id string
}

func (a acting) Normalizer() (mode, id string) { return a.mode, a.id }

// ending is answers whose first one ends early.
type ending struct {
	answers
	why llm.Finish
}

func (e ending) Next(ctx context.Context, h core.History, m json.RawMessage) (agent.Answer, error) {
	a, err := e.answers.Next(ctx, h, m)
	a.Finish = e.why
	return a, err
}

func called(id, name, args string) core.ToolCall {
	return core.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func calc(id string) core.ToolCall { return called(id, "demo.calc", `{"expression":"1+1"}`) }

func add(id, text string) core.ToolCall {
	return called(id, "note.add", fmt.Sprintf(`{"text":%q}`, text))
}

// meeting is a tool that reads; its calls end once n of them run at the same time.
func meeting(n int) tool.Tool {
	var group sync.WaitGroup
	group.Add(n)
	return tool.Tool{Name: "test.meet", Do: func(context.Context, string, json.RawMessage) (string, error) {
		group.Done()
		group.Wait()
		return "met", nil
	}}
}

// recorded is the stored evidence of a turn, and its join check.
func (b *bench) recorded(seq int64) (typestate.Input, *typestate.Report) {
	b.t.Helper()
	text, err := b.store.LoadEvidence(b.t.Context(), b.ended(seq).Invocation)
	if err != nil || text == nil {
		b.t.Fatalf("no evidence: %v", err)
	}
	in, err := typestate.Decode(text)
	if err != nil {
		b.t.Fatal(err)
	}
	report, err := typestate.JoinCheck(in)
	if err != nil {
		b.t.Fatal(err)
	}
	return in, report
}

func (b *bench) approval(id core.ApprovalID) core.Approval {
	b.t.Helper()
	a, err := b.store.LoadApproval(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// The pattern is what the turn's calls did, not what the loop can do; and where calls overlapped, so is what is known
// of them.
func TestTheExecutionPatternIsWhatHappened(t *testing.T) {
	meet := func(id string) core.ToolCall { return called(id, "test.meet", `{}`) }
	for name, c := range map[string]struct {
		model answers
		want  string
	}{
		"no call":                                {answers{}, "chain"},
		"one call":                               {answers{{calc("a")}}, "single"},
		"two answers with a call each":           {answers{{calc("a")}, {calc("b")}}, "chain"},
		"two calls that wait for each other":     {answers{{meet("a"), meet("b")}}, "parallel"},
		"an overlap, and a call alone after it":  {answers{{meet("a"), meet("b")}, {calc("c")}}, "parallel"},
		"of two calls of an answer only one ran": {answers{{calc("a"), called("b", "no.such", `{}`)}}, "chain"},
	} {
		b := newBench(t, setup{model: c.model, tools: []tool.Tool{meeting(2)}})
		in, report := b.recorded(b.say("room:1", "go").Seq)
		if got := in.Evidence.CallSpec.ExecutionPattern; got != c.want || !report.JoinClosed {
			t.Errorf("%s: %s, %v; want %s", name, got, report.FailureClasses, c.want)
		}
		overlap := c.want == "parallel"
		ordered := in.Protocol != nil && in.Protocol.ParallelTransportOrderValid != nil &&
			*in.Protocol.ParallelTransportOrderValid
		admissible := in.Decomposition != nil && in.Decomposition.Admissible != nil && *in.Decomposition.Admissible
		if ordered != overlap || admissible != overlap {
			t.Errorf("%s: in order %t, admissible %t", name, ordered, admissible)
		}
	}
}

// That calls overlapped outlives the suspension and the process. The approvals are bound to the spec without the
// pattern, which was not known when the second was requested.
func TestLaw5_AnOverlapOutlivesASuspensionAndARestart(t *testing.T) {
	meet := func(id string) core.ToolCall { return called(id, "test.meet", `{}`) }
	model := answers{{add("0", "eggs")}, {meet("a"), meet("b"), add("c", "milk")}}
	b := newBench(t, setup{model: model, tools: []tool.Tool{meeting(2)}})
	turn := b.say("room:1", "go")
	first := b.asked()
	if in, _ := b.recorded(turn.Seq); in.Evidence.CallSpec.ExecutionPattern != "single" {
		t.Errorf("while the first waits: %s", in.Evidence.CallSpec.ExecutionPattern)
	}
	b.click("room:1", first.Approval, "room:bob", core.Approve, "")
	second := b.asked()
	one, two := b.approval(first.Approval).Call.Bound, b.approval(second.Approval).Call.Bound
	if one.CallSpec == two.CallSpec || one.Witness == two.Witness {
		t.Errorf("another mutation, and the same binding: %+v", two)
	}
	in, report := b.recorded(turn.Seq)
	if got := in.Evidence.CallSpec.ExecutionPattern; got != "parallel" ||
		two.CallSpec != report.Normalized.CallSpec.Bound() || two.CallSpec == report.Normalized.Digests.CallSpec {
		t.Errorf("while it waits: %s, bound to %s", got, two.CallSpec)
	}
	b.stop()
	b = newBench(t, setup{model: model, tools: []tool.Tool{meeting(2)}, path: b.path})
	b.click("room:1", second.Approval, "room:bob", core.Approve, "")
	b.expect("done")
	in, report = b.recorded(turn.Seq)
	if in.Evidence.CallSpec.ExecutionPattern != "parallel" || in.Protocol == nil || !report.JoinClosed ||
		len(b.notes("room:1")) != 2 {
		t.Errorf("%+v, %v, notes %v", in.Evidence.CallSpec, report.FailureClasses, b.notes("room:1"))
	}
}

// paused-with-pattern.db is what a build wrote that set the pattern when a turn began, so that the digest in the
// approval covers it: a turn that has read once and waits for the approval of note.add. It goes on under its stored
// spec.
func TestLaw12_ATurnSuspendedWithItsPatternInTheSpecGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	unpack(t, "testdata/paused-with-pattern.db.gz", path)
	b := newBench(t, setup{model: answers{{calc("a"), add("b", "milk")}, {calc("c")}}, path: path})
	open, err := b.store.ListApprovals(t.Context(), core.ApprovalFilter{States: []core.ApprovalState{core.Open}})
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	_, before := b.recorded(1)
	if got := open[0].Call.Bound.CallSpec; got != before.Normalized.Digests.CallSpec {
		t.Fatalf("the approval is bound to %s, which is not the whole spec's digest", got)
	}
	b.click("room:1", open[0].ID, "room:bob", core.Approve, "")
	b.expect("done")
	in, report := b.recorded(1)
	if notes := b.notes("room:1"); len(notes) != 1 || !report.JoinClosed ||
		report.Normalized.Digests.CallSpec != before.Normalized.Digests.CallSpec {
		t.Errorf("notes %v, %v, spec %+v", notes, report.FailureClasses, in.Evidence.CallSpec)
	}
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A waiting call is handed over to those who decide it: its packet names them, what they get, and the way back; and the
// tools that the turn was bound to, with those of now.
func TestTheEvidenceHasWhatWasHandedOverAndTheToolsOfTheTurn(t *testing.T) {
	b := newBench(t, setup{})
	turn := b.say("room:1", "note add milk")
	card := b.asked()
	bound := b.approval(card.Approval).Call
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.expect("Done")
	in, report := b.recorded(turn.Seq)
	want := typestate.Handoff{
		Target:               "room:bob",
		RequiredArtifactRefs: []string{"card://" + string(card.Approval), "call://" + bound.Digest},
		ReturnPathRef:        "signal://" + string(card.Approval),
	}
	if got := in.Evidence.Handoff; got == nil || fmt.Sprint(*got) != fmt.Sprint(want) || in.Handoff == nil ||
		!in.Handoff.RequireReturnPath {
		t.Errorf("%+v under %+v", got, in.Handoff)
	}
	g := in.Governance
	if g == nil || g.Claimed || g.Provenance == nil || g.Provenance.ExpectedDigest == "" ||
		g.Provenance.BoundDigest != g.Provenance.ExpectedDigest {
		t.Errorf("%+v", g)
	}
	if !report.JoinClosed {
		t.Error(report.FailureClasses)
	}
	if in, _ := b.recorded(b.say("room:1", "calc 1+1").Seq); in.Evidence.Handoff != nil || in.Handoff != nil {
		t.Errorf("nothing was handed over: %+v", in.Evidence.Handoff)
	}
}

// The demo's commands are free text, a vendor's calls are native.
func TestTheEvidenceNamesTheModelsOwnModeAndNormalizer(t *testing.T) {
	for want, model := range map[string]agent.Model{
		"text gatehouse.demo.commands.v1":     agent.Demo{},
		"json gatehouse.loop.native-calls.v1": answers{{calc("a")}},
	} {
		b := newBench(t, setup{model: model})
		in, _ := b.recorded(b.say("room:1", "calc 1+1").Seq)
		if got := in.Evidence.CallSpec; got.ActionMode+" "+got.NormalizerID != want {
			t.Errorf("%T: %s %s", model, got.ActionMode, got.NormalizerID)
		}
	}
}
