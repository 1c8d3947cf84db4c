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
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// callbacks are the ids of the forms.
var callbacks = map[chat.Action]string{
	chat.ActionReason: "deny_reason", chat.ActionEdit: "edit_arguments", chat.ActionAnswer: "answer_question",
}

// inputs are the ids of a form's inputs, by their places: each is the id of a block and of the element in it.
var inputs = map[string][]string{
	callbacks[chat.ActionReason]: {"reason"},
	callbacks[chat.ActionEdit]:   {"arguments"},
	callbacks[chat.ActionAnswer]: {
		"field_0", "field_1", "field_2", "field_3", "field_4", "field_5", "field_6", "field_7", "field_8", "field_9",
	},
}

// drawForm draws a form. value is sent with its submission.
func drawForm(value string, f doc.Form) api.ModalViewRequest {
	callback := callbacks[f.Action]
	about := f.Lead
	if f.Tool != "" {
		about = append(about, own("\n"+f.LabelTool+": "), doc.Span{Kind: doc.Tool, Text: f.Tool})
	}
	blocks := []api.Block{rich(section(about...))}
	for i, in := range f.Inputs {
		blocks = append(blocks, input(inputs[callback][i], in, f.ChooseOne))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callback, PrivateMetadata: value,
		Title: plainText(short(f.Title, maxTitle)), Submit: plainText(short(f.Submit, maxTitle)), Close: plainText(short(f.ButtonGoBack, maxTitle)), Blocks: api.Blocks{BlockSet: blocks},
	}
}

// input draws an input of a form, with its label.
func input(id string, in doc.Input, prompt string) api.Block {
	var hint *api.TextBlockObject
	if in.Hint != "" {
		hint = plainText(short(in.Hint, maxHint))
	}
	return api.NewInputBlock(id, plainText(short(in.Label(), maxFieldLabel)), hint, inputElement(id, in, prompt)).WithOptional(!in.Required)
}

func inputElement(id string, in doc.Input, prompt string) api.BlockElement {
	f := in.Field
	if titles := in.Titles(); len(titles) > question.MaxButtons {
		return menu(id, prompt, titles)
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

// argumentsModal returns a modal with all arguments of a call. If they exceed Slack's limits, it shows how much is
// missing.
func (p painter) argumentsModal(c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(section(own(p.LabelTool+": "), doc.Span{Kind: doc.Tool, Text: c.Tool}))}
	rest, bytes := defuse(doc.Arguments(c)), 0
	for n := 0; rest != "" && n < maxChunks; n++ {
		chunk := chunkOf(rest)
		written, _ := json.Marshal(chunk) // a string: can't fail
		if bytes += len(written); bytes > maxArgBytes {
			break
		}
		blocks = append(blocks, rich(preformatted(chunk)))
		rest = rest[len(chunk):]
	}
	if rest != "" {
		left := chat.Counted(p.FormArgumentsCut, utf8.RuneCountInString(rest))
		blocks = append(blocks, rich(section(own(left+doc.OnPage(c, p.reader())))))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, Title: plainText(short(p.FormArgumentsTitle, maxTitle)), Close: plainText(short(p.ButtonClose, maxTitle)),
		Blocks: api.Blocks{BlockSet: blocks},
	}
}

// short returns a text on one line that ends within a limit, with a sign where it is cut.
func short(s string, limit int) string {
	text := defuse(chat.OneLine(mask.Escape(s)))
	if _, left := chat.Head(text, limit); left > 0 {
		text, _ = chat.Head(text, limit-1)
		text += "…"
	}
	return chat.OrNone(text)
}

// chunkOf returns the beginning of a text that fits in one block. It ends at the end of a line if that leaves the block
// at least half full.
func chunkOf(s string) string {
	chunk, left := chat.Head(s, maxChunk)
	if end := strings.LastIndexByte(chunk, '\n') + 1; left > 0 && end > len(chunk)/2 {
		return chunk[:end]
	}
	return chunk
}

// menu draws options to choose one of.
func menu(id, prompt string, titles []string) api.BlockElement {
	return api.NewOptionsSelectBlockElement(api.OptTypeStatic, plainText(prompt), id, options(titles)...)
}

// options draws the options of a menu. The value of each is its place, from 1.
func options(titles []string) (all []*api.OptionBlockObject) {
	for i, title := range titles {
		all = append(all, api.NewOptionBlockObject(strconv.Itoa(i+1), plainText(short(title, maxOption)), nil))
	}
	return all
}
