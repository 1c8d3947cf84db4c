package llmtest

import (
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// checkOpenAIMessages checks each message, and that every call of an assistant's message has exactly one result right
// after it.
func checkOpenAIMessages(c *checker, messages []*strictjson.Value) {
	var open []string // the calls that wait for a result
	for i, m := range messages {
		path := at("messages", i)
		role := c.str(path+".role", m.Get("role"), "system", "developer", "user", "assistant", "tool")
		if role != "tool" && len(open) > 0 {
			c.fault(path, "an assistant message with 'tool_calls' must be followed by tool messages responding to "+
				"each 'tool_call_id'; these had none: %v", open)
			open = nil
		}
		switch role {
		case "system", "developer":
			c.object(path, m, "role!", "content!", "name")
			checkOpenAIContent(c, path+".content", m.Get("content"), "text")
		case "user":
			c.object(path, m, "role!", "content!", "name")
			checkOpenAIContent(c, path+".content", m.Get("content"), "text", "image_url", "input_audio", "file")
		case "assistant":
			open = checkOpenAIAssistant(c, path, m)
		case "tool":
			c.object(path, m, "role!", "content!", "tool_call_id!")
			checkOpenAIContent(c, path+".content", m.Get("content"), "text")
			n := slices.Index(open, c.str(path+".tool_call_id", m.Get("tool_call_id")))
			if n < 0 {
				c.fault(path, "a message with role 'tool' must be a response to a preceding message with 'tool_calls'")
				continue
			}
			open = slices.Delete(open, n, n+1)
		}
	}
	if len(open) > 0 {
		c.fault("messages", "the calls %v have no result", open)
	}
}

func checkOpenAIAssistant(c *checker, path string, m *strictjson.Value) (ids []string) {
	c.object(path, m, "role!", "content", "refusal", "name", "tool_calls", "audio", "reasoning_content")
	calls := m.Get("tool_calls")
	if content := m.Get("content"); content == nil || content.Kind == strictjson.Null {
		if calls == nil {
			c.fault(path+".content", "is required unless there are tool_calls")
		}
	} else {
		checkOpenAIContent(c, path+".content", content, "text", "refusal")
	}
	if calls == nil {
		return nil
	}
	for i, call := range c.list(path+".tool_calls", calls, 1) {
		at := at(path+".tool_calls", i)
		if !c.object(at, call, "id!", "type!", "function!", "extra_content") {
			continue
		}
		id := c.str(at+".id", call.Get("id"))
		if slices.Contains(ids, id) {
			c.fault(at+".id", "%q is there twice", id)
		}
		ids = append(ids, id)
		c.str(at+".type", call.Get("type"), "function")
		if f := call.Get("function"); c.object(at+".function", f, "name!", "arguments!") {
			checkOpenAIName(c, at+".function.name", f.Get("name"))
			c.str(at+".function.arguments", f.Get("arguments"))
		}
	}
	return ids
}

// checkOpenAIContent checks a text, or a list of parts of these types.
func checkOpenAIContent(c *checker, path string, v *strictjson.Value, types ...string) {
	if v != nil && v.Kind == strictjson.String {
		return
	}
	for i, part := range c.list(path, v, 1) {
		path := at(path, i)
		switch c.str(path+".type", part.Get("type"), types...) {
		case "text":
			c.object(path, part, "type!", "text!")
			c.str(path+".text", part.Get("text"))
		case "image_url":
			c.object(path, part, "type!", "image_url!")
			image := part.Get("image_url")
			if c.object(path+".image_url", image, "url!", "detail") {
				url := c.str(path+".image_url.url", image.Get("url"))
				if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") &&
					!strings.HasPrefix(url, "data:image/") {
					c.fault(path+".image_url.url", "must be a URL or a data URI of an image")
				}
				if d := image.Get("detail"); d != nil {
					c.str(path+".image_url.detail", d, "auto", "low", "high")
				}
			}
		}
	}
}
