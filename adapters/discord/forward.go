package discord

import (
	"slices"
	"strings"
)

// snapshot is a message that was forwarded, as it was then. Discord does not say who wrote it. The forwarding message
// itself is empty.
type snapshot struct {
	Message struct {
		Content     string       `json:"content"`
		Mentions    []user       `json:"mentions"`
		Attachments []attachment `json:"attachments"`
	} `json:"message"`
}

// isEmpty reports whether a message has neither a text nor a file. In a server Discord withholds them where the message
// content is not granted.
func (m message) isEmpty() bool {
	return m.Content == "" && len(m.Attachments) == 0 && !slices.ContainsFunc(m.Snapshots, func(s snapshot) bool {
		return s.Message.Content != "" || len(s.Message.Attachments) > 0
	})
}

// files returns the files of a message, and of those that it forwards.
func (m message) files() []attachment {
	all := m.Attachments
	for _, s := range m.Snapshots {
		all = append(slices.Clip(all), s.Message.Attachments...)
	}
	return all
}

// forwarded returns a message's text, followed by those of the messages that it forwards. They are not the person's own
// words, so they are marked, and no command in them counts.
func (d *Discord) forwarded(text string, m message) string {
	texts := []string{text}
	for _, s := range m.Snapshots {
		inner := m
		inner.Mentions = s.Message.Mentions
		if said := d.readableIn(inner, s.Message.Content); said != "" {
			texts = append(texts, "Forwarded message:\n"+said)
		} else if len(s.Message.Attachments) > 0 {
			texts = append(texts, "Forwarded message with files.")
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}
