package providers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
)

func unsupportedRejected(s *scope, c *call) error {
	return errors.Join(require(s.mock.mapping == stub, "the mapping is %q", s.mock.mapping), noFallback(s, c),
		invalidRequest(s, c))
}

func noFallback(s *scope, c *call) error {
	return errors.Join(require(c.request.Stream && !c.answered, "no stream was refused"), nothingSent(s, c))
}

func noTokensOfRejected(_ *scope, c *call) error {
	return require(c.request.Stream && c.err != nil && len(c.tokens) == 0, "the error is %v, after %d tokens", c.err,
		len(c.tokens))
}

func noTokensAtOnce(_ *scope, c *call) error {
	return require(!c.request.Stream && c.answered && len(c.tokens) == 0, "streamed: %t, answered: %t, %d tokens",
		c.request.Stream, c.answered, len(c.tokens))
}

func unsupportedAnswers(s *scope, c *call) error {
	return errors.Join(require(s.mock.mapping == stub, "the mapping is %q", s.mock.mapping), atOnceUnchanged(s, c))
}

func atOnceUnchanged(s *scope, c *call) error {
	return errors.Join(noTokensAtOnce(s, c), noStreamKey(s, c))
}

func streamAsked(_ *scope, c *call) error {
	body := c.lastBody()
	asked := body["stream"] == true && fixture.Equal(map[string]any{"include_usage": true}, body["stream_options"])
	return require(c.request.Stream && asked, "stream is %v, stream_options %v", body["stream"], body["stream_options"])
}

// streamed are the chunks of a call that was answered with a stream.
func (s *scope) streamed(c *call) ([]map[string]any, error) {
	chunks := s.streamOf(c)
	return chunks, require(c.request.Stream && c.answered && len(chunks) > 0, "no stream was answered with (%v)", c.err)
}

// said are the tokens of a kind, joined.
func (c *call) said(kind llm.TokenKind) (joined string) {
	for _, t := range c.tokens {
		if t.Kind == kind {
			joined += t.Text
		}
	}
	return joined
}

// inBlocks is what the response has of a kind of block.
func inBlocks(r llm.Response, kind core.BlockType) (joined string) {
	for _, b := range r.Message.Content.Blocks() {
		if b.Type == kind {
			joined += b.Text
		}
	}
	return joined
}

func contentConcatenated(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	want := pieces(chunks, "content")
	same := want != "" && inBlocks(c.response, core.TextBlock) == want && c.said(llm.TokenContent) == want
	return errors.Join(err,
		require(same, "the deltas say %q, the response %q, the tokens %q", want, inBlocks(c.response, core.TextBlock),
			c.said(llm.TokenContent)))
}

func reasoningConcatenated(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	want := pieces(chunks, "reasoning_content", "reasoning")
	blocks := c.response.Message.Content.Blocks()
	first := len(blocks) > 0 && blocks[0].Type == core.ThinkingBlock
	same := want != "" && first && inBlocks(c.response, core.ThinkingBlock) == want &&
		c.said(llm.TokenReasoning) == want
	return errors.Join(err, require(same, "the deltas reason %q, the blocks are %v", want, blocks))
}

func callsReassembled(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	message, _ := first(whole(chunks)["choices"])["message"].(map[string]any)
	want, _ := message["tool_calls"].([]any)
	if err != nil || len(want) == 0 || len(want) != len(c.response.Message.ToolCalls) {
		return errors.Join(err,
			fmt.Errorf("%d calls were streamed, the response has %d", len(want), len(c.response.Message.ToolCalls)))
	}
	for i, item := range want {
		call, got := item.(map[string]any), c.response.Message.ToolCalls[i]
		function := call["function"].(map[string]any)
		var arguments map[string]any
		if err := json.Unmarshal([]byte(function["arguments"].(string)), &arguments); err != nil {
			return fmt.Errorf("the streamed arguments are no object: %w", err)
		}
		if got.ID != call["id"] || strings.ReplaceAll(got.Name, ".", "__") != function["name"] ||
			!fixture.Equal(arguments, got.Arguments) {
			return fmt.Errorf("call %d is %v", i, got)
		}
	}
	return nil
}

func sameAtOnce(s *scope, c *call) error {
	if _, err := s.streamed(c); err != nil {
		return err
	}
	other, err := s.atOnce(c)
	other.Raw = c.response.Raw // which is how it came
	return errors.Join(err,
		require(fixture.Equal(c.response, other), "at once it is %s", fixture.DiffValues(other, c.response)))
}

func sameCallsAtOnce(s *scope, c *call) error {
	return errors.Join(require(len(c.response.Message.ToolCalls) > 0, "there are no calls"), sameAtOnce(s, c))
}

func sameReasoningAtOnce(s *scope, c *call) error {
	return errors.Join(require(inBlocks(c.response, core.ThinkingBlock) != "", "there is no reasoning"),
		sameAtOnce(s, c))
}

