package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
	"gatehouse/core/llm/view"
	"gatehouse/core/tool"
)

// thinker answers with thinking, and keeps its requests. Its answers call a tool while calls are left.
type thinker struct {
	asked []llm.Request
	calls int
}

func (p *thinker) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	p.asked = append(p.asked, r)
	n := len(p.asked)
	m := core.Message{Role: core.Assistant, Content: core.Blocks(
		core.Block{Type: core.ThinkingBlock, Text: fmt.Sprint("thought ", n), Signature: "s"},
		core.Block{Type: core.TextBlock, Text: fmt.Sprint("answer ", n)})}
	if p.calls > 0 {
		p.calls--
		m.ToolCalls = []core.ToolCall{{ID: fmt.Sprint("c", n), Name: "the.read", Arguments: json.RawMessage(`{}`)}}
	}
	return llm.Response{Message: m, Finish: llm.FinishStop}, nil
}

func (p *thinker) Ready(context.Context) error { return nil }

// epochs is a conversation with a ProviderModel.
type epochs struct {
	t       *testing.T
	m       agent.ProviderModel
	p       *thinker
	history core.History
	at      time.Time
}

func newEpochs(t *testing.T) *epochs {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	e := &epochs{t: t, p: &thinker{}, at: time.Date(2026, 12, 13, 22, 0, 0, 0, time.UTC)}
	e.m = agent.ProviderModel{
		Provider: view.Bind("one", e.p), Tools: tool.NewRegistry(), Zone: berlin,
		System: &prompt.Prompt{Name: "system", Template: "Today is {{ today }} ({{ zone }})."},
	}
	return e
}

var reads = tool.NewRegistry(
	tool.Tool{Name: "the.read", Do: func(context.Context, string, json.RawMessage) (string, error) {
		return "", nil
	}})

// asks asks the model about the history as it is stored.
func (e *epochs) asks() {
	e.t.Helper()
	answer, err := e.m.Next(core.WithTurn(e.t.Context(), core.Turn{At: e.at}), e.history, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	e.history = e.history.Append(answer.Message).WithEpoch(answer.Epoch)
}

func (e *epochs) says(text string) {
	e.t.Helper()
	e.history = core.NewHistory(e.history.Len(), e.history.Page).WithEpoch(e.history.Epoch()) // as it is loaded
	e.history = e.history.Append(core.Message{Role: core.User, Content: core.Text(text)})
	e.asks()
}

// grown reports whether the last request begins with the one before it, byte for byte.
func (e *epochs) grown() bool {
	e.t.Helper()
	n := len(e.p.asked)
	before, last := e.p.asked[n-2].Messages, e.p.asked[n-1].Messages
	return len(last) > len(before) && text(e.t, last[:len(before)]) == text(e.t, before)
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (e *epochs) last() string { return text(e.t, e.p.asked[len(e.p.asked)-1].Messages) }

// check checks the last request: whether it only grew, in which epoch it was, and of how many answers the thinking was
// shown.
func (e *epochs) check(what string, grown bool, number, thoughts int) {
	e.t.Helper()
	if got, epoch, n := e.grown(), e.history.Epoch(), strings.Count(e.last(), "thought "); got != grown ||
		epoch.Number != number || n != thoughts {
		e.t.Errorf("%s: grown %t, epoch %d, %d thoughts are shown; want %t, %d, %d\n%s", what, got, epoch.Number, n,
			grown, number, thoughts, e.last())
	}
}

// TestWhatAModelIsShownOnlyGrows until a list of tools, a prompt, a model or a result changes it: then thinking of
// before is left out.
func TestWhatAModelIsShownOnlyGrows(t *testing.T) {
	e := newEpochs(t)
	e.says("one")
	e.says("two")
	e.check("another message", true, 1, 1)
	e.m.Tools = reads
	e.says("three")
	e.check("other tools", false, 2, 0)
	e.says("four")
	e.check("the same tools", true, 2, 1)
	e.says("five")
	e.check("the same tools again", true, 2, 2)

	e.m.Provider = view.Bind("two", e.p)
	e.says("six")
	e.check("another model", false, 3, 0)
	e.says("seven")
	e.check("the same model", true, 3, 1)
	e.m.Provider = view.Bind("one", e.p)
	e.says("eight")
	e.check("back to the first model", false, 4, 0)

	e.p.calls = 1
	e.says("nine")
	call := e.history.Len() - 1
	e.says("does it wait?")
	e.check("a call that waits", true, 4, 2)
	asked, err := e.history.From(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	e.history = e.history.Append(core.Result(asked[0].ToolCalls[0].ID, "milk"))
	e.asks()
	e.check("the result of a call whose placeholder was shown", false, 5, 0)
	e.says("ten")
	e.check("and after it", true, 5, 1)
	e.says("eleven")
	e.check("and after that", true, 5, 2)
}

// TestANewDay: the prompt keeps the day on which the epoch began, and a person's message tells the new one, in every
// later request.
func TestANewDay(t *testing.T) {
	e := newEpochs(t)
	e.says("good evening")
	e.at = e.at.Add(2 * time.Hour) // midnight in Berlin, and not in London
	e.says("good morning")
	const line = `"It is now 2026-12-14 (Europe/Berlin).\ngood morning"`
	for range 2 {
		if last := e.last(); !e.grown() || strings.Count(last, line) != 1 || strings.Count(last, "It is now") != 1 ||
			!strings.Contains(last, "Today is 2026-12-13 (Europe/Berlin).") {
			t.Errorf("%s", last)
		}
		e.at = e.at.Add(time.Minute)
		e.says("and then?")
	}
	e.m.Tools = reads
	e.says("other tools")
	if last := e.last(); strings.Contains(last, "It is now") ||
		!strings.Contains(last, "Today is 2026-12-14 (Europe/Berlin).") {
		t.Errorf("a new epoch begins on the new day: %s", last)
	}
}

// TestACutIsDeep: what does not fit is left out until half of the budget is free, so that what is shown grows for long
// after it.
func TestACutIsDeep(t *testing.T) {
	e := newEpochs(t)
	e.m.Budget = 2000
	cuts, since := 0, 0
	for i := range 120 {
		e.says(fmt.Sprintf("question %d %s", i, strings.Repeat("x", 100)))
		since++
		if number := e.history.Epoch().Number; number > cuts+1 {
			if cuts++; since < 8 {
				t.Fatalf("the next cut comes after %d messages", since)
			}
			since = 0
		} else if i > 0 && since > 1 && !e.grown() {
			t.Fatalf("message %d, %d after a cut: %s", i, since, e.last())
		}
	}
	if cuts < 3 || !strings.Contains(e.last(), "earlier messages of this conversation are not shown here") {
		t.Errorf("%d cuts: %s", cuts, e.last())
	}
}
