package openai

import (
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// What the API admits of a tool, in characters. Not every server of it limits the description.
const (
	longestName        = 64
	longestDescription = 1024
)

// body gives the bytes that are sent for a request that was checked.
func (p *Provider) body(r llm.Request, names llm.Names) ([]byte, error) {
	params := openai.ChatCompletionNewParams{Model: p.api.Model}
	for _, m := range r.Messages {
		params.Messages = append(params.Messages, message(m, names))
	}
	if err := tools(&params, r, names); err != nil {
		return nil, err
	}
	settings(&params, r.Config)
	return modelapi.Encode(params, r.Config.Extra, "stop")
}

func settings(params *openai.ChatCompletionNewParams, c llm.Config) {
	setFloat(&params.Temperature, c.Temperature)
	setFloat(&params.TopP, c.TopP)
	setFloat(&params.FrequencyPenalty, c.FrequencyPenalty)
	setFloat(&params.PresencePenalty, c.PresencePenalty)
	setInt(&params.MaxTokens, c.MaxTokens)
	setInt(&params.Seed, c.Seed)
	if len(c.StopSequences) > 0 {
		params.Stop.OfStringArray = c.StopSequences
	}
}

func setFloat(to *param.Opt[float64], v *float64) {
	if v != nil {
		*to = param.NewOpt(*v)
	}
}

func setInt(to *param.Opt[int64], v *int64) {
	if v != nil {
		*to = param.NewOpt(*v)
	}
}

func tools(params *openai.ChatCompletionNewParams, r llm.Request, names llm.Names) error {
	for _, t := range r.Tools {
		function := shared.FunctionDefinitionParam{Name: names.Wire(t.Name)}
		if t.Description != "" {
			function.Description = param.NewOpt(short(t.Description))
		}
		schema, err := schemaOf(t)
		if err != nil {
			return err
		}
		function.Parameters = schema
		params.Tools = append(params.Tools, openai.ChatCompletionToolUnionParam{OfFunction: &openai.ChatCompletionFunctionToolParam{Function: function}})
	}
	if len(r.Tools) == 0 {
		return nil
	}
	switch r.Choice.Mode {
	case llm.ChooseAuto, llm.ChooseRequired, llm.ChooseNone:
		params.ToolChoice.OfAuto = param.NewOpt(string(r.Choice.Mode))
	case llm.ChooseTool:
		params.ToolChoice.OfFunctionToolChoice = &openai.ChatCompletionNamedToolChoiceParam{
			Function: openai.ChatCompletionNamedToolChoiceFunctionParam{Name: names.Wire(r.Choice.Tool)}}
	}
	return nil
}

// schemaOf gives a tool's schema, its parts as they are written: the SDK would change their numbers. The API wants the type of the root.
func schemaOf(t llm.Tool) (shared.FunctionParameters, error) {
	var written map[string]json.RawMessage
	if len(t.Parameters) > 0 {
		if err := json.Unmarshal(t.Parameters, &written); err != nil {
			return nil, core.Wrap(core.ProviderInvalidRequest, err, "The parameters of the tool %s can't be read.", t.Name)
		}
	}
	schema := shared.FunctionParameters{"type": "object"}
	for key, part := range written {
		schema[key] = part
	}
	if schema["properties"] == nil { // without which the API refuses an object
		schema["properties"] = map[string]any{}
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
