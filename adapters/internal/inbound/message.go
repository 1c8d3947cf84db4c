package inbound

import (
	"regexp"
	"strings"

	"gatehouse/core"
)

// Heard is a person's message as it was read: what they wrote, and what it points at.
type Heard struct {
	Speaker core.Speaker // who wrote it
	Alone   bool         // nobody else writes to the bot there: they are named only where somebody is quoted
	Mention bool         // a message there needs a mention of the bot
	Text    string
	Points  []core.Block // quotations (core.Quote): the thread above, what it replies to, what it forwards
	Files   Read
	Fetched bool // the platform was asked for some of Points, or of the text
}

// Input is the message as the agent reads it. The text ends with the names of the files that were not read. Error:
// chat_message_shape_invalid if there is nothing in it.
func (h Heard) Input() (in core.Input, err error) {
	text := strings.TrimSpace(h.Text)
	points := append(h.Points[:len(h.Points):len(h.Points)], h.Files.Texts...)
	for _, q := range h.Files.Spoken {
		if q.ID == h.Speaker.ID { // their own words
			text = strings.TrimSpace(text + "\n[a recording of mine, as the platform wrote it down:]\n" + q.Text)
		} else {
			points = append(points, core.Quote(q))
		}
	}
	if len(h.Files.Unread) > 0 {
		text = strings.TrimSpace(text + "\n[attached files that can't be read: " + strings.Join(h.Files.Unread, ", ") +
			"]")
	}
	if h.Alone && len(points) == 0 && !Labelled(text) {
		h.Speaker = core.Speaker{}
	}
	if text == "" && len(points) == 0 && len(h.Files.Images) == 0 {
		ask := "There is nothing in that message that I can read. Write what you would like."
		if h.Mention {
			ask = "There is nothing in that message that I can read. Write what you would like after mentioning me."
		}
		return in, core.Errorf(core.ChatMessageShapeInvalid, "%s", ask)
	}
	m := core.Message{Role: core.User, Content: core.Said(h.Speaker, text, points, h.Files.Images...)}
	if err := m.Validate(); err != nil {
		return in, err
	}
	return core.Input{Message: &m, Fetched: h.Fetched || h.Files.Fetched}, nil
}

// Labelled reports whether a text has a line like those by which the model is told who speaks or is quoted. It is shown
// behind its speaker's own label.
func Labelled(text string) bool { return likeLabel.MatchString(text) }

var likeLabel = regexp.MustCompile(`(?m)^\s*\{\s*"(name|quoted)"`)
