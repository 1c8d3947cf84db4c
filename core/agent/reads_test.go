package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// meeting is a tool that only reads, and whose calls wait for each other: all end once so many run at the same time.
func meeting(name string, n int) tool.Tool {
	var group sync.WaitGroup
	group.Add(n)
	return tool.Tool{
		Name: name, Schema: json.RawMessage(`{"type":"object"}`),
		Do: func(ctx context.Context, _ string, args json.RawMessage) (string, error) {
			group.Done()
			met := make(chan struct{})
			go func() { group.Wait(); close(met) }()
			select {
			case <-met:
				return "met " + string(args), nil
			case <-time.After(time.Minute):
				return "", errors.New("nobody came")
			}
		},
	}
}

// rows are the results of an outcome, in their order.
func rows(o core.Completed) (all []string) {
	for _, m := range o.Replies {
		if m.Role == core.ToolRole {
			all = append(all, m.ToolCallID+" "+m.Content.String())
		}
	}
	return all
}

// TestReadingCallsRunAtTheSameTime: the calls of an answer that only read run together, and their results have the
// order of the calls, whichever ends first. One that can't run does not hold up the others.
func TestReadingCallsRunAtTheSameTime(t *testing.T) {
	calls := []core.ToolCall{
		use("a", "test.meet", `{"n":1}`), use("b", "demo.calc", `{"expression":"1+1"}`),
		use("c", "test.meet", `{"n":2}`), use("d", "demo.calc", `null`), use("e", "test.meet", `{"n":3}`),
	}
	o := newRoom(t, &script{lines: []core.Message{{ToolCalls: calls}, {Content: core.Text("all met")}}}, ask,
		meeting("test.meet", 3)).say("go")
	done, ok := o.(core.Completed)
	if !ok {
		t.Fatalf("%+v", o)
	}
	got := rows(done)
	if len(got) != 5 || !strings.HasPrefix(got[3], "d ") {
		t.Fatalf("got %q", got)
	}
	if got = slices.Delete(got, 3, 4); !slices.Equal(got,
		[]string{`a met {"n":1}`, "b 2", `c met {"n":2}`, `e met {"n":3}`}) {
		t.Errorf("got %q", got)
	}
}

// TestAReadingCallWaitsForTheChangeBeforeIt: a list that a model asks for after a change has the change in it.
func TestAReadingCallWaitsForTheChangeBeforeIt(t *testing.T) {
	r := newRoom(t, &script{lines: []core.Message{{ToolCalls: []core.ToolCall{
		use("a", "note.list", `{}`), use("b", "note.add", `{"text":"milk"}`), use("c", "note.list", `{}`),
		use("d", "demo.calc", `{"expression":"2"}`),
	}}, {Content: core.Text("done")}}}, ask)
	done, ok := r.decide(r.say("go"), core.Approved, "").(core.Completed)
	if got := rows(done); !ok || len(got) < 3 || got[len(got)-2] != "c • milk" || got[len(got)-1] != "d 2" {
		t.Errorf("got %q", got)
	}
}
