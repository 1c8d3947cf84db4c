package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
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
func (d *Discord) formModal(ctx context.Context, i interaction, b chat.Button, c core.Card) *response {
	page, ok := formPage(b, *c.Question)
	if !ok {
		return ephemeral(notValid)
	}
	for p := range page {
		if typed, err := d.filled(ctx, i, c.Approval, p); err != nil || typed == nil {
			return d.formLost(i, c, err)
		}
	}
	typed, err := d.filled(ctx, i, c.Approval, page)
	if err != nil {
		d.Log.Warn("what was filled into a form could not be read, so it opens empty", "category", core.CategoryOf(err), "err", err)
	}
	value := d.Signer.Seal(pageButton(c, page).Fields()...)
	return &response{Type: discordgo.InteractionResponseModal, Data: drawForm(value, pageOf(doc.AnswerForm(c), page, typed))}
}

// submitAnswer handles a page of a question's form. The last one is the answer.
func (d *Discord) submitAnswer(ctx context.Context, i interaction, b chat.Button) (*response, *core.Event) {
	short, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	card, refused := d.answerable(short, i, b)
	if refused != nil {
		return refused, nil
	}
	q := *card.Question
	page, ok := formPage(b, q)
	if !ok {
		return ephemeral(notValid), nil
	}
	first, end := pageFields(q, page)
	typed := typedInto(i.Data.Components, first, end)
	if err := d.keepFilled(short, i, card.Approval, page, typed); err != nil {
		d.Log.Warn("what was filled into a form could not be kept", "category", core.CategoryOf(err), "err", err)
		return d.privately(i, card, "Your answer could not be stored, so nothing was answered. Try again.", "Answer", page), nil
	}
	part := question.Question{Fields: q.Fields[first:end], Form: q.Form}
	if _, err := part.Check(part.Fill(typed)); err != nil {
		return d.privately(i, card, noAnswer(err), "Answer", page), nil
	}
	if page+1 < formPages(q) {
		return d.privately(i, card, fmt.Sprintf("Page %d of %d is filled in. Nothing is answered until the last page is.", page+1, formPages(q)), "Continue", page+1), nil
	}
	var all []string
	for p := range page {
		before, err := d.filled(short, i, card.Approval, p)
		if err != nil || before == nil {
			return d.formLost(i, card, err), nil
		}
		all = append(all, before...)
	}
	answer, err := q.Check(q.Fill(append(all, typed...)))
	if err != nil {
		return d.privately(i, card, noAnswer(err), "Answer", 0), nil
	}
	i.Answer, i.Data.Components = string(answer), nil
	if i.isPrivate() {
		return d.privately(i, card, "Your answer is sent.", "", 0), decision(i, b.Approval)
	}
	return d.pressed(ctx, i, b), decision(i, b.Approval)
}

func noAnswer(err error) string {
	return "That is no answer to this question: " + err.Error() + ". Press Answer to try again."
}

// answerable returns the card of a question that a person may answer now or, if they may not, what they are told.
func (d *Discord) answerable(ctx context.Context, i interaction, b chat.Button) (core.Card, *response) {
	card, err := d.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		return card, ephemeral(unknownApproval)
	case err != nil:
		d.Log.Warn("a question could not be read", "err", err)
		return card, ephemeral("The question could not be read, so nothing was answered. Try again.")
	case card.Question == nil:
		return card, ephemeral(notValid)
	case card.State != core.Open:
		return card, ephemeral(literal(doc.Standing(card), maxPlain))
	}
	if err := chat.Refusal(ctx, d, card, i.actor()); err != nil {
		return card, ephemeral(core.MessageOf(err))
	}
	return card, nil
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
