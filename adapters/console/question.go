package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/core"
	"gatehouse/core/question"
)

// leftOut is what is typed for a field of a form that is left out.
const leftOut = "-"

// question returns the question that a line answers; asks is false if the line is something else. Pasted text answers only what asks for a text.
func (c *Console) question(l input) (id core.ApprovalID, asks bool) {
	if !l.pasted && core.ParseControl(controlWord(l.text)) != nil {
		return "", false
	}
	id, open := c.answerTarget(l.target)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !open {
		return id, c.cards.asked[id]
	}
	a := c.cards.open[c.cards.index(id)]
	return id, a.card.Question != nil && !a.answered && (!l.pasted || a.field().Kind == question.Text)
}

func (c *Console) isQuestion(id core.ApprovalID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cards.asked[id]
}

// answerQuestion stores a line as the answer, or keeps it as that of a form's next field. A line that does not fit is told, and asked for again.
func (c *Console) answerQuestion(ctx context.Context, accept core.Accept, id core.ApprovalID, line string) (bool, error) {
	answer, told := c.typed(id, line)
	if told != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.print(told) // there is no other place for this message
		c.repaint()
		return false, nil
	}
	stored, err := c.press(ctx, accept, chat.Button{Action: chat.ActionAnswer, Approval: id}, desk.Press{Form: true, Whole: string(answer)})
	if stored {
		c.markAnswered(id)
	}
	return stored, err
}

// typed takes a line for a question. It returns the whole answer or, as told, what is wrong or which field is next.
func (c *Console) typed(id core.ApprovalID, line string) (answer json.RawMessage, told string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.cards.index(id)
	if i < 0 {
		return nil, c.style.question("That question is no longer open. Your answer was not used.")
	}
	a := &c.cards.open[i]
	answer, typed, err := read(*a.card.Question, a.typed, line)
	switch {
	case err != nil:
		return nil, c.style.question("That does not fit: "+oneLine(err.Error())+". Please answer again.") + c.style.field(*a)
	case answer == nil:
		a.typed = typed
		return nil, c.style.field(*a)
	}
	return answer, "" // what was typed before stays until it is stored
}

// read reads a line as the whole answer or, of a form, as what is typed for the next field; answer is nil while fields are missing. A line of JSON
// answers a whole form.
func read(q question.Question, typed []string, line string) (answer json.RawMessage, all []string, err error) {
	if !q.Form {
		answer, err = check(q.Fields[0], line)
		return answer, nil, err
	}
	if object := strings.TrimSpace(line); len(typed) == 0 && strings.HasPrefix(object, "{") && json.Valid([]byte(object)) {
		answer, err = q.Check(json.RawMessage(object))
		return answer, nil, err
	}
	f := q.Fields[len(typed)]
	text := f.Typed(line)
	if strings.TrimSpace(line) == leftOut && !f.Required {
		text = ""
	} else if _, err := check(f, line); err != nil {
		return nil, typed, err
	}
	if all = append(typed[:len(typed):len(typed)], text); len(all) < len(q.Fields) {
		return nil, all, nil
	}
	answer, err = q.Check(q.Fill(all))
	return answer, all, err
}

// check reads what was typed for one field.
func check(f question.Field, line string) (json.RawMessage, error) {
	value, ok := f.Value(f.Typed(line))
	if !ok {
		return nil, errors.New("this must not be empty")
	}
	answer, err := question.Question{Fields: []question.Field{f}}.Check(value)
	if n := len(f.Options()); err != nil && n > 0 {
		return nil, fmt.Errorf("this must be a number from 1 to %d, or an option's title", n)
	}
	return answer, err
}

// field is the field that is asked for now.
func (a shownCard) field() question.Field {
	return a.card.Question.Fields[min(len(a.typed), len(a.card.Question.Fields)-1)]
}

// asks is what the prompt says of the field that is asked for now.
func (a shownCard) asks() string {
	f := a.field()
	what := map[question.Kind]string{question.Text: "text", question.Number: "number", question.Integer: "number", question.YesNo: "y/n"}[f.Kind]
	if n := len(f.Choices); n > 0 {
		what = fmt.Sprintf("1-%d", n)
	}
	if name := oneLine(f.Label()); name != "" {
		return name + ": " + what
	}
	return what
}

// question is one line about a question; text is sanitized already.
func (s style) question(text string) string { return s.paint(yellow, "question>") + " " + text + "\n" }

// about is one line about an approval or a question; text is sanitized already.
func (s style) about(card core.Card, text string) string {
	if card.Question != nil {
		return s.question(text)
	}
	return s.approval(text)
}

// openQuestion is a question that waits for an answer, up to its first field.
func (s style) openQuestion(card core.Card, facts []string) string {
	lines := strings.Split(strings.TrimRight(Sanitize(card.Question.Text), "\n"), "\n")
	out := s.all(card, append(lines, facts...))
	if n := len(card.Question.Fields); n > 1 {
		out += s.question(fmt.Sprintf("a form of %d fields: answer one after the other, or all in one line of JSON", n))
	}
	return out + s.field(shownCard{card: card})
}

// field is what is asked for now: a field's name, its hint, its options, and what can be typed.
func (s style) field(a shownCard) (out string) {
	f := a.field()
	name := oneLine(f.Label())
	if n := len(a.card.Question.Fields); n > 1 {
		name += fmt.Sprintf(" (%d of %d)", len(a.typed)+1, n)
	}
	for _, line := range []string{name, oneLine(f.Hint)} {
		if line != "" {
			out += s.question(line)
		}
	}
	for i, c := range f.Choices {
		out += s.question(fmt.Sprintf("%d) %s", i+1, oneLine(c.Title)))
	}
	return out + s.question("answer with "+expects(f))
}

// stillAsks names a question again that was asked before.
func (s style) stillAsks(a shownCard) string {
	return s.question("still open: "+oneLine(a.card.Question.Text)) + s.field(a)
}

// expects is what can be typed for a field.
func expects(f question.Field) string {
	what := map[question.Kind]string{question.Text: "a text", question.Number: "a number", question.Integer: "a whole number", question.YesNo: "y or n", question.Pick: "a number or a title"}[f.Kind]
	what += f.Bounds()
	if !f.Required {
		what += ", or with " + leftOut + " to leave it out"
	}
	return what
}
