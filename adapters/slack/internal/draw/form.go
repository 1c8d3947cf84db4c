package draw

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
	"gatehouse/core/question"
)

// callbacks are the ids of the forms.
var callbacks = map[outbound.Action]string{
	outbound.ActionReason: "deny_reason", outbound.ActionEdit: "edit_arguments",
	outbound.ActionAnswer: "answer_question",
}

// callbackMended is the id of the form for changed arguments that is filled with what was probably meant. Its input has
// an id of its own: Slack keeps what was typed into one that it knows.
const callbackMended = "edit_mended"

// Inputs are the ids of the inputs of a form, by their places; nil for an id that no form of ours has.
func Inputs(callback string) []string { return inputs[callback] }

// inputs are the ids of a form's inputs, by their places: each is the id of a block and of the element in it.
var inputs = map[string][]string{
	callbacks[outbound.ActionReason]: {"reason"},
	callbacks[outbound.ActionEdit]:   {"arguments"},
	callbackMended:                   {"arguments_mended"},
	callbacks[outbound.ActionAnswer]: strings.Fields(
		"field_0 field_1 field_2 field_3 field_4 field_5 field_6 field_7 field_8 field_9",
	),
}

// Form draws a form. value is sent with its submission.
func Form(value string, f doc.Form) api.ModalViewRequest {
	return formAs(callbacks[f.Action], value, f)
}

// Mended draws the form for changed arguments again, filled with what was probably meant. callback is the id of the
// form that was submitted.
func Mended(callback, value string, f doc.Form) api.ModalViewRequest {
	if callback == callbackMended {
		return formAs(callbacks[outbound.ActionEdit], value, f)
	}
	return formAs(callbackMended, value, f)
}

// formAs draws a form under the id of one.
func formAs(callback, value string, f doc.Form) api.ModalViewRequest {
	about := f.Lead
	if f.Tool != "" {
		about = append(about, own("\n"+f.LabelTool+": "), doc.Span{Kind: doc.Tool, Text: f.Tool})
	}
	blocks := []api.Block{rich(section(about...))}
	for i, in := range f.Inputs {
		blocks = append(blocks, input(inputs[callback][i], in, f.ChooseOne))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callback, PrivateMetadata: value, Blocks: api.Blocks{BlockSet: blocks},
		Title: plainText(short(f.Title, maxTitle)), Submit: plainText(short(f.Submit, maxTitle)),
		Close: plainText(short(f.ButtonGoBack, maxTitle)),
	}
}

// input draws an input of a form, with its label.
func input(id string, in doc.Input, prompt string) api.Block {
	var hint *api.TextBlockObject
	if in.Hint != "" {
		hint = plainText(short(in.Hint, maxHint))
	}
	label := plainText(short(in.Label(), maxFieldLabel))
	return api.NewInputBlock(id, label, hint, inputElement(id, in, prompt)).WithOptional(!in.Required)
}

func inputElement(id string, in doc.Input, prompt string) api.BlockElement {
	titles, low, high := in.Titles(), string(in.Minimum), string(in.Maximum)
	switch {
	case len(titles) > question.MaxButtons:
		return menu(id, prompt, titles)
	case titles != nil:
		return api.NewRadioButtonsBlockElement(id, options(titles)...)
	case in.Kind == question.Text:
		text := api.NewPlainTextInputBlockElement(nil, id).WithMultiline(in.MaxLength > longText)
		text.MinLength, text.MaxLength = min(in.MinLength, MaxInput), min(in.MaxLength, MaxInput)
		text.InitialValue = in.Value
		return text
	}
	number := api.NewNumberInputBlockElement(nil, id, in.Kind == question.Number)
	if in.Kind == question.Number || !strings.Contains(low+high, ".") {
		number.MinValue, number.MaxValue = bound.FindString(low), bound.FindString(high)
	}
	return number
}

// bound matches the numbers that Slack takes as a bound. Others are checked after the submission only.
var bound = regexp.MustCompile(`^-?[0-9]{1,12}(\.[0-9]{1,6})?$`)

// ArgumentsModal returns a modal with all arguments of a call, in blocks that end with a line if that leaves them at
// least half full. If they exceed Slack's limits, it shows how much is missing.
func (p Painter) ArgumentsModal(c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(section(own(p.LabelTool+": "), doc.Span{Kind: doc.Tool, Text: c.Tool}))}
	rest, room := mrkdwn.Defuse(doc.Arguments(c)), maxArgBytes
	for range maxChunks {
		chunk, more := safetext.Head(rest, maxChunk)
		if end := strings.LastIndexByte(chunk, '\n') + 1; more > 0 && end > len(chunk)/2 {
			chunk = chunk[:end]
		}
		written, _ := json.Marshal(chunk) // a string: can't fail
		if room -= len(written); room < 0 || chunk == "" {
			break
		}
		blocks = append(blocks, rich(preformatted(chunk)))
		rest = rest[len(chunk):]
	}
	if rest != "" {
		left := safetext.Counted(p.FormArgumentsCut, utf8.RuneCountInString(rest))
		blocks = append(blocks, rich(section(own(left+doc.OnPage(c, p.reader())))))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, Title: plainText(short(p.FormArgumentsTitle, maxTitle)),
		Close: plainText(short(p.ButtonClose, maxTitle)), Blocks: api.Blocks{BlockSet: blocks},
	}
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
