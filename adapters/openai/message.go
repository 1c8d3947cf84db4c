package openai

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// message is a message on the wire.
func message(m core.Message, names llm.Names) (openai.ChatCompletionMessageParamUnion, error) {
	switch m.Role {
	case core.System:
		return openai.SystemMessage(m.Content.String()), nil
	case core.ToolRole:
		return openai.ToolMessage(m.Content.String(), m.ToolCallID), nil
	case core.User:
		if !m.Content.IsList() {
			return openai.UserMessage(m.Content.String()), nil
		}
		return openai.UserMessage(parts(m.Content.Blocks())), nil
	}
	return assistant(m, names)
}

// parts are the blocks of a user's message, in their order.
func parts(blocks []core.Block) []openai.ChatCompletionContentPartUnionParam {
	var all []openai.ChatCompletionContentPartUnionParam
	for _, b := range blocks {
		if b.Type == core.TextBlock {
			all = append(all, openai.TextContentPart(b.Text))
			continue
		}
		image := openai.ChatCompletionContentPartImageImageURLParam{URL: b.Source.URL, Detail: b.Detail}
		if b.Source.Type == core.SourceInline {
			image.URL = "data:" + b.MediaType + ";base64," + b.Source.Base64Data
		}
		all = append(all, openai.ImageContentPart(image))
	}
	return all
}

// assistant leaves out thinking and signatures.
func assistant(m core.Message, names llm.Names) (openai.ChatCompletionMessageParamUnion, error) {
	var wire openai.ChatCompletionAssistantMessageParam
	var texts []openai.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion
	for _, b := range m.Content.Blocks() {
		if b.Type == core.TextBlock {
			texts = append(texts, openai.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion{OfText: &openai.ChatCompletionContentPartTextParam{Text: b.Text}})
		}
	}
	switch {
	case len(texts) > 1:
		wire.Content.OfArrayOfContentParts = texts
	case len(texts) == 1:
		wire.Content.OfString = param.NewOpt(texts[0].OfText.Text)
	case len(m.ToolCalls) > 0:
		wire.Content = param.NullStruct[openai.ChatCompletionAssistantMessageParamContentUnion]()
	default:
		wire.Content.OfString = param.NewOpt("")
	}
	for _, c := range m.ToolCalls {
		arguments, err := argumentsOf(c)
		if err != nil {
			return openai.ChatCompletionMessageParamUnion{}, err
		}
		wire.ToolCalls = append(wire.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: names.Wire(c.Name), Arguments: arguments}}})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &wire}, nil
}

// argumentsOf is the text of a call's arguments.
func argumentsOf(c core.ToolCall) (string, error) {
	v, err := strictjson.Parse(c.Arguments)
	if len(c.Arguments) == 0 || err == nil && v.Kind == strictjson.Null {
		return "{}", nil
	}
	text, err := llm.Canonical(c.Arguments)
	if err != nil {
		return "", core.Wrap(core.ProviderInvalidRequest, err, "The arguments of the call %s are not valid JSON.", c.ID)
	}
	return string(text), nil
}

func hasImages(r llm.Request) bool {
	for _, m := range r.Messages {
		for _, b := range m.Content.Blocks() {
			if b.Type == core.ImageBlock {
				return true
			}
		}
	}
	return false
}
