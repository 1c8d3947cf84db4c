package slack

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// The ids of the forms: the callback id, and the block and action id of the one input.
const (
	callbackReason = "deny_reason"
	inputReason    = "reason"

	callbackEdit = "edit_arguments"
	inputEdit    = "arguments"
)

// reasonModal returns the modal that asks why a request is denied. value is sent with its submission. The reason is optional unless the
// rule needs one, so that it does not delay a denial.
func reasonModal(value string, c core.Card) api.ModalViewRequest {
	input := api.NewPlainTextInputBlockElement(plainText("What should be different?"), inputReason).WithMultiline(true).WithMaxLength(maxReason)
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callbackReason, PrivateMetadata: value,
		Title: plainText("Deny this?"), Submit: plainText("Deny"), Close: plainText("Go back"),
		Blocks: api.Blocks{BlockSet: []api.Block{
			subject(c),
			api.NewInputBlock(inputReason, plainText("Reason"), plainText("The agent and the person who asked will read it."), input).WithOptional(!c.NeedsWhy),
		}},
	}
}

// editModal returns the modal that changes a call's arguments. It is filled with text; value is sent with its submission.
func editModal(value, text string, c core.Card) api.ModalViewRequest {
	input := api.NewPlainTextInputBlockElement(nil, inputEdit).WithMultiline(true).WithMaxLength(maxInput).WithInitialValue(text)
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callbackEdit, PrivateMetadata: value,
		Title: plainText(chat.EditTitle), Submit: plainText(chat.EditSubmit), Close: plainText("Go back"),
		Blocks: api.Blocks{BlockSet: []api.Block{
			subject(c), api.NewInputBlock(inputEdit, plainText(chat.EditLabel), plainText(chat.EditHint), input),
		}},
	}
}

// subject says what a form is about.
func subject(c core.Card) api.Block {
	return rich(bold(chat.OrNone(inline(c.Summary, maxSummary))), literal("\nTool: "), toolName(c.Tool))
}

// argumentsModal returns a modal with all arguments of a call. If they exceed Slack's limits, it shows how much is missing.
func argumentsModal(c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(literal("Tool: "), toolName(c.Tool))}
	rest, bytes := defuse(chat.Arguments(c)), 0
	for n := 0; rest != "" && n < maxChunks; n++ {
		chunk := chunkOf(rest)
		if bytes += jsonSize(chunk); bytes > maxArgBytes {
			break
		}
		blocks = append(blocks, api.NewRichTextBlock("", preformatted(chunk)))
		rest = rest[len(chunk):]
	}
	if rest != "" {
		blocks = append(blocks, rich(literal(chat.Thousands(utf8.RuneCountInString(rest))+" more characters do not fit here. On a terminal: "+chat.ShowCommand(c.Approval))))
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
