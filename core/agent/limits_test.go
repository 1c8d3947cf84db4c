package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/typestate"
)

// restless is a model that never answers: it calls tools, takes tokens, and needs time.
type restless struct {
	calls  int
	tokens int64
	time   time.Duration
}

func (m restless) Next(ctx context.Context, _ core.History, _ json.RawMessage) (agent.Answer, error) {
	select {
	case <-time.After(m.time):
	case <-ctx.Done():
		return agent.Answer{}, ctx.Err()
	}
	a := agent.Answer{Tokens: m.tokens}
	for range m.calls {
		a.ToolCalls = append(a.ToolCalls, use("c", "demo.calc", `{"expression":"1"}`))
	}
	return a, nil
}

// TestAModelThatNeverEndsIsStopped: each limit ends the turn, and says which one it was.
func TestAModelThatNeverEndsIsStopped(t *testing.T) {
	for name, test := range map[string]struct {
		model  restless
		limits agent.Limits
		want   string
	}{
		"the default": {
			restless{calls: 1}, agent.Limits{}, "The model was asked 32 times without giving an answer",
		},
		"rounds": {
			restless{calls: 1}, agent.Limits{Rounds: 3}, "The model was asked 3 times without giving an answer",
		},
		"calls":         {restless{calls: 5}, agent.Limits{Calls: 12}, "The agent called more than 12 tools"},
		"calls at once": {restless{calls: 1000}, agent.Limits{}, "The agent called more than 128 tools"},
		"tokens": {
			restless{calls: 1, tokens: 400}, agent.Limits{Tokens: 1000},
			"This request took 1200 tokens; the limit is 1000.",
		},
		"time of rounds": {
			restless{calls: 1, time: time.Minute}, agent.Limits{Time: 150 * time.Second},
			"The agent worked for 2m30s without giving an answer",
		},
		"time of one call": {
			restless{calls: 1, time: time.Hour}, agent.Limits{}, "The agent worked for 15m0s without giving an answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoomOf(t, test.model, ask, test.limits, nil)
				e, ok := r.say("go").(core.Errored)
				if !ok || e.Category != core.LimitReached || e.Bucket != core.UserCorrectable ||
					!strings.Contains(e.Reply.Content.String(), test.want) {
					t.Errorf("%+v", e)
				}
				if !strings.HasPrefix(name, "calls") {
					return
				}
				in, report := r.lastEvidence()
				if n := len(in.Evidence.ToolResults); !report.JoinClosed || n%test.model.calls != 0 ||
					in.Evidence.ToolUse[n-1].Disposition != typestate.Discarded {
					t.Errorf("%d calls, %v", n, report.FailureClasses)
				}
			})
		})
	}
}

// TestWaitingForPeopleTakesNoTime: a turn that waited for an approval for a year goes on.
func TestWaitingForPeopleTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, agent.Demo{}, ask)
		o := r.say("note add milk")
		time.Sleep(365 * 24 * time.Hour)
		if got := texts(r.decide(o, core.Approved, "")); !strings.Contains(got, "Done") {
			t.Errorf("got %s", got)
		}
	})
}
