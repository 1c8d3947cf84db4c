// Package llmtest helps to test what talks to a model.
package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"gatehouse/core"
)

// Rules reports the first thing for which llm-provider §3, OpenAI's chat completions or Anthropic's messages would
// refuse a list of messages. The vendors' rules are those that their APIs state in the errors of refused requests.
func Rules(msgs []core.Message) error {
	for _, check := range []func([]core.Message) error{ListRules, CallRules, OpenAIRules, AnthropicRules} {
		if err := check(msgs); err != nil {
			return err
		}
	}
	return nil
}

// ListRules are those of llm-provider §3: each message is valid; there is at most one system message, the first; the
// first of the others is a user's; the last is a user's or a tool's; a tool message answers an earlier call.
func ListRules(msgs []core.Message) error {
	asked := map[string]bool{}
	for i, m := range msgs {
		if err := m.Validate(); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if m.Role == core.System && i > 0 {
			return fmt.Errorf("message %d is a system message and not the first", i)
		}
		for _, c := range m.ToolCalls {
			asked[c.ID] = true
		}
		if m.Role == core.ToolRole && !asked[m.ToolCallID] {
			return fmt.Errorf("message %d answers no earlier call: %q", i, m.ToolCallID)
		}
	}
	if len(msgs) > 0 && msgs[0].Role == core.System {
		msgs = msgs[1:]
	}
	switch {
	case len(msgs) == 0:
		return fmt.Errorf("there are no messages")
	case msgs[0].Role != core.User:
		return fmt.Errorf("the first message is the %s's", msgs[0].Role)
	case msgs[len(msgs)-1].Role != core.User && msgs[len(msgs)-1].Role != core.ToolRole:
		return fmt.Errorf("the last message is the %s's", msgs[len(msgs)-1].Role)
	}
	return nil
}

// callID matches the ids that both vendors take: Anthropic limits the letters, OpenAI the length.
var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

// CallRules are those of both vendors about calls: each id is used once in a request, the arguments are an object, and
// a message with calls is followed by exactly one result for each of them, before anything else.
func CallRules(msgs []core.Message) error {
	used, open := map[string]bool{}, map[string]bool{}
	for i, m := range msgs {
		if m.Role == core.ToolRole {
			if !open[m.ToolCallID] {
				return fmt.Errorf("message %d answers no call of the message before it: %q", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d follows calls without results: %v", i, open)
		}
		for _, c := range m.ToolCalls {
			var object map[string]any
			switch {
			case !callID.MatchString(c.ID):
				return fmt.Errorf("message %d has an id that is refused: %q", i, c.ID)
			case used[c.ID]:
				return fmt.Errorf("message %d uses an id again: %q", i, c.ID)
			case json.Unmarshal(c.Arguments, &object) != nil || object == nil:
				return fmt.Errorf("message %d has arguments that are no object: %s", i, c.Arguments)
			}
			used[c.ID], open[c.ID] = true, true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last calls have no results: %v", open)
	}
	return nil
}

// OpenAIRules are OpenAI's: thinking is not sent, and without it an assistant's message still has content or calls.
func OpenAIRules(msgs []core.Message) error {
	for i, m := range msgs {
		if m.Role != core.System && m.Role != core.ToolRole && m.Content.String() == "" && len(m.ToolCalls) == 0 &&
			!hasImage(m) {
			return fmt.Errorf("message %d has neither content nor calls", i)
		}
	}
	return nil
}

// AnthropicRules are Anthropic's: texts have a visible character; thinking is signed, does not end a message, and does
// not follow another message of the assistant, which is taken for the same one.
func AnthropicRules(msgs []core.Message) error {
	for i, m := range msgs {
		blocks := m.Content.Blocks()
		for n, b := range blocks {
			thinking := b.Type == core.ThinkingBlock || b.Type == core.RedactedThinkingBlock
			switch {
			case b.Type == core.TextBlock && strings.TrimSpace(b.Text) == "":
				return fmt.Errorf("message %d has a text without a visible character", i)
			case b.Type == core.ThinkingBlock && b.Signature == "":
				return fmt.Errorf("message %d has thinking without a signature", i)
			case thinking && n == len(blocks)-1 && len(m.ToolCalls) == 0:
				return fmt.Errorf("message %d ends with thinking", i)
			case thinking && i > 0 && msgs[i-1].Role == core.Assistant:
				return fmt.Errorf("message %d has thinking and continues another message", i)
			}
		}
		if len(blocks) == 0 && len(m.ToolCalls) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
	}
	return nil
}

func hasImage(m core.Message) bool {
	for _, b := range m.Content.Blocks() {
		if b.Type == core.ImageBlock {
			return true
		}
	}
	return false
}
