package evidence

import (
	"context"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
)

// ModelCall is a call of a model that a node made.
type ModelCall struct {
	Request  llm.Request
	Chunks   [][]map[string]any // that it was answered with, of each attempt; nil: not as a stream
	Response llm.Response
	Failed   bool
	AtOnce   func(chunks []map[string]any) (llm.Response, error) // the response where these do not come as a stream
}

// The types of the events of a model's calls (graph-engine §6).
const (
	LlmToken      = "LlmTokenEvent"
	LlmCompletion = "LlmCompletionEvent"
	LlmFailed     = "LlmFailedEvent"
)

// Heard is a typed event that a collector of the fixture received.
type Heard struct {
	Observer string
	Type     string // its name in the specification; Go's for a type that is not there
	Fields   map[string]any
}

// AddCall records a call of a model.
func (r *Recorder) AddCall(c ModelCall) {
	r.record(func(now *Activity) { now.Calls = append(now.Calls, c) })
}

// Collect is what a collector does with a typed event.
func (r *Recorder) Collect(observer string) func(context.Context, graph.Report) error {
	return func(ctx context.Context, report graph.Report) error {
		name, fields := reportFields(report)
		ids, _ := graph.InvocationFrom(ctx)
		fields["invocation_id"], fields["correlation_id"] = string(ids.Invocation), ids.Correlation
		r.record(func(now *Activity) { now.Heard = append(now.Heard, Heard{observer, name, fields}) })
		return nil
	}
}

// reportFields returns a typed event in the fixture language.
func reportFields(r graph.Report) (name string, out map[string]any) {
	out = map[string]any{
		"node_name": r.Node, "namespace": fixture.Plain(r.Namespace), "attempt_index": r.Attempt,
		"fan_out_index": fixture.Plain(r.FanOutIndex), "branch_name": nil,
		"caller_invocation_metadata": nil,
	}
	if r.Branch != "" {
		out["branch_name"] = r.Branch
	}
	of := func(c llm.Call) { out["call_id"], out["provider"], out["model"] = c.ID, c.Provider, c.Model }
	switch e := r.Event.(type) {
	case llm.TokenEvent:
		of(e.Call)
		out["chunk_index"], out["delta_kind"], out["delta"] = e.Index, string(e.Kind), e.Text
		return LlmToken, out
	case llm.CompletionEvent:
		of(e.Call)
		calls := []any{}
		for _, c := range e.Response.Message.ToolCalls {
			calls = append(calls, map[string]any{"id": c.ID, "name": c.Name, "arguments": fixture.Plain(c.Arguments)})
		}
		u := e.Response.Usage
		out["finish_reason"], out["output_content"], out["output_tool_calls"] = string(e.Response.Finish),
			e.Response.Message.Content.String(), calls
		out["response_model"], out["input_messages"] = e.Response.Model, fixture.Plain(e.Request.Messages)
		out["usage"] = fixture.Plain(
			map[string]*int64{"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Total})
		return LlmCompletion, out
	case llm.FailedEvent:
		of(e.Call)
		out["error_category"], out["error_message"] = string(core.CategoryOf(e.Err)), e.Err.Error()
		out["input_messages"] = fixture.Plain(e.Request.Messages)
		return LlmFailed, out
	}
	return "unknown", out
}
