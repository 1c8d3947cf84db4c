package llm_test

import (
	"strings"
	"testing"

	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// TestALongConversationIsARequest: the limit of values is for what others send, not for what is sent to a model.
func TestALongConversationIsARequest(t *testing.T) {
	messages := strings.Repeat(`{"content":"a","role":"user"},`, strictjson.MaxValues)
	want := `{"messages":[` + strings.TrimSuffix(messages, ",") + `]}`
	if got, err := llm.Canonical([]byte(want)); err != nil || string(got) != want {
		t.Errorf("%d bytes of %d: %v", len(got), len(want), err)
	}
	if _, err := strictjson.Parse([]byte(want)); err == nil {
		t.Error("such a text of others is parsed")
	}
}
