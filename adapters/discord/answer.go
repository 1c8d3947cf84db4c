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
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// formTime is how long what was filled into a form is kept: as long as Discord accepts an answer to the press that opened it.
const formTime = tokenLife

// open answers a press with a form, or with the page of it that the press opens. What was filled into a question's form before is in it.
func (d *Discord) open(ctx context.Context, i interaction, b chat.Button, o desk.Open) *response {
	page, ok := pageOpened(b, o.Form)
	if !ok {
		return ephemeral(d.desk.PressNotOurs)
	}
	if _, lost := d.filledBefore(ctx, i, o.Card, page); lost != nil {
		return lost
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
	page, ok := pageOpened(b, open.Form)
	if !ok {
		return ephemeral(d.desk.PressNotOurs), nil
	}
	form := pageOf(open.Form, page, nil)
	typed := make([]string, len(form.Inputs))
	for _, c := range inputsOf(i.Data.Components) {
		text, ok := strings.CutPrefix(c.CustomID, inputField)
		place, err := strconv.Atoi(text)
		if place -= form.First; !ok || err != nil || place < 0 || place >= len(typed) {
			continue
		}
		if len(c.Values) > 0 {
			c.Value = c.Values[0]
		}
		typed[place] = storable(strings.ReplaceAll(c.Value, "\r\n", "\n"))
	}
	if err := d.keepFilled(ctx, i, card.Approval, page, typed); err != nil {
		d.Log.Warn("what was filled into a form could not be kept", "category", core.CategoryOf(err), "err", err)
		return d.privately(i, card, d.desk.PressUnstored, d.desk.ButtonAnswer, page), nil
	}
	fields := q.Fields[form.First : form.First+len(typed)]
	if say := d.desk.Unfit(question.Question{Fields: fields, Form: q.Form}, typed); say.Err != nil {
		return d.privately(i, card, say.Text()+" "+d.desk.AnswerAgain, d.desk.ButtonAnswer, page), nil
	}
	if pages := pagesOf(len(q.Fields)); page+1 < pages {
		text := wording.Fill(d.desk.AnswerPage, "{page}", strconv.Itoa(page+1), "{pages}", strconv.Itoa(pages))
		return d.privately(i, card, text, d.desk.ButtonContinue, page+1), nil
	}
	before, lost := d.filledBefore(ctx, i, card, page)
	if lost != nil {
		return lost, nil
	}
	p.Typed = append(before, typed...)
	switch a := d.desk.Press(ctx, b, p).(type) {
	case desk.Event:
		if i.isPrivate() {
			return d.privately(i, card, d.desk.AnswerSent, "", 0), &a.Event
		}
		return d.pressed(ctx, i, a.Click), &a.Event
	case desk.Say:
		return d.privately(i, card, a.Text()+" "+d.desk.AnswerAgain, d.desk.ButtonAnswer, 0), nil
	}
	return acknowledged, nil
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

// filledBefore is what was filled into the pages in front of one. lost tells the person that it is not there any more, or can't be read now.
func (d *Discord) filledBefore(ctx context.Context, i interaction, c core.Card, page int) (typed []string, lost *response) {
	for earlier := range page {
		some, err := d.filled(ctx, i, c.Approval, earlier)
		if err != nil {
			d.Log.Warn("what was filled into a form could not be read", "category", core.CategoryOf(err), "err", err)
			return nil, d.privately(i, c, d.desk.AnswerUnread+" "+d.desk.AnswerAgain, d.desk.ButtonAnswer, 0)
		}
		if some == nil {
			return nil, d.privately(i, c, d.desk.AnswerLost, d.desk.ButtonAnswer, 0)
		}
		typed = append(typed, some...)
	}
	return typed, nil
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
