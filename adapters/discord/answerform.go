package discord

import (
	"strconv"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/question"
)

// A question without options is answered in a form. Discord's forms have few fields, so a longer one has pages: each is a form, and a message
// with a button is between two of them, since Discord opens no form in answer to another.

// inputField is the beginning of the name of a form's field; its place in the question follows, from 0.
const inputField = "field-"

// formPage is the page of a form that a button opens or a submission is of, from 0; ok is false if there is no such page.
func formPage(b chat.Button, q question.Question) (page int, ok bool) {
	if len(b.More) > 0 {
		n, err := strconv.Atoi(b.More[0])
		if err != nil {
			return 0, false
		}
		page = n - 1
	}
	return page, page >= 0 && page < formPages(q)
}

// pageButton opens a page of a question's form.
func pageButton(c core.Card, page int) chat.Button {
	if page == 0 {
		return chat.OptionButton(c, 0)
	}
	return chat.OptionButton(c, 0, strconv.Itoa(page+1))
}

func formPages(q question.Question) int { return (len(q.Fields) + maxFields - 1) / maxFields }

// pageFields are the places of the fields on a page: from first to before end.
func pageFields(q question.Question, page int) (first, end int) {
	return page * maxFields, min(len(q.Fields), (page+1)*maxFields)
}

// answerModal is a page of the form of a question; value is returned with its submission. typed is what its fields are filled with, by their places
// on the page. The question itself is above the fields if there is room.
func answerModal(value string, c core.Card, page int, typed []string) modal {
	q := *c.Question
	m := modal{CustomID: value, Title: "Answer"}
	if n := formPages(q); n > 1 {
		m.Title += " (page " + strconv.Itoa(page+1) + " of " + strconv.Itoa(n) + ")"
	}
	first, end := pageFields(q, page)
	if end-first < maxFields {
		m.Components = append(m.Components, discordgo.TextDisplay{Content: questionText(q.Text, maxQuestion)})
	}
	for i, f := range q.Fields[first:end] {
		filled := ""
		if i < len(typed) {
			filled = typed[i]
		}
		m.Components = append(m.Components, formField(f, inputField+strconv.Itoa(first+i), filled))
	}
	return m
}

// formField draws a field of a form.
func formField(f question.Field, id, filled string) discordgo.Label {
	label := "Your answer"
	if text := f.Label(); text != "" {
		label = plainLabel(text, maxFieldLabel)
	}
	made := discordgo.Label{Label: label, Description: fieldHint(f)}
	if options := f.Options(); options != nil {
		m := menu{CustomID: id, Placeholder: "Choose", MinValues: 1, MaxValues: 1, Options: menuOptions(options, filled), Required: new(f.Required)}
		if !f.Required {
			m.MinValues = 0
		}
		made.Component = m
		return made
	}
	in := discordgo.TextInput{CustomID: id, Style: discordgo.TextInputShort, Required: new(f.Required), MaxLength: maxNumber, Value: filled}
	if f.Kind == question.Text {
		in.MinLength, in.MaxLength = f.MinLength, min(f.MaxLength, maxInput)
		if in.MaxLength > maxShort {
			in.Style = discordgo.TextInputParagraph
		}
	}
	made.Component = in
	return made
}

// fieldHint says what a field is for or, if the question does not, which numbers fit.
func fieldHint(f question.Field) string {
	low, high := string(f.Minimum), string(f.Maximum)
	switch {
	case f.Hint != "":
		return plainLabel(f.Hint, maxOption)
	case f.Kind != question.Number && f.Kind != question.Integer:
		return ""
	case low != "" && high != "":
		return plainLabel("A number from "+low+" to "+high, maxOption)
	case low != "":
		return plainLabel("A number: "+low+" or more", maxOption)
	case high != "":
		return plainLabel("A number: "+high+" or less", maxOption)
	case f.Kind == question.Integer:
		return "A whole number"
	}
	return "A number"
}

const (
	maxNumber = 60  // of a number's input
	maxShort  = 150 // of a text whose input has one line
)
