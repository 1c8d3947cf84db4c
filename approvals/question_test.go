package approvals_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/question"
)

// TestNothingInvisibleIsOnAQuestionsCard, also where a field has no title, so that people read its name. Its name
// stays: the answer has it.
func TestNothingInvisibleIsOnAQuestionsCard(t *testing.T) {
	q, err := question.New("Which?", json.RawMessage(`{"type":"object","properties":{"a\u202eb":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	card := approvals.CardOf(core.Approval{ID: "q1", State: core.Open, Question: &q}, nil)
	f := card.Question.Fields[0]
	if got, want := f.Label(), `a\u202eb`; got != want || f.Name != "a\u202eb" {
		t.Errorf("the field %q is called %q, want %q", f.Name, got, want)
	}
}

// TestLaw8_AnAnswersSecretsAreMaskedOnTheCard, by their form and by the name of their field.
func TestLaw8_AnAnswersSecretsAreMaskedOnTheCard(t *testing.T) {
	q, err := question.New("Log in?",
		json.RawMessage(`{"type":"object","properties":{"password":{"type":"string"},"note":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	answer := json.RawMessage(`{"password":"sesame77","note":"use sk-0123456789abcdef0123456789abcdef"}`)
	card := approvals.CardOf(
		core.Approval{
			ID: "q1", State: core.Answered, Question: &q, Votes: []core.Vote{{Choice: core.Answer, Answer: answer}},
		}, nil)
	if strings.Contains(card.Answer, "sesame77") || strings.Contains(card.Answer, "sk-0123") ||
		!strings.Contains(card.Answer, "note: use ••••••") {
		t.Errorf("the card says %q", card.Answer)
	}
}
