package doc

import (
	"cmp"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// Choice is a thing that a reader of a card may press.
type Choice struct {
	Label    string
	Action   chat.Action
	Option   int // of an answer: the place of the option, from 1; 0: it opens the question's form
	Look     Look
	Cautions string // approving takes a second step, which says this; "": it does not
}

// Look is how a choice stands out.
type Look int

// The looks.
const (
	Calm Look = iota
	Good
	Danger
	Pick // one answer of several
)

// Button is what the choice's button means.
func (c Choice) Button(d Document, more ...string) chat.Button {
	if c.Action == chat.ActionAnswer {
		return chat.OptionButton(d.card, c.Option, more...)
	}
	return chat.CardButton(d.card, c.Action, more...)
}

// Answers are the choices that answer an open question, in their order: its options or, if it needs a form, one choice that opens it. A
// surface shows more than question.MaxButtons of them as a menu.
func (d Document) Answers() (all []Choice) {
	if d.card.Question == nil || d.card.State != core.Open || d.refusal() != nil {
		return nil
	}
	for i, title := range d.Options {
		all = append(all, Choice{Label: title, Action: chat.ActionAnswer, Option: i + 1, Look: Pick})
	}
	if all == nil {
		all = []Choice{{Label: "Answer", Action: chat.ActionAnswer, Look: Pick}}
	}
	return all
}

// Cut returns the choices of a surface that leaves out so many characters of the arguments, and so many others of the card: approving then
// takes a second step, and all arguments are offered for reading instead of for changing. The answers to a question are Answers.
func (d Document) Cut(arguments, others int) (all []Choice) {
	c := d.card
	add := func(label string, action chat.Action) { all = append(all, Choice{Label: label, Action: action}) }
	approving := map[bool]Look{true: Danger, false: Good}[c.Risk == core.Dangerous]
	mayWithdraw := d.reader.Who.ID == "" && d.to == "" || c.AskedBy(core.Actor{ID: cmp.Or(d.reader.Who.ID, d.to)})
	switch {
	case c.State == core.Expired && !d.again && mayWithdraw:
		add("Ask again", chat.ActionAskAgain)
	case c.State == core.Approved && c.Memory != core.Memory{} && (d.reader.Who.ID == "" || c.CheckForget(d.reader.Who) == nil):
		add("Stop remembering", chat.ActionForget)
	case c.State != core.Open:
	case d.refusal() == nil && c.Question == nil:
		if !c.Altered && !d.voted(core.Approve) {
			cautions := d.Cautions(arguments + others)
			all = append(all, Choice{Label: "Approve", Action: chat.ActionApprove, Look: approving, Cautions: cautions})
			if c.Memory != (core.Memory{}) {
				all = append(all, Choice{Label: "Approve and remember", Action: chat.ActionRemember, Cautions: cautions})
			}
		}
		if !d.voted(core.Deny) {
			add("Deny", chat.ActionReason)
		}
		if _, ok := EditText(c, d.reader.Input); ok && arguments == 0 {
			add("Edit", chat.ActionEdit)
		}
		if arguments > 0 {
			add("Show all arguments", chat.ActionArguments)
		}
	}
	if c.State == core.Open && mayWithdraw {
		label := "Withdraw"
		if d.reader.Who.ID == "" && d.to == "" {
			label += who(c)
		}
		add(label, chat.ActionWithdraw)
	}
	return all
}

// who says whose a button is, on a card that others read too.
func who(c core.Card) string {
	name := chat.Name(NameOf(c.Requested, c.Requester, mask.EscapeLine))
	if name == somebody {
		return ""
	}
	if short, left := chat.Head(name, maxLabelName); left > 0 {
		name = short + "…"
	}
	return " (" + name + ")"
}

// maxLabelName bounds a name in the label of a button.
const maxLabelName = 40

// refusal is why the reader may not decide; nil for a channel, whose readers are asked when they press.
func (d Document) refusal() error {
	if d.reader.Who.ID == "" {
		return nil
	}
	return d.card.Refusal(d.reader.Who)
}

// Refusal is the sentence that says why the reader may not decide, "" if they may.
func (d Document) Refusal() string {
	if err := d.refusal(); err != nil {
		return core.MessageOf(err)
	}
	return ""
}

func (d Document) voted(choice core.Choice) bool {
	return d.reader.Who.ID != "" && d.card.HasVoted(d.reader.Who, choice)
}

// Cautions are the sentences that approving is confirmed with, "" if it needs no confirmation: the call is dangerous, or a part of it is
// hidden, or a surface leaves out so many characters.
func (d Document) Cautions(left int) string {
	var all []string
	if d.card.Risk == core.Dangerous {
		all = append(all, irreversible)
	}
	if d.card.Hidden > 0 {
		all = append(all, hiddenNote(d.card))
	}
	if d.card.LookAlikes != nil {
		all = append(all, "A word has letters that look like others.")
	}
	if left > 0 {
		all = append(all, chat.Thousands(left)+" more characters are not on the card: read them first.")
	}
	return strings.Join(all, " ")
}
