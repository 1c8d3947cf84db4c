package llmtest_test

import (
	"context"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

func TestAScriptGivesItsStepsOnceAndChecksRequests(t *testing.T) {
	question := llm.Request{Messages: []core.Message{{Role: core.User, Content: core.Text("hi")}}}
	s := llmtest.NewScript(llmtest.Say("yes"), llmtest.Fail(core.Errorf(core.ProviderRateLimit, "no")), llmtest.Hang())
	if _, err := s.Complete(t.Context(), llm.Request{}); core.CategoryOf(err) != core.ProviderInvalidRequest ||
		s.Left() != 3 {
		t.Errorf("an invalid request: %v, %d steps left", err, s.Left())
	}
	if r, err := s.Complete(t.Context(), question); err != nil || r.Message.Content.String() != "yes" {
		t.Errorf("%q, %v", r.Message.Content, err)
	}
	if _, err := s.Complete(t.Context(), question); core.CategoryOf(err) != core.ProviderRateLimit {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Complete(ctx, question); err == nil || llm.IsTransient(err) {
		t.Error(err)
	}
	if _, err := s.Complete(t.Context(), question); core.CategoryOf(err) != core.Internal || len(s.Requests()) != 4 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}
