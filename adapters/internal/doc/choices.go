package doc

import (
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// Choice is a thing that a reader of a card may press.
type Choice struct {
	Label    string
	Action   outbound.Action
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
func (c Choice) Button(d Document, more ...string) outbound.Button {
	if c.Action == outbound.ActionAnswer {
		return outbound.OptionButton(d.card, c.Option, more...)
	}
	return outbound.CardButton(d.card, c.Action, more...)
}

// Answers are the choices that answer an open question, in their order: its options or, if it needs a form, one choice
// that opens it. A surface shows more than question.MaxButtons of them as a menu.
func (d Document) Answers() (all []Choice) {
	if d.card.Question == nil || d.card.State != core.Open || d.refusal() != nil {
		return nil
	}
	for i, title := range d.Options {
		all = append(all, Choice{Label: title, Action: outbound.ActionAnswer, Option: i + 1, Look: Pick})
	}
	if all == nil {
		all = []Choice{{Label: d.ButtonAnswer, Action: outbound.ActionAnswer, Look: Pick}}
	}
	return all
}

// Cut returns the choices of a surface that leaves out so many characters of the arguments, and so many others of the
// card: approving then takes a second step, and all arguments are offered for reading instead of for changing. The
// answers to a question are Answers.
func (d Document) Cut(arguments, others int) (all []Choice) {
	c, t, open := d.card, d.Texts, d.card.State == core.Open
	add := func(offered bool, choice Choice) {
		if offered {
			all = append(all, choice)
		}
	}
	decides := open && c.Question == nil && d.refusal() == nil
	who := d.only().ID
	asked := who == "" || c.AskedBy(core.Actor{ID: who})
	approve := Choice{
		Label: d.approves(t.ButtonApprove), Action: outbound.ActionApprove, Look: Good,
		Cautions: d.Cautions(arguments + others),
	}
	if c.Risk == core.Dangerous {
		approve.Look = Danger
	}
	withdraw := t.ButtonWithdraw
	if who == "" {
		withdraw += d.whose()
	}
	_, editable := EditText(c, d.reader.Input)
	lost := c.State == core.Expired || c.Restored()
	add(lost && !d.again && asked, Choice{Label: t.ButtonAskAgain, Action: outbound.ActionAskAgain})
	add(decides && !c.Altered && !d.voted(core.Approve), approve)
	remembers := c.Memory != core.Memory{}
	remember := Choice{
		Label: d.approves(t.ButtonRemember), Action: outbound.ActionRemember, Cautions: approve.Cautions,
	}
	add(decides && !c.Altered && !d.voted(core.Approve) && remembers, remember)
	add(c.State == core.Approved && remembers && (who == "" || c.CheckForget(d.only()) == nil),
		Choice{Label: t.ButtonForget, Action: outbound.ActionForget})
	add(decides && !d.voted(core.Deny), Choice{Label: t.ButtonDeny, Action: outbound.ActionReason})
	add(decides && editable && arguments == 0, Choice{Label: t.ButtonEdit, Action: outbound.ActionEdit})
	add(decides && arguments > 0, Choice{Label: t.ButtonArguments, Action: outbound.ActionArguments})
	add(open && asked, Choice{Label: withdraw, Action: outbound.ActionWithdraw})
	return all
}

// whose says, behind a button's label, who asked for what it withdraws; "" if nobody knows.
func (d Document) whose() string {
	who := d.person(d.card.Requested, d.card.Requester)
	if who.Text == d.Somebody {
		return ""
	}
	name := safetext.Name(mask.EscapeLine(who.Text))
	if short, left := safetext.Head(name, maxLabelName); left > 0 {
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

// voted reports whether the reader's vote is already this choice.
func (d Document) voted(choice core.Choice) bool {
	who := d.only()
	return who.ID != "" && d.card.HasVoted(who, choice)
}

// Cautions are the sentences that approving is confirmed with, "" if it needs no confirmation: the call is dangerous,
// or a part of it is hidden, or a surface leaves out so many characters.
func (d Document) Cautions(left int) string {
	var all []string
	if d.card.Risk == core.Dangerous {
		all = append(all, d.Irreversible)
	}
	if d.card.Hidden > 0 {
		all = append(all, d.hidden())
	}
	if d.card.LookAlikes != nil {
		all = append(all, d.LookAlikesCaution)
	}
	if left > 0 {
		all = append(all, safetext.Counted(d.ArgumentsUnread, left))
	}
	return strings.Join(all, " ")
}
