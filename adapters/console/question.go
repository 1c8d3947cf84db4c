package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core/question"
)

// leftOut is what is typed for a field of a form that is left out.
const leftOut = "-"

// field is the field that is asked for now.
func (a *shown) field() question.Field { return a.card.Question.Fields[len(a.typed)] }

// asksField are the lines that ask for it (its name, its hint, its options, and what can be typed), and what the prompt
// says of that.
func (a *shown) asksField() (lines []string, prompt string) {
	f, name := a.field(), a.field().Label()
	short := a.Of("terminal_prompt_" + string(f.Kind))
	if n := len(f.Choices); n > 0 {
		short = fmt.Sprintf("1-%d", n)
	}
	prompt = doc.Fact{Label: oneLine(name), Text: short}.Line()
	if n := len(a.card.Question.Fields); n > 1 {
		name += a.counted(len(a.typed)+1, n)
	}
	lines = slices.DeleteFunc([]string{name, f.Hint}, func(line string) bool { return line == "" })
	for i, c := range f.Choices {
		lines = append(lines, fmt.Sprintf("%d) %s", i+1, c.Title))
	}
	last := wording.Fill(a.TerminalInput, "{what}", doc.Bounded(a.Texts, a.Of("terminal_"+string(f.Kind)), f))
	if !f.Required {
		last = wording.Fill(a.TerminalLeaveOut, "{input}", last, "{word}", leftOut)
	}
	return append(lines, last), prompt
}

// answer takes a line for the field of a question that is asked for or, of a form, a line of JSON for all of them, and
// stores the answer if it is whole. What does not fit is told, and asked for again.
func (c *Console) answer(ctx context.Context, a shown, line string) (err error) {
	q, f, text := a.card.Question, a.field(), strings.TrimSpace(line)
	value := f.Typed(text)
	if text == leftOut && !f.Required {
		value = ""
	}
	p := desk.Press{Form: true, Typed: append(slices.Clip(a.typed), value)}
	fault := desk.Desk{Texts: c.texts}.Unfit(question.Question{Fields: []question.Field{f}}, []string{value})
	if q.Form && a.typed == nil && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		p.Whole, fault.Err = text, nil
	}
	switch {
	case fault.Err != nil:
		c.say(fault.Text())
	case p.Whole == "" && len(p.Typed) < len(q.Fields):
		a.typed = p.Typed
	default: // what was typed before stays until it is stored
		if err = c.press(ctx, a.card, outbound.ActionAnswer, p); err == nil {
			return nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.find(a.card.Approval); now.open() {
		now.typed = a.typed
		asks, _ := now.asks()
		_ = c.print(c.look().lines(*now, now.edge, asks...)) // there is no other place for this message
		c.repaint()
	}
	return err
}
