package admin

import (
	"context"
	"encoding/json"
	"strings"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/storage"
)

type approvalsAnswerCmd struct {
	ID     string `arg:"" help:"The id of a question, or the beginning or end of one id alone."`
	Answer string `name:"json" required:"" placeholder:"ANSWER" help:"${approvals_answer_answer}"`
	As     string `placeholder:"NAME" help:"${approvals_answer_as}"`
}

// Run answers. On a question that is already answered it fails with who did, and exit code 1.
func (c approvalsAnswerCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	if !json.Valid([]byte(c.Answer)) {
		return core.Errorf(core.Invalid,
			"The answer is not valid JSON. Write a text in double quotes, such as --json '\"blue\"'.")
	}
	p, err := votedOn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	if p.State != "" && p.Question == nil {
		return cli.Bad(core.Errorf(core.Invalid, "The approval %s is not a question. Decide it with gatehouse "+
			"approvals approve or deny.", p.ID))
	}
	click := core.Click{Approval: p.ID, Choice: core.Answer, Answer: c.Answer}
	d, err := approvals.NewService(store, store).AdminVote(ctx, click, c.As, systemUser())
	if err != nil {
		return cli.Bad(unknownApproval(err, c.ID))
	}
	a.PrintLine("%s %s", d.Approval.StateSentence(), mask.Text(d.Approval.Question.Text))
	return nil
}

// showQuestion prints what is asked, what an answer has to look like, and the answer. The view has them masked, or as
// they are.
func showQuestion(a *cli.App, p core.Approval, view approvalView) {
	var fields []string
	for _, f := range view.Question.Fields {
		fields = append(fields, describe(f))
	}
	answer := ""
	if view.Answer != nil {
		answer = mask.Escape(view.Question.Shown(view.Answer))
	}
	a.Fields(
		"approval", string(p.ID),
		"state", p.StateSentence(),
		"question", mask.Escape(view.Question.Text),
		"answer with", strings.Join(fields, "\n"),
		"answer", answer,
		"as JSON", string(view.Answer),
		"tool", p.Call.Tool,
		"requested by", nameAndID(p.Requester),
		"rule", p.Rule.Name,
		"may answer", strings.Join(p.Rule.Approvers, ", "),
		"reason", mask.Text(p.Reason),
		"conversation", string(p.Conversation),
		"session", string(p.Session),
		"invocation", string(p.Invocation),
		"requested", cli.Stamp(p.CreatedAt),
		"decided", cli.Stamp(p.DecidedAt),
		"deadline", cli.Stamp(p.Deadline),
	)
}

// describe is a field in a line: its name in a form, its kind, its limits, and its choices.
func describe(f question.Field) string {
	text := map[question.Kind]string{
		question.Text: "a text", question.Number: "a number", question.Integer: "a whole number",
		question.YesNo: "true or false", question.Pick: "one of",
	}[f.Kind]
	for i, c := range f.Choices {
		if i > 0 {
			text += ","
		}
		text += " " + string(c.Value)
		if title, _ := json.Marshal(c.Title); string(title) != string(c.Value) && c.Title != string(c.Value) {
			text += " (" + c.Title + ")"
		}
	}
	text += f.Bounds()
	if f.Name != "" {
		text = f.Name + ": " + text
		if !f.Required {
			text += ", may be left out"
		}
	}
	for _, about := range []string{f.Title, f.Hint} {
		if about != "" && about != f.Name {
			text += " – " + about
		}
	}
	return mask.EscapeLine(text)
}
