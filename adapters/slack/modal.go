package slack

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// actionReason is the button that opens the form for a reason; the form's one input bears inputReason as its block and action.
const (
	actionReason = "deny_reason"
	inputReason  = "reason"
)

// reasonModal is the form that asks why a request is denied; value is what its submission carries. The reason may stay empty:
// nobody who has decided to deny should be held up by it.
func (p painter) reasonModal(value string, c core.Card) api.ModalViewRequest {
	input := api.NewPlainTextInputBlockElement(plainText("What should be different?"), inputReason).WithMultiline(true).WithMaxLength(maxReason)
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callbackReason, PrivateMetadata: value,
		Title: plainText("Deny with reason"), Submit: plainText("Deny"), Close: plainText("Go back"),
		Blocks: api.Blocks{BlockSet: []api.Block{
			rich(bold(orNone(inline(c.Summary, maxSummary))), literal("\nTool: "), codeWord(orNone(inline(c.Tool, maxTool)))),
			api.NewInputBlock(inputReason, plainText("Reason"), plainText("The agent and the person who asked will read it."), input).WithOptional(true),
		}},
	}
}

// argumentsModal shows all of a call's arguments; what is more than Slack takes is said aloud.
func (p painter) argumentsModal(c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(literal("Tool: "), codeWord(orNone(inline(c.Tool, maxTool))))}
	rest, bytes := strings.TrimSpace(defuse(exposed(c.Arguments))), 0
	for n := 0; rest != "" && n < maxChunks; n++ {
		chunk := chunkOf(rest)
		if bytes += jsonSize(chunk); bytes > maxArgBytes {
			break
		}
		blocks = append(blocks, api.NewRichTextBlock("", preformatted(chunk)))
		rest = rest[len(chunk):]
	}
	if rest != "" {
		blocks = append(blocks, rich(literal(thousands(utf8.RuneCountInString(rest))+" more characters do not fit here. On a terminal: "+showCommand(c))))
	}
	return api.ModalViewRequest{Type: api.VTModal, Title: plainText("All arguments"), Close: plainText("Close"), Blocks: api.Blocks{BlockSet: blocks}}
}

// chunkOf is the beginning of a text that one block takes: up to the end of a line where that leaves it half full at least.
func chunkOf(s string) string {
	chunk, left := head(s, maxChunk)
	if end := strings.LastIndexByte(chunk, '\n') + 1; left > 0 && end > len(chunk)/2 {
		return chunk[:end]
	}
	return chunk
}

func jsonSize(s string) int {
	raw, err := json.Marshal(s)
	if err != nil {
		return len(s) * 6 // can't be: a string is always JSON
	}
	return len(raw)
}
