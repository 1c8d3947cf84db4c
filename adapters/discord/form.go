package discord

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
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

// inputField is the beginning of the name of an input of an answer; its place in the question follows, from 0. Any other form has one input,
// which has the name of what it does.
const inputField = "field-"

// drawForm draws a form, or a page of one; value is returned with its submission. What it is about is above the inputs if there is room.
func drawForm(value string, f doc.Form) modal {
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
		id := string(f.Action)
		switch {
		case f.Action == chat.ActionAnswer:
			id = inputField + strconv.Itoa(f.First+i)
		case f.Action == chat.ActionEdit:
			id = "arguments"
		case !in.Required:
			in.Title += " " + f.FormOptional // Discord does not say so
		}
		m.Components = append(m.Components, input(id, in, f.Texts))
	}
	return m
}

// A question without options is answered in a form. Discord's forms have few fields, so a longer one has pages: each is a form, and a message
// with a button is between two of them, since Discord opens no form in answer to another.

// pageOf is a page of a form, from 0. typed is what its inputs are filled with, by their places on the page.
func pageOf(f doc.Form, page int, typed []string) doc.Form {
	if n := pagesOf(len(f.Inputs)); n > 1 {
		f.Title = wording.Fill(f.FormPage, "{title}", f.Title, "{page}", strconv.Itoa(page+1), "{pages}", strconv.Itoa(n))
	}
	f.First = page * maxFields
	f.Inputs = slices.Clone(f.Inputs[f.First:min(len(f.Inputs), f.First+maxFields)])
	for i, text := range typed[:min(len(typed), len(f.Inputs))] {
		f.Inputs[i].Value = text
	}
	return f
}

func pagesOf(inputs int) int { return (inputs + maxFields - 1) / maxFields }

// pageOpened is the page of a form that a button opens or a submission is of, from 0; ok is false if there is no such page.
func pageOpened(b chat.Button, f doc.Form) (page int, ok bool) {
	if len(b.More) > 0 {
		n, err := strconv.Atoi(b.More[0])
		if err != nil {
			return 0, false
		}
		page = n - 1
	}
	return page, page >= 0 && page < pagesOf(len(f.Inputs))
}

// pageButton opens a page of a question's form.
func pageButton(c core.Card, page int) chat.Button {
	if page == 0 {
		return chat.OptionButton(c, 0)
	}
	return chat.OptionButton(c, 0, strconv.Itoa(page+1))
}

// cautionsOf says why it is asked again before a call is approved. It takes no notice of which of the call's cards was pressed: it is as cautious
// as for a copy with every note and the longest context.
func cautionsOf(c core.Card, t *wording.Texts) string {
	v := doc.View(core.Delivery{Post: core.Post{LeftOut: 1000}, Card: &c, Late: true}, channel(t))
	_, left := layout(v, maxContext)
	cautions := v.Cautions(leadCut(v))
	if left > 0 || cautions == "" {
		cautions = strings.TrimSpace(cautions + " " + t.ArgumentsUnseen)
	}
	return cautions
}

// input draws an input of a form, with its label.
func input(id string, in doc.Input, t *wording.Texts) discordgo.Label {
	f := in.Field
	made := discordgo.Label{Label: plainLabel(in.Label(), maxFieldLabel), Description: hint(f, t)}
	if titles := in.Titles(); titles != nil {
		m := menu{CustomID: id, Placeholder: t.Choose, MinValues: 1, MaxValues: 1, Options: menuOptions(titles, in.Value), Required: new(f.Required)}
		if !f.Required {
			m.MinValues = 0
		}
		made.Component = m
		return made
	}
	text := discordgo.TextInput{
		CustomID: id, Style: discordgo.TextInputShort, Required: new(f.Required), MaxLength: maxNumber, Value: in.Value, Placeholder: in.Placeholder,
	}
	if f.Kind == question.Text {
		text.MinLength, text.MaxLength = f.MinLength, min(f.MaxLength, maxInput)
		if text.MaxLength > maxShort {
			text.Style = discordgo.TextInputParagraph
		}
	}
	made.Component = text
	return made
}

// hint says what an input is for or, if nothing else does, which numbers fit.
func hint(f question.Field, t *wording.Texts) string {
	low, high := string(f.Minimum), string(f.Maximum)
	text := t.InputNumber
	switch {
	case f.Hint != "":
		text = f.Hint
	case f.Kind != question.Number && f.Kind != question.Integer:
		return ""
	case low != "" && high != "":
		text = wording.Fill(t.InputBetween, "{input}", text, "{low}", low, "{high}", high)
	case low != "":
		text = wording.Fill(t.HintAtLeast, "{input}", text, "{low}", low)
	case high != "":
		text = wording.Fill(t.HintAtMost, "{input}", text, "{high}", high)
	case f.Kind == question.Integer:
		text = t.InputInteger
	}
	return plainLabel(text, maxOption)
}

const (
	maxNumber = 60  // of a number's input
	maxShort  = 150 // of a text whose input has one line
)
