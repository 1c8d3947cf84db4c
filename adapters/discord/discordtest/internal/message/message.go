// Package message defines a message of the fake Discord: its parts, what a reader sees of it, and whom it pings.
package message

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Message is the state of a message.
type Message struct {
	ID          string
	Channel     string
	Guild       string
	Author      string
	Content     string
	At          time.Time
	EditedAt    time.Time // of the last edit by the author; a preview does not count
	Edits       int
	Type        int
	Flags       int
	ReplyTo     string // the message that it replies to
	Attachments []Attachment
	Embeds      []wire.Object
	Components  []wire.Object
	Reactions   []Reaction
	Nonce       string
	Enforced    bool            // the nonce
	Allowed     json.RawMessage // allowed_mentions as sent, null if they were not
	Mentions    []string        // the users that it pings
	Roles       []string        // the roles that it pings
	Everyone    bool            // it pings everyone
	// the users and roles that it has notified: those that it pinged when it was posted, since an edit notifies nobody
	Notified    []string
	Ephemeral   string      // the only user who sees it
	Forwards    *Message    // the message that it forwards, as it was then
	Thread      string      // the thread that was made from it
	Interaction string      // the interaction that it answers
	Fields      wire.Object // fields that stand in place of those above, as Discord sends them
}

// Reaction is an emoji under a message.
type Reaction struct {
	Emoji string
	Users []string
}

// Attachment is a file on a message.
type Attachment struct {
	ID          string
	Name        string
	ContentType string
	Data        []byte
	Size        int    // len(Data) if 0
	URL         string // its address; the fake's own if empty
	Width       int
	Height      int
	Description string
	Untyped     bool // Discord does not say what it is
}

// Shown returns what a reader sees of the message: the content, embeds, files and buttons, as lines of text.
func (m Message) Shown() string {
	var lines []string
	if m.Content != "" {
		lines = append(lines, m.Content)
	}
	if m.Flags&wire.FlagLoading != 0 {
		lines = append(lines, "(thinking)")
	}
	if m.Flags&wire.FlagSuppressEmbeds == 0 {
		for _, e := range m.Embeds {
			lines = append(lines, shownEmbed(e)...)
		}
	}
	for _, a := range m.Attachments {
		lines = append(lines, "{"+a.Name+"}")
	}
	for _, c := range m.Components {
		lines = append(lines, shownComponent(c)...)
	}
	return strings.Join(lines, "\n")
}

func shownEmbed(e wire.Object) []string {
	var lines []string
	for _, key := range []string{"title", "description"} {
		if text := wire.String(e, key); text != "" {
			lines = append(lines, "| "+strings.ReplaceAll(text, "\n", "\n| "))
		}
	}
	for _, f := range wire.List(e, "fields") {
		lines = append(lines,
			fmt.Sprintf("| %s: %s", wire.String(f, "name"), strings.ReplaceAll(wire.String(f, "value"), "\n", "\n| ")))
	}
	if footer, ok := e["footer"].(wire.Object); ok {
		lines = append(lines, "| "+wire.String(footer, "text"))
	}
	return lines
}

func shownComponent(c wire.Object) []string {
	switch wire.Int(c, "type") {
	case ComponentButton:
		label := wire.String(c, "label")
		if emoji, ok := c["emoji"].(wire.Object); ok {
			label = strings.TrimSpace(wire.String(emoji, "name") + " " + label)
		}
		if wire.Bool(c, "disabled") {
			label += " (off)"
		}
		return []string{"[" + label + "]"}
	case ComponentMenu:
		m := ReadMenu(c)
		label := m.Placeholder + ":"
		for _, o := range m.Options {
			label += " " + o.Label + ","
		}
		if m.Disabled {
			label += " (off)"
		}
		return []string{"[" + strings.TrimSuffix(label, ",") + "]"}
	case ComponentText:
		return []string{wire.String(c, "content")}
	case ComponentRow:
		var cells []string
		for _, inner := range wire.List(c, "components") {
			cells = append(cells, shownComponent(inner)...)
		}
		return []string{strings.Join(cells, " ")}
	}
	var lines []string
	for _, inner := range wire.List(c, "components") {
		lines = append(lines, shownComponent(inner)...)
	}
	return lines
}
