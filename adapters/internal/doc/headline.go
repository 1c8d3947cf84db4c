package doc

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// headline is the state of an approval in a few words, and why its card is posted.
func (v *Document) headline(o core.Occasion) string {
	c, t := v.card, v.Texts
	if c.State != core.Open {
		return v.ending().headline
	}
	text := t.HeadlineApproval
	switch {
	case c.Question != nil && o != "":
		text = t.HeadlineQuestionReminder
	case c.Question != nil:
		text = t.HeadlineQuestion
	case o == core.Reminder:
		text = t.HeadlineReminder
	case o == core.Typed:
		text = t.HeadlineTyped
	case o == core.Escalated:
		text = t.HeadlineEscalated
	case c.Risk == core.Dangerous:
		text = t.HeadlineDangerous
	}
	if c.Asked.Of <= 1 {
		return text
	}
	place, of := strconv.Itoa(c.Asked.Place), strconv.Itoa(c.Asked.Of)
	return wording.Fill(t.HeadlineOfSeveral, "{headline}", text, "{place}", place, "{of}", of)
}

// ending is what is said of an approval that is not open any more: labels of who decided and when, and a sentence.
type ending struct{ headline, by, at, standing string }

func (v *Document) ending() ending {
	t, asks := v.Texts, v.card.Question != nil
	switch v.card.State {
	case core.Approved:
		headline := t.HeadlineApproved
		if v.card.Use != nil {
			headline = t.HeadlineUsed
		}
		return ending{headline, t.LabelApprovedBy, t.LabelApprovedAt, t.StandingApproved}
	case core.Denied:
		return ending{t.HeadlineDenied, t.LabelDeniedBy, t.LabelDeniedAt, t.StandingDenied}
	case core.Answered:
		return ending{t.HeadlineAnswered, t.LabelAnsweredBy, t.LabelAnsweredAt, t.StandingAnswered}
	case core.Expired:
		if asks {
			return ending{t.HeadlineUnanswered, "", t.LabelExpiredAt, t.StandingUnanswered}
		}
		return ending{t.HeadlineExpired, "", t.LabelExpiredAt, t.StandingExpired}
	}
	e := ending{t.HeadlineCancelled, t.LabelCancelledBy, t.LabelCancelledAt, t.StandingCancelled}
	if asks {
		e.headline = t.HeadlineWithdrawn
	}
	return e
}

// Standing is a sentence with the state of a decided approval, for a person who pressed a button too late.
func (d Document) Standing() string {
	c := d.card
	who := d.person(c.Decided, c.DecidedBy)
	return wording.Fill(d.ending().standing, "{who}", NameOf(who.Who, who.Text, chat.Name),
		"{time}", c.DecidedAt.UTC().Format("2006-01-02 15:04 MST"))
}

// counted is a text with a number, of which there is another one for 1.
func counted(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return wording.Fill(several, "{count}", chat.Thousands(n))
}

func (v *Document) hidden() string {
	return counted(v.card.Hidden, v.HiddenCharacter, v.HiddenCharacters)
}

// OnPage says, after another sentence, who can see what a card does not show. It is "" if no approver is known to
// gatehouse's page, and for those who need not be told: an approver on the page, and whoever runs gatehouse.
func OnPage(c core.Card, r Reader) string {
	if r.IDs || r.Apart && c.Refusal(r.Who) == nil {
		return ""
	}
	t := r.Texts.Or()
	for _, id := range slices.AppendSeq(slices.Clone(c.Approvers), maps.Keys(c.People)) {
		if tokenName(t, id) != "" && c.Refusal(core.Actor{ID: id}) == nil {
			return " " + t.ReadOnPage
		}
	}
	return ""
}

// ShortID is the beginning of an approval's id, which the commands accept too.
func ShortID(id core.ApprovalID) string {
	short, _ := chat.Head(chat.Name(string(id)), shortID)
	return strings.TrimRight(short, "-")
}

const shortID = 13 // of a UUID v7: all of its time

// Reminder is what a reminder says where a link leads to the card that it reminds of: the card's headline, what it is
// about, and who may decide.
func Reminder(d core.Delivery, r Reader, link string) []Span {
	v := View(d, r)
	line := append([]Span{{Text: v.Headline, Style: Bold}}, v.For...)
	line = append(line, own(": "), Span{Kind: Subject, Text: chat.OneLine(v.Lead[0].Text), Limit: LimitSubject},
		own(" ("), Span{Kind: Words, Text: link, To: link}, own(")"))
	for _, f := range v.Fields {
		if f.Part == MayDecide && !d.Quiet { // else it calls nobody
			line = append(append(line, own(". "+f.Label+": ")), f.Value...)
		}
	}
	return line
}
