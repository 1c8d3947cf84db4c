package discord

import (
	"strconv"
	"strings"

	api "github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// drawn is one Discord message: its text, and its buttons in rows.
type drawn struct {
	Text string
	Rows []api.MessageComponent
}

// painter draws deliveries. seal signs what a button carries.
type painter struct {
	seal func(fields ...string) string
}

// draw gives the messages that a delivery consists of, at least one; the same delivery gives the same. link leads to the
// conversation that the copy of a card is about; "" where there is none.
//
// Replies go through neutral; all else that a model or a person wrote stands as it is, by escaped or in code. Nothing calls anybody:
// each message says so.
func (p painter) draw(d core.Delivery, link string) ([]drawn, error) {
	switch d.Kind {
	case core.PostReply:
		return drawReply(d), nil
	case core.PostError:
		return p.drawError(d)
	case core.PostNotice, core.PostPrivate:
		return []drawn{note(d, d.Text)}, nil
	case core.PostSteps:
		return []drawn{drawSteps(d)}, nil
	case core.PostCard:
		if d.Card == nil {
			return nil, core.Errorf(core.Internal, "The approval's card came without its data.")
		}
		return p.drawCard(d, link)
	}
	return nil, core.Errorf(core.Internal, "A post of the kind %q can't be drawn.", d.Kind)
}

// lateNote marks what is older than it should be, in small letters.
const lateNote = "-# ⏳ This comes late: it could not be sent earlier.\n"

// noText stands for a text of white space: Discord takes no message without text.
const noText = "(no text)"

// drawReply draws a model's text. How it is cut does not depend on whether it is late: that may change between the parts.
func drawReply(d core.Delivery) []drawn {
	parts := markdown(d.Text)
	if len(parts) == 0 {
		return []drawn{note(d, noText)}
	}
	all := make([]drawn, 0, len(parts))
	for i, part := range parts {
		if d.Late && i == 0 {
			part = lateNote + part
		}
		all = append(all, drawn{Text: part})
	}
	return all
}

// note draws a plain text: a sentence of gatehouse, which may repeat words of others.
func note(d core.Delivery, text string) drawn {
	text = strings.TrimSpace(clean(text))
	if text == "" {
		text = noText
	}
	m := drawn{Text: fit(text, maxPlain)}
	if d.Late {
		m.Text = lateNote + m.Text
	}
	return m
}

// drawError draws the reply of a bucket, with the button that may mend it. What a person must change themselves has none.
func (p painter) drawError(d core.Delivery) ([]drawn, error) {
	m := note(d, d.Text)
	action, label := "", ""
	switch d.Bucket {
	case core.SessionTerminating:
		action, label = actionNew, "Start a new conversation"
	case core.RetryableTransient:
		action, label = actionAgain, "Try again"
	}
	if action == "" || d.Pressed {
		return []drawn{m}, nil
	}
	b, err := p.button(label, api.PrimaryButton, action, strconv.FormatInt(d.Event, 10), string(d.Conversation))
	if err != nil {
		return nil, err
	}
	m.Rows = rowOf(b)
	return []drawn{m}, nil
}

// drawSteps draws the tools that a turn has used, small, on one line.
func drawSteps(d core.Delivery) drawn {
	return drawn{Text: "-# 🔧 " + fit(orNone(oneLine(clean(d.Text))), maxSteps)}
}

// button makes a button whose value is sealed.
func (p painter) button(label string, style api.ButtonStyle, fields ...string) (api.Button, error) {
	value := p.seal(fields...)
	if units(value) > maxCustomID {
		return api.Button{}, core.Errorf(core.Internal, "A button's value has %d characters; Discord takes %d.", units(value), maxCustomID)
	}
	return api.Button{Label: label, Style: style, CustomID: value}, nil
}

func rowOf(buttons ...api.MessageComponent) []api.MessageComponent {
	return []api.MessageComponent{api.ActionsRow{Components: buttons}}
}
