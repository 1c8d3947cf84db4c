package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

// fakeVendor is a fake of one vendor's API, and how gatehouse is told to use it.
type fakeVendor struct {
	*llmtest.Server
	env  map[string]string
	say  func(string) llmtest.Answer
	call func(...core.ToolCall) llmtest.Answer
	fail func(status int, kind, message string) llmtest.Answer
}

// vendors starts a fake of each vendor.
var vendors = map[string]func(t *testing.T) fakeVendor{
	"OpenAI": func(t *testing.T) fakeVendor {
		s := llmtest.NewOpenAI()
		s.Models = []string{"gpt-test"}
		t.Cleanup(s.Close)
		env := map[string]string{
			"GATEHOUSE_MODEL": "openai:gpt-test", "OPENAI_API_KEY": "sk-test-0123456789",
			"OPENAI_BASE_URL": s.URL + "/v1",
		}
		return fakeVendor{&s.Server, env, llmtest.OpenAISay, llmtest.OpenAICall, llmtest.OpenAIFault}
	},
	"Anthropic": func(t *testing.T) fakeVendor {
		s := llmtest.NewAnthropic()
		t.Cleanup(s.Close)
		env := map[string]string{
			"GATEHOUSE_MODEL": "anthropic:claude-test", "ANTHROPIC_API_KEY": "sk-ant-test-0123456789",
			"ANTHROPIC_BASE_URL": s.URL,
		}
		return fakeVendor{&s.Server, env, llmtest.AnthropicSay, llmtest.AnthropicCall, llmtest.AnthropicFault}
	},
}

// onEachVendor runs a test with each vendor's fake. What gatehouse sends must be what the vendor's API takes.
func onEachVendor(t *testing.T, test func(t *testing.T, v fakeVendor)) {
	for name, start := range vendors {
		t.Run(name, func(t *testing.T) {
			v := start(t)
			test(t, v)
			if refused := v.Refused(); len(refused) > 0 && !t.Failed() {
				t.Errorf("the API would refuse: %s", strings.Join(refused, "\n"))
			}
		})
	}
}

// toolCall is a call as a model writes it: with the tool's name on the wire.
func toolCall(id, name, arguments string) core.ToolCall {
	return core.ToolCall{ID: id, Name: strings.ReplaceAll(name, ".", "__"), Arguments: json.RawMessage(arguments)}
}

// lastBody is the last request that a fake got.
func (v fakeVendor) lastBody() string {
	calls := v.Calls()
	return string(calls[len(calls)-1].Body)
}

// serveModel is a gateway on a fake Slack whose agent asks a fake vendor.
func serveModel(t *testing.T, v fakeVendor, env map[string]string) *testGateway {
	t.Helper()
	all := map[string]string{"SLACK_SIGNING_SECRET": transports["HTTP"]["SLACK_SIGNING_SECRET"]}
	for _, more := range []map[string]string{v.env, env} {
		for key, value := range more {
			all[key] = value
		}
	}
	return serveSlack(t, slacktest.Options{}, all)
}

// TestAModelsTurn: a question, two tools that read, a change that is approved on Slack, and the answer. Its evidence
// closes, and needs every row.
func TestAModelsTurn(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		v.Then(
			v.call(toolCall("c1", "demo.calc", `{"expression":"6*7"}`), toolCall("c2", "note.list", `{}`)),
			v.call(toolCall("c3", "note.add", `{"text":"buy 42 apples"}`)),
			v.say("It is noted: 42 apples."),
		)
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" how many apples? note it")
		card := s.card("C1", ask.TS, "Add “buy 42 apples” to the note book.")
		s.bob.Clicks("C1", card.TS, "approve")
		s.reads("C1", ask.TS, "It is noted: 42 apples.")
		s.shows("C1", card.TS, "pproved", 0)
		if v.Left() != 0 || !strings.Contains(v.lastBody(), "buy 42 apples") {
			t.Errorf("%d answers are left; the last request is %s", v.Left(), v.lastBody())
		}
		s.settings.during(func() {
			w := &workbench{t: t, url: s.db}
			evidence := w.evidence()
			if got := w.judge(evidence); got != closed {
				t.Fatalf("rejected: %s\n%s", got, evidence)
			}
			w.everyRowIsNeeded(evidence, 3)
		})
	})
}

