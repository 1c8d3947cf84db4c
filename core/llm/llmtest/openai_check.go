package llmtest

import (
	"regexp"
	"slices"

	"gatehouse/core/strictjson"
)

// openAIFields are the fields of a request that the API knows.
var openAIFields = []string{
	"model!", "messages!", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
	"max_completion_tokens", "max_tokens", "metadata", "modalities", "n", "parallel_tool_calls", "prediction",
	"presence_penalty", "prompt_cache_key",
	"prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier",
	"stop", "store", "stream",
	"stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
	"web_search_options",
}

var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkOpenAI checks a request by the rules of the API, and gives its model.
func checkOpenAI(c *checker, body *strictjson.Value) (model string) {
	if !c.object("", body, openAIFields...) {
		return ""
	}
	model = c.str("model", body.Get("model"))
	checkOpenAIMessages(c, c.list("messages", body.Get("messages"), 1))
	tools := checkOpenAITools(c, body)
	checkOpenAIChoice(c, body.Get("tool_choice"), tools)
	c.number("temperature", body.Get("temperature"), 0, 2)
	c.number("top_p", body.Get("top_p"), 0, 1)
	c.number("frequency_penalty", body.Get("frequency_penalty"), -2, 2)
	c.number("presence_penalty", body.Get("presence_penalty"), -2, 2)
	c.number("seed", body.Get("seed"), -anyNumber, anyNumber)
	c.whole("max_tokens", body.Get("max_tokens"), 1)
	c.whole("max_completion_tokens", body.Get("max_completion_tokens"), 1)
	if stop := body.Get("stop"); stop != nil && stop.Kind != strictjson.String {
		if items := c.list("stop", stop, 1); len(items) > 4 {
			c.fault("stop", "must not have more than 4 texts")
		}
		for i, item := range stop.Items {
			c.str(at("stop", i), item)
		}
	}
	if stream := body.Get("stream"); body.Get("stream_options") != nil && (stream == nil || !stream.Bool) {
		c.fault("stream_options", "is only allowed when 'stream' is enabled")
	}
	return model
}

func checkOpenAITools(c *checker, body *strictjson.Value) (names []string) {
	v := body.Get("tools")
	if v == nil {
		return nil
	}
	for i, t := range c.list("tools", v, 1) {
		path := at("tools", i)
		if !c.object(path, t, "type!", "function!") {
			continue
		}
		c.str(path+".type", t.Get("type"), "function")
		f := t.Get("function")
		if !c.object(path+".function", f, "name!", "description", "parameters", "strict") {
			continue
		}
		name := checkOpenAIName(c, path+".function.name", f.Get("name"))
		if slices.Contains(names, name) {
			c.fault(path+".function.name", "%q is there twice", name)
		}
		names = append(names, name)
		if d := f.Get("description"); d != nil && (d.Kind != strictjson.String || len([]rune(d.String)) > 1024) {
			c.fault(path+".function.description", "must be a text of 1024 characters at most")
		}
		if p := f.Get("parameters"); p != nil {
			checkOpenAISchema(c, path+".function.parameters", p)
		}
	}
	return names
}

// checkOpenAISchema checks the schema of a tool's arguments.
func checkOpenAISchema(c *checker, path string, v *strictjson.Value) {
	if kind := v.Get("type"); kind == nil || kind.String != "object" || v.Get("properties") == nil {
		c.fault(path, `schema must be a JSON Schema of 'type: "object"' with properties`)
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if v.Get(key) != nil {
			c.fault(path, "schema must not have %s at the top level", key)
		}
	}
	checkDialect(c, path, v)
	for _, m := range properties(v) {
		if kind := m.Value.Get("type"); kind != nil && kind.String == "array" && m.Value.Get("items") == nil {
			c.fault(path+".properties."+m.Key, "array schema missing items")
		}
	}
}

func checkOpenAIName(c *checker, path string, v *strictjson.Value) string {
	name := c.str(path, v)
	if !openAIName.MatchString(name) {
		c.fault(path, "%q does not match %s", name, openAIName)
	}
	return name
}

func checkOpenAIChoice(c *checker, v *strictjson.Value, tools []string) {
	switch {
	case v == nil:
		return
	case len(tools) == 0:
		c.fault("tool_choice", "is only allowed when 'tools' are specified")
	case v.Kind == strictjson.String:
		c.str("tool_choice", v, "none", "auto", "required")
	case c.object("tool_choice", v, "type!", "function!"):
		c.str("tool_choice.type", v.Get("type"), "function")
		if c.object("tool_choice.function", v.Get("function"), "name!") {
			c.str("tool_choice.function.name", v.Get("function").Get("name"), tools...)
		}
	}
}
