package slack

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
	"gatehouse/core/question"
)

// The ids of the forms: the callback id, and the block and action id of the one input or, of an answer, the beginning of each.
const (
	callbackReason = "deny_reason"
	inputReason    = "reason"

	callbackEdit = "edit_arguments"
	inputEdit    = "arguments"

	callbackAnswer = "answer_question"
	inputField     = "field_"
)

func fieldID(place int) string { return inputField + strconv.Itoa(place) }

// drawForm draws a form. value is sent with its submission.
func drawForm(value string, f doc.Form) api.ModalViewRequest {
	callback, id := callbackReason, inputReason
	if f.Action == chat.ActionEdit {
		callback, id = callbackEdit, inputEdit
	}
	about := pieces(f.Lead)
	if f.Tool != "" {
		about = append(about, literal("\nTool: "), pieceOf(doc.Span{Kind: doc.Tool, Text: f.Tool}))
	}
	blocks := []api.Block{rich(about...)}
	for i, in := range f.Inputs {
		if f.Action == chat.ActionAnswer {
			callback, id = callbackAnswer, fieldID(i)
		}
		blocks = append(blocks, input(id, in))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callback, PrivateMetadata: value,
		Title: plainText(f.Title), Submit: plainText(f.Submit), Close: plainText("Go back"), Blocks: api.Blocks{BlockSet: blocks},
	}
}

// input draws an input of a form, with its label.
func input(id string, in doc.Input) api.Block {
	var hint *api.TextBlockObject
	if in.Hint != "" {
		hint = plainText(short(in.Hint, maxHint))
	}
	return api.NewInputBlock(id, plainText(short(in.Shown(), maxFieldLabel)), hint, inputElement(id, in)).WithOptional(!in.Required)
}

func inputElement(id string, in doc.Input) api.BlockElement {
	f := in.Field
	if titles := in.Titles(); len(titles) > question.MaxButtons {
		return api.NewOptionsSelectBlockElement(api.OptTypeStatic, plainText("Choose one"), id, options(titles)...)
	} else if titles != nil {
		return api.NewRadioButtonsBlockElement(id, options(titles)...)
	}
	if f.Kind == question.Text {
		input := api.NewPlainTextInputBlockElement(nil, id).WithMultiline(f.MaxLength > longText)
		if in.Placeholder != "" {
			input.Placeholder = plainText(in.Placeholder)
		}
		input.MinLength, input.MaxLength, input.InitialValue = min(f.MinLength, maxInput), min(f.MaxLength, maxInput), in.Value
		return input
	}
	input := api.NewNumberInputBlockElement(nil, id, f.Kind == question.Number)
	if bounds := string(f.Minimum) + " " + string(f.Maximum); f.Kind == question.Number || !strings.Contains(bounds, ".") {
		input.MinValue, input.MaxValue = bound.FindString(string(f.Minimum)), bound.FindString(string(f.Maximum))
	}
	return input
}

// bound matches the numbers that Slack takes as a bound. Others are checked after the submission only.
var bound = regexp.MustCompile(`^-?[0-9]{1,12}(\.[0-9]{1,6})?$`)

// argumentsModal returns a modal with all arguments of a call. If they exceed Slack's limits, it shows how much is missing.
func argumentsModal(c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(literal("Tool: "), pieceOf(doc.Span{Kind: doc.Tool, Text: c.Tool}))}
	rest, bytes := defuse(doc.Arguments(c)), 0
	for n := 0; rest != "" && n < maxChunks; n++ {
		chunk := chunkOf(rest)
		if bytes += jsonSize(chunk); bytes > maxArgBytes {
			break
		}
		blocks = append(blocks, api.NewRichTextBlock("", preformatted(chunk)))
		rest = rest[len(chunk):]
	}
	if rest != "" {
		blocks = append(blocks, rich(literal(chat.Thousands(utf8.RuneCountInString(rest))+" more characters do not fit here. "+doc.OnPage)))
	}
	return api.ModalViewRequest{Type: api.VTModal, Title: plainText("All arguments"), Close: plainText("Close"), Blocks: api.Blocks{BlockSet: blocks}}
}

// chunkOf returns the beginning of a text that fits in one block. It ends at the end of a line if that leaves the block at least half
// full.
func chunkOf(s string) string {
	chunk, left := chat.Head(s, maxChunk)
	if end := strings.LastIndexByte(chunk, '\n') + 1; left > 0 && end > len(chunk)/2 {
		return chunk[:end]
	}
	return chunk
}

func jsonSize(s string) int {
	raw, _ := json.Marshal(s) // a string: can't fail
	return len(raw)
}
