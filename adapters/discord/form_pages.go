package discord

import (
	"context"
	"strconv"
	"strings"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/draw"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// A question without options is answered in a form. Discord's forms have few fields, so a longer one has pages: each is
// a form, and a message with a button is between two of them, since Discord opens no form in answer to another. What a
// person types is kept, by the places of the inputs, so that a page is filled with it when it is opened again.

// formTime is how long that is: as long as Discord accepts an answer to the press that opened the form.
const formTime = tokenLife

// formName names the value of what a person has typed into a question's form: only they get it back.
func formName(i interaction, b outbound.Button) string {
	return "discord/answer/" + string(b.Approval) + "/" + i.person().ID
}

// between separates what was typed into two inputs; no text that is storable has it.
const between = "\x00"

// open opens a page of a form, filled with what the person typed before, or takes such a page of a question's form.
func (d *Discord) open(ctx context.Context, i interaction, b outbound.Button, p desk.Press, o desk.Open) *response {
	number, _ := strconv.Atoi(strings.Join(b.More, "")) // the card's button has none
	number = min(max(1, number), draw.Pages(len(o.Form.Inputs)))
	before, err := d.KV.Get(ctx, formName(i, b))
	if err != nil {
		d.Log.Warn("what was typed into a form could not be read", "category", core.CategoryOf(err), "err", err)
	}
	switch {
	case o.Form.Action != outbound.ActionEdit:
	case i.isPrivate(): // what was typed takes the place of what was there then
		then := b
		then.More = nil
		o.Value = d.desk.Signer.Seal(then.Fields()...)
	default:
		before = "" // from the card it opens with what is there now
	}
	typed := strings.Split(before, between)
	page := draw.Page(o.Form, number-1, typed)
	switch {
	case page.First > len(typed):
		return d.privately(i, b, d.desk.AnswerLost, d.desk.ButtonAnswer, 1)
	case i.Type == discordgo.InteractionModalSubmit:
		return d.submit(ctx, i, b, p, *o.Card.Question, page, typed)
	}
	return &response{Type: discordgo.InteractionResponseModal, Data: draw.Form(o.Value, page)}
}

// editAgain answers a change of arguments that was not taken with a button that opens the form again, with what was
// typed.
func (d *Discord) editAgain(ctx context.Context, i interaction, b outbound.Button, a desk.Say) *response {
	if err := d.KV.PutFor(ctx, formName(i, b), heard.Storable(a.Again.Form.Inputs[0].Value), formTime); err != nil {
		d.Log.Warn("what was typed into a form could not be kept", "category", core.CategoryOf(err), "err", err)
		return ephemeral(draw.Literal(a.Text(), draw.MaxPlain))
	}
	return d.privately(i, b, a.Text()+" "+d.desk.EditAgain, d.desk.ButtonEdit, 1)
}

// submit takes a page of a question's form. The last one is the answer.
func (d *Discord) submit(
	ctx context.Context, i interaction, b outbound.Button, p desk.Press,
	q question.Question, page doc.Form, typed []string,
) *response {
	end, pages := page.First+len(page.Inputs), draw.Pages(len(q.Fields))
	number := draw.Pages(end)
	typed = append(typed, make([]string, max(0, end-len(typed)))...)
	now := i.typed()
	for place := page.First; place < end; place++ {
		typed[place] = heard.Storable(now[draw.InputName(page.Action, place)])
	}
	err := d.KV.PutFor(ctx, formName(i, b), strings.Join(typed, between), formTime)
	if err != nil {
		d.Log.Warn("what was typed into a form could not be kept", "category", core.CategoryOf(err), "err", err)
	}
	q.Fields = q.Fields[:end]
	var answer desk.Answer = d.desk.Unfit(q, typed)
	if number == pages {
		p.Form, p.Typed = true, typed
		answer = d.desk.Press(ctx, b, p)
	}
	say, ok := answer.(desk.Say)
	switch {
	case err != nil && number < pages:
		return d.privately(i, b, d.desk.PressUnstored, d.desk.ButtonAnswer, number)
	case say.Err != nil:
		return d.privately(i, b, say.Text()+" "+d.desk.AnswerAgain, d.desk.ButtonAnswer, number)
	case ok:
		text := wording.Fill(d.desk.AnswerPage, "{page}", strconv.Itoa(number), "{pages}", strconv.Itoa(pages))
		return d.privately(i, b, text, d.desk.ButtonContinue, number+1)
	}
	return d.answerPress(ctx, i, b, p, answer)
}

// privately answers with a text that only the person sees, in place of the last one of the same form, and a button that
// opens a page of the form, from 1; label "": none.
func (d *Discord) privately(i interaction, b outbound.Button, text, label string, page int) *response {
	m := draw.Message{Text: draw.Literal(text, draw.MaxPlain)}
	if label != "" {
		b.More = []string{strconv.Itoa(page)}
		m.Rows = draw.Row(d.painter.Button(label, discordgo.PrimaryButton, b))
	}
	if i.isPrivate() {
		return &response{Type: discordgo.InteractionResponseUpdateMessage, Data: m.Outgoing()}
	}
	return ephemeralMessage(m)
}