// TestLaw6_WhatPeopleSayWhileAModelWaits: ann writes twice while her request waits for an approval. She is answered,
// then it is granted: all three answers come, and the model was shown all that was said, in an order that the API
// takes.
func TestLaw6_WhatPeopleSayWhileAModelWaits(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		v.Then(v.call(toolCall("c1", "note.add", `{"text":"milk"}`)), v.say("Berlin is in Germany."),
			v.say("Two and two is four."), v.say("The milk is noted."))
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note milk")
		card := s.card("C1", ask.TS, "Add “milk” to the note book.")
		s.ann.Posts("C1", "where is Berlin?", slacktest.InThread(ask.TS))
		s.reads("C1", ask.TS, "Berlin is in Germany.")
		s.ann.Posts("C1", "what is two and two?", slacktest.InThread(ask.TS))
		s.reads("C1", ask.TS, "Two and two is four.")
		s.bob.Clicks("C1", card.TS, "approve")
		s.reads("C1", ask.TS, "The milk is noted.")
		for _, said := range []string{
			"note milk", "where is Berlin?", "Berlin is in Germany.", "what is two and two?", "Two and two is four.",
		} {
			if !strings.Contains(v.lastBody(), said) {
				t.Errorf("the model was not shown %q: %s", said, v.lastBody())
			}
		}
	})
}

// TestAModelHearsWhyAChangeWasDenied: the reason is in the next request, and nothing was done.
func TestAModelHearsWhyAChangeWasDenied(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		v.Then(v.call(toolCall("c1", "note.add", `{"text":"rum"}`)), v.say("Bob says we have enough."))
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note rum")
		card := s.card("C1", ask.TS, "Add “rum” to the note book.")
		s.bob.Clicks("C1", card.TS, "reason")
		if _, err := s.slack.WaitForModal(s.ctx(), "U2BOB"); err != nil {
			t.Fatal(err)
		}
		s.bob.Submits(map[string]string{"reason": "we have enough rum"})
		s.reads("C1", ask.TS, "Bob says we have enough.")
		if !strings.Contains(v.lastBody(), "we have enough rum") {
			t.Errorf("the model was not told why: %s", v.lastBody())
		}
	})
}

// TestAModelsBadArgumentsComeBack: arguments that don't fit, and a tool that does not exist, are told to the model,
// which tries again.
func TestAModelsBadArgumentsComeBack(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		v.Then(v.call(toolCall("c1", "note.add", `{"txt":"milk"}`), toolCall("c2", "no.such", `{}`)),
			v.say("I could not do that."))
		s.ann.Says("note milk")
		s.reads(s.dm, "", "I could not do that.")
		for _, told := range []string{"tool_arguments", "tool_unknown"} {
			if !strings.Contains(v.lastBody(), told) {
				t.Errorf("the model was not told of %s: %s", told, v.lastBody())
			}
		}
	})
}

// TestAModelHearsThatItsArgumentsAreNoObject: arguments that can't be read at all are told to the model like others
// that don't fit.
func TestAModelHearsThatItsArgumentsAreNoObject(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		bad := v.call(toolCall("c1", "note.add", `"milk"`), toolCall("c2", "demo.calc", `{"expression":"6*7"}`))
		v.Then(bad, v.say("I have to ask again."))
		s.ann.Says("note milk")
		s.reads(s.dm, "", "I have to ask again.")
		for _, told := range []string{"tool_arguments", "must be a JSON object", "42"} {
			if !strings.Contains(v.lastBody(), told) {
				t.Errorf("the model was not told of %s: %s", told, v.lastBody())
			}
		}
	})
}

