package form

import (
	"fmt"
	"unicode/utf8"

	"gatehouse/adapters/discord/discordtest/internal/message"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Modal is a modal that is open on a user's screen.
type Modal struct {
	User     string
	Channel  string
	Message  string // the message whose button opened it, if one did
	CustomID string
	Title    string
	Inputs   []Input
}

// Input is a field of a modal.
type Input struct {
	CustomID    string
	Label       string
	Long        bool // more than one line
	Required    bool
	Min, Max    int
	Value       string // initial
	Placeholder string
	Labelled    bool             // it is in a label, not in a row
	Hint        string           // the label's description
	Options     []message.Option // of a menu; nil: it is a text
}

// maxInput is how many characters an input takes.
const maxInput = 4000

// ReadModal reads a modal from a first answer, and checks it as Discord does, besides what its description says.
func ReadModal(f wire.Object) (*Modal, *Failure) {
	m := &Modal{CustomID: wire.String(f, "custom_id"), Title: wire.String(f, "title")}
	bad := &Errors{}
	rows := wire.List(f, "components")
	if len(rows) > 5 {
		bad.Add("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	seen := map[string]bool{}
	for i, row := range rows {
		at := fmt.Sprintf("data.components.%d", i)
		inner := wire.List(row, "components")
		label := ""
		if wire.Int(row, "type") == message.ComponentLabel {
			one, _ := row["component"].(wire.Object)
			inner, label = []wire.Object{one}, wire.String(row, "label")
		}
		if label != "" && len(inner) == 1 && wire.Int(inner[0], "type") == message.ComponentMenu {
			m.Inputs = append(m.Inputs, readMenu(inner[0], row, at, seen, bad))
			continue
		}
		if len(inner) != 1 || wire.Int(inner[0], "type") != message.ComponentInput {
			if wire.Int(row, "type") != message.ComponentText {
				bad.Add(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be 1 in length.")
			}
			continue
		}
		e := inner[0]
		in := Input{
			CustomID: wire.String(e, "custom_id"), Label: wire.String(e, "label"), Long: wire.Int(e, "style") == 2,
			Required: true, Min: wire.Int(e, "min_length"),
			Max: wire.Int(e, "max_length"), Value: wire.String(e, "value"), Placeholder: wire.String(e, "placeholder"),
			Labelled: label != "",
		}
		if label != "" {
			in.Label, in.Hint = label, wire.String(row, "description")
		}
		if required, said := e["required"].(bool); said {
			in.Required = required
		}
		if in.Max == 0 {
			in.Max = maxInput
		}
		if utf8.RuneCountInString(in.Value) > in.Max {
			bad.Add(at+".components.0.value",
				"BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", in.Max))
		}
		checkCustomID(in.CustomID, at+".components.0", seen, bad)
		if in.Label == "" {
			bad.Add(at+".components.0.label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
		}
		m.Inputs = append(m.Inputs, in)
	}
	return m, bad.Failure()
}

// readMenu reads a menu of texts in a label.
func readMenu(e, label wire.Object, at string, seen map[string]bool, bad *Errors) Input {
	checkMenu(e, at+".component", seen, bad)
	if wire.Bool(e, "disabled") {
		bad.Add(at+".component.disabled", "BASE_TYPE_CHOICES", "A component of a modal can't be disabled.")
	}
	menu := message.ReadMenu(e)
	in := Input{
		CustomID: menu.CustomID, Label: wire.String(label, "label"), Hint: wire.String(label, "description"),
		Required:    true,
		Placeholder: menu.Placeholder, Labelled: true, Options: menu.Options,
	}
	if required, said := e["required"].(bool); said {
		in.Required = required
	}
	if least, said := e["min_values"]; said && wire.Int(e, "min_values") == 0 && in.Required {
		bad.Add(at+".component.min_values", "NUMBER_TYPE_MIN", fmt.Sprintf("%v values of a required menu.", least))
	}
	for _, o := range menu.Options {
		if o.Default {
			in.Value = o.Value
		}
	}
	return in
}
