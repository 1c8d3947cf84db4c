package draw

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// modal is a form, in the shape of an answer to a press.
type modal struct {
	CustomID   string                       `json:"custom_id"`
	Title      string                       `json:"title"`
	Components []discordgo.MessageComponent `json:"components"`
}

// InputName names the input at a place of a form, from 0. Only a question's form has more than one.
func InputName(a outbound.Action, place int) string {
	switch a {
	case outbound.ActionAnswer:
		return "field-" + strconv.Itoa(place)
	case outbound.ActionEdit:
		return "arguments"
	}
	return string(a)
}

// Form draws a form, or a page of one; value is returned with its submission. What it is about is above the inputs
// if there is room.
func Form(value string, f doc.Form) modal {
	m := modal{CustomID: value, Title: plainLabel(f.Title, maxFieldLabel)}
	if len(f.Inputs) < maxFields {
		about := leadOf(f.Lead, maxQuestion)
		if f.Caution != "" {
			about = f.Caution + "\n" + about
		}
		if f.Tool != "" {
			about += "\n" + f.LabelTool + ": " + toolOf(f.Tool)
		}
		m.Components = append(m.Components, discordgo.TextDisplay{Content: about})
	}
	for i, in := range f.Inputs {
		if !in.Required && f.Action != outbound.ActionAnswer {
			in.Title += " " + f.FormOptional // Discord does not say so
		}
		m.Components = append(m.Components, input(InputName(f.Action, f.First+i), in, f.Texts))
	}
	return m
}

// Page is a page of a form, from 0, filled with what was typed into the form before, by the places of its inputs.
func Page(f doc.Form, page int, typed []string) doc.Form {
	if n := Pages(len(f.Inputs)); n > 1 {
		f.Title = wording.Fill(f.FormPage, "{title}", f.Title, "{page}", strconv.Itoa(page+1),
			"{pages}", strconv.Itoa(n))
	}
	for i := range min(len(typed), len(f.Inputs)) {
		f.Inputs[i].Value = cmp.Or(typed[i], f.Inputs[i].Value)
	}
	f.First = page * maxFields
	f.Inputs = f.Inputs[f.First:min(len(f.Inputs), f.First+maxFields)]
	return f
}

func Pages(inputs int) int { return (inputs + maxFields - 1) / maxFields }

// Cautions says why it is asked again before a call is approved. It takes no notice of which of the call's cards was
// pressed: it is as cautious as for a copy with every note and the longest context.
func (p Painter) Cautions(c core.Card) string {
	v := doc.View(core.Delivery{Post: core.Post{LeftOut: 1000}, Card: &c, Late: true}, Reader(p.Texts))
	_, _, left := layout(v, maxContext)
	cautions := v.Cautions(leadCut(v))
	if left > 0 || cautions == "" {
		cautions += " " + p.ArgumentsUnseen
	}
	return strings.TrimSpace(cautions)
}

// Limits of an input, in characters.
const (
	maxNumber = 60  // of a number's
	maxShort  = 150 // of a text's that has one line
)

// input draws an input of a form, with its label.
func input(name string, in doc.Input, t *wording.Texts) discordgo.Label {
	made := discordgo.Label{Label: plainLabel(in.Label(), maxFieldLabel), Description: hint(in.Field, t)}
	if titles := in.Titles(); titles != nil {
		m := menuOf(name, t.Choose, titles, in.Value)
		if m.Required = &in.Required; !in.Required {
			m.MinValues = 0
		}
		made.Component = m
		return made
	}
	limit, style := maxNumber, discordgo.TextInputShort
	if in.Kind == question.Text {
		limit = min(in.MaxLength, MaxInput)
	}
	if limit > maxShort {
		style = discordgo.TextInputParagraph
	}
	made.Component = discordgo.TextInput{
		CustomID: name, Style: style, Required: &in.Required, MinLength: in.MinLength, MaxLength: limit,
		Value: in.Value, Placeholder: in.Placeholder,
	}
	return made
}

// hint says what an input is for or, if nothing else does, which numbers fit.
func hint(f question.Field, t *wording.Texts) string {
	switch {
	case f.Hint != "":
		return plainLabel(f.Hint, maxOption)
	case f.Kind != question.Integer && f.Kind != question.Number:
		return ""
	}
	text := doc.Bounded(t, t.InputNumber, f)
	if f.Kind == question.Integer && text == t.InputNumber {
		text = t.InputInteger
	}
	return plainLabel(text, maxOption)
}
