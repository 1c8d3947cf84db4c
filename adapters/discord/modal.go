package discord

import (
	"encoding/json"

	api "github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// The inputs of our forms.
const (
	inputReason  = "reason"
	inputConfirm = "confirm"
)

// confirmWord is what is to be typed before something dangerous is approved.
const confirmWord = "approve"

// modal is a form, as the answer to a press carries it.
type modal struct {
	CustomID   string                 `json:"custom_id"`
	Title      string                 `json:"title"`
	Components []api.MessageComponent `json:"components"`
}

// label stands around an input of a form.
type label struct {
	Text        string
	Description string
	Input       api.TextInput
}

// componentLabel is the type of a label, which discordgo does not know.
const componentLabel api.ComponentType = 18

// Type is the component's type.
func (label) Type() api.ComponentType { return componentLabel }

// MarshalJSON gives it as Discord reads it.
func (l label) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"type": componentLabel, "label": l.Text, "description": l.Description, "component": map[string]any{
			"type": api.TextInputComponent, "custom_id": l.Input.CustomID, "style": l.Input.Style, "required": l.Input.Required,
			"min_length": l.Input.MinLength, "max_length": l.Input.MaxLength, "placeholder": l.Input.Placeholder,
		},
	})
}

// reasonModal is the form that asks why a request is denied; value is what its submission carries. The reason may stay empty:
// nobody who has decided to deny should be held up by it.
func (p painter) reasonModal(value string, c core.Card) modal {
	return modal{CustomID: value, Title: "Deny with reason", Components: []api.MessageComponent{
		api.TextDisplay{Content: what(c)},
		label{"What should be different?", "The agent and the person who asked will read it.", api.TextInput{Required: &optional,
			CustomID: inputReason, Style: api.TextInputParagraph, MaxLength: maxReason,
		}},
	}}
}

// required is a field that must be filled in, optional one that need not be: Discord takes a field that says neither for required.
var required, optional = true, false

// confirmModal is the form that asks again before something dangerous is approved; value is what its submission carries. Its
// submission is the approval where its input holds confirmWord.
func (p painter) confirmModal(value string, c core.Card) modal {
	return modal{CustomID: value, Title: "Approve this?", Components: []api.MessageComponent{
		api.TextDisplay{Content: "This is hard or impossible to undo.\n" + what(c)},
		label{"Type “" + confirmWord + "” to go on", "Close this form to go back.", api.TextInput{
			CustomID: inputConfirm, Style: api.TextInputShort, Required: &required, MinLength: len(confirmWord), MaxLength: len(confirmWord), Placeholder: confirmWord,
		}},
	}}
}

// what says what a form is about.
func what(c core.Card) string {
	return "**" + orNone(inline(c.Summary, maxSummary)) + "**\nTool: " + codeWord(c.Tool, maxTool)
}
