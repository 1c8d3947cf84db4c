package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
	"gatehouse/core/tool"
)

// TestTokensOfACallAreCounted: as the vendor reports them; where it reports none, or its answer can't be read, at least
// what was sent is. A call without an answer counts nothing.
func TestTokensOfACallAreCounted(t *testing.T) {
	unreported := func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{
			Message: core.Message{Role: core.Assistant, Content: core.Text("yes")}, Finish: llm.FinishStop,
		}, nil
	}
	const sent = 12 // of a question of 16 bytes
	for name, c := range map[string]struct {
		step llmtest.Step
		want int64
		fail core.Category
	}{
		"reported":     {llmtest.Say("yes"), 15, ""},
		"not reported": {unreported, sent, ""},
		"an unusable answer": {
			llmtest.Fail(core.Errorf(core.ProviderInvalidResponse, "no")), sent, core.ProviderInvalidResponse,
		},
		"no answer": {llmtest.Fail(core.Errorf(core.ProviderUnavailable, "no")), 0, core.ProviderUnavailable},
		"a refused request": {
			llmtest.Fail(core.Errorf(core.ProviderInvalidRequest, "no")), 0, core.ProviderInvalidRequest,
		},
	} {
		var counted int64
		m := agent.ProviderModel{
			Provider: llmtest.NewScript(c.step), Tools: tool.NewRegistry(),
			Tokens: tally(func(person string, n int64) int64 {
				if person != "room:ann" {
					t.Errorf("%s: the tokens are %s's", name, person)
				}
				counted += n
				return counted
			}),
		}
		ctx := core.WithTurn(t.Context(), core.Turn{Actor: core.Actor{ID: "room:ann"}})
		history := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("What time is it?")})
		answer, err := m.Next(ctx, history, nil)
		if counted != c.want || core.CategoryOf(err) != c.fail || err == nil && answer.Tokens != c.want {
			t.Errorf("%s: %d tokens are counted, %d are the answer's, want %d; %v", name, counted, answer.Tokens,
				c.want, err)
		}
	}
}

// TestToolsThatAreTooManyAreLeftOut: a request has 128 tools at most, and the schemas take half of the budget at most.
// How many are left out is reported.
func TestToolsThatAreTooManyAreLeftOut(t *testing.T) {
	var many []tool.Tool
	for i := range 130 {
		many = append(many,
			tool.Tool{
				Name: fmt.Sprintf("many.tool%d", i), Description: strings.Repeat("d", 280),
				Do: func(context.Context, string, json.RawMessage) (string, error) {
					return "", nil
				},
			})
	}
	for budget, want := range map[int]int{0: 128, 2000: 10} {
		var left int
		p := llmtest.NewScript(llmtest.Say("yes"))
		m := agent.ProviderModel{
			Provider: p, Tools: tool.NewRegistry(many...), Budget: budget, LeftOut: func(tools int) {
				left = tools
			},
		}
		history := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("hello")})
		if _, err := m.Next(core.WithTurn(t.Context(), core.Turn{}), history, nil); err != nil {
			t.Fatal(err)
		}
		if offered := len(p.Requests()[0].Tools); offered != want || left != 130-want {
			t.Errorf("budget %d: %d tools are offered, %d left out, want %d offered", budget, offered, left, want)
		}
	}
}

// tally counts tokens by a function.
type tally func(person string, n int64) int64

func (f tally) AddTokens(_ context.Context, person string, n int64) (int64, error) {
	return f(person, n), nil
}
