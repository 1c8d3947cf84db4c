package message

import "gatehouse/adapters/discord/discordtest/internal/wire"

// Types of components.
const (
	ComponentRow    = 1
	ComponentButton = 2
	ComponentInput  = 4
	ComponentText   = 10
	ComponentLabel  = 18
)

// Button is a button on a message at the time when it was looked up. It can still be pressed after the message has changed.
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
					Channel: m.Channel, Message: m.ID, CustomID: wire.String(c, "custom_id"), Label: wire.String(c, "label"), Style: wire.Int(c, "style"), URL: wire.String(c, "url"),
					Disabled: wire.Bool(c, "disabled"), message: m,
				})
			}
			walk(wire.List(c, "components"))
		}
	}
	walk(m.Components)
	return found
}