// terminal are the last reason to stop and the last usage of a stream, and where they are.
func terminal(chunks []map[string]any) (finish string, usage map[string]any, last bool) {
	finishAt, usageAt := -1, -1
	for i, chunk := range chunks {
		if reason, _ := first(chunk["choices"])["finish_reason"].(string); reason != "" {
			finish, finishAt = reason, i
		}
		if u, _ := chunk["usage"].(map[string]any); u != nil {
			usage, usageAt = u, i
		}
	}
	return finish, usage, finishAt >= 0 && usageAt >= finishAt && usageAt == len(chunks)-1
}

func terminalChunks(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	finish, usage, last := terminal(chunks)
	if err != nil || !last {
		return errors.Join(err, errors.New("the stream does not end with a reason and the usage"))
	}
	u := c.response.Usage
	got := map[string]*int64{"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Total}
	for key, n := range got {
		if sound(usage[key]) != (n != nil) || n != nil && float64(*n) != usage[key] {
			return fmt.Errorf("%s is %v in the stream", key, usage[key])
		}
	}
	return require(string(c.response.Finish) == finish, "it ends with %q, the response with %q", finish,
		c.response.Finish)
}

func callsFinish(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	finish, _, _ := terminal(chunks)
	return errors.Join(err,
		require(finish == "tool_calls" && c.response.Finish == llm.FinishCalls, "it ends with %q, the response with %q",
			finish, c.response.Finish))
}

func terminalCounterNulled(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	_, usage, _ := terminal(chunks)
	u := c.response.Usage
	malformed := 0
	for key, n := range map[string]*int64{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Total,
	} {
		if value, there := usage[key]; there && !sound(value) {
			malformed++
			err = errors.Join(err, require(n == nil, "%s is %v in the stream, and not null", key, value))
		}
	}
	return errors.Join(err, require(malformed > 0, "the stream's counters are sound"))
}

func terminalUsageOnRaw(s *scope, c *call) error {
	chunks, err := s.streamed(c)
	_, usage, _ := terminal(chunks)
	var raw struct {
		Usage any `json:"usage"`
	}
	err = errors.Join(err, json.Unmarshal(c.response.Raw, &raw))
	return errors.Join(err,
		require(usage != nil && fixture.Equal(usage, raw.Usage), "raw has %v, the stream %v", raw.Usage, usage))
}

// sound reports whether a counter is a whole number, and not negative.
func sound(v any) bool {
	n, isNumber := v.(float64)
	return isNumber && n >= 0 && n == float64(int64(n))
}

// rawKeepsMalformed: these counters, or all of those that the server sent, are malformed, are so in raw, and are none
// in the response.
func rawKeepsMalformed(keys ...string) func(*scope, *call) error {
	return func(s *scope, c *call) error {
		sent, _ := fixture.Plain(s.sentTo(c).Peek("usage").Value()).(map[string]any)
		names := keys
		for key := range sent {
			if len(keys) == 0 {
				names = append(names, key)
			}
		}
		var raw struct {
			Usage map[string]any `json:"usage"`
		}
		if err := json.Unmarshal(c.response.Raw, &raw); err != nil {
			return err
		}
		u := c.response.Usage
		read := map[string]*int64{
			"prompt_tokens": u.Prompt, "input_tokens": u.Prompt, "completion_tokens": u.Completion,
			"output_tokens": u.Completion, "total_tokens": u.Total,
		}
		for _, key := range names {
			if sent[key] == nil || sound(sent[key]) || !fixture.Equal(sent[key], raw.Usage[key]) || read[key] != nil {
				return fmt.Errorf("%s: the server sent %v, raw has %v, the response %v", key, sent[key], raw.Usage[key],
					read[key])
			}
		}
		return require(len(names) > 0, "there are no counters")
	}
}

// spansFailed: every attempt has a span, which says how it failed.
func spansFailed(_ *scope, c *call) error {
	for _, one := range c.spans {
		if one.category == "" {
			return fmt.Errorf("attempt %d did not fail", one.index)
		}
	}
	return require(len(c.spans) > 0, "there were no attempts")
}

func oneSpanOfAFailure(_ *scope, c *call) error {
	return require(len(c.spans) == 1 && c.err != nil && !llm.IsTransient(c.err), "%d attempts, the error is %v",
		len(c.spans), c.err)
}

func nonTransientEnds(_ *scope, c *call) error {
	return require(len(c.spans) > 0 && len(c.spans) < c.attempts && c.err != nil && !llm.IsTransient(c.err),
		"%d of %d attempts, the error is %v", len(c.spans), c.attempts, c.err)
}

func exhausted(_ *scope, c *call) error {
	n := len(c.spans)
	return require(n > 1 && n == c.attempts && llm.IsTransient(c.err) &&
		c.spans[n-1].category == core.CategoryOf(c.err), "%d of %d attempts, the error is %v", n, c.attempts, c.err)
}

func propagated(_ *scope, c *call) error {
	n := len(c.spans)
	return require(c.err != nil && !c.answered && n > 0 && c.spans[n-1].category == core.CategoryOf(c.err),
		"%d attempts, the error is %v", n, c.err)
}

func neverWaited(_ *scope, c *call) error {
	return require(c.waits == 0 && len(c.spans) == 1, "%d waits and %d attempts", c.waits, len(c.spans))
}
