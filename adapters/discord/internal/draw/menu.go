package draw

import (
	"encoding/json"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

// menu is a menu of texts of which one is chosen. It stands on a card and in a form: discordgo.SelectMenu always has
// fields that a form must not have.
type menu struct {
	Kind        discordgo.ComponentType `json:"type"`
	CustomID    string                  `json:"custom_id"`
	Placeholder string                  `json:"placeholder"`
	MinValues   int                     `json:"min_values"`
	MaxValues   int                     `json:"max_values"`
	Options     []menuOption            `json:"options"`
	Disabled    bool                    `json:"disabled,omitempty"` // only on a card
	Required    *bool                   `json:"required,omitempty"` // only in a form
}

type menuOption struct {
	Label   string `json:"label"`
	Value   string `json:"value"`
	Default bool   `json:"default,omitempty"`
}

// menuOf makes a menu of which one text is chosen. The value of each is its place, from 1; chosen is the value of the
// one that is chosen at first, "" for none.
func menuOf(name, placeholder string, titles []string, chosen string) menu {
	m := menu{Kind: discordgo.SelectMenuComponent, CustomID: name, Placeholder: placeholder, MinValues: 1, MaxValues: 1}
	for i, title := range titles {
		place := strconv.Itoa(i + 1)
		m.Options = append(m.Options, menuOption{plainLabel(title, maxOption), place, place == chosen})
	}
	return m
}

// Type is that of a menu of texts.
func (m menu) Type() discordgo.ComponentType { return m.Kind }

// MarshalJSON writes the menu as Discord reads it.
func (m menu) MarshalJSON() ([]byte, error) {
	type plain menu
	return json.Marshal(plain(m))
}