// TestAModelThatCannotAnswer: each trouble ends in the bucket's reply. What may pass by itself is tried again before;
// what can't is not.
func TestAModelThatCannotAnswer(t *testing.T) {
	const rejected, unavailable = "couldn't be processed", "I had trouble responding"
	stall := func(fakeVendor) llmtest.Answer { return llmtest.Answer{Trouble: llmtest.Stall} }
	for name, trouble := range map[string]struct {
		answer func(fakeVendor) llmtest.Answer
		calls  int
		reply  string
	}{
		"a key that is refused": {func(v fakeVendor) llmtest.Answer {
			return v.fail(http.StatusUnauthorized, "authentication_error", "invalid key")
		}, 1, setUp},
		"a model that is gone": {func(v fakeVendor) llmtest.Answer {
			return v.fail(http.StatusNotFound, "not_found_error", "no such model")
		}, 1, setUp},
		"a conversation that is too long": {func(v fakeVendor) llmtest.Answer {
			return v.fail(http.StatusBadRequest, "invalid_request_error", "prompt is too long: 250000 tokens")
		}, 1, rejected},
		"a vendor that is down": {func(v fakeVendor) llmtest.Answer {
			return v.fail(http.StatusServiceUnavailable, "overloaded_error", "busy")
		}, 2, unavailable},
		"a connection that breaks": {func(fakeVendor) llmtest.Answer {
			return llmtest.Answer{Trouble: llmtest.Drop}
		}, 2, unavailable},
		"a vendor that is slow": {stall, 2, unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			onEachVendor(t, func(t *testing.T, v fakeVendor) {
				t.Parallel()
				s := serveModel(t, v, map[string]string{"GATEHOUSE_MODEL_TIMEOUT": "500ms"})
				v.Think(func(llmtest.Received) llmtest.Answer { return trouble.answer(v) })
				s.ann.Says("hello")
				s.reads(s.dm, "", trouble.reply)
				if n := len(v.Calls()); n < trouble.calls || n > 4 {
					t.Errorf("%d calls, want %d to 4", n, trouble.calls)
				}
			})
		})
	}
}

// TestAMessageIsAskedFourTimesAtMost, whichever and however many models there are; the reply is one.
func TestAMessageIsAskedFourTimesAtMost(t *testing.T) {
	for _, models := range []int{1, 2, 3, 5} {
		t.Run(strconv.Itoa(models), func(t *testing.T) {
			v := vendors["OpenAI"](t)
			v.Lenient()
			names := make([]string, models)
			for i := range names {
				names[i] = fmt.Sprintf("openai:gpt-test-%d", i)
			}
			s := serveModel(t, v, map[string]string{"GATEHOUSE_MODEL": strings.Join(names, ",")})
			v.Think(func(llmtest.Received) llmtest.Answer { return v.fail(529, "overloaded_error", "Overloaded") })
			s.ann.Says("hello")
			s.reads(s.dm, "", "I had trouble responding")
			if n := len(v.Calls()); n != min(4, 2*models) {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestALongWaitIsTold: at once, and nobody is asked meanwhile.
func TestALongWaitIsTold(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		limited := v.fail(http.StatusTooManyRequests, "rate_limit_error", "slow down")
		limited.Header = map[string]string{"Retry-After": "600"}
		v.Then(limited)
		s.ann.Says("hello")
		s.reads(s.dm, "", "Try again in 10 minutes.")
		s.ann.Says("and you?")
		told := func(f *slacktest.Server) bool {
			return len(slices.DeleteFunc(f.FromBot(s.dm), func(m slacktest.Message) bool {
				return !strings.Contains(m.Shown(), "in 10 minutes")
			})) == 2
		}
		if err := s.slack.WaitFor(s.ctx(), told); err != nil || len(v.Calls()) != 1 {
			t.Errorf("%v, %d calls\n%s", err, len(v.Calls()), s.slack.Dump())
		}
	})
}

// TestATurnIsTriedAgainAfterARateLimit: the vendor asks to wait, and the answer comes afterwards.
func TestATurnIsTriedAgainAfterARateLimit(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		limited := v.fail(http.StatusTooManyRequests, "rate_limit_error", "slow down")
		limited.Header = map[string]string{"Retry-After": "1"}
		v.Then(limited, v.say("Here I am."))
		s.ann.Says("hello")
		s.reads(s.dm, "", "Here I am.")
		if n := len(v.Calls()); n != 2 {
			t.Errorf("%d calls, want 2", n)
		}
	})
}

// TestTheNextModelAnswers: where the first model can't answer, the second one of GATEHOUSE_MODEL does.
func TestTheNextModelAnswers(t *testing.T) {
	first, second := vendors["OpenAI"](t), vendors["Anthropic"](t)
	env := map[string]string{"GATEHOUSE_MODEL": "openai:gpt-test, anthropic:claude-test"}
	for key, value := range second.env {
		if _, set := env[key]; !set {
			env[key] = value
		}
	}
	s := serveModel(t, first, env)
	first.Then(first.fail(http.StatusUnauthorized, "invalid_api_key", "no"))
	second.Then(second.say("The second one."))
	s.ann.Says("hello")
	s.reads(s.dm, "", "The second one.")
}

// TestTokensOfADayAreLimited: a person who has taken their tokens of the day is told so, and the model is not asked.
func TestTokensOfADayAreLimited(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, map[string]string{"GATEHOUSE_TOKENS_PER_DAY": "20"})
		for i := range 2 {
			v.Then(v.say(fmt.Sprintf("answer %d", i)))
			s.ann.Says("hello")
			s.reads(s.dm, "", fmt.Sprintf("answer %d", i))
		}
		s.ann.Says("hello")
		s.reads(s.dm, "", "You have used your 20 tokens of today.")
		if n := len(v.Calls()); n != 2 {
			t.Errorf("%d calls, want 2", n)
		}
	})
}

