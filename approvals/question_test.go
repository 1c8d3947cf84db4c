package approvals_test

import (
	"encoding/json"
	"testing"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/question"
)

// TestNothingInvisibleIsOnAQuestionsCard, also where a field has no title, so that people read its name. Its name stays: the answer has it.
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
