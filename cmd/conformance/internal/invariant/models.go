package invariant

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/llm"
)

// The subjects: turns in which a node called a model once, which a collector watched.
var (
	called = subject{"call of a model that a collector watched", func(r run) bool {
		return len(r.Calls) > 0 && len(r.collected()) > 0
	}}
	streamedCall = called.and("streamed call of a model", func(r run) bool {
		return r.allCalls(func(c evidence.ModelCall) bool { return c.Request.Stream })
	})
	streamAnswered = streamedCall.and("streamed call of a model that was answered", func(r run) bool {
		return r.allCalls(func(c evidence.ModelCall) bool { return !c.Failed && len(c.Chunks) > 0 })
	})
	streamFailed = streamedCall.and("streamed call of a model that failed", func(r run) bool {
		return r.allCalls(func(c evidence.ModelCall) bool { return c.Failed })
	})
	callsStreamed = streamAnswered.and("streamed call of a model that answered with calls of tools", func(r run) bool {
		return deltas(r, "tool_calls") > 0
	})
	calledAtOnce = called.and("call of a model that is not streamed", func(r run) bool {
		return r.allCalls(func(c evidence.ModelCall) bool { return !c.Request.Stream })
	})
	partialFailure = streamFailed.and("streamed call of a model that failed after a part", func(r run) bool {
		return deltas(r, "content", "reasoning_content", "reasoning") > 0
	})
)

// collected are the events of the first collector that received any, in order.
func (r run) collected() (out []evidence.Heard) {
	for _, h := range r.Heard {
		if h.Observer == r.Heard[0].Observer {
			out = append(out, h)
		}
	}
	return out
}

// fields are those of the events of a type.
func (r run) fields(kind string) (out []map[string]any) {
	for _, h := range r.collected() {
		if h.Type == kind {
			out = append(out, h.Fields)
		}
	}
	return out
}

func (r run) allCalls(is func(evidence.ModelCall) bool) bool {
	return !slices.ContainsFunc(r.Calls, func(c evidence.ModelCall) bool { return !is(c) })
}

// deltaOf is what a chunk adds.
func deltaOf(chunk map[string]any) map[string]any {
	list, _ := chunk["choices"].([]any)
	if len(list) == 0 {
		return nil
	}
	choice, _ := list[0].(map[string]any)
	delta, _ := choice["delta"].(map[string]any)
	return delta
}

// each visits the deltas that the calls were answered with, and what they have under one of the keys.
func each(r run, keys []string, visit func(v any)) {
	for _, c := range r.Calls {
		for _, attempt := range c.Chunks {
			for _, chunk := range attempt {
				for _, key := range keys {
					if v := deltaOf(chunk)[key]; v != nil && v != "" {
						visit(v)
					}
				}
			}
		}
	}
}

func deltas(r run, keys ...string) (n int) {
	each(r, keys, func(any) { n++ })
	return n
}

// tokenForEachChunk: each piece of text that was streamed is one token, in its order, and nothing else is.
func tokenForEachChunk(r run) error {
	want, got := []any{}, []any{}
	each(r, []string{"reasoning_content", "reasoning", "content"}, func(v any) { want = append(want, v) })
	for _, f := range r.fields(evidence.LlmToken) {
		got = append(got, f["delta"])
	}
	return same("tokens", want, got)
}

// chunksCounted: the tokens of each call are numbered from 0 in the order of their delivery.
func chunksCounted(r run) error {
	next := map[any]int{}
	for _, f := range r.fields(evidence.LlmToken) {
		if f["chunk_index"] != next[f["call_id"]] {
			return fmt.Errorf("token %v comes after %d tokens of its call", f["chunk_index"], next[f["call_id"]])
		}
		next[f["call_id"]]++
	}
	return require(len(next) > 0, "there are no tokens")
}

// deltasAssemble: the content tokens of a call are the content that it completes with.
func deltasAssemble(r run) error {
	said := map[any]string{}
	for _, f := range r.fields(evidence.LlmToken) {
		if f["delta_kind"] == string(llm.TokenContent) {
			text, _ := f["delta"].(string)
			id := f["call_id"]
			said[id] += text
		}
	}
	for _, f := range r.fields(evidence.LlmCompletion) {
		if f["output_content"] != said[f["call_id"]] {
			return fmt.Errorf("the tokens say %q, the end %q", said[f["call_id"]], f["output_content"])
		}
	}
	return require(len(said) > 0 && len(r.fields(evidence.LlmCompletion)) > 0, "there are no tokens of an answer")
}

