package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/storage"
)

type approvalsAnswerCmd struct {
	ID     string `arg:"" help:"The id of a question, or the beginning of one id alone."`
	Answer string `name:"json" required:"" placeholder:"ANSWER" help:"The answer in JSON: a value such as '\"blue\"', 3 or true or, to a form, an object such as '{\"size\":\"m\"}'."`
	As     string `placeholder:"NAME" help:"The name that people read as who answered; the audit log records the local admin, with this name and the user of the operating system."`
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
	a.Fields("approval", string(p.ID), "state", p.StateSentence(), "question", mask.Escape(view.Question.Text),
		"answer with", strings.Join(fields, "\n"), "answer", answer,
		"as JSON", string(view.Answer), "tool", p.Call.Tool,
		"requested by", nameOf(p.Requester)+" ("+p.Requester.ID+")", "rule", p.Rule.Name,
		"may answer", fmt.Sprint(p.Rule.Approvers),
		"reason", mask.Text(p.Reason), "conversation", string(p.Conversation), "session", string(p.Session),
		"invocation", string(p.Invocation),
		"requested", cli.Stamp(p.CreatedAt), "decided", cli.Stamp(p.DecidedAt), "deadline", cli.Stamp(p.Deadline))
}

// action is what an approval is for, in a line: the call or, of a question, its text and its answer.
func action(p core.Approval) string {
	if p.Question == nil {
		return p.Call.Mask(p.Call.Summary)
	}
	text := "Question: " + mask.Text(p.Question.Text)
	if answer := p.Answer(); answer != nil {
		text += " – " + strings.ReplaceAll(maskedQuestion(*p.Question).Shown(maskedAnswer(answer)), "\n", ", ")
	}
	return text
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

// maskedQuestion returns a copy of a question with the secrets in its texts and in its choices hidden.
func maskedQuestion(q question.Question) *question.Question {
	q.Text, q.Fields = mask.Text(q.Text), slices.Clone(q.Fields)
	for i := range q.Fields {
		f := &q.Fields[i]
		f.Title, f.Hint, f.Choices = mask.Text(f.Title), mask.Text(f.Hint), slices.Clone(f.Choices)
		for j, c := range f.Choices {
			f.Choices[j] = question.Choice{Value: maskedAnswer(c.Value), Title: mask.Text(c.Title)}
		}
	}
	return &q
}

// maskedAnswer hides the secrets in an answer.
func maskedAnswer(answer json.RawMessage) json.RawMessage {
	if len(answer) == 0 {
		return nil
	}
	return mask.JSON(answer)
}
