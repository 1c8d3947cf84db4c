package outbound

import (
	"strings"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Limits and texts that all platforms share.
const (
	MaxSteps = 300 // length of the line that lists a turn's tools
	NoText   = "The answer was empty."
)

// Drawer draws the messages of a platform.
type Drawer[M any] interface {
	// Reply draws a reply, harmless, and cut into messages.
	Reply(text string) []M
	// Plain draws a sentence of gatehouse; text may repeat foreign text, is clean and not empty.
	Plain(text string) M
	// Steps draws the tools that a turn has used, on one line.
	Steps(line string) M
	// Late marks a message that comes late.
	Late(m M) M
	// Button adds a button to the message of a delivery. It may add fields to the button's own.
	Button(d core.Delivery, m M, label string, b Button) (M, error)
	// Card draws an approval in its current state.
	Card(d core.Delivery, link string) (m M, err error)
}

// Painter draws deliveries as a platform's messages.
type Painter[M any] struct {
	Drawer[M]
	Texts *wording.Texts // of the buttons; nil: the built-in ones
}

// Draw returns the messages of a delivery, at least one. The same delivery yields the same messages. For the copy of a
// card, link leads to the card's conversation; "" if there is none.
func (p Painter[M]) Draw(d core.Delivery, link string) ([]M, error) {
	switch d.Kind {
	case core.PostReply:
		return p.answer(d), nil
	case core.PostError:
		m, err := p.failure(d)
		return []M{m}, err
	case core.PostNotice, core.PostPrivate:
		return []M{p.note(d, d.Text)}, nil
	case core.PostSteps:
		return []M{p.Steps(safetext.OneLine(safetext.Clean(d.Text)))}, nil
	case core.PostCard:
		if d.Card == nil {
			return nil, core.Errorf(core.Internal, "The approval's card came without its data.")
		}
		m, err := p.Card(d, link)
		return []M{m}, err
	}
	return nil, core.Errorf(core.Internal, "A post of the kind %q can't be drawn.", d.Kind)
}

// answer draws a model's text. The cuts do not depend on Late, which may change between the parts.
func (p Painter[M]) answer(d core.Delivery) []M {
	all := p.Reply(safetext.Clean(d.Text))
	switch {
	case len(all) == 0:
		return []M{p.note(d, NoText)}
	case d.Late:
		all[0] = p.Late(all[0])
	}
	return all
}

func (p Painter[M]) note(d core.Delivery, text string) M {
	text = strings.TrimSpace(safetext.Clean(text))
	if text == "" {
		text = NoText
	}
	m := p.Plain(text)
	if d.Late {
		m = p.Late(m)
	}
	return m
}

// failure draws the reply to a failed event, with the button that fits its bucket. An error that the person must
// correct has no button.
func (p Painter[M]) failure(d core.Delivery) (M, error) {
	m := p.note(d, d.Text)
	if d.Pressed {
		return m, nil
	}
	t := p.Texts.Or()
	switch d.Bucket {
	case core.SessionTerminating:
		return p.Button(d, m, t.ButtonStartNew, ReplyButton(d, ActionNew))
	case core.RetryableTransient:
		return p.Button(d, m, t.ButtonTryAgain, ReplyButton(d, ActionRetry))
	}
	return m, nil
}
