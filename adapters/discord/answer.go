package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/core"
	"gatehouse/core/question"
)

// formTime is how long what was filled into a form is kept: as long as Discord accepts an answer to the press that opened it.
const formTime = tokenLife

// option is the place of the option that a press on a question answers with; 0: it opens the form.
func (i interaction) option(b chat.Button) int {
	if len(i.Data.Values) != 1 {
		return b.Option
	}
	place, err := strconv.Atoi(i.Data.Values[0])
	if err != nil {
		return 0
	}
	return place
}

// formModal is the page of a question's form that a press opens.
func (d *Discord) formModal(ctx context.Context, i interaction, b chat.Button, o desk.Open) *response {
	page, ok := formPage(b, *o.Card.Question)
	if !ok {
		return ephemeral(desk.ErrNotOurs.Message)
	}
	for p := range page {
		if typed, err := d.filled(ctx, i, b.Approval, p); err != nil || typed == nil {
			return d.formLost(i, o.Card, err)
		}
	}
	typed, err := d.filled(ctx, i, b.Approval, page)
	if err != nil {
		d.Log.Warn("what was filled into a form could not be read, so it opens empty", "category", core.CategoryOf(err), "err", err)
	}
	return &response{Type: discordgo.InteractionResponseModal, Data: drawForm(o.Value, pageOf(o.Form, page, typed))}
}

// submitAnswer handles a page of a question's form. The last one is the answer.
func (d *Discord) submitAnswer(ctx context.Context, i interaction, b chat.Button, p desk.Press) (*response, *core.Event) {
	opens := p
	opens.Form = false
	answer := d.desk.Press(ctx, b, opens)
	open, ok := answer.(desk.Open)
	if !ok {
		return why(answer), nil
	}
	card, q := open.Card, *open.Card.Question
	page, ok := formPage(b, q)
	if !ok {
		return ephemeral(desk.ErrNotOurs.Message), nil
	}
	first, end := pageFields(q, page)
	typed := typedInto(i.Data.Components, first, end)
	if err := d.keepFilled(ctx, i, card.Approval, page, typed); err != nil {
		d.Log.Warn("what was filled into a form could not be kept", "category", core.CategoryOf(err), "err", err)
		return d.privately(i, card, desk.ErrUnstored.Message, "Answer", page), nil
	}
	if say := desk.Unfit(question.Question{Fields: q.Fields[first:end], Form: q.Form}, typed); say.Err != nil {
		return d.privately(i, card, say.Text()+" Press Answer to try again.", "Answer", page), nil
	}
	if page+1 < formPages(q) {
		return d.privately(i, card, fmt.Sprintf("Page %d of %d is filled in. Nothing is answered until the last page is.", page+1, formPages(q)), "Continue", page+1), nil
	}
	p.Typed = nil
	for earlier := range page {
		before, err := d.filled(ctx, i, card.Approval, earlier)
		if err != nil || before == nil {
			return d.formLost(i, card, err), nil
		}
		p.Typed = append(p.Typed, before...)
	}
	p.Typed = append(p.Typed, typed...)
	switch a := d.desk.Press(ctx, b, p).(type) {
	case desk.Event:
		if i.isPrivate() {
			return d.privately(i, card, "Your answer is sent.", "", 0), &a.Event
		}
		return d.pressed(ctx, i, a.Click), &a.Event
	case desk.Say:
		return d.privately(i, card, a.Text()+" Press Answer to try again.", "Answer", 0), nil
	}
	return acknowledged, nil
}

// formLost tells a person that what they filled in is not there any more, or can't be read now.
func (d *Discord) formLost(i interaction, c core.Card, err error) *response {
	text := "What you filled in before is not there any more, so nothing was answered. Press Answer to begin again."
	if err != nil {
		d.Log.Warn("what was filled into a form could not be read", "category", core.CategoryOf(err), "err", err)
		text = "What you filled in before could not be read, so nothing was answered. Press Answer to try again."
	}
	return d.privately(i, c, text, "Answer", 0)
}

// privately answers with a text that only the person sees, in place of the last one of the same form, and a button that opens a page of the form; label
// "": none.
func (d *Discord) privately(i interaction, c core.Card, text, label string, page int) *response {
	m := drawn{Text: literal(text, maxPlain)}
	if label != "" {
		b, err := newButton(d.Signer.Seal, label, discordgo.PrimaryButton, pageButton(c, page))
		if err != nil {
			d.Log.Error("a button could not be made", "err", err)
		} else {
			m.Rows = rowOf(b)
		}
	}
	out := m.outgoing()
	if i.isPrivate() {
		return &response{Type: discordgo.InteractionResponseUpdateMessage, Data: out}
	}
	out.Flags |= discordgo.MessageFlagsEphemeral
	return &response{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: out}
}

// isPrivate reports whether the button that was pressed, or that opened the form, is below a text that only the person sees. A card is made of
// components alone, also where only one person sees it.
func (i interaction) isPrivate() bool {
	const kinds = discordgo.MessageFlagsEphemeral | discordgo.MessageFlagsIsComponentsV2
	return i.Message != nil && i.Message.Flags&kinds == discordgo.MessageFlagsEphemeral
}

// typedInto returns what the fields of a page hold, by their places on it.
func typedInto(components []component, first, end int) []string {
	typed := make([]string, end-first)
	var walk func([]component)
	walk = func(some []component) {
		for _, c := range some {
			walk(c.Inputs)
			if c.Input != nil {
				walk([]component{*c.Input})
			}
			text, ok := strings.CutPrefix(c.CustomID, inputField)
			place, err := strconv.Atoi(text)
			if !ok || err != nil || place < first || place >= end {
				continue
			}
			if len(c.Values) > 0 {
				c.Value = c.Values[0]
			}
			typed[place-first] = strings.NewReplacer("\x00", "\ufffd", "\r\n", "\n").Replace(strings.ToValidUTF8(c.Value, "\ufffd"))
		}
	}
	walk(components)
	return typed
}

func formName(i interaction, id core.ApprovalID, page int) string {
	return fmt.Sprintf("discord/answer/%s/%s/%d", id, i.person().ID, page)
}

// keepFilled stores what a person has filled into a page of a question's form: only they get it back.
func (d *Discord) keepFilled(ctx context.Context, i interaction, id core.ApprovalID, page int, typed []string) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // it would take several times the room
	if err := e.Encode(typed); err != nil {
		return fmt.Errorf("writing what was filled in: %w", err)
	}
	return d.KV.PutFor(ctx, formName(i, id, page), text.String(), formTime)
}

// filled is what keepFilled stored; nil if it is not there any more.
func (d *Discord) filled(ctx context.Context, i interaction, id core.ApprovalID, page int) (typed []string, err error) {
	text, err := d.KV.Get(ctx, formName(i, id, page))
	if err != nil || text == "" {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &typed); err != nil {
		return nil, fmt.Errorf("reading what was filled in: %w", err)
	}
	return typed, nil
}
