package discord

import (
	"strconv"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/question"
)

// A question without options is answered in a form. Discord's forms have few fields, so a longer one has pages: each is a form, and a message
// with a button is between two of them, since Discord opens no form in answer to another.

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
