package approvals

import (
	"slices"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// shownQuestion is a question as people see it: with secrets masked, and everything visible that is in its texts. The
// values of its choices stay as they are, and are not shown.
func shownQuestion(q question.Question) *question.Question {
	shown := func(text string) string { return mask.EscapeLine(mask.Text(text)) }
	q.Text, q.Fields = mask.Escape(mask.Text(q.Text)), slices.Clone(q.Fields)
	for i := range q.Fields {
		f := &q.Fields[i]
		f.Title, f.Hint, f.Choices = shown(f.Label()), shown(f.Hint), slices.Clone(f.Choices)
		for j := range f.Choices {
			f.Choices[j].Title = shown(f.Choices[j].Title)
		}
	}
	return &q
}

// shownAnswer is the answer as people see it: with secrets masked, also what a field asks for whose name is that of a
// secret; "" if there is none.
func shownAnswer(a core.Approval) string {
	answer := a.Answer()
	if answer == nil {
		return ""
	}
	return mask.Escape(mask.Text(a.Question.Shown(mask.JSON(answer))))
}
