package discord

import (
	"encoding/json"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core/mask"
)

// menu is a menu of texts of which one is chosen. It stands on a card and in a form: discordgo.SelectMenu always has fields that a form must not
// have.
type menu struct {
	Kind        discordgo.ComponentType `json:"type"`
	CustomID    string                  `json:"custom_id"`
	Placeholder string                  `json:"placeholder,omitempty"`
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

// Type is that of a menu of texts.
func (m menu) Type() discordgo.ComponentType { return discordgo.SelectMenuComponent }

// MarshalJSON writes the menu as Discord reads it.
func (m menu) MarshalJSON() ([]byte, error) {
	type plain menu
	m.Kind = m.Type()
	return json.Marshal(plain(m))
}

// menuOptions are the options of a menu: the value of each is its place, from 1. chosen: the value of the one that is chosen at first, "" for
// none.
func menuOptions(titles []string, chosen string) (all []menuOption) {
	for i, title := range titles {
		place := strconv.Itoa(i + 1)
		all = append(all, menuOption{Label: plainLabel(title, maxOption), Value: place, Default: place == chosen})
	}
	return all
}

// plainLabel draws a text where Discord reads no Markdown, on one line within a limit.
func plainLabel(text string, limit int) string {
	text = chat.OneLine(mask.Escape(text))
	if chat.Units(text) > limit {
		text, _ = chat.Head(text, limit-1)
		return text + "…"
	}
	return chat.OrNone(text)
}
