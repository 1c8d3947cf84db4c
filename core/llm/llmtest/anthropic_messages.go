package llmtest

import (
	"slices"

	"gatehouse/core/strictjson"
)

// checkAnthropicMessages checks the order of the roles, each message's content, and that each call has its result at
// once.
func checkAnthropicMessages(c *checker, messages []*strictjson.Value) {
	before := "assistant"
	seen := map[string]bool{}
	var calls []string // of the message before
	for i, m := range messages {
		path := at("messages", i)
		if !c.object(path, m, "role!", "content!") {
			return
		}
		role := c.str(path+".role", m.Get("role"), "user", "assistant")
		if role == before {
			c.fault(path+".role", "roles must alternate between user and assistant, and begin with user")
		}
		before = role
		allowed := []string{"text", "image", "tool_result"}
		if role == "assistant" {
			allowed = []string{"text", "thinking", "redacted_thinking", "tool_use"}
		}
		blocks := checkAnthropicContent(c, path+".content", m.Get("content"), allowed...)
		checkAnthropicResults(c, path+".content", blocks, calls)
		calls = checkAnthropicCalls(c, path+".content", blocks, seen)
	}
	if before != "user" {
		c.fault("messages", "the conversation must end with a user message")
	}
}

// checkAnthropicContent checks a text or a list of blocks, and gives the blocks that have a type.
func checkAnthropicContent(
	c *checker, path string, v *strictjson.Value, allowed ...string,
) (blocks []*strictjson.Value) {
	if v.Kind == strictjson.String {
		checkVisible(c, path, v)
		return nil
	}
	for i, b := range c.list(path, v, 1) {
		kind := c.str(at(path, i)+".type", b.Get("type"), allowed...)
		if kind == "" {
			continue
		}
		blocks = append(blocks, b)
		if slices.Contains(allowed, kind) {
			checkAnthropicBlock(c, at(path, i), kind, b)
		}
	}
	return blocks
}

func checkAnthropicBlock(c *checker, path, kind string, b *strictjson.Value) {
	switch kind {
	case "text":
		if c.object(path, b, "type!", "text!", "cache_control", "citations") {
			checkVisible(c, path+".text", b.Get("text"))
		}
	case "image":
		if c.object(path, b, "type!", "source!", "cache_control") {
			checkAnthropicImage(c, path+".source", b.Get("source"))
		}
	case "thinking":
		c.object(path, b, "type!", "thinking!", "signature!")
		if t := b.Get("thinking"); t != nil && t.Kind != strictjson.String {
			c.fault(path+".thinking", "must be a text")
		}
		c.str(path+".signature", b.Get("signature"))
	case "redacted_thinking":
		c.object(path, b, "type!", "data!")
		c.str(path+".data", b.Get("data"))
	case "tool_use":
		c.object(path, b, "type!", "id!", "name!", "input!", "cache_control")
		checkPattern(c, path+".id", b.Get("id"), anthropicID)
		checkPattern(c, path+".name", b.Get("name"), anthropicName)
		if input := b.Get("input"); input != nil && input.Kind != strictjson.Object {
			c.fault(path+".input", "must be an object")
		}
	case "tool_result":
		c.object(path, b, "type!", "tool_use_id!", "content", "is_error", "cache_control")
		checkPattern(c, path+".tool_use_id", b.Get("tool_use_id"), anthropicID)
		if content := b.Get("content"); content != nil {
			checkAnthropicContent(c, path+".content", content, "text", "image")
		}
	}
}

// checkAnthropicResults requires that the results come first in their message, and are those of the calls in the
// message before, each once.
func checkAnthropicResults(c *checker, path string, blocks []*strictjson.Value, calls []string) {
	open := slices.Clone(calls)
	others := false
	for i, b := range blocks {
		if b.Get("type").String != "tool_result" {
			others = true
			continue
		}
		if others {
			c.fault(at(path, i), "tool_result blocks must come before other content")
		}
		n := -1
		if id := b.Get("tool_use_id"); id != nil {
			n = slices.Index(open, id.String)
		}
		if n < 0 {
			c.fault(at(path, i), "unexpected tool_use_id: each tool_result must answer a tool_use of the previous "+
				"message, once")
			continue
		}
		open = slices.Delete(open, n, n+1)
	}
	if len(open) > 0 {
		c.fault(path, "tool_use ids were found without tool_result blocks immediately after: %v", open)
	}
}

// checkAnthropicCalls gives the ids of a message's calls. No id may occur twice in a request, and thinking may not be
// the last block.
func checkAnthropicCalls(c *checker, path string, blocks []*strictjson.Value, seen map[string]bool) (calls []string) {
	last := ""
	for _, b := range blocks {
		last = b.Get("type").String
		if last != "tool_use" || b.Get("id") == nil {
			continue
		}
		id := b.Get("id").String
		if seen[id] {
			c.fault(path, "tool_use ids must be unique: %s", id)
		}
		seen[id] = true
		calls = append(calls, id)
	}
	if last == "thinking" || last == "redacted_thinking" {
		c.fault(path, "the final block in an assistant message cannot be %s", last)
	}
	return calls
}
