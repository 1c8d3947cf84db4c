package llm

import (
	"cmp"
	"context"

	"gatehouse/core"
)

// Attempt is one try of a call.
type Attempt struct {
	Index int    // from 0
	Model string // RetryConfig.Model
}

// Observer is told of each attempt before it begins, and gives the context that the attempt runs in: the place to begin
// a span in it. The function that it returns is called once when the attempt has ended, with what came of it.
type Observer func(ctx context.Context, a Attempt) (context.Context, func(Response, error))

func unobserved(ctx context.Context, _ Attempt) (context.Context, func(Response, error)) {
	return ctx, func(Response, error) {}
}

// Attributes are those of the attempt's span (observability §5.5): its index, that it repeats another one, and what is
// known of its end, also by the names of OpenTelemetry's conventions for generative AI (gen_ai.*). There is no text of
// any message in them.
func (a Attempt) Attributes(r Response, err error) map[string]any {
	all := map[string]any{"openarmature.llm.attempt_index": a.Index, "gen_ai.operation.name": "chat"}
	if r.Model != "" {
		all["gen_ai.response.model"] = r.Model
	}
	if a.Index > 0 {
		all["openarmature.llm.retry_reason"] = "transient"
	}
	if model := cmp.Or(a.Model, r.Model); model != "" {
		all["openarmature.llm.model"] = model
	}
	if err != nil {
		all["openarmature.error.category"] = string(core.CategoryOf(err))
		return all
	}
	all["openarmature.llm.finish_reason"] = string(r.Finish)
	all["gen_ai.response.finish_reasons"] = []string{string(r.Finish)}
	for name, counter := range map[string]*int64{
		"openarmature.llm.usage.prompt_tokens":     r.Usage.Prompt,
		"openarmature.llm.usage.completion_tokens": r.Usage.Completion,
		"openarmature.llm.usage.total_tokens":      r.Usage.Total,

		"gen_ai.usage.input_tokens":            r.Usage.Prompt,
		"gen_ai.usage.output_tokens":           r.Usage.Completion,
		"gen_ai.usage.cache_read.input_tokens": r.Usage.Cached,
	} {
		if counter != nil {
			all[name] = *counter
		}
	}
	return all
}
