package llmtest

import (
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// responsesFields are the fields of a request of the Responses API.
var responsesFields = []string{
	"model!", "input!", "background", "context_management", "conversation", "include", "instructions",
	"max_output_tokens",
	"max_tool_calls", "metadata", "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key",
	"prompt_cache_retention", "reasoning",
	"safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice",
	"tools", "top_logprobs", "top_p",
	"truncation", "user",
}

// checkResponses checks a request of the Responses API, and gives its model.
func (s *OpenAI) checkResponses(c *checker, received Received, body *strictjson.Value) (model string) {
	if !c.object("", body, responsesFields...) {
		return ""
	}
	model = c.str("model", body.Get("model"))
	if gptVersion(model) >= 5 {
		for _, field := range []string{"temperature", "top_p"} {
			if body.Get(field) != nil {
				c.fault("", "Unsupported parameter: '%s' is not supported with this model.", field)
			}
		}
	}
	c.number("temperature", body.Get("temperature"), 0, 2)
	c.number("top_p", body.Get("top_p"), 0, 1)
	c.whole("max_output_tokens", body.Get("max_output_tokens"), 16)
	if key := body.Get("prompt_cache_key"); key != nil && len(c.str("prompt_cache_key", key)) > 64 {
		c.fault("prompt_cache_key", "must have 64 characters at most")
	}
	checkResponsesTools(c, body)
	input := body.Get("input")
	if input != nil && input.Kind == strictjson.String {
		return model
	}
	all := c.list("input", input, 1)
	for i, item := range all {
		s.checkItem(c, at("input", i), item)
	}
	checkOutputs(c, all)
	s.checkIssued(c, owner(received, body), all)
	return model
}

func (s *OpenAI) checkItem(c *checker, path string, item *strictjson.Value) {
	switch kind := text(item, "type"); {
	case kind == "reasoning":
		c.object(path, item, "type!", "id!", "summary!", "encrypted_content", "content", "status")
		c.list(path+".summary", item.Get("summary"), 0)
	case kind == "function_call":
		c.object(path, item, "type!", "call_id!", "name!", "arguments!", "id", "status")
		c.str(path+".call_id", item.Get("call_id"))
		checkOpenAIName(c, path+".name", item.Get("name"))
		c.str(path+".arguments", item.Get("arguments"))
	case kind == "function_call_output":
		c.object(path, item, "type!", "call_id!", "output!", "id", "status")
		c.str(path+".call_id", item.Get("call_id"))
		if output := item.Get("output"); output != nil && output.Kind != strictjson.String {
			checkParts(c, path+".output", output, "input_text", "input_image", "input_file")
		}
	case kind != "" && kind != "message":
		c.fault(path+".type", "Invalid value: '%s'.", kind)
	case item.Get("id") != nil:
		c.object(path, item, "type!", "id!", "role!", "status!", "content!", "phase")
		c.str(path+".role", item.Get("role"), "assistant")
		checkParts(c, path+".content", item.Get("content"), "output_text", "refusal")
	default:
		c.object(path, item, "role!", "content!", "type", "phase")
		c.str(path+".role", item.Get("role"), "user", "assistant", "system", "developer")
		if content := item.Get("content"); content != nil && content.Kind != strictjson.String {
			checkParts(c, path+".content", content, "input_text", "input_image", "input_file")
		}
	}
}

func checkParts(c *checker, path string, v *strictjson.Value, types ...string) {
	for i, part := range c.list(path, v, 1) {
		path := at(path, i)
		switch c.str(path+".type", part.Get("type"), types...) {
		case "input_text":
			c.object(path, part, "type!", "text!")
		case "output_text":
			c.object(path, part, "type!", "text!", "annotations!", "logprobs")
		case "refusal":
			c.object(path, part, "type!", "refusal!")
		case "input_image":
			c.object(path, part, "type!", "detail!", "image_url", "file_id")
			c.str(path+".detail", part.Get("detail"), "low", "high", "auto", "original")
		}
	}
}

// checkOutputs requires one output for each call, after it.
func checkOutputs(c *checker, all []*strictjson.Value) {
	var open []string
	for i, item := range all {
		id := text(item, "call_id")
		switch text(item, "type") {
		case "function_call":
			open = append(open, id)
		case "function_call_output":
			n := slices.Index(open, id)
			if n < 0 {
				c.fault(at("input", i), "No tool call found for function call output with call_id %s.", id)
				continue
			}
			open = slices.Delete(open, n, n+1)
		}
	}
	if len(open) > 0 {
		c.fault("input", "No tool output found for function call %s.", open[0])
	}
}

// checkIssued checks what the API itself has sent: reasoning that it can read, before the calls that followed from it,
// and the phase of each message.
func (s *OpenAI) checkIssued(c *checker, who string, all []*strictjson.Value) {
	reasoning := "" // the item that the next items follow from
	for i, item := range all {
		path := at("input", i)
		switch kind := text(item, "type"); {
		case kind == "reasoning":
			reasoning = text(item, "id")
			switch content := text(item, "encrypted_content"); {
			case content == "":
				c.fault(path, "Item with id '%s' not found. Items are not persisted when `store` is set to false.",
					reasoning)
			case !readable(content, who, reasoning):
				c.fault(path, "The encrypted content for item %s could not be verified.", reasoning)
			}
			if i+1 == len(all) || !slices.Contains([]string{"function_call", "message"}, text(all[i+1], "type")) {
				c.fault(path, "Item '%s' of type 'reasoning' was provided without its required following item.",
					reasoning)
			}
		case kind == "function_call":
			known, ours := s.issued.calls[text(item, "id")]
			if !ours {
				known, ours = s.issued.calls[text(item, "call_id")]
			}
			if ours && known.owner == who && known.reasoning != reasoning {
				c.fault(path, "Item '%s' of type 'function_call' was provided without its required 'reasoning' item: "+
					"'%s'.", text(item, "id"), known.reasoning)
			}
		case text(item, "role") == "assistant":
			if phase := s.issued.phases[who+said(item)]; phase != text(item, "phase") {
				c.fault(path, "the phase of this message was %q, and not %q", phase, text(item, "phase"))
			}
		default:
			reasoning = ""
		}
	}
}

// said is the text of a message.
func said(item *strictjson.Value) string {
	var all strings.Builder
	if content := item.Get("content"); content != nil {
		all.WriteString(content.String)
		for _, part := range content.Items {
			all.WriteString(text(part, "text"))
		}
	}
	return all.String()
}

func checkResponsesTools(c *checker, body *strictjson.Value) {
	var names []string
	if tools := body.Get("tools"); tools != nil {
		for i, t := range c.list("tools", tools, 1) {
			path := at("tools", i)
			c.str(path+".type", t.Get("type"), "function")
			if !c.object(path, t, "type!", "name!", "parameters!", "strict!", "description", "async") {
				continue
			}
			names = append(names, checkOpenAIName(c, path+".name", t.Get("name")))
			checkOpenAISchema(c, path+".parameters", t.Get("parameters"))
			switch strict := t.Get("strict"); {
			case strict == nil || strict.Kind != strictjson.Bool:
				c.fault(path+".strict", "must be true or false")
			case strict.Bool:
				checkStrict(c, path+".parameters", t.Get("parameters"))
			}
		}
	}
	switch choice := body.Get("tool_choice"); {
	case choice == nil:
	case choice.Kind == strictjson.String:
		c.str("tool_choice", choice, "none", "auto", "required")
	case c.object("tool_choice", choice, "type!", "name!"):
		c.str("tool_choice.name", choice.Get("name"), names...)
	}
}

// checkStrict requires that each object of a schema is closed, and that all of its properties are required.
func checkStrict(c *checker, path string, v *strictjson.Value) {
	if v == nil {
		return
	}
	checkStrict(c, path+".items", v.Get("items"))
	if text(v, "type") != "object" {
		return
	}
	if more := v.Get("additionalProperties"); more == nil || more.Kind != strictjson.Bool || more.Bool {
		c.fault(path, "'additionalProperties' is required to be supplied and to be false.")
	}
	var required []string
	for _, name := range items(v, "required") {
		required = append(required, name.String)
	}
	for _, m := range properties(v) {
		if !slices.Contains(required, m.Key) {
			c.fault(path, "'required' is required to be supplied and to be an array including every key in "+
				"properties. Missing '%s'.", m.Key)
		}
		checkStrict(c, path+".properties."+m.Key, m.Value)
	}
}
