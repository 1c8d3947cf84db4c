package openai

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// message is a message on the wire.
func message(m core.Message, names llm.Names) openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case core.System:
		return openai.SystemMessage(m.Content.String())
	case core.ToolRole:
		return openai.ToolMessage(m.Content.String(), m.ToolCallID)
	case core.User:
		if !m.Content.IsList() {
			return openai.UserMessage(m.Content.String())
		}
		return openai.UserMessage(parts(m.Content.Blocks()))
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
func assistant(m core.Message, names llm.Names) openai.ChatCompletionMessageParamUnion {
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
		wire.ToolCalls = append(wire.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: names.Wire(c.Name), Arguments: string(modelapi.Arguments(c))}}})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &wire}
}
