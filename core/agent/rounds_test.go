package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

func (r *room) Keep(_ context.Context, id core.ApprovalID, progress string, _ bool) error {
	r.intents[id].Progress = progress
	return nil
}

// survey is a tool that asks two questions, one after the other, before it has a result.
func survey(runs *[]string) tool.Tool {
	return tool.Tool{
		Name: "job.survey", Mutating: true, Summarize: func(json.RawMessage) string { return "Survey." },
		Do: func(ctx context.Context, key string, args json.RawMessage) (string, error) {
			r := tool.RoundsOf(ctx)
			said := strings.TrimSuffix(r.Before, ".")
			if r.Answer != nil {
				said += string(r.Answer.State) + string(r.Answer.Content) + ";"
			}
			*runs = append(*runs, key+" "+string(args)+" "+said)
			if strings.Count(said, ";") == 2 {
				return said, nil
			}
			q, err := question.New([]string{"Which one?", "Sure?"}[strings.Count(said, ";")],
				json.RawMessage(`{"enum":["a","b"]}`))
			return "", errorOr(err, &tool.Paused{Question: &q, Progress: said + "."})
		},
	}
}

func errorOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// A begun call asks people in between, under its one intent: the turn is paused for each question, and the call goes on
// with what became of it.
func TestLaw5_ACallThatAsksPeopleGoesOnUnderItsIntent(t *testing.T) {
	var runs []string
	r := newRoom(t,
		&script{lines: []core.Message{{ToolCalls: []core.ToolCall{
			use("1", "job.survey", `{"n":1}`), use("2", "note.add", `{"text":"milk"}`),
		}}}}, ask, survey(&runs))
	var asked []string
	r.asks = func(_ core.Turn, c core.Call, a tool.Asking) core.Rule {
		asked = append(asked, c.Tool+": "+a.Question.Text)
		return core.Rule{Verdict: core.VerdictAsk, Approvers: []string{"x:bob"}}
	}
	first := r.decide(r.say("survey it"), core.Approved, "")
	request := r.asked(first)
	if request.Question == nil || request.Call.Summary != "Which one?" ||
		texts(first) != "I need an answer first: Which one?" {
		t.Fatalf("the pause asks for %+v, and says %q", request, texts(first))
	}
	r.change = func(a *core.Approval) {
		a.Question = request.Question
		a.Votes = []core.Vote{{Choice: core.Answer, Answer: json.RawMessage(`"b"`)}}
	}
	second := r.decide(first, core.Answered, "")
	if got := r.asked(second); got.Question == nil || got.Question.Text != "Sure?" {
		t.Fatalf("then it asks for %+v", got)
	}
	third := r.decide(second, core.Expired, "")
	r.change = nil
	r.outcomes = []core.Outcome{r.decide(third, core.Approved, "")} // the call after it
	if got := r.result("2"); strings.Contains(got, "error") {
		t.Errorf("the next call: %s", got)
	}
	if got, want := r.intents["a1"].Result.Content, `answered"b";expired;`; got != want {
		t.Errorf("the result is %q, want %q", got, want)
	}
	if got, want := strings.Join(runs, "|"),
		`a1 {"n":1} |a1 {"n":1} answered"b";|a1 {"n":1} answered"b";expired;`; got != want {
		t.Errorf("it ran as %s", got)
	}
	if got := strings.Join(asked, ", "); got != "job.survey: Which one?, job.survey: Sure?" || len(r.intents) != 2 {
		t.Errorf("asked %s, with %d intents", got, len(r.intents))
	}
	if in := string(r.evidence); strings.Count(in, `approval://a1`) != 1 || strings.Count(in, "approval://") != 3 {
		t.Errorf("the evidence links %s", in)
	}
}

// A call that asks people where nobody may be asked is told so, and goes on without a pause.
func TestACallThatAsksWhereNobodyMayBeAskedGoesOn(t *testing.T) {
	var runs []string
	r := newRoom(t, &script{lines: []core.Message{{ToolCalls: []core.ToolCall{use("1", "job.survey", `{}`)}}}}, ask,
		survey(&runs))
	r.outcomes = []core.Outcome{r.decide(r.say("survey it"), core.Approved, "")}
	if got := r.result("1"); got != "denied;denied;" || len(runs) != 3 {
		t.Errorf("%q after %v", got, runs)
	}
}