// TestDoctorCallsTheModels: doctor makes one call with a tool of each model, and says what a person would meet; with
// --quick it makes none.
func TestDoctorCallsTheModels(t *testing.T) {
	type step = func(v fakeVendor) llmtest.Answer
	ping := func(v fakeVendor) llmtest.Answer { return v.call(toolCall("c1", "ping", `{"word":"pong"}`)) }
	refused := func(status int, kind, words string) step {
		return func(v fakeVendor) llmtest.Answer { return v.fail(status, kind, words) }
	}
	for name, c := range map[string]struct {
		flags         []string
		answers       []step
		state, prints string
		fix           string
		calls         int
	}{
		"it calls the tool": {nil, []step{ping}, "ok", " answers, and calls tools.", "", 1},
		"it talks": {nil, []step{func(v fakeVendor) llmtest.Answer {
			return v.say("pong")
		}}, "warn", " did not call the tool", "Take a model that calls tools", 1},
		"it refuses the key": {
			nil, []step{refused(401, "authentication_error", rawWords)}, "fail", "acct_77 owes 12 dollars",
			"Copy the key again", 1,
		},
		"it refuses tools": {
			nil,
			[]step{
				refused(400, "invalid_request_error", "this model does not support tools"),
				func(v fakeVendor) llmtest.Answer {
					return v.say("pong")
				},
			},
			"fail", " answers, and refuses tools: ", "Take a model that calls tools", 2,
		},
		"it refuses all": {
			nil,
			[]step{
				refused(400, "invalid_request_error", "account closed"),
				refused(400, "invalid_request_error", "account closed"),
			},
			"fail", "account closed", "status page", 2,
		},
		"quick": {[]string{"--quick"}, nil, "ok", " is there.", "", 0},
	} {
		for vendor, start := range vendors {
			t.Run(name+"/"+vendor, func(t *testing.T) {
				v := start(t)
				for _, answer := range c.answers {
					v.Then(answer(v))
				}
				var o overrides
				o.set(map[string]string{"GATEHOUSE_DATABASE_URL": sqliteFile.make(t)})
				o.set(v.env)
				o.during(func() {
					_, out, _ := gatehouse(t, append([]string{"doctor"}, c.flags...)...)
					at := slices.IndexFunc(strings.Split(out, "\n"), func(line string) bool {
						return strings.HasPrefix(line, c.state) && strings.Contains(line, v.env["GATEHOUSE_MODEL"]) &&
							strings.Contains(line, c.prints)
					})
					if at < 0 || !strings.Contains(out, c.fix) || strings.Contains(out, foreignKey) {
						t.Errorf("doctor prints\n%s", out)
					}
				})
				calls := 0
				for _, r := range v.Calls() {
					if r.Method == http.MethodPost {
						calls++
					}
				}
				if calls != c.calls {
					t.Errorf("%d calls, want %d", calls, c.calls)
				}
			})
		}
	}
}
