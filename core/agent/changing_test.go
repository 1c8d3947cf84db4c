package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/tool"
)

// TestLaw5_AToolThatChangesWhileItsCallWaitsIsAskedForAgain: its risk, its version or its schema is another one when
// the call is to run. The call does not run: it is asked for again, with what the tool says of it now.
func TestLaw5_AToolThatChangesWhileItsCallWaitsIsAskedForAgain(t *testing.T) {
	for name, change := range map[string]func(*tool.Tool){
		"its risk":    func(p *tool.Tool) { p.Risk = core.Dangerous },
		"its version": func(p *tool.Tool) { p.Version = "2" },
		"its schema": func(p *tool.Tool) {
			p.Schema = json.RawMessage(`{"type":"object","properties":{"to":{"writeOnly":true}}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			pay := tool.Tool{
				Name: "bank.pay", Mutating: true, Version: "1", Schema: json.RawMessage(`{"type":"object"}`),
				Summarize: func(json.RawMessage) string {
					return "Pay Bob"
				},
				Do: func(context.Context, string, json.RawMessage) (string, error) { ran++; return "paid", nil },
			}
			calls := []core.Message{{ToolCalls: []core.ToolCall{use("1", "bank.pay", `{"to":"Bob the builder"}`)}}}
			r := newRoomOf(t, &script{lines: calls}, ask, agent.Limits{}, func() []tool.Tool {
				prepared, err := pay.Prepare()
				if err != nil {
					t.Error(err)
				}
				return []tool.Tool{prepared}
			})
			first := r.say("pay Bob")
			change(&pay)
			again := r.decide(first, core.Approved, "")
			request := r.asked(again)
			said := "The rules for this have changed, so I need an approval again: Pay Bob"
			if name == "its schema" { // its version, which is what its server says, is the same
				said = "The description of bank.pay is read differently now, so I need an approval again: Pay Bob"
			}
			if got := texts(again); got != said {
				t.Errorf("asked again with %q", got)
			}
			if ran != 0 || request.Call.Risk != pay.Risk || (len(request.Call.Secret) > 0) != (name == "its schema") {
				t.Fatalf("it ran %d times; asked again for %+v", ran, request.Call)
			}
			if r.decide(again, core.Approved, ""); ran != 1 {
				t.Errorf("it ran %d times", ran)
			}
		})
	}
}
