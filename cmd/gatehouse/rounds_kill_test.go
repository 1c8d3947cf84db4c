package main

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

// TestLaw2_KilledAfterAFinishedRound kills the process around the save of a model's first round, and at the end of its
// turn. Once the round is saved, the model is not asked for it again, and so its tool does not run again.
func TestLaw2_KilledAfterAFinishedRound(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		for point, rounds := range map[string]int{
			"SaveSession.before": 2, "SaveSession.after": 1, "Finish.before": 1, "Finish.after": 1,
		} {
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				v := vendors["OpenAI"](t)
				v.Think(func(r llmtest.Received) llmtest.Answer {
					if strings.Contains(string(r.Body), `"tool_call_id"`) {
						return v.say("It is forty-two.")
					}
					return v.call(toolCall("c1", "demo.calc", `{"expression":"6*7"}`))
				})
				var env []string
				for key, value := range v.env {
					env = append(env, key+"="+value)
				}
				p := newSlackProcessOn(t, e, env...)
				p.open(armed(point, 1, "")...)
				p.ann.Says("how much is it?")
				p.untilRestarting("the kill", p.app.gone)
				// a turn that takes long lists its tools before
				answers := func() int { return strings.Count(p.slack.Dump(), "It is forty-two.") }
				p.untilRestarting("the answer", func() bool { return answers() > 0 && p.settled() })
				first := 0
				for _, call := range v.Calls() {
					if body := string(call.Body); strings.Contains(body, "how much") &&
						!strings.Contains(body, `"tool_call_id"`) {
						first++
					}
				}
				if n := answers(); n != 1 || first != rounds {
					t.Errorf("%d answers, and the model was asked for its first round %d times, want %d:\n%s", n, first,
						rounds, p.slack.Dump())
				}
				p.app.kill()
				sessions, err := p.store.ListSessions(t.Context(), core.SessionFilter{})
				if err != nil || len(sessions) != 1 {
					t.Fatalf("the sessions are %+v (%v)", sessions, err)
				}
				rec, err := p.store.LoadSession(t.Context(), sessions[0].ID, core.Writer{})
				noErr(t, err)
				said, err := rec.Messages.From(t.Context(), 0)
				var roles []string
				for _, m := range said {
					roles = append(roles, string(m.Role))
				}
				if got, want := fmt.Sprint(roles), "[user assistant tool assistant]"; err != nil || got != want {
					t.Errorf("the conversation is %s, want %s (%v)", got, want, err)
				}
			})
		}
	})
}
