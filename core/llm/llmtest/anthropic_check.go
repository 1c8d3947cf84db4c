package llmtest

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// anthropicFields are the fields of a request that the API knows.
var anthropicFields = []string{
	"model!", "max_tokens!", "messages!", "cache_control", "container", "diagnostics", "inference_geo", "metadata",
	"output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "temperature", "thinking",
	"tool_choice", "tools", "top_k", "top_p",
}

var (
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	// at the root of a schema; below it any name is taken
	anthropicArgument = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// checkAnthropic checks a request by the rules of the API, as its reference and its refusals state them, and gives its
// model. Where the API is more tolerant than its reference (it joins messages of one role), the strict rule holds here:
// user and assistant alternate.
func checkAnthropic(c *checker, body *strictjson.Value) (model string) {
	if !c.object("", body, anthropicFields...) {
		return ""
	}
	model = c.str("model", body.Get("model"))
	c.whole("max_tokens", body.Get("max_tokens"), 1)
	c.number("temperature", body.Get("temperature"), 0, 1)
	c.number("top_p", body.Get("top_p"), 0, 1)
	c.whole("top_k", body.Get("top_k"), 0)
	if stop := body.Get("stop_sequences"); stop != nil {
		for i, item := range c.list("stop_sequences", stop, 0) {
			checkVisible(c, at("stop_sequences", i), item)
		}
	}
	if system := body.Get("system"); system != nil {
		checkAnthropicContent(c, "system", system, "text")
	}
	checkAnthropicChoice(c, body.Get("tool_choice"), checkAnthropicTools(c, body.Get("tools")))
	checkAnthropicMessages(c, c.list("messages", body.Get("messages"), 1))
	return model
}

// checkVisible requires a text with more than white space.
func checkVisible(c *checker, path string, v *strictjson.Value) string {
	text := c.str(path, v)
	if text != "" && strings.TrimSpace(text) == "" {
		c.fault(path, "must contain non-whitespace text")
	}
	return text
}

func checkPattern(c *checker, path string, v *strictjson.Value, pattern *regexp.Regexp) string {
	text := c.str(path, v)
	if !pattern.MatchString(text) {
		c.fault(path, "%q should match pattern %s", text, pattern)
	}
	return text
}

func checkAnthropicTools(c *checker, v *strictjson.Value) (names []string) {
	if v == nil {
		return nil
	}
	for i, t := range c.list("tools", v, 1) {
		path := at("tools", i)
		if !c.object(path, t, "name!", "input_schema!", "description", "type", "cache_control", "strict") {
			continue
		}
		name := checkPattern(c, path+".name", t.Get("name"), anthropicName)
		if slices.Contains(names, name) {
			c.fault(path+".name", "tool names must be unique: %q", name)
		}
		names = append(names, name)
		if d := t.Get("description"); d != nil {
			c.str(path+".description", d)
		}
		schema := t.Get("input_schema")
		c.str(path+".input_schema.type", schema.Get("type"), "object")
		for _, key := range []string{"oneOf", "anyOf", "allOf"} {
			if schema.Get(key) != nil {
				c.fault(path+".input_schema", "does not support %s at the top level", key)
			}
		}
		checkDialect(c, path+".input_schema", schema)
		for _, m := range properties(schema) {
			if !anthropicArgument.MatchString(m.Key) {
				c.fault(path+".input_schema.properties", "Property keys should match pattern '%s'", anthropicArgument)
			}
		}
	}
	return names
}

func checkAnthropicChoice(c *checker, v *strictjson.Value, tools []string) {
	if v == nil {
		return
	}
	switch kind := c.str("tool_choice.type", v.Get("type"), "auto", "any", "tool", "none"); kind {
	case "auto", "any":
		c.object("tool_choice", v, "type!", "disable_parallel_tool_use")
	case "none":
		c.object("tool_choice", v, "type!")
	case "tool":
		if c.object("tool_choice", v, "type!", "name!", "disable_parallel_tool_use") &&
			!slices.Contains(tools, v.Get("name").String) {
			c.fault("tool_choice.name", "tool %q not found in provided tools", v.Get("name").String)
		}
	}
	if len(tools) == 0 {
		c.fault("tool_choice", "may only be specified while providing tools")
	}
}

func checkAnthropicImage(c *checker, path string, v *strictjson.Value) {
	switch c.str(path+".type", v.Get("type"), "base64", "url") {
	case "base64":
		if !c.object(path, v, "type!", "media_type!", "data!") {
			return
		}
		c.str(path+".media_type", v.Get("media_type"), "image/jpeg", "image/png", "image/gif", "image/webp")
		data := c.str(path+".data", v.Get("data"))
		if _, err := base64.StdEncoding.DecodeString(data); err != nil || strings.ContainsAny(data, "\r\n") {
			c.fault(path+".data", "must be valid base64")
		}
	case "url":
		if c.object(path, v, "type!", "url!") {
			c.str(path+".url", v.Get("url"))
		}
	}
}
