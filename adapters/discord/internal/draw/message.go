package draw

import (
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// Message is one Discord message: a text with its buttons in rows, or a card. It pings Users and Roles, if it mentions
// them, and nobody else.
type Message struct {
	Text  string
	Plain string // the same text for where the bot may not attach Files: they stand in it; "" without Files
	Rows  []discordgo.MessageComponent
	Card  *discordgo.Container // with a coloured edge
	Users []string
	Roles []string
	Files []file
}

// file is a file that is attached to a message.
type file struct{ name, kind, text string }

// Uploads returns the message's files in the form that they are sent in.
func (m Message) Uploads() (all []*discordgo.File) {
	for _, f := range m.Files {
		all = append(all, &discordgo.File{Name: f.name, ContentType: f.kind, Reader: strings.NewReader(f.text)})
	}
	return all
}

// write adds texts to a card, but for empty ones.
func (m *Message) write(texts ...string) {
	for _, text := range texts {
		if text != "" {
			m.Text += text + "\n"
			m.Card.Components = append(m.Card.Components, discordgo.TextDisplay{Content: text})
		}
	}
}

// Outgoing is a message in the form that Discord accepts; discordgo.MessageSend has no nonce. A card has no content.
type Outgoing struct {
	Content   string                           `json:"content,omitempty"`
	Flags     discordgo.MessageFlags           `json:"flags"`
	Mentions  discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Rows      []discordgo.MessageComponent     `json:"components"`
	Nonce     string                           `json:"nonce,omitempty"`
	Enforce   bool                             `json:"enforce_nonce,omitempty"`
	Reference *discordgo.MessageReference      `json:"message_reference,omitempty"`
	Attached  []attached                       `json:"attachments,omitempty"`
}

// attached names a file of the form that a message is sent in. An edit keeps no others.
type attached struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
}

// Outgoing makes the message to send. Without allowed_mentions, Discord would ping everyone whom the text mentions.
func (m Message) Outgoing() Outgoing {
	out := Outgoing{
		Content: m.Text, Flags: discordgo.MessageFlagsSuppressEmbeds,
		Rows: append([]discordgo.MessageComponent{}, m.Rows...),
		Mentions: discordgo.MessageAllowedMentions{
			Parse: []discordgo.AllowedMentionType{}, Users: m.Users, Roles: m.Roles,
		},
	}
	if m.Card != nil {
		out.Content, out.Flags = "", out.Flags|discordgo.MessageFlagsIsComponentsV2
		out.Rows = []discordgo.MessageComponent{*m.Card}
	}
	return out
}

// Under returns the message with something above its text.
func (m Message) Under(above string) Message {
	m.Text = above + m.Text
	if m.Plain != "" {
		m.Plain = above + m.Plain
	}
	return m
}

// Attach returns the message to send with the names of its files, which stand in the form beside it.
func (m Message) Attach(out Outgoing) Outgoing {
	for i, f := range m.Files {
		out.Attached = append(out.Attached, attached{ID: strconv.Itoa(i), Name: f.name})
	}
	return out
}
