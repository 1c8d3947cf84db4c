package heard

import (
	"cmp"
	"slices"
	"strings"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Attachment is a file attached to a message.
type Attachment struct {
	ID          string  `json:"id"`
	Name        string  `json:"filename"`
	Description string  `json:"description"` // by who sent it
	Type        string  `json:"content_type"`
	Size        float64 `json:"size"`
	URL         string  `json:"url"`
}

// named is the file's name on one line.
func (a Attachment) named() string {
	return cmp.Or(safetext.Name(Storable(a.Name)), safetext.Name(a.ID), "a file")
}

// Files are the message's files, those of the messages that it forwards, and of the one that it replies to and of more
// unless they are the bot's own, each with who sent it.
func (m Message) Files(n *Names, me string, more ...Quotable) (all []inbound.File) {
	add := func(c parts, by core.Speaker) {
		for _, a := range c.Attachments.It {
			f := inbound.File{ID: a.ID, Name: a.named(), Type: a.Type, Size: a.Size, URL: a.URL, By: by}
			if c.Flags.It&voiceMessage != 0 {
				f.Why = "a voice message, which can't be heard here"
			}
			all = append(all, f)
		}
	}
	of := m.Quotables()
	for _, s := range more {
		if !slices.ContainsFunc(of, func(known Quotable) bool { return known.ID == s.ID }) {
			of = append(of, s)
		}
	}
	for _, s := range of {
		if s.IsBy(me) {
			continue
		}
		add(s.parts, n.speaker(s.Author))
		for _, f := range s.forwarded() {
			add(f, core.Speaker{})
		}
	}
	return all
}

// voiceMessage is the flag of a message that is nothing but a recording. discordgo does not define it.
const voiceMessage = 1 << 13

// Storable is a text as a store accepts it, with one kind of line end.
func Storable(s string) string {
	return toStore.Replace(strings.ToValidUTF8(s, "\ufffd"))
}

var toStore = strings.NewReplacer("\x00", "\ufffd", "\r\n", "\n")