// idsMatch: every token has the id of an end, and each end has an id of its own.
func idsMatch(r run) error {
	ends := map[any]bool{}
	for _, f := range r.fields(evidence.LlmCompletion) {
		ends[f["call_id"]] = f["call_id"] != ""
	}
	tokens := r.fields(evidence.LlmToken)
	for _, f := range tokens {
		if !ends[f["call_id"]] {
			return fmt.Errorf("a token is of the call %v, the ends are of %v", f["call_id"], ends)
		}
	}
	return require(len(ends) == len(r.fields(evidence.LlmCompletion)) && len(tokens) > 0,
		"%d tokens, ends of %v", len(tokens), ends)
}

// oneEnd: each call has one end, which is of this type, and comes after all of its tokens.
func oneEnd(kind string) func(run) error {
	return func(r run) error {
		ended := map[any]bool{}
		for _, h := range r.collected() {
			id := h.Fields["call_id"]
			if ended[id] {
				return fmt.Errorf("%s comes after the end of the call", h.Type)
			}
			if ended[id] = h.Type != evidence.LlmToken; ended[id] && h.Type != kind {
				return fmt.Errorf("the call ends with %s", h.Type)
			}
		}
		n := len(r.fields(kind))
		return require(n == len(r.Calls) && n == len(ended), "%d calls have %d of %s", len(r.Calls), n, kind)
	}
}

func noCompletion(r run) error {
	n := len(r.fields(evidence.LlmCompletion))
	return require(n == 0 && len(r.fields(evidence.LlmFailed)) > 0, "%d completions, and %d failures", n,
		len(r.fields(evidence.LlmFailed)))
}

// noOtherVariant: nothing was collected but tokens, completions and failures.
func noOtherVariant(r run) error {
	for _, h := range r.collected() {
		if !slices.Contains([]string{evidence.LlmToken, evidence.LlmCompletion, evidence.LlmFailed}, h.Type) {
			return fmt.Errorf("there is an event %s", h.Type)
		}
	}
	return nil
}

// partsBeforeFailure: what was streamed before the failure is told before it.
func partsBeforeFailure(r run) error {
	events := r.collected()
	last := events[len(events)-1]
	return errors.Join(tokenForEachChunk(r),
		require(last.Type == evidence.LlmFailed, "the last event is %s", last.Type), oneEnd(evidence.LlmFailed)(r))
}

func noTokens(r run) error {
	return require(len(r.fields(evidence.LlmToken)) == 0, "there are %d tokens", len(r.fields(evidence.LlmToken)))
}

func tokensOf(kinds ...llm.TokenKind) func(run) error {
	return func(r run) error {
		tokens := r.fields(evidence.LlmToken)
		for _, f := range tokens {
			if kind, _ := f["delta_kind"].(string); !slices.Contains(kinds, llm.TokenKind(kind)) {
				return fmt.Errorf("a token is of the kind %q", kind)
			}
		}
		return require(len(tokens) > 0, "there are no tokens")
	}
}

// callsComplete: the end has the calls whose parts were streamed, whole and read.
func callsComplete(r run) error {
	type part struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	}
	var parts []part
	each(r, []string{"tool_calls"}, func(v any) {
		var more []part
		data, err := json.Marshal(v)
		if err == nil && json.Unmarshal(data, &more) == nil {
			parts = append(parts, more...)
		}
	})
	texts := map[int]string{}
	want := []any{}
	for _, p := range parts {
		texts[p.Index] += p.Function.Arguments
	}
	for _, p := range parts {
		var arguments map[string]any
		if p.ID == "" {
			continue
		}
		if err := json.Unmarshal([]byte(texts[p.Index]), &arguments); err != nil {
			return fmt.Errorf("the streamed arguments are no object: %w", err)
		}
		want = append(want, map[string]any{"id": p.ID, "name": p.Function.Name, "arguments": arguments})
	}
	return same("the calls", want, endCalls(r))
}

// endCalls are the calls of tools that the ends have.
func endCalls(r run) []any {
	got := []any{}
	for _, f := range r.fields(evidence.LlmCompletion) {
		calls, _ := f["output_tool_calls"].([]any)
		got = append(got, calls...)
	}
	return got
}

// callsSameAtOnce: the same provider gives the same calls where the answer does not come as a stream.
func callsSameAtOnce(r run) error {
	want := []any{}
	for _, c := range r.Calls {
		other, err := c.AtOnce(c.Chunks[len(c.Chunks)-1])
		if err != nil {
			return err
		}
		for _, one := range other.Message.ToolCalls {
			want = append(want,
				map[string]any{"id": one.ID, "name": one.Name, "arguments": fixture.Plain(one.Arguments)})
		}
	}
	return same("the calls", want, endCalls(r))
}
