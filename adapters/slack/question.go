package slack

import (
	"regexp"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// inLines draws what a question's card is about, and its answer, with their lines: a face has each on one.
func inLines[P any](f chat.Face[P], c core.Card, text, bold func(string) P) chat.Face[P] {
	if c.Question == nil {
		return f
	}
	f.Lead = bold(chat.OrNone(lines(c.Question.Text, maxQuestion)))
	for i, field := range f.Fields {
		if field.Label == "Answer" {
			answer := chat.OrNone(lines(c.Answer, maxReason))
			if strings.Contains(answer, "\n") {
				answer = "\n" + answer
			}
			f.Fields[i].Value = []P{text(answer)}
		}
	}
	return f
}

// lines draws a text with its lines, within a limit.
func lines(s string, limit int) string {
	return shorten(defuse(strings.TrimSpace(joinBlankLines(mask.Escape(s)))), limit)
}

// short returns a text on one line that ends within a limit, with a sign where it is cut.
func short(s string, limit int) string {
	text := defuse(chat.OneLine(mask.Escape(s)))
	if head, left := chat.Head(text, limit); left == 0 {
		return chat.OrNone(head)
	}
	head, _ := chat.Head(text, limit-1)
	return head + "…"
}

// optionsText lists what can be answered by one press, for fallback; "" if a form is needed.
func optionsText(c core.Card) string {
	var all []string
	for _, o := range c.Question.Options() {
		all = append(all, short(o.Title, maxOption))
	}
	if c.State != core.Open || all == nil {
		return ""
	}
	return "Options: " + strings.Join(all, ", ")
}

// answerElements draws what an open question is answered with: a button for each option, a menu if they are more, or else a button that opens the
// form. id is that of the block, "" for any: since Slack has no value of a menu beside those of its options, that of its block is the sealed one.
func (p painter) answerElements(c core.Card) (all []api.BlockElement, id string, err error) {
	options := c.Question.Options()
	if len(options) > question.MaxButtons {
		id, err = chat.OptionButton(c, 0).Value(p.seal, maxBlockID)
		menu := api.NewOptionsSelectBlockElement(api.OptTypeStatic, plainText("Choose an answer"), string(chat.ActionAnswer), optionObjects(options)...)
		return []api.BlockElement{menu}, id, err
	}
	draw := func(place int, label string) error {
		made, err := p.button(string(chat.ActionAnswer)+"_"+strconv.Itoa(place), short(label, maxOption), chat.OptionButton(c, place))
		if err != nil {
			return err
		}
		made.AccessibilityLabel = cardText.Label(short(label, maxOption), c, maxButtonLabel)
		all = append(all, made)
		return nil
	}
	for i, o := range options {
		if err := draw(i+1, o.Title); err != nil {
			return nil, "", err
		}
	}
	if options == nil {
		err = draw(0, "Answer")
	}
	return all, "", err
}

// optionObjects draws options. The value of each is its place, from 1.
func optionObjects(options []question.Choice) (all []*api.OptionBlockObject) {
	for i, o := range options {
		all = append(all, api.NewOptionBlockObject(strconv.Itoa(i+1), plainText(short(o.Title, maxOption)), nil))
	}
	return all
}

// The ids of the form that answers a question: the callback id, and the beginning of the block and action id of each field's input.
const (
	callbackAnswer = "answer_question"
	inputField     = "field_"
)

func fieldID(place int) string { return inputField + strconv.Itoa(place) }

// answerModal returns the modal with a question's fields. value is sent with its submission.
func answerModal(value string, c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(bold(chat.OrNone(lines(c.Question.Text, maxQuestion))))}
	for i, f := range c.Question.Fields {
		var hint *api.TextBlockObject
		if f.Hint != "" {
			hint = plainText(short(f.Hint, maxHint))
		}
		label := "Your answer"
		if f.Label() != "" {
			label = short(f.Label(), maxFieldLabel)
		}
		blocks = append(blocks, api.NewInputBlock(fieldID(i), plainText(label), hint, fieldInput(fieldID(i), f)).WithOptional(!f.Required))
	}
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callbackAnswer, PrivateMetadata: value,
		Title: plainText("Answer"), Submit: plainText("Send"), Close: plainText("Go back"), Blocks: api.Blocks{BlockSet: blocks},
	}
}

// fieldInput draws the input of a field.
func fieldInput(id string, f question.Field) api.BlockElement {
	if options := f.Options(); len(options) > question.MaxButtons {
		return api.NewOptionsSelectBlockElement(api.OptTypeStatic, plainText("Choose one"), id, optionObjects(options)...)
	} else if options != nil {
		return api.NewRadioButtonsBlockElement(id, optionObjects(options)...)
	}
	if f.Kind == question.Text {
		input := api.NewPlainTextInputBlockElement(nil, id).WithMultiline(f.MaxLength > longText)
		input.MinLength, input.MaxLength = min(f.MinLength, maxInput), min(f.MaxLength, maxInput)
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
