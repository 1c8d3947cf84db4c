package message

import "gatehouse/adapters/discord/discordtest/internal/wire"

// Types of components.
const (
	ComponentRow    = 1
	ComponentButton = 2
	ComponentMenu   = 3
	ComponentInput  = 4
	ComponentText   = 10
	ComponentLabel  = 18
)

// Button is a button on a message at the time when it was looked up. It can still be pressed after the message has
// changed.
type Button struct {
	Channel  string
	Message  string
	CustomID string
	Label    string
	Style    int
	URL      string
	Disabled bool

	message Message
}

// Buttons returns the buttons of the message, from the top.
func (m Message) Buttons() []Button {
	var found []Button
	var walk func([]wire.Object)
	walk = func(components []wire.Object) {
		for _, c := range components {
			if wire.Int(c, "type") == ComponentButton {
				found = append(found, Button{
					Channel: m.Channel, Message: m.ID, CustomID: wire.String(c, "custom_id"),
					Label: wire.String(c, "label"), Style: wire.Int(c, "style"), URL: wire.String(c, "url"),
					Disabled: wire.Bool(c, "disabled"), message: m,
				})
			}
			walk(wire.List(c, "components"))
		}
	}
	walk(m.Components)
	return found
}

// Menu is a menu of texts on a message at the time when it was looked up, or in a modal.
type Menu struct {
	Channel     string
	Message     string
	CustomID    string
	Placeholder string
	Options     []Option
	Disabled    bool
}

// Option is a text of a menu.
type Option struct {
	Label   string
	Value   string
	Default bool // it is chosen at first
}

// Value returns the value of the option with a label or a value.
func (m Menu) Value(name string) (value string, ok bool) {
	for _, o := range m.Options {
		if name == o.Label || name == o.Value {
			return o.Value, true
		}
	}
	return "", false
}

// ReadMenu reads a menu from a component.
func ReadMenu(c wire.Object) Menu {
	m := Menu{
		CustomID: wire.String(c, "custom_id"), Placeholder: wire.String(c, "placeholder"),
		Disabled: wire.Bool(c, "disabled"),
	}
	for _, o := range wire.List(c, "options") {
		m.Options = append(m.Options,
			Option{Label: wire.String(o, "label"), Value: wire.String(o, "value"), Default: wire.Bool(o, "default")})
	}
	return m
}

// Menus returns the menus of the message, from the top.
func (m Message) Menus() []Menu {
	var found []Menu
	var walk func([]wire.Object)
	walk = func(components []wire.Object) {
		for _, c := range components {
			if wire.Int(c, "type") == ComponentMenu {
				one := ReadMenu(c)
				one.Channel, one.Message = m.Channel, m.ID
				found = append(found, one)
			}
			walk(wire.List(c, "components"))
		}
	}
	walk(m.Components)
	return found
}
