package llmtest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Script is a Provider that gives steps in order, each once. It checks every request as any Provider does, and keeps
// it. It may be used by many goroutines; then the order is theirs. After the last step Complete fails with the category
// internal.
type Script struct {
	mu       sync.Mutex
	steps    []Step
	requests []llm.Request
	ready    error
}

// Step gives the answer to one request.
type Step func(ctx context.Context, r llm.Request) (llm.Response, error)

// NewScript makes a Script.
func NewScript(steps ...Step) *Script { return &Script{steps: steps} }

var _ llm.Provider = (*Script)(nil)

// Then adds steps.
func (s *Script) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Complete gives the next step.
func (s *Script) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	if err := r.Validate(); err != nil {
		return llm.Response{}, err
	}
	s.mu.Lock()
	r.Messages, r.Tools = slices.Clone(r.Messages), slices.Clone(r.Tools)
	s.requests = append(s.requests, r)
	if len(s.steps) == 0 {
		s.mu.Unlock()
		return llm.Response{},
			core.Errorf(core.Internal, "The script of the model has no step for request %d.", len(s.requests))
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	return step(ctx, r)
}

// SetReady makes Ready fail with an error; nil: it succeeds.
func (s *Script) SetReady(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = err
}

// Ready gives what SetReady said.
func (s *Script) Ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// Requests gives the requests so far, in order.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left counts the steps that were not given yet.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

// Say answers with a text.
func Say(text string) Step {
	return answer(core.Message{Role: core.Assistant, Content: core.Text(text)}, llm.FinishStop)
}

// Call answers with calls of tools.
func Call(calls ...core.ToolCall) Step {
	return answer(core.Message{Role: core.Assistant, ToolCalls: calls}, llm.FinishCalls)
}

// Fail fails.
func Fail(err error) Step {
	return func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{}, err }
}

// Hang waits for the end of the context.
func Hang() Step {
	return func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		<-ctx.Done()
		return llm.Response{}, llm.Interrupted(ctx)
	}
}

func answer(m core.Message, f llm.Finish) Step {
	return func(context.Context, llm.Request) (llm.Response, error) {
		prompt, completion, total := int64(10), int64(5), int64(15)
		return llm.Response{Message: m, Finish: f, Model: "scripted", Raw: json.RawMessage(`{}`),
			Usage: llm.Usage{Prompt: &prompt, Completion: &completion, Total: &total}}, nil
	}
}
