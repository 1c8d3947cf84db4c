package adaptertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// The schemas of sample questions: more choices than there are buttons, and a form with every kind of field.
const (
	menu = `{"title":"Region","enum":["Africa","America","Antarctica","Asia","Australia","Europe"]}`
	form = `{"type":"object","required":["size","count","why"],"properties":{
		"size":{"title":"Size","oneOf":[{"const":"s","title":"Small"},{"const":"m","title":"Medium"}]},
		"region":{"enum":["Africa","America","Antarctica","Asia","Australia","Europe"]},
		"count":{"type":"integer","title":"Count","description":"At least three","minimum":3,"maximum":9},
		"price":{"type":"number"},
		"gift":{"type":"boolean","title":"Is it a gift?"},
		"name":{"type":"string","minLength":2,"maxLength":40},
		"why":{"type":"string","title":"Why?","description":"Who reads the order sees it."}}}`
)

// ask makes a question; the schema is one of a test.
func ask(text, schema string) *question.Question {
	q, err := question.New(text, json.RawMessage(schema))
	if err != nil {
		panic(err)
	}
	return &q
}

// QuestionCard returns an open card of a question with a schema, modified by change unless that is nil.
func (s Samples) QuestionCard(text, schema string, change func(*core.Card)) *core.Card {
	return s.Card(func(c *core.Card) {
		c.Tool, c.Arguments, c.Question, c.Summary = "people.ask", `{"question":"…"}`, ask(text, schema), text
		c.Asked = core.Asked{Message: "order the shirts"}
		if change != nil {
			change(c)
		}
	})
}

// questions returns the cards of questions by the names of their golden files.
func (s Samples) questions() map[string]core.Delivery {
	const which = "Which colour shall the shirts have?\n- The red ones come on Monday.\n- The blue ones are cheaper."
	colours := func(change func(*core.Card)) *core.Card {
		return s.QuestionCard(which, `{"enum":["red","blue","none of *them*"]}`, change)
	}
	h := s.Hostile
	return map[string]core.Delivery{
		"card-question-options": {Card: colours(nil)},
		"card-question-menu":    {Card: s.QuestionCard("Where to?", menu, nil)},
		"card-question-form":    {Card: s.QuestionCard("What shall I order?\n\nThe shop closes at six.", form, nil)},
		"card-question-text":    {Card: s.QuestionCard("Why?", `{"type":"string"}`, nil)},
		"card-question-yes-no": {
			Post: core.Post{Occasion: core.Reminder}, Card: s.QuestionCard("Go on?", `{"type":"boolean"}`, nil),
		},
		"card-question-answered": {Card: colours(func(c *core.Card) {
			c.State, c.DecidedAt, c.Decided, c.DecidedBy, c.Answer = core.Answered, Noon.Add(time.Minute), s.Bob,
				s.Bob.Name, "red"
		})},
		"card-question-form-answered": {Card: s.QuestionCard("What shall I order?", form, func(c *core.Card) {
			c.State, c.DecidedAt, c.Decided, c.DecidedBy, c.Answer = core.Answered, Noon.Add(time.Minute), s.Bob,
				s.Bob.Name, "Size: Small\nCount: 3\nWhy?: it rains"
		})},
		"card-question-expired": {Card: colours(func(c *core.Card) {
			c.State, c.DecidedAt = core.Expired, Noon.Add(time.Hour)
		})},
		"card-question-withdrawn": {Card: colours(func(c *core.Card) {
			c.State, c.Decided, c.DecidedBy = core.Cancelled, s.Ann, s.Ann.Name
		})},
		"card-question-copy": {Post: core.Post{Copy: true, Person: s.Bob.ID}, Card: colours(func(c *core.Card) {
			c.Context = s.Context
		})},
		"card-question-hostile": {Card: s.QuestionCard("?", `{"enum":["a","b"]}`, func(c *core.Card) {
			c.Question.Text, c.Question.Fields[0].Choices[0].Title = mask.Escape(h), mask.EscapeLine(h)
			c.Requester, c.Requested, c.Approvers, c.Asked = h, core.Actor{ID: h, Name: h}, []string{h},
				core.Asked{Message: h}
		})},
	}
}

// anyQuestion draws a question as a card has it, with texts that may be longer than any message.
func anyQuestion(t *rapid.T, text func(label string) string) *question.Question {
	q := question.Question{Text: mask.Escape(text("question")), Form: rapid.Bool().Draw(t, "form")}
	kinds := []question.Kind{question.Text, question.Number, question.Integer, question.YesNo, question.Pick}
	fields := 1
	if q.Form {
		fields = rapid.IntRange(1, question.MaxFields).Draw(t, "fields")
	}
	for i := range fields {
		f := question.Field{
			Name: fmt.Sprintf("f%d", i), Title: mask.EscapeLine(text("title")), Hint: mask.EscapeLine(text("hint")),
			Kind:      rapid.SampledFrom(kinds).Draw(t, "kind"),
			Required:  rapid.Bool().Draw(t, "required"),
			MaxLength: rapid.IntRange(1, question.MaxAnswer).Draw(t, "length"),
		}
		if f.Kind == question.Pick {
			for n := range rapid.IntRange(1, question.MaxChoices).Draw(t, "choices") {
				value := json.RawMessage(fmt.Sprintf("%d", n))
				f.Choices = append(f.Choices,
					question.Choice{Value: value, Title: mask.EscapeLine(strings.TrimSpace(text("choice")))})
			}
		}
		q.Fields = append(q.Fields, f)
	}
	return &q
}
