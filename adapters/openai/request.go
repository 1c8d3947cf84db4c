package openai

import (
	"encoding/json"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// What the API admits of a tool, in characters. Not every server of it limits the description.
const (
	longestName        = 64
	longestDescription = 1024
)

// object is a JSON object to be sent. Its keys are sorted when it is written.
type object = map[string]any

// body gives the bytes of a call of chat completions.
func (p *Provider) body(r llm.Request, names llm.Names) ([]byte, error) {
	root := object{"model": p.api.Model}
	messages := make([]any, 0, len(r.Messages))
	for _, m := range r.Messages {
		messages = append(messages, p.message(m, names))
	}
	root["messages"] = messages
	if err := tools(root, r, names, inFunction); err != nil {
		return nil, err
	}
	p.settings(root, r.Config)
	if r.Stream {
		root["stream"] = true
	}
	if r.Stream && !r.Bare {
		root["stream_options"] = object{"include_usage": true}
	}
	if r.Cache != "" && p.own {
		root["prompt_cache_key"] = r.Cache
	}
	return modelapi.Encode(root, r.Config.Extra, llm.TextList{Key: "stop", Scalar: true})
}

func (p *Provider) settings(root object, c llm.Config) {
	set(root, "temperature", c.Temperature)
	set(root, "top_p", c.TopP)
	set(root, "frequency_penalty", c.FrequencyPenalty)
	set(root, "presence_penalty", c.PresencePenalty)
	set(root, p.limit(), c.MaxTokens)
	set(root, "seed", c.Seed)
	if len(c.StopSequences) > 0 {
		root["stop"] = c.StopSequences
	}
}

// The names of the limit of an answer: the one that other servers know, and the one for models that refuse it.
const (
	oldLimit = "max_tokens"
	newLimit = "max_completion_tokens"
)

func (p *Provider) limit() string {
	if p.family.reasoning || p.newLimit.Load() {
		return newLimit
	}
	return oldLimit
}

func set[T any](root object, key string, v *T) {
	if v != nil {
		root[key] = *v
	}
}

// inFunction is a function as a tool of chat completions, and as the choice of one.
func inFunction(function object) object { return object{"type": "function", "function": function} }

// tools adds the tools of a request, and the choice among them. form makes what an interface takes of a function.
func tools(root object, r llm.Request, names llm.Names, form func(function object) object) error {
	if len(r.Tools) == 0 {
		return nil
	}
	var all []any
	for _, t := range r.Tools {
		schema, err := schemaOf(t)
		if err != nil {
			return err
		}
		function := object{"name": names.Wire(t.Name), "parameters": schema}
		if t.Description != "" {
			function["description"] = short(t.Description)
		}
		all = append(all, form(function))
	}
	root["tools"] = all
	switch r.Choice.Mode {
	case llm.ChooseAuto, llm.ChooseRequired, llm.ChooseNone:
		root["tool_choice"] = string(r.Choice.Mode)
	case llm.ChooseTool:
		root["tool_choice"] = form(object{"name": names.Wire(r.Choice.Tool)})
	}
	return nil
}

// schemaOf gives a tool's schema, its parts as they are written. The API wants the type of the root.
func schemaOf(t llm.Tool) (object, error) {
	var written map[string]json.RawMessage
	if len(t.Parameters) > 0 {
		if err := json.Unmarshal(t.Parameters, &written); err != nil {
			return nil,
				core.Wrap(core.ProviderInvalidRequest, err, "The parameters of the tool %s can't be read.", t.Name)
		}
	}
	schema := object{"type": "object"}
	for key, part := range written {
		schema[key] = part
	}
	if schema["properties"] == nil { // without which the API refuses an object
		schema["properties"] = object{}
	}
	return schema, nil
}

// short is a description of at most as many characters as the API admits.
func short(description string) string {
	if text := []rune(description); len(text) > longestDescription {
		return string(text[:longestDescription-1]) + "…"
	}
	return description
}
